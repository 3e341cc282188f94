//! `/v2/agent`: runs that find, read and answer, with everything they did on the way.

use super::crawl::json;
use crate::app::App;
use crate::body::{IdempotencyKey, JobId, JsonBody, QueryString};
use crate::error::Failure;
use crate::guard::Who;
use crate::public::base_url;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::agent::trace::{TraceWatch, flag};
use futures_util::stream::{self, Stream};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use store::agents::RunKind;
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::agent::{
    AgentCancelled, AgentListQuery, AgentPage, AgentRequest, AgentSnapshot, AgentStarted, AgentStatus,
    AgentThreadAnswer, AgentTrace, ThreadQuery, TraceQuery,
};
use wire::{ErrorBody, Kind};

/// A sign of life for whoever is between us.
const PING_EVERY: Duration = Duration::from_secs(15);

pub fn start_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(start_agent))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_agents))
        .routes(routes!(agent_status, cancel_agent))
        .routes(routes!(agent_trace))
        .routes(routes!(agent_snapshot))
        .routes(routes!(agent_thread))
}

/// Start a run
#[utoipa::path(post, path = "/v2/agent", tag = "Agent", request_body = AgentRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second run with the same key is refused")),
    responses(
        (status = 200, body = AgentStarted),
        (status = 402, description = "The plan's credits do not cover `maxCredits`", body = ErrorBody),
        (status = 404, description = "There is no such thread", body = ErrorBody),
        (status = 409, description = "The thread has a run that is not finished, or the idempotency key was used before", body = ErrorBody),
        (status = 500, description = "The run could not be submitted", body = ErrorBody),
    ))]
async fn start_agent(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(key): IdempotencyKey,
    JsonBody(asked): JsonBody<AgentRequest>,
) -> Result<Json<AgentStarted>, Failure> {
    Ok(Json(app.agents.start(&caller, &asked, key).await?))
}

/// The team's runs, newest first, 20 to a page
#[utoipa::path(get, path = "/v2/agent", tag = "Agent", params(AgentListQuery),
    responses((status = 200, body = AgentPage)))]
async fn list_agents(
    State(app): State<App>,
    Who(caller): Who,
    QueryString(query): QueryString<AgentListQuery>,
    headers: HeaderMap,
) -> Result<Json<AgentPage>, Failure> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.agents.list(&caller, &query, &base).await?))
}

/// How a run stands, and its result
#[utoipa::path(get, path = "/v2/agent/{id}", tag = "Agent",
    params(("id" = Uuid, Path, description = "Id of the run")), responses((status = 200, body = AgentStatus)))]
async fn agent_status(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
) -> Result<Json<AgentStatus>, Failure> {
    Ok(Json(app.agents.status(&caller, id).await?))
}

/// Cancel a run
#[utoipa::path(delete, path = "/v2/agent/{id}", tag = "Agent",
    params(("id" = Uuid, Path, description = "Id of the run")),
    responses(
        (status = 200, body = AgentCancelled),
        (status = 409, description = "It has ended, or is being cancelled", body = ErrorBody),
    ))]
async fn cancel_agent(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
) -> Result<Json<AgentCancelled>, Failure> {
    app.agents.cancel(&caller, RunKind::Agent, id).await?;
    Ok(Json(AgentCancelled { success: true }))
}

/// Everything a run told
///
/// With `Accept: text/event-stream` the same as server-sent events, as they come, until the run has ended.
#[utoipa::path(get, path = "/v2/agent/{id}/trace", tag = "Agent",
    params(
        ("id" = Uuid, Path, description = "Id of the run"),
        TraceQuery,
        ("Last-Event-ID" = Option<Uuid>, Header, description = "As `after`, for event streams"),
    ),
    responses((status = 200, body = AgentTrace)))]
async fn agent_trace(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    QueryString(query): QueryString<TraceQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    if !wants_stream(&headers) {
        return Ok(json(app.agents.trace(&caller, id, &query).await?));
    }
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(str::trim);
    let last = last.filter(|id| !id.is_empty()).map(str::to_owned);
    let query = TraceQuery { after: last.or(query.after), ..query };
    let watch = app.agents.watch_trace(&caller, id, &query).await?;
    let stream = told(watch, app.stopping.clone());
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(PING_EVERY)).into_response())
}

/// An artifact as it stood when an event told of it
#[utoipa::path(get, path = "/v2/agent/{id}/snapshots/{snapshotId}", tag = "Agent",
    params(
        ("id" = Uuid, Path, description = "Id of the run"),
        ("snapshotId" = Uuid, Path, description = "Of an `artifact.updated` event"),
    ),
    responses((status = 200, body = AgentSnapshot)))]
async fn agent_snapshot(
    State(app): State<App>,
    Who(caller): Who,
    Path((run, snapshot)): Path<(String, String)>,
) -> Result<Json<AgentSnapshot>, Failure> {
    let id = Uuid::try_parse(&run).map_err(|_| Kind::InvalidJobId)?;
    Ok(Json(app.agents.snapshot(&caller, id, &snapshot).await?))
}

/// A thread and its runs, oldest turn first
#[utoipa::path(get, path = "/v2/agent/threads/{threadId}", tag = "Agent",
    params(("threadId" = Uuid, Path, description = "Id of the thread"), ThreadQuery),
    responses((status = 200, body = AgentThreadAnswer)))]
async fn agent_thread(
    State(app): State<App>,
    Who(caller): Who,
    Path(thread): Path<String>,
    QueryString(query): QueryString<ThreadQuery>,
) -> Result<Json<AgentThreadAnswer>, Failure> {
    let with_data = flag("includeData", query.include_data.as_deref())?;
    // What is no id is the id of no thread.
    let id = Uuid::try_parse(&thread).map_err(|_| Kind::ThreadNotFound)?;
    Ok(Json(AgentThreadAnswer { success: true, thread: app.agents.thread(&caller, id, with_data).await? }))
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|value| value.split(','));
    kinds.any(|kind| {
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
    })
}

/// Events with their ids, so that a client that comes back goes on where it was.
fn told(watch: TraceWatch, stopping: CancellationToken) -> impl Stream<Item = Result<Event, Infallible>> {
    let state = (Some(watch), VecDeque::new(), stopping);
    stream::unfold(state, |(mut watch, mut waiting, stopping)| async move {
        while waiting.is_empty() {
            match stopping.run_until_cancelled(watch.as_mut()?.next()).await? {
                Ok(look) => {
                    let events = look.events.into_iter();
                    waiting.extend(events.map(|(id, json)| Event::default().id(id.to_string()).data(json)));
                    if look.ended {
                        watch = None;
                    }
                }
                Err(error) => {
                    let body = serde_json::to_string(&error.body()).unwrap_or_default();
                    waiting.push_back(Event::default().event("error").data(body));
                    watch = None;
                }
            }
        }
        waiting.pop_front().map(|event| (Ok(event), (watch, waiting, stopping)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_stream_is_asked_for_by_name() {
        let accepts = |value: &'static str| {
            wants_stream(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(value))]))
        };
        assert!(accepts("text/event-stream") && accepts("application/json, Text/Event-Stream;q=0.5"));
        assert!(!accepts("application/json") && !accepts("*/*") && !wants_stream(&HeaderMap::new()));
    }
}
