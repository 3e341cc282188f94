//! Summaries and answers: text of a model about a page.

use super::reading::Room;
use super::{Page, Told, failure};
use crate::models::{Models, Task};
use model::chat::{Ask, Chat, Finish, Message};
use wire::WireError;

const SUMMARY: &str = "You summarise web pages. Write what the page says, in the page's language, in one to three short paragraphs \
                       of plain sentences. Say nothing that the page does not say. Begin with the summary itself.";
const ANSWER: &str = "You answer questions about a web page. Use only what the page says; when it does not say, answer that the page \
                      does not say. Be brief, and begin with the answer itself.";

pub async fn summary(models: &Models, page: Page<'_>) -> Result<Told<String>, WireError> {
    let chat = models.must_have(Task::Summary, "summary")?;
    say(chat.as_ref(), SUMMARY, "Summarise this page.", "", page).await
}

pub async fn answer(models: &Models, question: &str, page: Page<'_>) -> Result<Told<String>, WireError> {
    let chat = models.must_have(Task::Summary, "question")?;
    say(chat.as_ref(), ANSWER, question, question, page).await
}

/// Puts a task and a page before a model. `query` chooses the passages of a page that is too long.
async fn say(
    chat: &dyn Chat,
    rules: &str,
    task: &str,
    query: &str,
    page: Page<'_>,
) -> Result<Told<String>, WireError> {
    chat.get_ready(page.deadline()).await;
    let room = Room::of(chat.abilities(), rules.len() + task.len());
    let (shown, cut) = page.fit(query.to_owned(), room).await?;
    let ask = Ask {
        messages: vec![
            Message::System(rules.to_owned()),
            Message::Data { source: page.url.to_owned(), text: shown },
            Message::User(task.to_owned()),
        ],
        max_tokens: Some(room.answer),
        ..Ask::default()
    };
    let reply = chat.ask(&ask, page.deadline()).await.map_err(|error| failure::of_chat(&error))?;
    let value = reply.text.trim().to_owned();
    if reply.finish == Finish::Refused {
        return Err(failure::refused(&value));
    }
    if value.is_empty() {
        return Err(failure::refused("it said nothing"));
    }
    let mut notes: Vec<String> = cut.into_iter().collect();
    if reply.finish == Finish::Length {
        notes.push("the language model was cut off at its token limit".to_owned());
    }
    Ok(Told { value, notes, usage: reply.usage })
}
