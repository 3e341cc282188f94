//! A text without what is not content. The model only points at blocks to leave out, so that no word of the
//! page is changed and none is added.

use super::context_window::ContextBudget;
use super::{ModelOutput, PageText};
use crate::Error;
use crate::models::{Models, Task};
use model::chat::structured::ask_json;
use model::chat::{ChatRequest, Message};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write;

const RULES: &str = "You tell the content of a web page from what stands around it: navigation, advertisements, cookie notices, \
                     buttons, share links, sign-up forms, lists of other pages, copyright lines. You are given the numbered blocks \
                     of a page and name the numbers of the blocks that are not content. When in doubt, a block is content.";
/// Bytes of a block that are shown.
const MAX_SHOWN_BYTES: usize = 240;
const MAX_BLOCKS: usize = 5_000;

pub async fn clean(models: &Models, page: PageText<'_>) -> Result<ModelOutput<String>, Error> {
    let chat = models.require_chat(Task::Summary, "onlyCleanContent")?;
    chat.get_ready(page.deadline()).await;
    let room = ContextBudget::new(chat.abilities(), RULES.len() + 500);
    let blocks = blocks(page.text);
    let (list, listed) = list(&blocks, room.page);
    let schema = json!({ "type": "object", "properties": { "remove": {
        "type": "array", "items": { "type": "integer", "minimum": 1, "maximum": listed }, "maxItems": listed } },
        "required": ["remove"], "additionalProperties": false });
    let ask = ChatRequest {
        messages: vec![
            Message::System(RULES.to_owned()),
            Message::Data { source: page.url.to_owned(), text: list },
            Message::User("Which of these blocks are not content?".to_owned()),
        ],
        max_tokens: Some(room.answer),
        ..ChatRequest::default()
    };
    let check = |value: &Value| numbers(value, listed).map(|_| ());
    let made = ask_json(chat.as_ref(), ask, &schema, &check, page.deadline()).await;
    let made = made.map_err(Error::from_structured)?;
    let removed = numbers(&made.value, listed).unwrap_or_default();
    let mut notes = Vec::new();
    if listed < blocks.len() {
        notes.push(format!("only the first {listed} of {} blocks of the page were cleaned", blocks.len()));
    }
    let kept = blocks.iter().enumerate().filter(|(index, _)| !removed.contains(&(index + 1)));
    let value = kept.map(|(_, block)| *block).collect::<Vec<_>>().join("\n\n");
    if value.trim().is_empty() {
        // A page that is nothing but decoration is more likely a model that misunderstood.
        notes.push("the language model found no content, so the page was left as it is".to_owned());
        return Ok(ModelOutput { value: page.text.to_owned(), notes, usage: made.usage });
    }
    Ok(ModelOutput { value, notes, usage: made.usage })
}

/// Paragraphs, lists, tables and whole code blocks.
fn blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let (mut start, mut at, mut fenced) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if line.trim().is_empty() && !fenced && blocks.len() < MAX_BLOCKS {
            blocks.push(text[start..at].trim_matches('\n'));
            start = at + line.len();
        }
        at += line.len();
    }
    blocks.push(text[start..].trim_matches('\n'));
    blocks.retain(|block| !block.trim().is_empty());
    blocks
}

/// The beginnings of the blocks with their numbers, and how many of them fit.
fn list(blocks: &[&str], most: usize) -> (String, usize) {
    let mut list = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let shown = &block[..block.floor_char_boundary(MAX_SHOWN_BYTES)];
        let more = if shown.len() < block.len() { " …" } else { "" };
        if list.len() + shown.len() + 16 > most {
            return (list, index);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(list, "[{}] {}{more}", index + 1, shown.replace('\n', " / "));
    }
    (list, blocks.len())
}

fn numbers(value: &Value, most: usize) -> Result<HashSet<usize>, String> {
    let list = value.get("remove").and_then(Value::as_array).ok_or("/remove: must be a list of numbers")?;
    let number = |one: &Value| {
        one.as_u64().and_then(|one| usize::try_from(one).ok()).filter(|one| (1..=most).contains(one))
    };
    list.iter()
        .map(|one| number(one).ok_or_else(|| format!("/remove: must be numbers from 1 to {most}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_what_people_see_as_one() {
        let text = "# Title\n\nOne\ntwo\n\n```\na\n\nb\n```\n\n\n- x\n- y\n";
        assert_eq!(blocks(text), ["# Title", "One\ntwo", "```\na\n\nb\n```", "- x\n- y"]);
        assert!(blocks("").is_empty());
        assert_eq!(blocks("```\nnever\n\nclosed"), ["```\nnever\n\nclosed"]);
        let many = "x\n\n".repeat(MAX_BLOCKS * 3);
        assert_eq!(blocks(&many).len(), MAX_BLOCKS + 1, "the rest is one block, and nothing is lost");
    }

    #[test]
    fn only_numbers_that_were_shown_count() {
        let (list, listed) = list(&["aaa", "bbb", "ccc"], 30);
        assert_eq!((list.as_str(), listed), ("[1] aaa\n[2] bbb\n", 2));
        assert_eq!(numbers(&json!({ "remove": [2] }), 2), Ok(HashSet::from([2])));
        for wrong in
            [json!({ "remove": [3] }), json!({ "remove": [0] }), json!({ "remove": ["1"] }), json!([1])]
        {
            assert!(numbers(&wrong, 2).is_err(), "{wrong}");
        }
    }
}
