//! What a model leaves open is filled by the built-in rules, and a value that the model gives without any page that
//! states it gives way to one that a page states. A model that gave up is replaced by the rules: they read on where it
//! stopped, so that a weak model costs time, but no answer.

use super::ModelSession;
use crate::agent::Agent;
use crate::artifact::{Artifact, is_filled};
use crate::builtin::Explorer;
use crate::conclude::missing_fields;
use crate::filling::{FillRequest, RowSchema, fill};

/// How the model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelEnd {
    Finished,
    GaveUp,
}

impl ModelSession<'_> {
    /// Fills what the model left open.
    pub(super) async fn fill_open(&self, lead: &Agent<'_>, artifact: &mut Artifact, end: ModelEnd) {
        if !self.is_open(artifact) {
            return;
        }
        let found = match end {
            ModelEnd::Finished => self.fill_from_read_pages(lead).await,
            ModelEnd::GaveUp => {
                let mut explorer = Explorer::without_publishing(lead, self.schema.clone());
                let mut found = Artifact::default();
                if explorer.begin().await {
                    explorer.explore(&mut found).await;
                }
                found
            }
        };
        if artifact.is_empty() || !artifact.value().is_object() {
            if !found.is_empty() && artifact.sources().next().is_none() {
                artifact.take_from(&found);
            }
            return;
        }
        for (name, value) in found.value().as_object().into_iter().flatten() {
            let place = format!("/{}", escape(name));
            if is_filled(value) && is_better(&found, artifact, &place, end) {
                artifact.take_field_from(&found, &place);
            }
        }
    }

    /// Whether a field is empty, breaks the schema, or has no page that states it.
    fn is_open(&self, artifact: &Artifact) -> bool {
        let Some(schema) = &self.schema else { return artifact.is_empty() };
        let unsupported = artifact.value().as_object().into_iter().flatten().any(|(name, value)| {
            is_filled(value) && artifact.sources_within(&format!("/{}", escape(name))) == 0
        });
        unsupported
            || !missing_fields(schema, artifact.value()).is_empty()
            || schema.validate(artifact.value()).is_err()
    }

    async fn fill_from_read_pages(&self, lead: &Agent<'_>) -> Artifact {
        let pages = lead.run.parsed_pages();
        if pages.is_empty() {
            return Artifact::default();
        }
        let request = FillRequest {
            prompt: lead.run.task.prompt.clone(),
            schema: self.schema.clone(),
            rows: self.schema.as_ref().and_then(RowSchema::from_schema),
            limit: crate::prompt_words::row_limit(&lead.run.task.prompt),
            pages,
            first: Vec::new(),
            details: Vec::new(),
            names: Vec::new(),
        };
        let findings = fill(lead.run, request).await;
        let mut found = Artifact::default();
        found.replace(findings.value, findings.sources);
        found
    }
}

/// Whether the rules' value of a top-level field is to be taken. Always the whole field: rows of the model and rows of
/// the rules are never mixed.
fn is_better(rules: &Artifact, model: &Artifact, place: &str, end: ModelEnd) -> bool {
    let Some(value) = model.value().pointer(place).filter(|value| is_filled(value)) else { return true };
    let (by_rules, by_model) = (rules.sources_within(place), model.sources_within(place));
    // A model that finished may have left out rows on purpose; one that gave up stopped somewhere.
    let incomplete = end == ModelEnd::GaveUp && value.is_array();
    by_rules > 0 && (by_model == 0 || (incomplete && by_rules > by_model))
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
