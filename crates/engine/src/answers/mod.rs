//! What is worked out of a page's text: structured data, summaries, answers, and a text without what is not content. A language
//! model does it where there is one; data of a schema is also filled from what the page states. Never fetches, never stores.

mod cleaning;
mod data;
mod differences;
mod failure;
mod reading;
mod stated;
mod words;

pub use differences::differences;
pub use stated::Stated;

use crate::models::{Models, Task};
use crate::scrape::document::note;
use crate::scrape::plan::{Answer, JsonAsked, ScrapePlan};
use crate::scrape::workbench::Job;
use model::chat::Usage;
use net::Deadline;
use serde_json::{Value, json};
use wire::scrape::Document;
use wire::{Kind, WireError};

/// A page that is read, and the work it is read for.
#[derive(Debug, Clone, Copy)]
struct Page<'a> {
    url: &'a str,
    text: &'a str,
    job: &'a Job,
}

impl Page<'_> {
    fn deadline(&self) -> Deadline {
        self.job.deadline()
    }
}

/// What came of one question to a model, and what to know about it.
#[derive(Debug, Clone, Default, PartialEq)]
struct Told<T> {
    value: T,
    notes: Vec<String>,
    usage: Usage,
}

/// Whether a plan may ask a model for data: not where nothing is to leave the machine.
pub fn may_ask(models: &Models, plan: &ScrapePlan) -> bool {
    models.chat(Task::Extract).is_some() && !plan.cache.lockdown
}

/// What cannot be done without a model is refused before anything is fetched.
pub fn must_be_able(models: &Models, plan: &ScrapePlan) -> Result<(), WireError> {
    for (what, task) in plan.needs_models() {
        if plan.cache.lockdown {
            let why = format!("`{what}` asks a language model, and lockdown lets nothing out");
            return Err(WireError::because(Kind::BadRequest, &why));
        }
        models.must_have(task, what)?;
    }
    Ok(())
}

/// Adds what a plan wants worked out of the text. Returns the data whose changes are tracked.
pub async fn add(
    models: &Models,
    plan: &ScrapePlan,
    stated: Stated,
    document: &mut Document,
    job: &Job,
) -> Result<Option<Value>, WireError> {
    let formats = &plan.formats;
    let tracked = formats.change_tracking.as_ref().and_then(|tracking| tracking.json.as_ref());
    let asks = formats.json.is_some() || formats.summary || formats.answer.is_some() || tracked.is_some();
    if !asks && !plan.parts.clean {
        return Ok(None);
    }
    must_be_able(models, plan)?;
    let url = document.metadata.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut text = document.markdown.take().unwrap_or_default();
    let file = document.metadata.get("verdict").is_some_and(|verdict| verdict == "binary");
    if file || text.trim().is_empty() {
        return Err(WireError::because(Kind::UnprocessableEntity, "the page has no text to read"));
    }
    let mut usage = Usage::default();
    let mut notes: Vec<String> = Vec::new();
    if plan.parts.clean {
        let cleaned = cleaning::clean(models, Page { url: &url, text: &text, job }).await?;
        text = keep(cleaned, &mut usage, &mut notes);
    }
    let page = Page { url: &url, text: &text, job };
    let (data, followed, summary, answer) = tokio::try_join!(
        data_of(models, formats.json.as_ref(), stated.json, page),
        data_of(models, tracked, stated.tracked, page),
        async { if formats.summary { words::summary(models, page).await.map(Some) } else { Ok(None) } },
        answer_of(models, formats.answer.as_ref(), page),
    )?;
    document.json = data.map(|told| keep(told, &mut usage, &mut notes));
    document.summary = summary.map(|told| keep(told, &mut usage, &mut notes));
    document.answer = answer.map(|told| keep(told, &mut usage, &mut notes));
    let followed = followed.map(|told| keep(told, &mut usage, &mut notes));
    document.markdown = Some(text);
    notes.dedup();
    for one in &notes {
        note(document, one);
    }
    count(usage, document);
    Ok(followed)
}

/// Data by what the rules made of the page, or else by a model.
async fn data_of(
    models: &Models,
    asked: Option<&JsonAsked>,
    stated: Option<Result<Told<Value>, WireError>>,
    page: Page<'_>,
) -> Result<Option<Told<Value>>, WireError> {
    match (asked, stated) {
        (None, _) => Ok(None),
        (Some(_), Some(stated)) => stated.map(Some),
        (Some(asked), None) => data::by_model(models, asked, page).await.map(Some),
    }
}

async fn answer_of(
    models: &Models,
    asked: Option<&Answer>,
    page: Page<'_>,
) -> Result<Option<Told<String>>, WireError> {
    match asked {
        None => Ok(None),
        Some(Answer::Written(question)) => words::answer(models, question, page).await.map(Some),
        Some(Answer::Quoted(query)) => {
            let (text, query) = (page.text.to_owned(), query.clone());
            let finding = move || content::highlights::highlights(&text, &query);
            let value = page.job.run_on(page.text.len(), finding).await?;
            let none = value.is_empty().then(|| "no passage of the page answers the query".to_owned());
            Ok(Some(Told { value, notes: none.into_iter().collect(), usage: Usage::default() }))
        }
    }
}

fn keep<T>(told: Told<T>, usage: &mut Usage, notes: &mut Vec<String>) -> T {
    usage.add(told.usage);
    notes.extend(told.notes);
    told.value
}

/// Tokens are told with the document and counted for whoever watches the server.
fn count(usage: Usage, document: &mut Document) {
    if usage == Usage::default() {
        return;
    }
    metrics::counter!("gannet_model_tokens_total", "kind" => "input").increment(usage.input_tokens);
    metrics::counter!("gannet_model_tokens_total", "kind" => "output").increment(usage.output_tokens);
    let told = json!({ "inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens });
    document.metadata.insert("modelUsage".to_owned(), told);
}
