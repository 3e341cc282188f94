//! What a prompt says in addition to the schema: the number of rows and the words of a search query.

use text::stop_words::REQUESTS;

const MAX_QUERY_WORDS: usize = 12;
/// Larger numbers in a prompt are years and amounts, not a number of rows.
const MAX_ROW_LIMIT: usize = 500;

/// How many rows a prompt asks for: "the top 5", "first ten", "at most 20 results", "3 cheapest".
pub(crate) fn row_limit(prompt: &str) -> Option<usize> {
    let lower = prompt.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(400).collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let number = count(word).filter(|number| (1..=MAX_ROW_LIMIT).contains(number))?;
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let earlier = at.checked_sub(2).map_or("", |at| words[at]);
        let after = words.get(at + 1).copied().unwrap_or_default();
        let called = LIMIT_WORDS.contains(&before)
            || matches!((earlier, before), ("up", "to") | ("at", "most"))
            || (matches!((earlier, before), ("more", "than"))
                && at >= 3
                && matches!(words[at - 3], "no" | "not"))
            || LIMIT_WORDS.contains(&after)
            || (matches!(before, "a" | "the") && LIMIT_WORDS.contains(&earlier));
        called.then_some(number)
    })
}

/// Words that make an adjacent number a limit.
const LIMIT_WORDS: [&str; 14] = [
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

/// The search query for a prompt: the words that say what it is about, in order and once each.
pub(crate) fn search_query(prompt: &str) -> String {
    let mut chosen: Vec<&str> = Vec::new();
    for word in prompt.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '\'' | '.'))) {
        let word = word.trim_matches(['-', '\'', '.']);
        let lower = word.to_lowercase();
        let is_content = word.chars().count() > 1 && !REQUESTS.contains(&lower);
        if is_content && !chosen.iter().any(|known| known.to_lowercase() == lower) {
            chosen.push(word);
        }
        if chosen.len() == MAX_QUERY_WORDS {
            break;
        }
    }
    chosen.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_limits_are_recognized() {
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
            search_query("Please find the founders of Acme-Widgets and their e-mail!"),
            "founders Acme-Widgets e-mail"
        );
        assert_eq!(search_query("What is it?"), "");
        assert_eq!(search_query(&"word1 word2 ".repeat(50)), "word1 word2");
    }
}
