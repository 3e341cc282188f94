//! The end of a run: citations where the schema asks for them, what is missing, and whether that is an answer.

use crate::artifact::{Artifact, Source, stated};
use crate::run::Run;
use crate::worker::{Worker, cut};
use crate::{Citation, Ended, Fault, FaultCode, FaultSource, Outcome, Phase};
use extract::{Schema, Shape};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Missing fields that are named.
const MOST_NAMED: usize = 12;
/// Values whose sources one `record` of the trace shows.
const MOST_SOURCES: usize = 100;
const SHOWN_QUOTE: usize = 200;

/// Tells where the new values of the artifact stand, then the artifact itself.
pub(crate) async fn publish(worker: &Worker<'_>, artifact: &mut Artifact) {
    if !artifact.has_changed() {
        return;
    }
    let mut citations: Vec<Value> = Vec::new();
    for (field, source) in artifact.fresh_sources(MOST_SOURCES) {
        let quote = cut(&source.quote, SHOWN_QUOTE);
        citations.push(json!({ "field": field, "url": source.url, "quote": quote }));
    }
    let call = worker.begin("record", json!({ "values": citations.len() })).await;
    worker.end(&call, json!({ "citations": citations })).await;
    if let Some(told) = artifact.changes(Some(call.id)) {
        worker.tell(told).await;
    }
}

/// Fields that the schema wants and the value does not state, as pointers; a field of rows counts where no row has it.
pub(crate) fn missing(schema: &Schema, value: &Value) -> Vec<String> {
    let shape = schema.shape();
    let leaves = shape.leaves().filter(|(at, _)| !is_part_of_citation(shape, *at));
    leaves.map(|(_, field)| field.pointer.clone()).filter(|pointer| !states(value, pointer)).collect()
}

fn is_part_of_citation(shape: &Shape, at: usize) -> bool {
    shape.fields[at].name.ends_with("_citation")
}

/// Whether anything stands at a pointer whose `*` are all items.
fn states(value: &Value, pointer: &str) -> bool {
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
    at.into_iter().any(stated)
}

/// Writes the source of each value into the `…_citation` beside it, where the schema has one.
pub(crate) fn cite(schema: &Schema, artifact: &mut Artifact) {
    let shape = schema.shape();
    let cited: Vec<(String, String)> = shape
        .fields
        .iter()
        .filter_map(|field| Some((field.pointer.clone(), shape.fields[field.citation_of?].pointer.clone())))
        .collect();
    if cited.is_empty() {
        return;
    }
    let sources: BTreeMap<String, Source> =
        artifact.sources().map(|(pointer, source)| (pointer.to_owned(), source.clone())).collect();
    for (pointer, source) in &sources {
        let general = generalised(pointer);
        // The value of an object or a list stands where its first part stands.
        let found = cited.iter().find(|(_, of)| general == *of || general.starts_with(&format!("{of}/")));
        let Some((citation, of)) = found else { continue };
        let depth = of.matches('/').count();
        let concrete: Vec<&str> = pointer.split('/').take(depth).collect();
        let name = citation.rsplit('/').next().unwrap_or_default();
        let place = format!("{}/{name}", concrete.join("/"));
        if !artifact.value().pointer(&place).is_some_and(stated) {
            // A place that the value itself has made cannot be refused but for size; then the citation stays in the trace alone.
            let _ = artifact.set(&place, json!(source.url), None);
        }
    }
}

/// A pointer with `*` for every row.
fn generalised(pointer: &str) -> String {
    let steps = pointer.split('/').map(|step| {
        let number = !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
        if number { "*" } else { step }
    });
    steps.collect::<Vec<_>>().join("/")
}

/// Ends a run in `extract` mode with what the artifact holds.
pub(crate) async fn conclude(
    worker: &Worker<'_>,
    schema: Option<&Schema>,
    artifact: &mut Artifact,
    remark: Option<String>,
) -> Ended {
    if let Some(schema) = schema {
        cite(schema, artifact);
    }
    let missing = schema.map(|schema| missing(schema, artifact.value())).unwrap_or_default();
    let found = !artifact.is_empty();
    let violation = match schema.filter(|_| found) {
        Some(schema) => settle(worker.run, schema, artifact).await,
        None => None,
    };
    let data = found.then(|| artifact.value().clone());
    let note = note(worker.run, &missing, violation.as_deref(), remark.as_deref());
    if worker.run.ledger.stopped() && (data.is_none() || !missing.is_empty() || violation.is_some()) {
        out_of_credits(worker).await;
        return Ended::OutOfCredits { partial: data };
    }
    let Some(data) = data else {
        return failed(worker, note.unwrap_or_else(|| NOTHING.to_owned())).await;
    };
    publish(worker, artifact).await;
    let cited = artifact.sources().map(|(field, source)| Citation {
        field: field.to_owned(),
        url: source.url.clone(),
        quote: source.quote.clone(),
    });
    worker.run.journal.cite(cited.collect()).await;
    let message = note.clone().unwrap_or_else(|| "Everything that was asked for was found.".to_owned());
    worker.progress(Phase::Finalizing, message).await;
    worker.finish(Outcome::Succeeded, None).await;
    Ended::Answered { data: Some(data), message: None, suggestions: Vec::new(), note }
}

const NOTHING: &str = "nothing of what was asked for was found on the pages that were read";

/// The value in the schema's shape where it can be made to fit; else as it is, with the reason.
async fn settle(run: &Run<'_>, schema: &Schema, artifact: &mut Artifact) -> Option<String> {
    let (schema, value) = (schema.clone(), artifact.value().clone());
    let conforming = run.compute(move || {
        let conformed = extract::conform(value, &schema);
        let violations = if conformed.valid { None } else { schema.validate(&conformed.value).err() };
        let first = violations.and_then(|violations| violations.into_iter().next());
        (conformed, first.map(|violation| format!("{}: {}", violation.pointer, violation.message)))
    });
    match conforming.await {
        Ok((conformed, violation)) => {
            artifact.settle(conformed.value, &conformed.dropped);
            violation
        }
        Err(error) => Some(format!("it was not checked to the end: {error}")),
    }
}

fn note(run: &Run<'_>, missing: &[String], violation: Option<&str>, remark: Option<&str>) -> Option<String> {
    let pages = run.readings().len();
    let mut parts: Vec<String> = remark.map(str::to_owned).into_iter().collect();
    if !missing.is_empty() {
        let named: Vec<String> = missing.iter().take(MOST_NAMED).map(|pointer| readable(pointer)).collect();
        let more = missing.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("Not found on {pages} pages: {}{more}.", named.join(", ")));
    }
    if let Some(violation) = violation {
        parts.push(format!("The result does not fit the schema: {violation}"));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// `/plans/*/price` as `plans[].price`.
fn readable(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace("/*", "[]").replace('/', ".")
}

pub(crate) async fn out_of_credits(worker: &Worker<'_>) {
    let fault = Fault {
        code: FaultCode::CreditLimitReached,
        source: FaultSource::Billing,
        retryable: false,
        message: "the run's credits were used up before everything was found".to_owned(),
    };
    worker.progress(Phase::Finalizing, fault.message.clone()).await;
    worker.finish(Outcome::Failed, Some(fault)).await;
}

pub(crate) async fn failed(worker: &Worker<'_>, message: String) -> Ended {
    let fault = Fault { code: FaultCode::Internal, source: FaultSource::Agent, retryable: false, message };
    worker.finish(Outcome::Failed, Some(fault.clone())).await;
    Ended::Failed { fault, partial: None }
}
