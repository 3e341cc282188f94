//! `/v2/parse`: uploaded files in the formats of a scrape.

use crate::app::App;
use crate::auth::Authenticated;
use crate::base_url::base_url;
use crate::body::{IdempotencyKey, JobId, JsonBody, QueryString};
use crate::document_body::document_response;
use crate::error::ApiError;
use crate::file_bytes::FileBytes;
use crate::upload;
use access::RateGroup;
use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use engine::parse::FileLabel;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::admin::SuccessResponse;
use wire::parse::{ParseForm, ParseFormats, ParseRequest, UploadUrl, UploadUrlRequest};
use wire::scrape::ScrapeResponse;
use wire::team::DataResponse;
use wire::{ErrorBody, Issue, Kind, WireError};

/// Formats change with the version of the server and its models, not with requests.
const FORMATS_CACHE_CONTROL: &str = "private, max-age=3600";

pub fn start_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(parse))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(formats)).routes(routes!(create_upload_url))
}

/// Routes without a key.
pub fn open_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(receive_upload))
}

/// Parse a file
///
/// As `multipart/form-data` with the file, or as JSON with the `uploadRef` of a file that was uploaded before.
#[utoipa::path(post, path = "/v2/parse", tag = "Parse",
    request_body(content((ParseForm = "multipart/form-data"), (ParseRequest = "application/json"))),
    params(("x-idempotency-key" = Option<String>, Header, description = "A second parse with the same key is rejected")),
    responses(
        (status = 200, body = ScrapeResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
        (status = 403, description = "The key lacks the scope, or `checkPromptInjection` found an attempt", body = ErrorBody),
        (status = 404, description = "There is no such upload of the team", body = ErrorBody),
        (status = 409, description = "The idempotency key was used before, or the upload has no file yet or was parsed before", body = ErrorBody),
        (status = 410, description = "The upload has expired", body = ErrorBody),
        (status = 422, description = "The file cannot be read, or does not state what the schema requires", body = ErrorBody),
    ))]
async fn parse(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    IdempotencyKey(key): IdempotencyKey,
    request: Request,
) -> Result<Response, ApiError> {
    let base = base_url(&app.settings, request.headers());
    let scraped = if upload::is_multipart(&request) {
        let form = upload::read_form(request, app.parser.files(), caller.team, &app.body_memory).await?;
        let plan = app.parser.plan(&caller, &read_options(form.options.as_deref())?)?;
        let label = FileLabel::new(&form.name, form.content_type);
        app.parser.parse_file(&caller, plan, form.file, label, key, &base).await?
    } else {
        let JsonBody(asked) =
            JsonBody::<ParseRequest>::from_request(request, &app).await.map_err(name_types)?;
        let plan = app.parser.plan(&caller, &asked)?;
        app.parser.parse_reference(&caller, plan, asked.upload_ref.as_deref(), key, &base).await?
    };
    Ok(document_response(scraped.id, scraped.document))
}

/// The options of a form. Without any, the defaults hold.
fn read_options(options: Option<&[u8]>) -> Result<ParseRequest, WireError> {
    let Some(options) = options else { return Ok(ParseRequest::default()) };
    let asked: ParseRequest = wire::read::body(options).map_err(|error| match error.kind {
        Kind::InvalidJson => {
            let text = "Bad Request: the part `options` is not valid JSON".to_owned();
            let named = WireError::with_text(Kind::InvalidJson, text);
            error.details().map_or(named.clone(), |details| named.with_details(details))
        }
        _ => error,
    })?;
    if asked.upload_ref.is_some() {
        let issue = Issue::at("uploadRef", "belongs to a JSON body, and this one has a file", "custom");
        return Err(WireError::invalid(&[issue]));
    }
    Ok(asked)
}

/// The error about the type of a body names both that are read here.
fn name_types(error: ApiError) -> ApiError {
    if error.0.kind != Kind::UnsupportedMediaType {
        return error;
    }
    let text = "Unsupported Media Type: send multipart/form-data or application/json".to_owned();
    WireError::with_text(Kind::UnsupportedMediaType, text).into()
}

/// Create a URL to upload a file to
///
/// The file can be sent there without a key and parsed once, within an hour.
#[utoipa::path(post, path = "/v2/parse/upload-url", tag = "Parse", request_body = UploadUrlRequest,
    responses((status = 200, body = DataResponse<UploadUrl>)))]
async fn create_upload_url(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<UploadUrlRequest>,
) -> Result<Json<DataResponse<UploadUrl>>, ApiError> {
    app.storage.require_room(RateGroup::Scrape)?;
    let base = base_url(&app.settings, &headers);
    let url = app.parser.uploads().create(&caller, &asked, &base).await?;
    Ok(Json(DataResponse::new(url)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct UploadQuery {
    /// As in `uploadUrl`.
    upload_ref: String,
}

/// Upload a file to the URL of `POST /v2/parse/upload-url`
#[utoipa::path(put, path = "/v2/parse/upload/{id}", tag = "Parse", security(()),
    params(("id" = uuid::Uuid, Path, description = "As in `uploadUrl`"), UploadQuery),
    request_body(content = FileBytes, content_type = "application/octet-stream", description = "The bytes of the file, at most 50 MB"),
    responses(
        (status = 200, body = SuccessResponse),
        (status = 403, description = "Authentication is off, and a web page sent the request", body = ErrorBody),
        (status = 409, description = "The file was uploaded or parsed before", body = ErrorBody),
        (status = 410, description = "The upload has expired", body = ErrorBody),
        (status = 429, description = "The team has too many bytes waiting to be parsed", body = ErrorBody),
        (status = 503, description = "A disk is full, or too many files are being uploaded at once", body = ErrorBody),
    ))]
async fn receive_upload(
    State(app): State<App>,
    JobId(id): JobId,
    QueryString(query): QueryString<UploadQuery>,
    request: Request,
) -> Result<Json<SuccessResponse>, ApiError> {
    app.storage.require_room(RateGroup::Scrape)?;
    let open = app.parser.uploads().open_upload(id, &query.upload_ref).await?;
    let file = upload::read_raw(request, app.parser.files(), open.team).await?;
    app.parser.uploads().receive(&open, file).await?;
    Ok(Json(SuccessResponse { success: true }))
}

/// List the kinds of files that can be parsed
#[utoipa::path(get, path = "/v2/parse/formats", tag = "Parse",
    responses((status = 200, body = DataResponse<ParseFormats>)))]
async fn formats(State(app): State<App>, Authenticated(_): Authenticated) -> Response {
    let headers = [(header::CACHE_CONTROL, FORMATS_CACHE_CONTROL)];
    (headers, Json(DataResponse::new(app.parser.formats()))).into_response()
}
