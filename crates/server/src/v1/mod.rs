//! `/v1`, the API before this one, for clients that still call it.
//!
//! Each request is translated into a request under `/v2` and sent through the same router, so keys, scopes,
//! limits, credits and errors are those of `/v2`; the response is translated back. Nothing of it is known
//! anywhere else.

mod deep_research;
mod llms_text;
mod requests;
mod responses;

use crate::app::App;
use crate::auth::{client_address, error_response, identify, sign_in_token};
use crate::body::{ReadBody, SMALL_BODY_BYTES, read_body};
use crate::deprecation::deprecation_headers;
use crate::error::ApiError;
use crate::response_memory::HeldResponse;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, UPGRADE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Collected};
use serde_json::{Map, Value, json};
use tower::ServiceExt;
use wire::{Kind, WireError};

type Object = Map<String, Value>;
type Translated = Result<(), WireError>;

const PREFIX: &str = "/v1/";
const WARNING: &str = "This version of the API is deprecated; use /v2";

/// The label of requests to this version in metrics and logs, if the path is one of them.
pub fn route_label(path: &str) -> Option<&'static str> {
    path.starts_with(PREFIX).then_some("/v1/*")
}

/// Answers a request that no route has taken: under `/v1` by way of `v2`, else not at all.
pub async fn serve(app: App, v2: Router, request: Request) -> Response {
    let path = request.uri().path();
    let Some(path) = path.strip_prefix(PREFIX).map(|path| path.trim_end_matches('/').to_owned()) else {
        return ApiError::from(Kind::NotFound).into_response();
    };
    let (parts, body) = request.into_parts();
    let gate = Gate { app, v2, parts };
    let mut response = match answer(&gate, &path, body).await {
        Ok(response) => response,
        Err(error) => error_response(&gate.app, error.0, &gate.parts.headers),
    };
    response.headers_mut().extend(deprecation_headers(&replacement(&path), WARNING));
    response
}

async fn answer(gate: &Gate, path: &str, body: Body) -> Result<Response, ApiError> {
    let starts = gate.parts.method == Method::POST;
    let sections: Vec<&str> = path.split('/').collect();
    // A socket that watches a job: its messages are written for this version there.
    if gate.parts.headers.contains_key(UPGRADE) {
        return Ok(gate.send(gate.parts.method.clone(), &format!("/v2/{path}"), body).await);
    }
    // Nothing else has a body here.
    let read = if starts { Some(gate.read(body).await?) } else { None };
    let bytes = read.as_ref().map_or(&[][..], |body| body.bytes.as_slice());
    match (sections.as_slice(), starts) {
        (["deep-research"], true) => deep_research::start(gate, bytes).await,
        (["deep-research", id], false) => deep_research::status(gate, id).await,
        (["llmstxt"], true) => llms_text::start(gate, bytes).await,
        (["llmstxt", id], false) => llms_text::status(gate, id).await,
        (["scrape"], true) => {
            let names_extract = |body: &Object| requests::asks_for(body, "extract");
            gate.translate(path, bytes, requests::scrape, names_extract, responses::scrape).await
        }
        (["batch", "scrape"], true) => {
            gate.translate(path, bytes, requests::scrape, |_| (), |body, ()| responses::job(body)).await
        }
        (["crawl"], true) => {
            gate.translate(path, bytes, requests::crawl, |_| (), |body, ()| responses::job(body)).await
        }
        (["map"], true) => {
            gate.translate(path, bytes, requests::map, |_| (), |body, ()| responses::map(body)).await
        }
        (["search"], true) => {
            gate.translate(path, bytes, requests::search, |_| (), |body, ()| responses::search(body)).await
        }
        (["extract"], true) => gate.translate(path, bytes, requests::extract, |_| (), |_, ()| ()).await,
        (["extract", _] | ["team", "queue-status"], false) => Ok(gate.pass(path, |_| ()).await),
        // A client of this version asks for errors by DELETE.
        (["crawl", _, "errors"] | ["batch", "scrape", _, "errors"], false) => {
            Ok(gate.send(Method::GET, &format!("/v2/{path}"), Body::empty()).await)
        }
        (["crawl", id], false) => Ok(crawl_or_batch(gate, id).await),
        (["crawl", ..] | ["batch", "scrape", ..], false) => Ok(gate.pass(path, responses::job).await),
        (["team", ..], false) => Ok(gate.pass(path, responses::usage).await),
        _ => Err(Kind::NotFound.into()),
    }
}

/// The state of a crawl, or of a batch: a client of this version asks for both in the same place.
async fn crawl_or_batch(gate: &Gate, id: &str) -> Response {
    let crawl = gate.pass(&format!("crawl/{id}"), responses::job).await;
    if crawl.status() != StatusCode::NOT_FOUND || gate.parts.method != Method::GET {
        return crawl;
    }
    let batch = gate.pass(&format!("batch/scrape/{id}"), responses::job).await;
    if batch.status() == StatusCode::NOT_FOUND { crawl } else { batch }
}

/// What replaces an endpoint.
fn replacement(path: &str) -> String {
    match path.split('/').next().unwrap_or_default() {
        "deep-research" => "/v2/agent".to_owned(),
        "llmstxt" => "/v2/crawl".to_owned(),
        known @ ("scrape" | "crawl" | "batch" | "map" | "search" | "extract" | "team") => {
            format!("/v2/{known}")
        }
        _ => "/v2".to_owned(),
    }
}

/// Marks a request under `/v2` whose caller speaks `/v1`.
#[derive(Debug, Clone, Copy)]
pub struct TranslatedFromV1;

/// One request under `/v1` and the way to `/v2`.
struct Gate {
    app: App,
    v2: Router,
    parts: Parts,
}

impl Gate {
    /// Reads the body once it is known who sent it. A caller who needs no key may be anybody.
    async fn read(&self, body: Body) -> Result<ReadBody, ApiError> {
        let headers = &self.parts.headers;
        let has_credentials = headers.contains_key(AUTHORIZATION) || sign_in_token(headers).is_some();
        let limit = self.app.settings.body_limit;
        let limit = if self.app.keyless.is_some() && !has_credentials {
            limit.min(SMALL_BODY_BYTES)
        } else {
            let address = client_address(&self.parts.extensions);
            identify(&self.app, &self.parts.method, headers, address).await?;
            limit
        };
        read_body(body, limit, &self.app.body_memory).await
    }

    /// Sends a translated request and translates its response. What `remember` reads from the request is given
    /// to the translation of the response.
    async fn translate<T>(
        &self,
        path: &str,
        bytes: &[u8],
        request: fn(&mut Object) -> Translated,
        remember: impl Fn(&Object) -> T,
        response: impl Fn(&mut Object, T),
    ) -> Result<Response, ApiError> {
        let to = format!("/v2/{path}");
        // What is no object is refused there, in its words.
        let Ok(Value::Object(mut body)) = serde_json::from_slice(bytes) else {
            return Ok(self.send(Method::POST, &to, bytes.to_vec()).await);
        };
        let remembered = remember(&body);
        request(&mut body)?;
        let sent = self.send(Method::POST, &to, Value::Object(body).to_string()).await;
        Ok(rewritten(sent, |body| response(body, remembered)).await)
    }

    /// Sends a request without a body.
    async fn pass(&self, path: &str, response: fn(&mut Object)) -> Response {
        let query = self.parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let sent = self.send(self.parts.method.clone(), &format!("/v2/{path}{query}"), Body::empty()).await;
        rewritten(sent, response).await
    }

    /// The JSON of a further request, or its error as a response.
    async fn get(&self, path: &str) -> Result<Object, Response> {
        let response = self.send(Method::GET, path, Body::empty()).await;
        if !response.status().is_success() {
            return Err(response);
        }
        match response.into_body().collect().await.map(|body| serde_json::from_slice(&body.to_bytes())) {
            Ok(Ok(Value::Object(body))) => Ok(body),
            _ => Err(ApiError::from(Kind::Internal).into_response()),
        }
    }

    async fn send(&self, method: Method, to: &str, body: impl Into<Body>) -> Response {
        let Ok(uri) = to.parse::<Uri>() else { return ApiError::from(Kind::NotFound).into_response() };
        let mut request = Request::new(body.into());
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.parts.headers.clone();
        // It was of the other body.
        request.headers_mut().remove(CONTENT_LENGTH);
        *request.extensions_mut() = self.parts.extensions.clone();
        request.extensions_mut().insert(TranslatedFromV1);
        match self.v2.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// A successful response with its JSON object changed.
async fn rewritten(response: Response, change: impl FnOnce(&mut Object)) -> Response {
    let is_json = |value: &HeaderValue| value.as_bytes().starts_with(b"application/json");
    if !response.status().is_success() || !response.headers().get(CONTENT_TYPE).is_some_and(is_json) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = body.collect().await.map(Collected::to_bytes) else {
        return ApiError::from(Kind::Internal).into_response();
    };
    let Ok(Value::Object(mut object)) = serde_json::from_slice(&bytes) else {
        return Response::from_parts(parts, bytes.into());
    };
    change(&mut object);
    parts.headers.remove(CONTENT_LENGTH);
    // What the other body was made of is gone with it.
    parts.extensions.remove::<HeldResponse>();
    Response::from_parts(parts, Body::from(Value::Object(object).to_string()))
}

/// What clients read beside the headers of an endpoint that has no counterpart of its name.
fn deprecate(body: &mut Object, warning: &str, replacement: &str) {
    body.insert("warnings".to_owned(), json!([warning]));
    body.insert("replacement".to_owned(), replacement.into());
}

/// A JSON response of our own making.
fn json_response(body: &Value) -> Response {
    let kind = HeaderValue::from_static("application/json");
    (StatusCode::OK, [(CONTENT_TYPE, kind)], Bytes::from(body.to_string())).into_response()
}

/// For tests, which write bodies with `json!`.
#[cfg(test)]
fn object(value: Value) -> Object {
    let Value::Object(object) = value else { unreachable!("an object") };
    object
}
