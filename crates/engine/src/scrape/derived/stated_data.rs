//! Structured data by rules: what the page itself states, and nothing else. Pure computation, for the CPU
//! pool.

use super::ModelOutput;
use crate::Error;
use crate::scrape::plan::{JsonFormat, ScrapePlan};
use content::Page;
use extract::{PageView, Schema, conform, fill};
use model::chat::Usage;
use serde_json::Value;

/// Names of fields that are listed.
const MAX_LISTED_FIELDS: usize = 10;

/// The data that the rules found in a page.
#[derive(Debug, Clone, Default)]
pub struct StatedData {
    pub(super) json: Option<Result<ModelOutput<Value>, Error>>,
    pub(super) tracked: Option<Result<ModelOutput<Value>, Error>>,
}

impl StatedData {
    /// Fills what a plan wants by rules: all of its data where no model is asked, else only what it wants so.
    pub fn from_page(
        plan: &ScrapePlan,
        asks_model: bool,
        url: &str,
        page: &Page,
        markdown: Option<&str>,
    ) -> Self {
        let Some(markdown) = markdown else { return Self::default() };
        let view = PageView { url, page, markdown };
        let state = |asked: Option<&JsonFormat>| {
            let asked = asked.filter(|asked| asked.by_rules || !asks_model)?;
            let schema = asked.schema.as_deref()?;
            Some(by_rules(schema, asked, view, plan.cache.lockdown))
        };
        let tracking = plan.formats.change_tracking.as_ref();
        Self {
            json: state(plan.formats.json.as_ref()),
            tracked: state(tracking.and_then(|tracking| tracking.json.as_ref())),
        }
    }
}

fn by_rules(
    schema: &Schema,
    asked: &JsonFormat,
    view: PageView<'_>,
    lockdown: bool,
) -> Result<ModelOutput<Value>, Error> {
    let filled = fill(schema, asked.prompt.as_deref().unwrap_or_default(), &[view]);
    let missing = filled.missing;
    let conformed = conform(filled.value, schema);
    if !conformed.valid {
        let lacking = if conformed.missing.is_empty() { &conformed.dropped } else { &conformed.missing };
        let why = format!("the page does not state what the schema requires: {}", listed(lacking));
        let (missing, partial) = (lacking.clone(), Box::new(conformed.value));
        return Err(Error::SchemaNotFilled { reason: why, missing, partial });
    }
    let mut notes = Vec::new();
    if !asked.by_rules {
        let why = if lockdown {
            "lockdown lets nothing out to a language model"
        } else {
            "there is no language model here"
        };
        notes.push(format!("{why}, so the data is what the page itself states"));
    }
    if !missing.is_empty() {
        notes.push(format!("the page does not state {}", listed(&missing)));
    }
    Ok(ModelOutput { value: conformed.value, notes, usage: Usage::default() })
}

/// Some names of many.
fn listed(pointers: &[String]) -> String {
    let mut text = pointers.iter().take(MAX_LISTED_FIELDS).map(String::as_str).collect::<Vec<_>>().join(", ");
    if pointers.len() > MAX_LISTED_FIELDS {
        text.push_str(", …");
    }
    if text.is_empty() { "anything of it".to_owned() } else { text }
}
