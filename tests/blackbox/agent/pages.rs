//! Pages for runs: a company with its facts, a long way to walk, and pages that never come.

use crate::stand::Stand;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub struct Pages {
    stand: Stand,
    hits: Arc<AtomicUsize>,
}

impl Pages {
    pub fn start() -> Self {
        let hits = Arc::new(AtomicUsize::new(0));
        let router = Router::new()
            .route("/company", get(company))
            .route("/walk/{step}", get(walk))
            .route("/hang/{which}", get(std::future::pending::<Html<String>>))
            .with_state(hits.clone());
        Self { stand: Stand::start(router), hits }
    }

    pub fn url(&self, path: &str) -> String {
        self.stand.url(path)
    }

    /// Pages that were asked for.
    pub fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }

    /// A request for a run that begins at a page.
    pub fn asking(&self, page: &str, mut options: Value) -> Value {
        let url = self.url(page);
        let fields = options.as_object_mut().expect("an object");
        fields.entry("urls").or_insert_with(|| json!([url]));
        fields
            .entry("prompt")
            .or_insert_with(|| json!("When was it founded, and how many employees has it?"));
        options
    }
}

fn page(title: &str, body: &str) -> Html<String> {
    let filler = "<p>Northern gannets breed in colonies on cliffs and islands, and dive from thirty metres for fish.</p>";
    Html(format!(
        "<!doctype html><html lang=en><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}{filler}{filler}</main></body></html>"
    ))
}

async fn company(State(hits): State<Arc<AtomicUsize>>) -> Html<String> {
    hits.fetch_add(1, Ordering::SeqCst);
    let facts = "<table><tr><th>Founded</th><td>1987</td></tr><tr><th>Employees</th><td>42</td></tr></table>";
    page("Gannet Feeders Ltd", facts)
}

/// Each step leads to two more, and none of them has the answer.
async fn walk(State(hits): State<Arc<AtomicUsize>>, Path(step): Path<usize>) -> Html<String> {
    hits.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let link =
        |next: usize| format!("<li><a href=\"/walk/{next}\">Founded and employees, chapter {next}</a></li>");
    let links = link(step * 2) + &link(step * 2 + 1);
    page(&format!("Chapter {step}"), &format!("<ul>{links}</ul>"))
}
