//! How much of a page a model can read at once, and what of it is shown when it is longer.

use super::PageText;
use crate::Error;
use model::chat::Abilities;
use std::borrow::Cow;

/// Bytes of text for one token, carefully: English has more, other scripts about as many.
const BYTES_PER_TOKEN: usize = 3;
/// Tokens of rules, marks and templates around everything.
const OVERHEAD_TOKENS: usize = 500;
/// Shown even where the arithmetic leaves less.
const MIN_PAGE_BYTES: usize = 1_500;
const MAX_OUTPUT_TOKENS: usize = 4_096;

/// How the context of a model is divided in one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextBudget {
    /// Bytes of the page.
    pub page: usize,
    /// Tokens of the answer.
    pub answer: u32,
}

impl ContextBudget {
    /// `beside`: the bytes of everything in the request that is not the page.
    pub fn new(abilities: Abilities, beside: usize) -> Self {
        let context = usize::try_from(abilities.context_tokens).unwrap_or(usize::MAX);
        let answer = (context / 4).clamp(64, MAX_OUTPUT_TOKENS);
        let left = context.saturating_sub(answer + OVERHEAD_TOKENS).saturating_mul(BYTES_PER_TOKEN);
        let page = left.saturating_sub(beside).max(MIN_PAGE_BYTES);
        Self { page, answer: u32::try_from(answer).unwrap_or(u32::MAX) }
    }
}

impl PageText<'_> {
    /// The part of the text that fits, and a note where that is not all of it.
    pub(super) async fn fit(
        &self,
        query: String,
        room: ContextBudget,
    ) -> Result<(String, Option<String>), Error> {
        let text = self.text.to_owned();
        let fitting = move || {
            let (shown, note) = fit(&text, &query, room);
            (shown.into_owned(), note)
        };
        // What fits is only copied.
        let bytes = if self.text.len() <= room.page { 0 } else { self.text.len() };
        self.job.run_on(bytes, fitting).await
    }
}

fn fit<'a>(text: &'a str, query: &str, room: ContextBudget) -> (Cow<'a, str>, Option<String>) {
    if text.len() <= room.page {
        return (Cow::Borrowed(text), None);
    }
    let mut shown = text::highlights::fit_within(text, query, room.page);
    if shown.is_empty() {
        // One line of endless text has no passages.
        text[..text.floor_char_boundary(room.page)].clone_into(&mut shown);
    }
    let (some, all) = (shown.len(), text.len());
    let what = if query.is_empty() { "its beginning" } else { "the passages that fit best" };
    let note = format!(
        "the page is longer than the language model can read: it was given {some} of {all} bytes, {what}"
    );
    (Cow::Owned(shown), Some(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_leaves_place_for_the_answer() {
        let room = |context_tokens, beside| {
            ContextBudget::new(Abilities { tools: false, json_schema: false, context_tokens }, beside)
        };
        let large = room(32_768, 3_000);
        assert_eq!(large.answer, 4_096);
        assert_eq!(large.page, (32_768 - 4_096 - 500) * 3 - 3_000);
        assert_eq!(room(512, 0), ContextBudget { page: MIN_PAGE_BYTES, answer: 128 });
        assert_eq!(room(u32::MAX, 0).answer, 4_096);
    }

    #[test]
    fn what_does_not_fit_is_chosen_and_told() {
        let room = ContextBudget { page: 400, answer: 100 };
        assert_eq!(fit("short", "x", room), (Cow::Borrowed("short"), None));
        let filler = "Nothing of note was seen by anybody there. ".repeat(50);
        let text = format!("# Log\n\n{filler}\n\nThe price is 7 crowns.\n\n{filler}");
        let (shown, note) = fit(&text, "price", room);
        assert!(shown.len() <= 400 && shown.contains("7 crowns"), "{shown}");
        let note = note.unwrap();
        assert!(note.contains(&shown.len().to_string()) && note.contains(&text.len().to_string()), "{note}");
        assert!(fit(&"x".repeat(9_000), "", room).0.len() <= 400);
    }
}
