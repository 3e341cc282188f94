//! `/v2/agent`: agent runs, their status, trace and threads.

use super::crawl::json_response;
use crate::app::App;
use crate::auth::Authenticated;
use crate::base_url::base_url;
use crate::body::{IdempotencyKey, JobId, JsonBody, QueryString};
use crate::error::ApiError;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::agent::RunKind;
use engine::agent::trace::{TraceWatch, flag};
use futures_util::stream::{self, Stream};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::agent::{
    AgentCancelled, AgentListQuery, AgentPage, AgentQuestion, AgentRequest, AgentSkillResponse,
    AgentSnapshot, AgentStarted, AgentStatus, AgentThreadResponse, AgentTrace, ThreadQuery, TraceQuery,
};
use wire::{ErrorBody, Kind};

/// Keep-alive interval, so that proxies do not close the connection.
const PING_INTERVAL: Duration = Duration::from_secs(15);

pub fn start_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(start_agent))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_agents))
        .routes(routes!(agent_status, cancel_agent))
        .routes(routes!(agent_question))
        .routes(routes!(agent_trace))
        .routes(routes!(agent_snapshot))
        .routes(routes!(agent_skill))
        .routes(routes!(agent_thread))
}

/// Start an agent run
#[utoipa::path(post, path = "/v2/agent", tag = "Agent", request_body = AgentRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second run with the same key is rejected")),
    responses(
        (status = 200, body = AgentStarted),
        (status = 402, description = "The plan's credits do not cover `maxCredits`", body = ErrorBody),
        (status = 404, description = "The thread does not exist", body = ErrorBody),
        (status = 409, description = "The thread has a run that is not finished, or the idempotency key was used before", body = ErrorBody),
        (status = 500, description = "The run could not be submitted", body = ErrorBody),
    ))]
async fn start_agent(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    IdempotencyKey(key): IdempotencyKey,
    JsonBody(asked): JsonBody<AgentRequest>,
) -> Result<Json<AgentStarted>, ApiError> {
    Ok(Json(app.agents.start(&caller, &asked, key).await?))
}

/// List the agent runs of the team, newest first, 20 per page
#[utoipa::path(get, path = "/v2/agent", tag = "Agent", params(AgentListQuery),
    responses((status = 200, body = AgentPage)))]
async fn list_agents(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<AgentListQuery>,
    headers: HeaderMap,
) -> Result<Json<AgentPage>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.agents.list(&caller, &query, &base).await?))
}

/// Get the status and the result of an agent run
#[utoipa::path(get, path = "/v2/agent/{id}", tag = "Agent",
    params(("id" = Uuid, Path, description = "Id of the run")), responses((status = 200, body = AgentStatus)))]
async fn agent_status(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<AgentStatus>, ApiError> {
    Ok(Json(app.agents.status(&caller, id).await?))
}

/// Get what an agent run was asked
///
/// The prompt, the addresses, the schema and the effort of the request, to ask it again. An extension of Gannet.
#[utoipa::path(get, path = "/v2/agent/{id}/request", tag = "Agent",
    params(("id" = Uuid, Path, description = "Id of the run")),
    responses((status = 200, body = AgentQuestion)))]
async fn agent_question(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<AgentQuestion>, ApiError> {
    Ok(Json(app.agents.question(&caller, id).await?))
}

/// Cancel an agent run
#[utoipa::path(delete, path = "/v2/agent/{id}", tag = "Agent",
    params(("id" = Uuid, Path, description = "Id of the run")),
    responses(
        (status = 200, body = AgentCancelled),
        (status = 409, description = "The run has already ended or is being cancelled", body = ErrorBody),
    ))]
async fn cancel_agent(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<AgentCancelled>, ApiError> {
    app.agents.cancel(&caller, RunKind::Agent, id).await?;
    Ok(Json(AgentCancelled { success: true }))
}

/// Get all events of an agent run
///
/// With `Accept: text/event-stream` they are streamed as server-sent events until the run has ended.
#[utoipa::path(get, path = "/v2/agent/{id}/trace", tag = "Agent",
    params(
        ("id" = Uuid, Path, description = "Id of the run"),
        TraceQuery,
        ("Last-Event-ID" = Option<Uuid>, Header, description = "Same as `after`, for event streams"),
    ),
    responses((status = 200, body = AgentTrace)))]
async fn agent_trace(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    QueryString(query): QueryString<TraceQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if !wants_stream(&headers) {
        let base = base_url(&app.settings, &headers);
        let live_view_url = |session| app.sessions.live_view_url(&base, session);
        return Ok(json_response(app.agents.trace(&caller, id, &query, &live_view_url).await?));
    }
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(str::trim);
    let last = last.filter(|id| !id.is_empty()).map(str::to_owned);
    let query = TraceQuery { after: last.or(query.after), ..query };
    let watch = app.agents.watch_trace(&caller, id, &query).await?;
    let stream = event_stream(watch, app.stopping.clone());
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(PING_INTERVAL)).into_response())
}

/// Get an artifact as it was at the time of an event
#[utoipa::path(get, path = "/v2/agent/{id}/snapshots/{snapshotId}", tag = "Agent",
    params(
        ("id" = Uuid, Path, description = "Id of the run"),
        ("snapshotId" = Uuid, Path, description = "Of an `artifact.updated` event"),
    ),
    responses((status = 200, body = AgentSnapshot)))]
async fn agent_snapshot(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((run, snapshot)): Path<(String, String)>,
) -> Result<Json<AgentSnapshot>, ApiError> {
    let id = Uuid::try_parse(&run).map_err(|_| Kind::InvalidJobId)?;
    Ok(Json(app.agents.snapshot(&caller, id, &snapshot).await?))
}

/// Get a completed run as a skill: what it did, where it found its values, and how to do it again
#[utoipa::path(get, path = "/v2/agent/{id}/skill", tag = "Agent",
    params(("id" = Uuid, Path, description = "Id of the run")),
    responses(
        (status = 200, body = AgentSkillResponse),
        (status = 409, description = "The run has not completed", body = ErrorBody),
    ))]
async fn agent_skill(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    headers: HeaderMap,
) -> Result<Json<AgentSkillResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.agents.skill(&caller, id, &base).await?))
}

/// Get a thread with its runs, oldest first
#[utoipa::path(get, path = "/v2/agent/threads/{threadId}", tag = "Agent",
    params(("threadId" = Uuid, Path, description = "Id of the thread"), ThreadQuery),
    responses((status = 200, body = AgentThreadResponse)))]
async fn agent_thread(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(thread): Path<String>,
    QueryString(query): QueryString<ThreadQuery>,
) -> Result<Json<AgentThreadResponse>, ApiError> {
    let with_data = flag("includeData", query.include_data.as_deref())?;
    // An invalid id is not the id of any thread.
    let id = Uuid::try_parse(&thread).map_err(|_| Kind::ThreadNotFound)?;
    Ok(Json(AgentThreadResponse { success: true, thread: app.agents.thread(&caller, id, with_data).await? }))
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|value| value.split(','));
    kinds.any(|kind| {
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
    })
}

/// Events with their ids, so that a client that reconnects can continue.
fn event_stream(
    watch: TraceWatch,
    stopping: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let state = (Some(watch), VecDeque::new(), stopping);
    stream::unfold(state, |(mut watch, mut pending, stopping)| async move {
        while pending.is_empty() {
            match stopping.run_until_cancelled(watch.as_mut()?.next_look()).await? {
                Ok(look) => {
                    let events = look.events.into_iter();
                    pending.extend(events.map(|(id, json)| Event::default().id(id.to_string()).data(json)));
                    if look.ended {
                        watch = None;
                    }
                }
                Err(error) => {
                    let body = serde_json::to_string(&error.to_wire().body()).unwrap_or_default();
                    pending.push_back(Event::default().event("error").data(body));
                    watch = None;
                }
            }
        }
        pending.pop_front().map(|event| (Ok(event), (watch, pending, stopping)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_stream_is_requested_by_its_content_type() {
        let accepts = |value: &'static str| {
            wants_stream(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(value))]))
        };
        assert!(accepts("text/event-stream") && accepts("application/json, Text/Event-Stream;q=0.5"));
        assert!(!accepts("application/json") && !accepts("*/*") && !wants_stream(&HeaderMap::new()));
    }
}
