//! Licence expressions as manifests name them: `MIT OR Apache-2.0`, `(MIT OR Apache-2.0) AND Unicode-3.0`, and the
//! older `MIT/Apache-2.0`.

/// Whether the licences that must all hold, choosing freely among alternatives, are on the list. An expression that
/// cannot be parsed is not allowed.
pub fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, allowed };
    let result = parser.alternatives();
    parser.words.is_empty() && result == Some(true)
}

struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl Parser<'_> {
    fn next_is(&mut self, word: &str) -> bool {
        let is = self.words.first() == Some(&word);
        if is {
            self.words = &self.words[1..];
        }
        is
    }

    fn alternatives(&mut self) -> Option<bool> {
        let mut result = self.all_of()?;
        while self.next_is("OR") {
            result |= self.all_of()?;
        }
        Some(result)
    }

    fn all_of(&mut self) -> Option<bool> {
        let mut result = self.one()?;
        while self.next_is("AND") {
            result &= self.one()?;
        }
        Some(result)
    }

    fn one(&mut self) -> Option<bool> {
        if self.next_is("(") {
            let result = self.alternatives()?;
            return self.next_is(")").then_some(result);
        }
        let (name, rest) = self.words.split_first()?;
        if ["OR", "AND", "WITH", ")"].contains(name) {
            return None;
        }
        self.words = rest;
        let mut licence = (*name).to_owned();
        if self.next_is("WITH") {
            let (exception, rest) = self.words.split_first()?;
            self.words = rest;
            licence = format!("{licence} WITH {exception}");
        }
        Some(self.allowed.contains(&licence))
    }
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn alternatives_are_free_and_conjunctions_are_not() {
        let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "GPL-3.0/MIT",
            "MIT AND Unicode-3.0",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
            "GPL-3.0 AND GPL-2.0 OR MIT",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "MIT AND (GPL-3.0 OR GPL-2.0)",
            "Apache-2.0",
            "MIT OR",
            "(MIT",
            "MIT)",
            "MIT MIT",
            "MIT WITH",
        ] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }
}
