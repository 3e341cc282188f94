//! `/v2/team/…` and `/v2/concurrency-check`: usage, queue and recent activity of a team.

use crate::app::App;
use crate::auth::Authenticated;
use crate::body::QueryString;
use crate::error::ApiError;
use access::limits::useful_concurrency;
use axum::Json;
use axum::extract::State;
use engine::teams::ActivityOutcome;
use std::collections::BTreeMap;
use stored_data::time::{iso, now};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::Issues;
use wire::team::{
    ActivityEntry, ActivityPage, ActivityQuery, Concurrency, CreditHistory, CreditPeriod, CreditUsage,
    DailyUsage, DataResponse, DaysQuery, HistoryQuery, QueueStatus, TokenHistory, TokenPeriod, TokenUsage,
    UsedDay,
};

/// Stands for "unlimited": a round number that people recognize, and that every JSON client represents exactly.
const UNLIMITED: i64 = 1_000_000_000;

const DAY_MILLIS: i64 = 24 * 3_600 * 1_000;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(credit_usage))
        .routes(routes!(credit_history))
        .routes(routes!(daily_usage))
        .routes(routes!(token_usage))
        .routes(routes!(token_history))
        .routes(routes!(queue_status))
        .routes(routes!(concurrency))
        .routes(routes!(activity))
}

/// Get the credits left this month
#[utoipa::path(get, path = "/v2/team/credit-usage", tag = "Team",
    responses((status = 200, body = DataResponse<CreditUsage>)))]
async fn credit_usage(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<DataResponse<CreditUsage>>, ApiError> {
    let balance = app.teams.balance(&caller).await?;
    let plan = caller.plan.credits.unwrap_or(UNLIMITED);
    let usage = CreditUsage {
        remaining_credits: (plan - balance.used - balance.reserved).max(0),
        plan_credits: plan,
        billing_period_start: Some(iso(balance.period_start)),
        billing_period_end: Some(iso(balance.period_end)),
    };
    Ok(Json(DataResponse::new(usage)))
}

/// Get the credits used in earlier months
#[utoipa::path(get, path = "/v2/team/credit-usage/historical", tag = "Team", params(HistoryQuery),
    responses((status = 200, body = CreditHistory)))]
async fn credit_history(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<HistoryQuery>,
) -> Result<Json<CreditHistory>, ApiError> {
    let history = app.teams.usage_history(&caller, query.by_api_key).await?;
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

/// Get what was used on each of the last days
#[utoipa::path(get, path = "/v2/team/credit-usage/daily", tag = "Team", params(DaysQuery),
    responses((status = 200, body = DailyUsage)))]
async fn daily_usage(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<DaysQuery>,
) -> Result<Json<DailyUsage>, ApiError> {
    let wanted = query.days.unwrap_or(30);
    let mut issues = Issues::default();
    issues.range("days", wanted, &(1..=366));
    issues.finish()?;
    let today = now();
    let mut days: Vec<UsedDay> =
        (0..i64::from(wanted)).rev().map(|back| empty_day(today - back * DAY_MILLIS)).collect();
    for used in app.teams.usage_by_day(&caller, wanted).await? {
        let date = date_of(used.day);
        // The clock of the database may be a day ahead around midnight.
        let Some(day) = days.iter_mut().find(|day| day.date == date) else { continue };
        day.credits_used += used.credits;
        day.tokens_used += used.tokens;
        if used.credits > 0 {
            *day.credits_by_endpoint.entry(used.purpose).or_default() += used.credits;
        }
    }
    Ok(Json(DailyUsage { success: true, days }))
}

fn empty_day(at: i64) -> UsedDay {
    UsedDay { date: date_of(at), credits_used: 0, tokens_used: 0, credits_by_endpoint: BTreeMap::new() }
}

/// The day in UTC.
fn date_of(at: i64) -> String {
    iso(at).split('T').next().unwrap_or_default().to_owned()
}

/// Get the model tokens left this month
#[utoipa::path(get, path = "/v2/team/token-usage", tag = "Team",
    responses((status = 200, body = DataResponse<TokenUsage>)))]
async fn token_usage(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<DataResponse<TokenUsage>>, ApiError> {
    let balance = app.teams.balance(&caller).await?;
    let usage = TokenUsage {
        // Plans do not limit tokens: they are metered and paid for in credits.
        remaining_tokens: (UNLIMITED - balance.tokens).max(0),
        plan_tokens: UNLIMITED,
        billing_period_start: Some(iso(balance.period_start)),
        billing_period_end: Some(iso(balance.period_end)),
    };
    Ok(Json(DataResponse::new(usage)))
}

/// Get the model tokens used in earlier months
#[utoipa::path(get, path = "/v2/team/token-usage/historical", tag = "Team", params(HistoryQuery),
    responses((status = 200, body = TokenHistory)))]
async fn token_history(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<HistoryQuery>,
) -> Result<Json<TokenHistory>, ApiError> {
    let history = app.teams.usage_history(&caller, query.by_api_key).await?;
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

/// Get the number of waiting and running jobs
#[utoipa::path(get, path = "/v2/team/queue-status", tag = "Team",
    responses((status = 200, body = QueueStatus)))]
async fn queue_status(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<QueueStatus>, ApiError> {
    let queue = app.teams.queue_status(&caller).await?;
    Ok(Json(QueueStatus {
        success: true,
        jobs_in_queue: queue.active + queue.waiting,
        active_jobs_in_queue: queue.active,
        waiting_jobs_in_queue: queue.waiting,
        max_concurrency: useful_concurrency(&caller),
        most_recent_success: queue.most_recent_success.map(iso),
    }))
}

/// Get the number of browsers in use
#[utoipa::path(get, path = "/v2/concurrency-check", tag = "Team",
    responses((status = 200, body = Concurrency)))]
async fn concurrency(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<Concurrency>, ApiError> {
    let concurrency = app.services.limiter.browsers_in_use(&caller).await?;
    Ok(Json(Concurrency { success: true, concurrency, max_concurrency: useful_concurrency(&caller) }))
}

/// List the requests of the last 24 hours
///
/// Includes requests to endpoints that the key's scopes allow, and all requests made with the key itself;
/// with `admin`, all requests of the team.
#[utoipa::path(get, path = "/v2/team/activity", tag = "Team", params(ActivityQuery),
    responses((status = 200, body = ActivityPage)))]
async fn activity(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<ActivityQuery>,
) -> Result<Json<ActivityPage>, ApiError> {
    let limit = query.limit.unwrap_or(50);
    let mut issues = Issues::default();
    issues.range("limit", limit, &(1..=100));
    issues.finish()?;
    let endpoint = query.endpoint.as_deref();
    let mut entries = app.teams.activity(&caller, endpoint, query.cursor, limit + 1).await?;
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
            status: entry.outcome.map(ActivityOutcome::name),
            pages: entry.pages,
            failed_pages: entry.failed_pages,
            credits: entry.credits,
            duration_ms: entry.took,
            key_name: entry.key_name,
        })
        .collect();
    Ok(Json(ActivityPage { success: true, data, cursor, has_more }))
}
