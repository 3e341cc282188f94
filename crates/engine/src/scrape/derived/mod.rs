//! Formats derived from a page's text: structured data, summaries, answers, and text cleaned of what is not
//! content. A language model makes them where one is configured; data for a schema can also be filled from
//! what the page states. Never fetches, never stores.

mod cleaning;
mod context_window;
mod data;
mod stated_data;
mod text;

pub use stated_data::StatedData;

use crate::Error;
use crate::cpu_pool::CpuJob;
use crate::models::{Models, Task};
use crate::scrape::document::add_warning;
use crate::scrape::fetched_page::FetchedPage;
use crate::scrape::file_formats;
use crate::scrape::plan::{AnswerFormat, JsonFormat, ScrapePlan};
use content::verdict::VerdictKind;
use futures_util::future::BoxFuture;
use model::chat::Usage;
use net::Deadline;
use serde_json::{Value, json};
use wire::Kind;
use wire::scrape::Document;

/// The text of a page, and the job that works on it.
#[derive(Debug, Clone, Copy)]
struct PageText<'a> {
    url: &'a str,
    text: &'a str,
    job: &'a CpuJob,
}

impl PageText<'_> {
    fn deadline(&self) -> Deadline {
        self.job.deadline()
    }
}

/// What a model (or the rules in its place) returned for one request, with notes for the caller.
#[derive(Debug, Clone, Default, PartialEq)]
struct ModelOutput<T> {
    value: T,
    notes: Vec<String>,
    usage: Usage,
}

/// Whether a plan may ask a model for data. Under lockdown nothing leaves the machine.
pub fn may_ask_model(models: &Models, plan: &ScrapePlan) -> bool {
    models.chat(Task::Extract).is_some() && !plan.cache.lockdown
}

/// Rejects formats that need a model where none is configured, before anything is fetched.
pub fn require_models(models: &Models, plan: &ScrapePlan) -> Result<(), Error> {
    for (what, task) in plan.needs_models() {
        if plan.cache.lockdown {
            let why = format!("`{what}` asks a language model, and lockdown lets nothing out");
            return Err(Error::because(Kind::BadRequest, &why));
        }
        models.require_chat(task, what)?;
    }
    Ok(())
}

/// Adds the derived formats of a plan to the document. Returns the data whose changes are tracked.
pub fn add_formats<'a>(
    models: &'a Models,
    plan: &'a ScrapePlan,
    stated: StatedData,
    fetched: &'a FetchedPage,
    document: &'a mut Document,
    job: &'a CpuJob,
) -> BoxFuture<'a, Result<Option<Value>, Error>> {
    Box::pin(async move {
        let formats = &plan.formats;
        let tracked = formats.change_tracking.as_ref().and_then(|tracking| tracking.json.as_ref());
        let asks = formats.json.is_some() || formats.summary || formats.answer.is_some() || tracked.is_some();
        if !asks && !plan.parts.clean {
            return Ok(None);
        }
        require_models(models, plan)?;
        let url = fetched.response.url.as_str();
        let mut text = document.markdown.take().unwrap_or_default();
        // The text of a file is its base64.
        if fetched.verdict.kind == VerdictKind::Binary || text.trim().is_empty() {
            return Err(Error::NoText);
        }
        let mut usage = Usage::default();
        let mut notes: Vec<String> = Vec::new();
        if plan.parts.clean {
            let cleaned = cleaning::clean(models, PageText { url, text: &text, job }).await?;
            let cleaned = keep(cleaned, &mut usage, &mut notes);
            if cleaned != text {
                file_formats::forget_spans(document);
            }
            text = cleaned;
        }
        let page = PageText { url, text: &text, job };
        let (data, followed, summary, answer) = tokio::try_join!(
            data_of(models, formats.json.as_ref(), stated.json, page),
            data_of(models, tracked, stated.tracked, page),
            async { if formats.summary { text::summarise(models, page).await.map(Some) } else { Ok(None) } },
            answer_of(models, formats.answer.as_ref(), page),
        )?;
        document.json = data.map(|output| keep(output, &mut usage, &mut notes));
        document.summary = summary.map(|output| keep(output, &mut usage, &mut notes));
        document.answer = answer.map(|output| keep(output, &mut usage, &mut notes));
        let followed = followed.map(|output| keep(output, &mut usage, &mut notes));
        document.markdown = Some(text);
        notes.dedup();
        for one in &notes {
            add_warning(document, one);
        }
        count(usage, document);
        Ok(followed)
    })
}

/// The data of the rules where there is some, else of a model.
async fn data_of(
    models: &Models,
    asked: Option<&JsonFormat>,
    stated: Option<Result<ModelOutput<Value>, Error>>,
    page: PageText<'_>,
) -> Result<Option<ModelOutput<Value>>, Error> {
    match (asked, stated) {
        (None, _) => Ok(None),
        (Some(_), Some(stated)) => stated.map(Some),
        (Some(asked), None) => data::by_model(models, asked, page).await.map(Some),
    }
}

async fn answer_of(
    models: &Models,
    asked: Option<&AnswerFormat>,
    page: PageText<'_>,
) -> Result<Option<ModelOutput<String>>, Error> {
    match asked {
        None => Ok(None),
        Some(AnswerFormat::Written(question)) => {
            text::answer_question(models, question, page).await.map(Some)
        }
        Some(AnswerFormat::Quoted(query)) => {
            let (text, query) = (page.text.to_owned(), query.clone());
            let finding = move || ::text::highlights::highlights(&text, &query);
            let value = page.job.run_on(page.text.len(), finding).await?;
            let none = value.is_empty().then(|| "no passage of the page answers the query".to_owned());
            Ok(Some(ModelOutput { value, notes: none.into_iter().collect(), usage: Usage::default() }))
        }
    }
}

fn keep<T>(output: ModelOutput<T>, usage: &mut Usage, notes: &mut Vec<String>) -> T {
    usage.add(output.usage);
    notes.extend(output.notes);
    output.value
}

/// Adds the tokens to the document and to the metrics.
fn count(usage: Usage, document: &mut Document) {
    if usage == Usage::default() {
        return;
    }
    metrics::counter!("gannet_model_tokens_total", "kind" => "input").increment(usage.input_tokens);
    metrics::counter!("gannet_model_tokens_total", "kind" => "output").increment(usage.output_tokens);
    let output = json!({ "inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens });
    document.metadata.insert("modelUsage".to_owned(), output);
}
