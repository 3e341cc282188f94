//! Answers questions from the text of a page: a labelled value, a heading, or the nearest sentence.

use super::content_words;
use text::sentences::{SentenceRules, sentences};

const MAX_LINES: usize = 5_000;
const MAX_ANSWER_BYTES: usize = 600;
/// A label is short; longer lines are sentences.
const MAX_LABEL_WORDS: usize = 6;
/// Words of questions about prices that rarely stand in the answer.
const PRICE_WORDS: &[&str] = &["cost", "price", "expensive", "pay"];

/// The answer to a question, or `None` when the page says nothing about it. `lines` is the visible text, with
/// cells of a row separated by tabs.
pub(super) fn answer(question: &str, title: &str, headings: &[String], lines: &str) -> Option<String> {
    let lower = question.to_lowercase();
    if lower.contains("title") && !title.is_empty() {
        return Some(title.to_owned());
    }
    if lower.contains("heading")
        && let Some(first) = headings.first()
    {
        return Some(first.clone());
    }
    let mut wanted = content_words(question);
    wanted.retain(|word| {
        !text::stop_words::REQUESTS.contains(word) && word != "page" && word != "much" && word != "many"
    });
    let about_price =
        lower.starts_with("how much") || wanted.iter().any(|word| PRICE_WORDS.contains(&word.as_str()));
    if wanted.is_empty() && !about_price {
        return None;
    }
    let lines: Vec<&str> =
        lines.lines().map(str::trim).filter(|line| !line.is_empty()).take(MAX_LINES).collect();
    let labelled = find_label(&lines, &wanted);
    // A number that the page does not name would have to be counted.
    let counts = lower.starts_with("how many") || lower.contains(" how many ");
    let found = labelled.or_else(|| find_sentence(&lines, &wanted, about_price))?;
    if counts && !found.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(found[..found.floor_char_boundary(MAX_ANSWER_BYTES)].to_owned())
}

/// "Price: 5" in one line, "Price" in one cell and "5" in the next, or on two lines.
fn find_label(lines: &[&str], wanted: &[String]) -> Option<String> {
    let fits = |label: &str| {
        let words = content_words(label);
        !words.is_empty()
            && words.len() <= MAX_LABEL_WORDS
            && wanted.iter().all(|word| words.contains(word))
            && words.len() <= wanted.len() + 1
    };
    if wanted.is_empty() {
        return None;
    }
    // The page may show the question itself, above what may be chosen as its answer.
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.ends_with('?')) {
        for separator in ['\t', ':'] {
            if let Some((label, value)) = line.split_once(separator)
                && !value.trim().is_empty()
                && fits(label)
            {
                return Some(super::one_line(value));
            }
        }
        let is_label = fits(line.trim_end_matches(':')) && line.split_whitespace().count() <= MAX_LABEL_WORDS;
        if is_label
            && let Some(value) = lines.get(at + 1)
            && value.split_whitespace().count() <= 12
        {
            return Some((*value).to_owned());
        }
    }
    None
}

/// The sentence that shares the most words with the question.
fn find_sentence(lines: &[&str], wanted: &[String], about_price: bool) -> Option<String> {
    let mut best: Option<(usize, &str)> = None;
    for line in lines {
        for sentence in sentences(line, &SentenceRules::PLAIN) {
            // A question is no answer, and the page may show just this one.
            if sentence.trim_end().ends_with('?') {
                continue;
            }
            let words = content_words(sentence);
            let common = wanted.iter().filter(|word| words.contains(word)).count();
            let has_amount = has_amount(sentence);
            let is_about = common * 2 >= wanted.len().max(1) && common > 0;
            if !(is_about
                || about_price
                    && has_amount
                    && wanted.iter().all(|word| PRICE_WORDS.contains(&word.as_str())))
            {
                continue;
            }
            let score = common * 10 + usize::from(about_price && has_amount) * 15;
            // Of equal sentences the first one counts.
            if best.is_none_or(|(known, _)| score > known) && (!about_price || has_amount) {
                best = Some((score, sentence));
            }
        }
    }
    best.map(|(_, sentence)| super::one_line(sentence))
}

/// Whether a text names a sum of money.
fn has_amount(text: &str) -> bool {
    let lower = text.to_lowercase();
    let has_currency = text.contains(['$', '€', '£', '¥', '₹'])
        || ["eur", "usd", "gbp", "chf", "euro", "dollar", "pound"].iter().any(|word| lower.contains(word));
    has_currency && text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Store\nPrice\n19.50 EUR\nOpening hours\t9 to 5\nAuthor: Jane Roe\n\
        Shipping costs 4 euros inside of the country. Returns are free for 30 days.\nThe gannet plush costs $24.99 today.";

    fn ask(question: &str) -> Option<String> {
        answer(question, "Store title", &["Store".to_owned()], PAGE)
    }

    #[test]
    fn values_are_found_by_label_and_by_sentence() {
        assert_eq!(ask("What is the price?").as_deref(), Some("19.50 EUR"));
        assert_eq!(ask("What are the opening hours?").as_deref(), Some("9 to 5"));
        assert_eq!(ask("Who is the author?").as_deref(), Some("Jane Roe"));
        assert_eq!(
            ask("How much is shipping?").as_deref(),
            Some("Shipping costs 4 euros inside of the country.")
        );
        assert_eq!(
            ask("how much does the gannet plush cost").as_deref(),
            Some("The gannet plush costs $24.99 today.")
        );
        assert_eq!(ask("how long are returns free").as_deref(), Some("Returns are free for 30 days."));
        assert_eq!(ask("What is the title of this page?").as_deref(), Some("Store title"));
        assert_eq!(ask("What is the main heading?").as_deref(), Some("Store"));
        assert_eq!(ask("Who won the election?"), None);
        let counted = |page: &str| answer("How many gannets are there?", "", &[], page);
        assert_eq!(counted("How many gannets are there?\nGannets are there."), None);
        assert_eq!(counted("How many gannets are there?\n0\n1\n2"), None);
        assert_eq!(counted("There are 12 gannets there.").as_deref(), Some("There are 12 gannets there."));
    }
}
