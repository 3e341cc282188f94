//! `/v2/search/research/…` and its older path `/v2/research/…`: papers, passages and related papers.

use crate::app::App;
use crate::auth::Authenticated;
use crate::body::QueryString;
use crate::deprecation::deprecation_headers;
use crate::error::ApiError;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use engine::research::Research;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::research::{
    FoundPapers, GithubRequest, GithubResult, GithubResults, GithubScores, InspectedPaper, PaperRequest,
    SearchRequest, SimilarPapers, SimilarRequest,
};
use wire::search_collections::{DeveloperRequest, DeveloperResult, StringList};
use wire::{ErrorBody, Kind, WireError};

pub fn routes() -> OpenApiRouter<App> {
    let (old, _): (Router<App>, _) = papers().split_for_parts();
    OpenApiRouter::new()
        .nest("/v2/search/research", papers())
        .merge(OpenApiRouter::from(Router::new().nest("/v2/research", old)))
}

fn papers() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(search))
        .routes(routes!(inspect))
        .routes(routes!(similar))
        .routes(routes!(github))
}

/// Search papers
#[utoipa::path(get, path = "/papers", operation_id = "researchSearchPapers", tag = "Research", params(SearchRequest),
    responses((status = 200, body = FoundPapers)))]
async fn search(
    State(app): State<App>,
    QueryString(asked): QueryString<SearchRequest>,
) -> Result<Json<FoundPapers>, ApiError> {
    run_query(&app, move |research| research.search(&asked)).await
}

/// Get a paper, or its passages that match a query
#[utoipa::path(get, path = "/papers/{id}", operation_id = "researchInspectPaper", tag = "Research",
    params(("id" = String, Path, description = "`paperId`, `namespace:id`, a bare arXiv id, DOI or URL"), PaperRequest),
    responses((status = 200, body = InspectedPaper), (status = 404, body = ErrorBody)))]
async fn inspect(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(asked): QueryString<PaperRequest>,
) -> Result<Json<InspectedPaper>, ApiError> {
    run_query(&app, move |research| research.paper(&id, &asked)).await
}

/// Find papers related to a paper, ranked by an intent
#[utoipa::path(get, path = "/papers/{id}/similar", operation_id = "researchRelatedPapers", tag = "Research",
    params(("id" = String, Path, description = "`paperId`, `namespace:id`, a bare arXiv id, DOI or URL"), SimilarRequest),
    responses((status = 200, body = SimilarPapers), (status = 404, body = ErrorBody)))]
async fn similar(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(asked): QueryString<SimilarRequest>,
) -> Result<Json<SimilarPapers>, ApiError> {
    run_query(&app, move |research| research.similar(&id, &asked)).await
}

const GITHUB_REPLACEMENT: &str = "/v2/search/developer";
const GITHUB_WARNING: &str = "This endpoint is deprecated; use /v2/search/developer";
const DEFAULT_GITHUB_RESULTS: i64 = 20;

/// Search issues, pull requests and READMEs
///
/// Deprecated: use `/v2/search/developer`.
#[utoipa::path(get, path = "/github", operation_id = "researchSearchGithub", tag = "Research", params(GithubRequest),
    responses(
        (status = 200, body = GithubResults),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn github(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(asked): QueryString<GithubRequest>,
) -> Result<(HeaderMap, Json<GithubResults>), ApiError> {
    let types = ["issue", "pull_request", "readme"].map(str::to_owned).into();
    let asked = DeveloperRequest {
        query: asked.query,
        k: Some(asked.k.unwrap_or(DEFAULT_GITHUB_RESULTS)),
        types: Some(StringList(types)),
        ..DeveloperRequest::default()
    };
    let found = app.collections.developer(&caller, &asked).await?;
    let results = found.results.into_iter().enumerate().map(|(place, result)| github_result(place, result));
    let mut warnings = vec![GITHUB_WARNING.to_owned()];
    warnings.extend(found.warning);
    let answer = GithubResults {
        success: true,
        results: results.collect(),
        warnings,
        replacement: GITHUB_REPLACEMENT,
    };
    Ok((deprecation_headers(GITHUB_REPLACEMENT, GITHUB_WARNING), Json(answer)))
}

/// `issue:owner/name#1` and so on, in the form of the older endpoint.
fn github_result(place: usize, result: DeveloperResult) -> GithubResult {
    let (kind, name) = result.id.split_once(':').unwrap_or(("", &result.id));
    let (repo, number) =
        name.split_once('#').map_or((name, None), |(repo, number)| (repo, number.parse().ok()));
    let result_type = match kind {
        "issue" | "pull_request" => "github_history",
        "readme" => "repo_readme",
        _ => "web",
    };
    let snippet = result.passages.into_iter().next().map(|passage| passage.text).unwrap_or_default();
    GithubResult {
        result_type,
        repo: if result_type == "web" { String::new() } else { repo.to_owned() },
        page_type: (result_type == "github_history").then(|| kind.to_owned()),
        number,
        url: result.url,
        title: result.title,
        snippet,
        scores: GithubScores { rrf: 1.0 / (61.0 + place as f64) },
    }
}

/// Runs a query on a blocking thread: it takes milliseconds of CPU, and page faults on a large index.
async fn run_query<T: Send + 'static>(
    app: &App,
    query: impl FnOnce(&Research) -> Result<T, engine::Error> + Send + 'static,
) -> Result<Json<T>, ApiError> {
    let research: Arc<Research> = Arc::clone(&app.research);
    let answer = tokio::task::spawn_blocking(move || query(&research)).await;
    Ok(Json(answer.map_err(|_| WireError::from(Kind::Internal))??))
}

/// Adds the fields of RFC 7807 to an error: one of the two official clients reads those, the other reads
/// ours.
pub async fn add_problem_details(response: Response) -> Response {
    let Some(error) = response.extensions().get::<WireError>().cloned() else { return response };
    let mut body = serde_json::to_value(error.body()).unwrap_or_else(|_| json!({}));
    if let Value::Object(keys) = &mut body {
        keys.insert("type".to_owned(), json!("about:blank"));
        keys.insert("title".to_owned(), json!(error.kind.entry().text));
        keys.insert("status".to_owned(), json!(error.status()));
        let detail =
            error.details().and_then(Value::as_str).map_or_else(|| error.text().to_owned(), str::to_owned);
        keys.insert("detail".to_owned(), json!(detail));
    }
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Json(body).into_response().into_body())
}
