//! `/v2/search/research/…`, and the same under its old mount `/v2/research/…`: papers, passages and related papers.

use crate::app::App;
use crate::body::QueryString;
use crate::error::Failure;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use engine::research::Research;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::research::{
    FoundPapers, InspectedPaper, PaperRequest, SearchRequest, SimilarPapers, SimilarRequest,
};
use wire::{ErrorBody, Kind, WireError};

pub fn routes() -> OpenApiRouter<App> {
    let (old, _): (Router<App>, _) = papers().split_for_parts();
    OpenApiRouter::new()
        .nest("/v2/search/research", papers())
        .merge(OpenApiRouter::from(Router::new().nest("/v2/research", old)))
}

fn papers() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(search)).routes(routes!(inspect)).routes(routes!(similar))
}

/// Search papers
#[utoipa::path(get, path = "/papers", operation_id = "researchSearchPapers", tag = "Research", params(SearchRequest),
    responses((status = 200, body = FoundPapers)))]
async fn search(
    State(app): State<App>,
    QueryString(asked): QueryString<SearchRequest>,
) -> Result<Json<FoundPapers>, Failure> {
    ask(&app, move |research| research.search(&asked)).await
}

/// One paper, or its passages that answer a question
#[utoipa::path(get, path = "/papers/{id}", operation_id = "researchInspectPaper", tag = "Research",
    params(("id" = String, Path, description = "`paperId`, `namespace:id`, a bare arXiv id, DOI or address"), PaperRequest),
    responses((status = 200, body = InspectedPaper), (status = 404, body = ErrorBody)))]
async fn inspect(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(asked): QueryString<PaperRequest>,
) -> Result<Json<InspectedPaper>, Failure> {
    ask(&app, move |research| research.paper(&id, &asked)).await
}

/// Papers related to a seed, ranked by what they are wanted for
#[utoipa::path(get, path = "/papers/{id}/similar", operation_id = "researchRelatedPapers", tag = "Research",
    params(("id" = String, Path, description = "`paperId`, `namespace:id`, a bare arXiv id, DOI or address"), SimilarRequest),
    responses((status = 200, body = SimilarPapers), (status = 404, body = ErrorBody)))]
async fn similar(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(asked): QueryString<SimilarRequest>,
) -> Result<Json<SimilarPapers>, Failure> {
    ask(&app, move |research| research.similar(&id, &asked)).await
}

/// Milliseconds of computing, and page faults on a large index: not on a thread that serves others.
async fn ask<T: Send + 'static>(
    app: &App,
    question: impl FnOnce(&Research) -> Result<T, WireError> + Send + 'static,
) -> Result<Json<T>, Failure> {
    let research: Arc<Research> = Arc::clone(&app.research);
    let answer = tokio::task::spawn_blocking(move || question(&research)).await;
    Ok(Json(answer.map_err(|_| WireError::from(Kind::Internal))??))
}

/// Adds the keys of RFC 7807 to an error: of the two official clients, one reads those and the other reads ours.
pub async fn as_problem(response: Response) -> Response {
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
