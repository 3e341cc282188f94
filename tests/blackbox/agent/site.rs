//! A site for agent runs: a company with facts, an endless chain of pages, and pages that never load.

use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub struct AgentSite {
    server: SiteServer,
    hits: Arc<AtomicUsize>,
}

impl AgentSite {
    pub fn start() -> Self {
        let hits = Arc::new(AtomicUsize::new(0));
        let router = Router::new()
            .route("/company", get(company))
            .route("/walk/{step}", get(walk))
            .route("/feeders", get(async || feeders("")))
            .route(
                "/slow-feeders",
                get(async || feeders("const end = Date.now() + 20000; while (Date.now() < end);")),
            )
            .route("/hang/{which}", get(std::future::pending::<Html<String>>))
            .with_state(hits.clone());
        Self { server: SiteServer::start(router), hits }
    }

    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// How many pages were requested.
    pub fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }

    /// A request for a run that starts at a page.
    pub fn request_for(&self, page: &str, mut options: Value) -> Value {
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

/// A list that shows two rows at first and two more with each click; `before` runs before rows are added.
fn feeders(before: &str) -> Html<String> {
    let script = format!(
        "const more = [['Pine', 8], ['Ash', 15], ['Elm', 9], ['Yew', 40]]; \
         document.querySelector('button').onclick = async () => {{ {before} \
         await new Promise((done) => setTimeout(done, 200)); \
         for (const [wood, price] of more.splice(0, 2)) document.querySelector('tbody').insertAdjacentHTML('beforeend', \
         `<tr><td>${{wood}} feeder</td><td>${{price}}</td></tr>`); \
         if (!more.length) document.querySelector('button').remove(); }};"
    );
    let rows = "<tr><td>Oak feeder</td><td>12</td></tr><tr><td>Larch feeder</td><td>30</td></tr>";
    let table =
        format!("<table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody>{rows}</tbody></table>");
    page("Feeders", &format!("{table}<button>Load more</button><script>{script}</script>"))
}

/// Each page links to two more, and none of them has the answer.
async fn walk(State(hits): State<Arc<AtomicUsize>>, Path(step): Path<usize>) -> Html<String> {
    hits.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let link =
        |next: usize| format!("<li><a href=\"/walk/{next}\">Founded and employees, chapter {next}</a></li>");
    let links = link(step * 2) + &link(step * 2 + 1);
    page(&format!("Chapter {step}"), &format!("<ul>{links}</ul>"))
}
