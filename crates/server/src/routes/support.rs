//! `/v2/support/…`: questions about a job and about this service, as the official command line asks them.

use crate::app::App;
use crate::auth::Authenticated;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::support::{Section, find_job, find_sections};
use axum::Json;
use axum::extract::State;
use std::time::Instant;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::support::{
    AskRequest, AskResponse, AskValidation, DocsEvidence, DocsSearchRequest, DocsSearchResponse, DocsUsage,
};
use wire::{Issues, Kind};

const MAX_QUESTION_CHARS: usize = 8000;
/// Sections in an answer about a job, and in an answer from the documentation alone.
const SECTIONS_BESIDE_A_JOB: usize = 1;
const SECTIONS: usize = 3;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(ask)).routes(routes!(search_docs))
}

/// Ask why a job ended as it did, or how something is done
///
/// Answered by rules from the job's own record, the catalogue of errors and the documentation.
#[utoipa::path(post, path = "/v2/support/ask", operation_id = "supportAsk", tag = "Support",
    request_body = AskRequest, responses((status = 200, body = AskResponse)))]
async fn ask(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JsonBody(asked): JsonBody<AskRequest>,
) -> Result<Json<AskResponse>, ApiError> {
    let began = Instant::now();
    let question = checked(asked.question)?;
    let job = match &asked.job_id {
        None => None,
        Some(id) => {
            let id = Uuid::try_parse(id).map_err(|_| Kind::InvalidJobId)?;
            Some(find_job(&app, &caller, id).await?.unwrap_or_else(|| crate::support::JobReport {
                lines: vec![format!("There is no job {id} of this team; jobs are kept for a limited time.")],
                ..crate::support::JobReport::default()
            }))
        }
    };
    let words = format!(
        "{question} {} {} {}",
        asked.rationale.unwrap_or_default(),
        asked.context.map(|context| context.to_string()).unwrap_or_default(),
        job.as_ref().filter(|job| job.failed).map(|job| job.lines.join(" ")).unwrap_or_default(),
    );
    let most = if job.is_some() { SECTIONS_BESIDE_A_JOB } else { SECTIONS };
    let sections = find_sections(&words, most);
    let mut lines = job.as_ref().map(|job| job.lines.clone()).unwrap_or_default();
    lines.extend(sections.iter().map(|section| shown(section)));
    if lines.is_empty() {
        lines.push("The documentation has nothing about this.".to_owned());
    }
    let confidence = match &job {
        Some(_) => "high",
        None if sections.is_empty() => "low",
        None => "medium",
    };
    Ok(Json(AskResponse {
        request_id: Uuid::now_v7(),
        answer: lines.join("\n\n"),
        confidence,
        validation: job.as_ref().map(|job| AskValidation {
            tested: false,
            result: if job.failed { "failed" } else { "no failure on record" }.to_owned(),
            evidence: job.lines.first().cloned().unwrap_or_default(),
        }),
        fix_parameters: job.and_then(|job| job.fix),
        feedback: None,
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}

/// Search the documentation of this service
#[utoipa::path(post, path = "/v2/support/docs-search", operation_id = "supportDocsSearch", tag = "Support",
    request_body = DocsSearchRequest, responses((status = 200, body = DocsSearchResponse)))]
async fn search_docs(
    Authenticated(_): Authenticated,
    JsonBody(asked): JsonBody<DocsSearchRequest>,
) -> Result<Json<DocsSearchResponse>, ApiError> {
    let began = Instant::now();
    let sections = find_sections(&checked(asked.question)?, SECTIONS);
    let answer = match sections.first() {
        Some(_) => sections.iter().map(|section| shown(section)).collect::<Vec<_>>().join("\n\n"),
        None => "The documentation has nothing about this.".to_owned(),
    };
    let evidence = sections.iter().map(|section| DocsEvidence {
        path_or_url: section.place.clone(),
        reason: format!("The section \"{}\" has the words of the question.", section.heading),
    });
    Ok(Json(DocsSearchResponse {
        request_id: Uuid::now_v7(),
        answer,
        evidence: evidence.collect(),
        usage: DocsUsage::default(),
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}

fn shown(section: &Section) -> String {
    format!("{} ({})\n{}", section.heading, section.place, section.shown())
}

fn checked(question: Option<String>) -> Result<String, wire::WireError> {
    let question = question.unwrap_or_default();
    let mut issues = Issues::default();
    if question.trim().is_empty() {
        issues.add("question", "is required", "invalid_type");
    } else if question.chars().count() > MAX_QUESTION_CHARS {
        issues.add("question", "must have at most 8000 characters", "too_big");
    }
    issues.finish()?;
    Ok(question)
}
