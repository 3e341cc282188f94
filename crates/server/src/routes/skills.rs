//! The skill that tells AI tools how to use this server, and the list in which they look for skills of a host.

use crate::app::App;
use crate::base_url::base_url;
use ::mcp::skill::{FILE, NAME, description, text_for};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

pub fn routes() -> Router<App> {
    let file = |folder: &str| format!("{folder}/{NAME}/{FILE}");
    Router::new()
        .route("/skills", get(list))
        .route(&file("/skills"), get(text))
        .route("/.well-known/skills/index.json", get(list))
        .route(&file("/.well-known/skills"), get(text))
}

async fn list() -> Json<Value> {
    let skill = json!({ "name": NAME, "description": description(), "files": [FILE] });
    Json(json!({ "skills": [skill] }))
}

async fn text(State(app): State<App>, headers: HeaderMap) -> impl IntoResponse {
    let text = text_for(&base_url(&app.settings, &headers));
    ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text)
}
