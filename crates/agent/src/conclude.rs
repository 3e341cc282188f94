//! The end of a run: writes citations where the schema asks for them, lists missing fields, and decides
//! whether the result counts as an answer.

use crate::agent::{Agent, cut};
use crate::artifact::{Artifact, ValueSource, is_filled};
use crate::run::RunContext;
use crate::{AgentError, AgentErrorCode, AgentErrorSource, AgentOutcome, BrainOutcome, Citation, Phase};
use extract::{Schema, Shape};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Missing fields named in the note.
const MAX_NAMED_FIELDS: usize = 12;
/// Limits of the citations that one `record` call shows in the trace.
const MAX_SHOWN_SOURCES: usize = 100;
const MAX_SHOWN_QUOTE_CHARACTERS: usize = 200;

/// Records the citations of new values in the trace, then the changed artifact.
pub(crate) async fn publish(agent: &Agent<'_>, artifact: &mut Artifact) {
    if !artifact.has_changed() {
        return;
    }
    let mut citations: Vec<Value> = Vec::new();
    for (field, source) in artifact.take_unpublished_sources(MAX_SHOWN_SOURCES) {
        let quote = cut(&source.quote, MAX_SHOWN_QUOTE_CHARACTERS);
        citations.push(json!({ "field": field, "url": source.url, "quote": quote }));
    }
    let call = agent.begin_call("record", json!({ "values": citations.len() })).await;
    agent.end_call(&call, json!({ "citations": citations })).await;
    if let Some(event) = artifact.take_change_event(Some(call.id)) {
        agent.record_event(event).await;
    }
}

/// JSON pointers of schema fields that the value leaves empty. A field of list rows is missing only when no
/// row has it.
pub(crate) fn missing_fields(schema: &Schema, value: &Value) -> Vec<String> {
    let shape = schema.shape();
    let leaves = shape.leaves().filter(|(at, _)| !is_citation(shape, *at));
    leaves.map(|(_, field)| field.pointer.clone()).filter(|pointer| !is_filled_at(value, pointer)).collect()
}

/// Fields of list rows that some rows have and others lack, with how many have it and how many rows there are.
fn fields_of_some_rows(schema: &Schema, value: &Value) -> Vec<(String, usize, usize)> {
    let shape = schema.shape();
    let leaves = shape.leaves().filter(|(at, _)| !is_citation(shape, *at));
    leaves
        .filter_map(|(_, field)| {
            let (list, within) = field.pointer.split_once("/*/")?;
            let rows = value.pointer(list)?.as_array()?;
            let has = |row: &&Value| is_filled_at(row, &format!("/{within}"));
            let filled = rows.iter().filter(has).count();
            (0 < filled && filled < rows.len()).then(|| (field.pointer.clone(), filled, rows.len()))
        })
        .collect()
}

fn is_citation(shape: &Shape, at: usize) -> bool {
    shape.fields[at].name.ends_with("_citation")
}

/// Whether any value at the pointer is filled; `*` stands for all items of a list.
fn is_filled_at(value: &Value, pointer: &str) -> bool {
    let mut at = vec![value];
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        at = at
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(list) if step == "*" => list.iter().collect::<Vec<_>>(),
                Value::Object(object) => object.get(&name).into_iter().collect(),
                _ => Vec::new(),
            })
            .collect();
    }
    at.into_iter().any(is_filled)
}

/// Writes the URL of each value into its `…_citation` field, where the schema has one.
pub(crate) fn write_citations(schema: &Schema, artifact: &mut Artifact) {
    let shape = schema.shape();
    let cited: Vec<(String, String)> = shape
        .fields
        .iter()
        .filter_map(|field| Some((field.pointer.clone(), shape.fields[field.citation_of?].pointer.clone())))
        .collect();
    if cited.is_empty() {
        return;
    }
    let sources: BTreeMap<String, ValueSource> =
        artifact.sources().map(|(pointer, source)| (pointer.to_owned(), source.clone())).collect();
    for (pointer, source) in &sources {
        let general = with_wildcards(pointer);
        // An object or a list is cited by the source of its first part.
        let found = cited.iter().find(|(_, of)| general == *of || general.starts_with(&format!("{of}/")));
        let Some((citation, of)) = found else { continue };
        let depth = of.matches('/').count();
        let concrete: Vec<&str> = pointer.split('/').take(depth).collect();
        let name = citation.rsplit('/').next().unwrap_or_default();
        let place = format!("{}/{name}", concrete.join("/"));
        if !artifact.value().pointer(&place).is_some_and(is_filled) {
            // The parent exists because the value does, so only the size limit can refuse this; the citation
            // is then in the trace alone.
            let _ = artifact.set(&place, json!(source.url), None);
        }
    }
}

/// The pointer with `*` in place of every row number.
fn with_wildcards(pointer: &str) -> String {
    let steps = pointer.split('/').map(|step| {
        let number = !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
        if number { "*" } else { step }
    });
    steps.collect::<Vec<_>>().join("/")
}

/// Ends a run in `extract` mode with the contents of the artifact.
pub(crate) async fn conclude(
    agent: &Agent<'_>,
    schema: Option<&Schema>,
    artifact: &mut Artifact,
    remark: Option<String>,
) -> BrainOutcome {
    if let Some(schema) = schema {
        write_citations(schema, artifact);
    }
    let missing = schema.map(|schema| missing_fields(schema, artifact.value())).unwrap_or_default();
    let found = !artifact.is_empty();
    let violation = match schema.filter(|_| found) {
        Some(schema) => conform_to_schema(agent.run, schema, artifact).await,
        None => None,
    };
    let data = found.then(|| artifact.value().clone());
    let gaps = Gaps {
        some_rows: schema.map(|schema| fields_of_some_rows(schema, artifact.value())).unwrap_or_default(),
        doubtful: doubtful_fields(artifact),
        violation,
        remark,
    };
    let note = gaps_note(agent.run, &missing, &gaps);
    if agent.run.ledger.exhausted() && (data.is_none() || !missing.is_empty() || gaps.violation.is_some()) {
        finish_out_of_credits(agent).await;
        return BrainOutcome::OutOfCredits { partial: data };
    }
    let Some(data) = data else {
        return finish_failed(agent, note.unwrap_or_else(|| NOTHING_FOUND.to_owned())).await;
    };
    publish(agent, artifact).await;
    let cited = artifact.sources().map(|(field, source)| Citation {
        field: field.to_owned(),
        url: source.url.clone(),
        quote: source.quote.clone(),
    });
    agent.run.journal.record_citations(cited.collect()).await;
    // Without a schema nothing says whether a passage answers all of a question.
    let found = if schema.is_some() { ALL_FOUND } else { ANSWERED };
    let message = note.clone().unwrap_or_else(|| found.to_owned());
    agent.progress(Phase::Finalizing, message).await;
    agent.finish(AgentOutcome::Succeeded, None).await;
    BrainOutcome::Answered { data: Some(data), message: None, suggestions: Vec::new(), note }
}

const ALL_FOUND: &str = "Found everything that was requested.";
const ANSWERED: &str = "Answered with what the pages say.";
const NOTHING_FOUND: &str = "none of the requested information was found on the pages that were read";

/// Makes the value conform to the schema where possible; otherwise keeps it and returns the first violation.
async fn conform_to_schema(run: &RunContext<'_>, schema: &Schema, artifact: &mut Artifact) -> Option<String> {
    let (schema, value) = (schema.clone(), artifact.value().clone());
    let conforming = run.compute(move || {
        let conformed = extract::conform(value, &schema);
        let violations = if conformed.valid { None } else { schema.validate(&conformed.value).err() };
        let first = violations.and_then(|violations| violations.into_iter().next());
        (conformed, first.map(|violation| format!("{}: {}", violation.pointer, violation.message)))
    });
    match conforming.await {
        Ok((conformed, violation)) => {
            artifact.replace_conformed(conformed.value, &conformed.dropped);
            violation
        }
        Err(error) => Some(format!("validation did not finish: {error}")),
    }
}

/// Pointers of fields whose values the pages state only loosely, each once.
fn doubtful_fields(artifact: &Artifact) -> Vec<String> {
    let doubtful = artifact.sources().filter(|(_, source)| source.doubtful);
    let fields: std::collections::BTreeSet<String> =
        doubtful.map(|(pointer, _)| with_wildcards(pointer)).collect();
    fields.into_iter().collect()
}

/// What a result lacks beside fields that were not found at all.
struct Gaps {
    some_rows: Vec<(String, usize, usize)>,
    doubtful: Vec<String>,
    violation: Option<String>,
    remark: Option<String>,
}

/// The result's gaps in words; `None` where everything was found.
fn gaps_note(run: &RunContext<'_>, missing: &[String], gaps: &Gaps) -> Option<String> {
    let pages = run.parsed_pages().len();
    let mut parts: Vec<String> = gaps.remark.clone().into_iter().collect();
    if !missing.is_empty() {
        let named = list_some(missing.iter().map(|pointer| readable_path(pointer)));
        parts.push(format!("Not found on {pages} pages: {named}."));
    }
    if !gaps.some_rows.is_empty() {
        let named =
            list_some(gaps.some_rows.iter().map(|(pointer, filled, rows)| {
                format!("{} ({filled} of {rows} rows)", readable_path(pointer))
            }));
        parts.push(format!("Not found for every row: {named}."));
    }
    if !gaps.doubtful.is_empty() {
        let named = list_some(gaps.doubtful.iter().map(|pointer| readable_path(pointer)));
        parts.push(format!("Doubtful: {named}."));
    }
    if let Some(violation) = &gaps.violation {
        parts.push(format!("The result does not fit the schema: {violation}"));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The first names, and how many more there are.
fn list_some(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED_FIELDS);
    let named: Vec<String> = names.take(MAX_NAMED_FIELDS).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// `/plans/*/price` as `plans[].price`.
fn readable_path(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace("/*", "[]").replace('/', ".")
}

pub(crate) async fn finish_out_of_credits(agent: &Agent<'_>) {
    let error = AgentError {
        code: AgentErrorCode::CreditLimitReached,
        source: AgentErrorSource::Billing,
        retryable: false,
        message: "the run's credits were used up before everything was found".to_owned(),
    };
    agent.progress(Phase::Finalizing, error.message.clone()).await;
    agent.finish(AgentOutcome::Failed, Some(error)).await;
}

pub(crate) async fn finish_failed(agent: &Agent<'_>, message: String) -> BrainOutcome {
    let error = AgentError {
        code: AgentErrorCode::Internal,
        source: AgentErrorSource::Agent,
        retryable: false,
        message,
    };
    agent.finish(AgentOutcome::Failed, Some(error.clone())).await;
    BrainOutcome::Failed { error, partial: None }
}
