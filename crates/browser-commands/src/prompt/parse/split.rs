//! Where one step of a prompt ends and the next begins.

use super::tokens::Phrase;

/// Words that begin a step, so that "and" or a comma before them separates two steps.
const VERBS: &[&str] = &[
    "click",
    "tap",
    "press",
    "push",
    "hit",
    "double-click",
    "fill",
    "type",
    "enter",
    "write",
    "put",
    "input",
    "insert",
    "set",
    "select",
    "highlight",
    "choose",
    "pick",
    "check",
    "tick",
    "uncheck",
    "untick",
    "scroll",
    "go",
    "open",
    "visit",
    "navigate",
    "search",
    "back",
    "reload",
    "refresh",
    "submit",
    "what",
    "what's",
    "how",
    "who",
    "when",
    "where",
    "which",
    "tell",
    "read",
    "get",
    "show",
    "find",
    "wait",
    "hover",
    "mouse",
    "drag",
    "upload",
    "attach",
    "accept",
    "answer",
    "dismiss",
    "confirm",
    "cancel",
    "close",
    "expand",
    "collapse",
    "switch",
    "copy",
    "paste",
    "focus",
    "clear",
    "use",
    "move",
    "log",
    "login",
    "sign",
    "buy",
    "delete",
    "send",
    "draw",
    "solve",
    "book",
    "mark",
];
const POLITE: &[&str] = &[
    "please",
    "now",
    "can you",
    "could you",
    "would you",
    "i want you to",
    "i would like you to",
    "first",
    "finally",
    "then",
    "next",
    "and",
    "also",
    "just",
    "after that",
    "afterwards",
    "go and",
    "find and",
];
/// Between two steps these are never part of a name.
const ALWAYS: &[&str] = &["then", "afterwards", "after that"];

/// The steps of a prompt as they were written.
pub(super) fn split_steps(prompt: Phrase<'_>) -> Vec<Phrase<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < prompt.len() {
        // Said in one breath at the end: "… hit submit".
        if at > start
            && prompt.from(at).without_marks().len() == 2
            && ["hit submit", "press submit"].iter().any(|words| prompt.has_words_at(at, words))
        {
            parts.push(prompt.range(start, at));
            start = at;
        }
        let after = end_of_separator(prompt, at);
        if after > at && separates(prompt, at, after) {
            parts.push(prompt.range(start, at));
            start = after;
        }
        at = after.max(at + 1);
    }
    parts.push(prompt.from(start));
    let parts = parts.into_iter().map(|part| strip_polite(part.without_marks()));
    // "find and click" is one step.
    parts.filter(|part| !part.is_empty() && !part.is(&["find", "to find"])).collect()
}

/// Where the marks and words that may separate two steps end.
fn end_of_separator(prompt: Phrase<'_>, mut at: usize) -> usize {
    loop {
        if matches!(prompt.mark(at), Some(',' | '.' | ';' | '!')) || matches!(prompt.word(at), "and" | "then")
        {
            at += 1;
        } else if let Some(words) = ALWAYS.iter().find(|words| prompt.has_words_at(at, words)) {
            at += words.split(' ').count();
        } else {
            return at;
        }
    }
}

fn separates(prompt: Phrase<'_>, from: usize, to: usize) -> bool {
    let is_certain =
        |at: usize| prompt.mark(at) == Some(';') || ALWAYS.iter().any(|words| prompt.has_words_at(at, words));
    if (from..to).any(is_certain) {
        return true;
    }
    let rest = strip_polite(prompt.from(to));
    // "Save and Close" is a name, "Click Save and close it" are two steps.
    let is_in_name =
        prompt.word(to - 1) == "and" && rest.is_capital(0) && from > 0 && prompt.is_capital(from - 1);
    !is_in_name && VERBS.contains(&rest.word(0))
}

/// Removes what only asks nicely.
pub(super) fn strip_polite(mut phrase: Phrase<'_>) -> Phrase<'_> {
    while let Some(rest) = phrase.strip(POLITE) {
        phrase = rest.without_marks();
    }
    phrase
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokenize;
    use super::*;

    fn split(prompt: &str) -> Vec<String> {
        let tokens = tokenize(prompt).unwrap();
        split_steps(Phrase::new(prompt, &tokens)).iter().map(|part| part.text()).collect()
    }

    #[test]
    fn steps_are_separated_and_names_are_not() {
        assert_eq!(
            split("Click button ONE, then click button TWO."),
            ["Click button ONE", "click button TWO"]
        );
        assert_eq!(split("please click Save and Close, and accept"), ["click Save and Close", "accept"]);
        assert_eq!(
            split("select Red, Green and Blue and click Submit"),
            ["select Red, Green and Blue", "click Submit"]
        );
        assert_eq!(
            split("type 'a and click b' into x; press Enter"),
            ["type 'a and click b' into x", "press Enter"]
        );
        assert_eq!(split("Click \"Menu\", and then find and click on X"), ["Click \"Menu\"", "click on X"]);
        assert_eq!(split("click Save then dance"), ["click Save", "dance"]);
    }
}
