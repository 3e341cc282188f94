//! Summaries and answers that a model writes about a page.

use super::context_window::ContextBudget;
use super::{ModelOutput, PageText};
use crate::Error;
use crate::models::{Models, Task};
use model::chat::{Chat, ChatRequest, Finish, Message};

const SUMMARY: &str = "You summarise web pages. Write what the page says, in the page's language, in one to three short paragraphs \
                       of plain sentences. Say nothing that the page does not say. Begin with the summary itself.";
const ANSWER: &str = "You answer questions about a web page. Use only what the page says; when it does not say, answer that the page \
                      does not say. Be brief, and begin with the answer itself.";

pub async fn summarise(models: &Models, page: PageText<'_>) -> Result<ModelOutput<String>, Error> {
    let chat = models.require_chat(Task::Summary, "summary")?;
    ask_about_page(chat.as_ref(), SUMMARY, "Summarise this page.", "", page).await
}

pub async fn answer_question(
    models: &Models,
    question: &str,
    page: PageText<'_>,
) -> Result<ModelOutput<String>, Error> {
    let chat = models.require_chat(Task::Summary, "question")?;
    ask_about_page(chat.as_ref(), ANSWER, question, question, page).await
}

/// Asks a model to do a task with a page. `query` selects the passages of a page that is too long.
async fn ask_about_page(
    chat: &dyn Chat,
    rules: &str,
    task: &str,
    query: &str,
    page: PageText<'_>,
) -> Result<ModelOutput<String>, Error> {
    chat.get_ready(page.deadline()).await;
    let room = ContextBudget::new(chat.abilities(), rules.len() + task.len());
    let (shown, cut) = page.fit(query.to_owned(), room).await?;
    let ask = ChatRequest {
        messages: vec![
            Message::System(rules.to_owned()),
            Message::Data { source: page.url.to_owned(), text: shown },
            Message::User(task.to_owned()),
        ],
        max_tokens: Some(room.answer),
        ..ChatRequest::default()
    };
    let reply = chat.ask(&ask, page.deadline()).await.map_err(Error::from_chat)?;
    let value = reply.text.trim().to_owned();
    if reply.finish == Finish::Refused {
        return Err(Error::ModelDeclined(value));
    }
    if value.is_empty() {
        return Err(Error::ModelDeclined("it said nothing".to_owned()));
    }
    let mut notes: Vec<String> = cut.into_iter().collect();
    if reply.finish == Finish::Length {
        notes.push("the language model was cut off at its token limit".to_owned());
    }
    Ok(ModelOutput { value, notes, usage: reply.usage })
}
