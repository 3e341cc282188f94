//! What a prompt says beside the schema: how many rows, and the words to search by.

/// Words of a query at most.
const MOST_WORDS: usize = 12;
/// Most rows a prompt can limit a list to; larger numbers are years and amounts.
const MOST_ROWS: usize = 500;

/// How many rows a prompt asks for: "the top 5", "first ten", "at most 20 results", "3 cheapest".
pub(crate) fn row_limit(prompt: &str) -> Option<usize> {
    let lower = prompt.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(400).collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let number = count(word).filter(|number| (1..=MOST_ROWS).contains(number))?;
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let earlier = at.checked_sub(2).map_or("", |at| words[at]);
        let after = words.get(at + 1).copied().unwrap_or_default();
        let called = LIMITING.contains(&before)
            || matches!((earlier, before), ("up", "to") | ("at", "most"))
            || (matches!((earlier, before), ("more", "than"))
                && at >= 3
                && matches!(words[at - 3], "no" | "not"))
            || LIMITING.contains(&after)
            || (matches!(before, "a" | "the") && LIMITING.contains(&earlier));
        called.then_some(number)
    })
}

/// Words that make the number beside them a limit.
const LIMITING: [&str; 14] = [
    "top", "first", "latest", "newest", "best", "cheapest", "most", "maximum", "max", "limit", "only",
    "recent", "erste", "ersten",
];

fn count(word: &str) -> Option<usize> {
    const WORDS: [&str; 20] = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    word.parse().ok().or_else(|| WORDS.iter().position(|known| *known == word).map(|at| at + 1))
}

/// The words of a prompt that say what it is about, in their order and once each: what is asked of a search.
pub(crate) fn query(prompt: &str) -> String {
    let mut chosen: Vec<&str> = Vec::new();
    for word in prompt.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '\'' | '.'))) {
        let word = word.trim_matches(['-', '\'', '.']);
        let lower = word.to_lowercase();
        let telling = word.chars().count() > 1 && !UNTELLING.contains(&lower.as_str());
        if telling && !chosen.iter().any(|known| known.to_lowercase() == lower) {
            chosen.push(word);
        }
        if chosen.len() == MOST_WORDS {
            break;
        }
    }
    chosen.join(" ")
}

/// Words of asking, not of what is asked.
const UNTELLING: [&str; 78] = [
    "the",
    "an",
    "and",
    "or",
    "of",
    "for",
    "in",
    "on",
    "at",
    "to",
    "from",
    "with",
    "by",
    "as",
    "is",
    "are",
    "was",
    "were",
    "be",
    "do",
    "does",
    "did",
    "it",
    "its",
    "this",
    "that",
    "these",
    "those",
    "what",
    "which",
    "who",
    "whose",
    "when",
    "where",
    "how",
    "why",
    "me",
    "my",
    "you",
    "your",
    "we",
    "our",
    "us",
    "their",
    "them",
    "they",
    "please",
    "find",
    "get",
    "give",
    "list",
    "extract",
    "show",
    "tell",
    "collect",
    "return",
    "fetch",
    "search",
    "look",
    "up",
    "all",
    "each",
    "every",
    "any",
    "some",
    "also",
    "about",
    "page",
    "pages",
    "website",
    "site",
    "web",
    "http",
    "https",
    "information",
    "data",
    "including",
    "there",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_write_them() {
        assert_eq!(row_limit("List the top 5 posts"), Some(5));
        assert_eq!(row_limit("the first ten products"), Some(10));
        assert_eq!(row_limit("at most 20 results"), Some(20));
        assert_eq!(row_limit("no more than 7 jobs"), Some(7));
        assert_eq!(row_limit("the 3 cheapest flats"), Some(3));
        assert_eq!(row_limit("all products under 50 dollars"), None);
        assert_eq!(row_limit("events of 2026"), None);
        assert_eq!(row_limit("top 2026 films"), None);
    }

    #[test]
    fn a_query_is_what_the_prompt_is_about() {
        assert_eq!(
            query("Please find the founders of Acme-Widgets and their e-mail!"),
            "founders Acme-Widgets e-mail"
        );
        assert_eq!(query("What is it?"), "");
        assert_eq!(query(&"word1 word2 ".repeat(50)), "word1 word2");
    }
}
