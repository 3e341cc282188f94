//! Data by rules: what the page itself states, and nothing else. Pure computing, for the bench where the page lies.

use super::Told;
use crate::scrape::plan::{JsonAsked, ScrapePlan};
use content::Page;
use extract::{PageView, Schema, conform, fill};
use model::chat::Usage;
use serde_json::Value;
use wire::{Kind, WireError};

/// Names of fields that are listed.
const MOST_LISTED: usize = 10;

/// What the rules made of a page.
#[derive(Debug, Clone, Default)]
pub struct Stated {
    pub(super) json: Option<Result<Told<Value>, WireError>>,
    pub(super) tracked: Option<Result<Told<Value>, WireError>>,
}

impl Stated {
    /// Fills what a plan wants by rules: all of its data where no model is asked, else only what it wants so.
    pub fn of(plan: &ScrapePlan, asks_model: bool, url: &str, page: &Page, markdown: Option<&str>) -> Self {
        let Some(markdown) = markdown else { return Self::default() };
        let view = PageView { url, page, markdown };
        let state = |asked: Option<&JsonAsked>| {
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
    asked: &JsonAsked,
    view: PageView<'_>,
    lockdown: bool,
) -> Result<Told<Value>, WireError> {
    let filled = fill(schema, asked.prompt.as_deref().unwrap_or_default(), &[view]);
    let missing = filled.missing;
    let conformed = conform(filled.value, schema);
    if !conformed.valid {
        let lacking = if conformed.missing.is_empty() { &conformed.dropped } else { &conformed.missing };
        let why = format!("the page does not state what the schema requires: {}", listed(lacking));
        let details = serde_json::json!({ "missing": lacking, "partial": conformed.value });
        return Err(WireError::because(Kind::UnprocessableEntity, &why).with_details(&details));
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
    Ok(Told { value: conformed.value, notes, usage: Usage::default() })
}

/// Some names of many.
fn listed(pointers: &[String]) -> String {
    let mut text = pointers.iter().take(MOST_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if pointers.len() > MOST_LISTED {
        text.push_str(", …");
    }
    if text.is_empty() { "anything of it".to_owned() } else { text }
}
