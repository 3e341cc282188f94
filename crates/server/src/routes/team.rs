//! `/v2/team/…` and `/v2/concurrency-check`: what a team used, has waiting, and did lately.

use crate::app::App;
use crate::body::QueryString;
use crate::error::Failure;
use crate::guard::Who;
use axum::Json;
use axum::extract::State;
use engine::Caller;
use engine::janitor::ACTIVITY_KEPT;
use engine::limits::max_browsers;
use engine::time::iso;
use store::activity::{ActivityFilter, Viewer};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::team::{
    ActivityEntry, ActivityPage, ActivityQuery, Answer, Concurrency, CreditHistory, CreditPeriod,
    CreditUsage, HistoryQuery, QueueStatus, TokenHistory, TokenPeriod, TokenUsage,
};
use wire::{Issues, Kind, Scope};

/// What "unlimited" reads as: the largest integer that every JSON client holds exactly.
const UNLIMITED: i64 = 9_007_199_254_740_991;

/// The endpoints of activity, by the scope that using them takes. Keys with `admin` see what is not listed here too.
const ENDPOINTS: &[(Scope, &[&str])] = &[
    (Scope::Scrape, &["scrape"]),
    (Scope::Crawl, &["crawl", "batch_scrape", "crawl_params_preview"]),
    (Scope::Map, &["map"]),
    (Scope::Search, &["search", "search/developer", "search/gov"]),
    (Scope::Agent, &["agent", "extract"]),
    (Scope::Admin, &["drill"]),
];

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(credit_usage))
        .routes(routes!(credit_history))
        .routes(routes!(token_usage))
        .routes(routes!(token_history))
        .routes(routes!(queue_status))
        .routes(routes!(concurrency))
        .routes(routes!(activity))
}

/// Credits left this month
#[utoipa::path(get, path = "/v2/team/credit-usage", tag = "Team",
    responses((status = 200, body = Answer<CreditUsage>)))]
async fn credit_usage(
    State(app): State<App>,
    Who(caller): Who,
) -> Result<Json<Answer<CreditUsage>>, Failure> {
    let balance = app.store.balance(caller.team).await.map_err(Failure::store)?;
    let plan = caller.plan.credits.unwrap_or(UNLIMITED);
    let usage = CreditUsage {
        remaining_credits: (plan - balance.used - balance.reserved).max(0),
        plan_credits: plan,
        billing_period_start: Some(iso(balance.period_start)),
        billing_period_end: Some(iso(balance.period_end)),
    };
    Ok(Json(Answer::of(usage)))
}

/// Credits used in earlier months
#[utoipa::path(get, path = "/v2/team/credit-usage/historical", tag = "Team", params(HistoryQuery),
    responses((status = 200, body = CreditHistory)))]
async fn credit_history(
    State(app): State<App>,
    Who(caller): Who,
    QueryString(query): QueryString<HistoryQuery>,
) -> Result<Json<CreditHistory>, Failure> {
    let history = app.store.usage_history(caller.team, query.by_api_key).await.map_err(Failure::store)?;
    let periods = history
        .into_iter()
        .map(|period| CreditPeriod {
            start_date: iso(period.start),
            end_date: iso(period.end),
            api_key: period.key,
            credits_used: period.credits,
            total_credits: period.credits,
        })
        .collect();
    Ok(Json(CreditHistory { success: true, periods }))
}

/// Model tokens left this month
#[utoipa::path(get, path = "/v2/team/token-usage", tag = "Team",
    responses((status = 200, body = Answer<TokenUsage>)))]
async fn token_usage(State(app): State<App>, Who(caller): Who) -> Result<Json<Answer<TokenUsage>>, Failure> {
    let balance = app.store.balance(caller.team).await.map_err(Failure::store)?;
    let usage = TokenUsage {
        // No plan limits tokens: they are metered, and paid for in credits.
        remaining_tokens: UNLIMITED - balance.tokens,
        plan_tokens: UNLIMITED,
        billing_period_start: Some(iso(balance.period_start)),
        billing_period_end: Some(iso(balance.period_end)),
    };
    Ok(Json(Answer::of(usage)))
}

/// Model tokens used in earlier months
#[utoipa::path(get, path = "/v2/team/token-usage/historical", tag = "Team", params(HistoryQuery),
    responses((status = 200, body = TokenHistory)))]
async fn token_history(
    State(app): State<App>,
    Who(caller): Who,
    QueryString(query): QueryString<HistoryQuery>,
) -> Result<Json<TokenHistory>, Failure> {
    let history = app.store.usage_history(caller.team, query.by_api_key).await.map_err(Failure::store)?;
    let periods = history
        .into_iter()
        .map(|period| TokenPeriod {
            start_date: iso(period.start),
            end_date: iso(period.end),
            api_key: period.key,
            tokens_used: period.tokens,
            total_tokens: period.tokens,
        })
        .collect();
    Ok(Json(TokenHistory { success: true, periods }))
}

/// Jobs waiting and running
#[utoipa::path(get, path = "/v2/team/queue-status", tag = "Team",
    responses((status = 200, body = QueueStatus)))]
async fn queue_status(State(app): State<App>, Who(caller): Who) -> Result<Json<QueueStatus>, Failure> {
    let queue = app.store.queue_status(caller.team).await.map_err(Failure::store)?;
    Ok(Json(QueueStatus {
        success: true,
        jobs_in_queue: queue.active + queue.waiting,
        active_jobs_in_queue: queue.active,
        waiting_jobs_in_queue: queue.waiting,
        max_concurrency: max_browsers(&caller),
        most_recent_success: queue.most_recent_success.map(iso),
    }))
}

/// Browsers in use
#[utoipa::path(get, path = "/v2/concurrency-check", tag = "Team",
    responses((status = 200, body = Concurrency)))]
async fn concurrency(State(app): State<App>, Who(caller): Who) -> Result<Json<Concurrency>, Failure> {
    let concurrency = app.gate.browsers_in_use(&caller).await?;
    Ok(Json(Concurrency { success: true, concurrency, max_concurrency: max_browsers(&caller) }))
}

/// Requests of the last 24 hours
///
/// Those of the endpoints that the scopes of the key are for, and those of the key itself; with `admin`, all of the team.
#[utoipa::path(get, path = "/v2/team/activity", tag = "Team", params(ActivityQuery),
    responses((status = 200, body = ActivityPage)))]
async fn activity(
    State(app): State<App>,
    Who(caller): Who,
    QueryString(query): QueryString<ActivityQuery>,
) -> Result<Json<ActivityPage>, Failure> {
    let limit = query.limit.unwrap_or(50);
    let mut issues = Issues::default();
    issues.range("limit", limit, &(1..=100));
    issues.finish()?;
    let endpoints = visible_endpoints(&caller, query.endpoint.as_deref())?;
    let viewer = Viewer { key: caller.key, endpoints: &endpoints };
    let filter = ActivityFilter {
        endpoint: query.endpoint.as_deref(),
        seen_by: (!caller.may(Scope::Admin)).then_some(viewer),
    };
    let mut entries = app
        .store
        .list_activity(caller.team, filter, query.cursor, ACTIVITY_KEPT, limit + 1)
        .await
        .map_err(Failure::store)?;
    let has_more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    let cursor = entries.last().filter(|_| has_more).map(|entry| entry.id.to_string());
    let data = entries
        .into_iter()
        .map(|entry| ActivityEntry {
            id: entry.id,
            endpoint: entry.endpoint,
            api_version: "v2".to_owned(),
            created_at: iso(entry.created_at),
            target: entry.target,
            username: entry.audit,
        })
        .collect();
    Ok(Json(ActivityPage { success: true, data, cursor, has_more }))
}

/// The endpoints whose requests a key may see, whoever made them: those that its scopes are for, as it may read their results too. A key that
/// asks for another one is refused.
fn visible_endpoints(caller: &Caller, asked: Option<&str>) -> Result<Vec<&'static str>, Failure> {
    let named = |endpoints: &[&str]| asked.is_some_and(|asked| endpoints.contains(&asked));
    let mut visible = Vec::new();
    for (scope, endpoints) in ENDPOINTS {
        if caller.may(*scope) || caller.may(Scope::Admin) {
            visible.extend_from_slice(endpoints);
        } else if named(endpoints) {
            return Err(Kind::Forbidden.into());
        }
    }
    Ok(visible)
}
