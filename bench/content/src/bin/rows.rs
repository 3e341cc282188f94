//! Rows `{"id","url","html"}` on standard input → rows `{"id","ms","markdown","title","verdict"}` on standard output.

use content::{Limits, Page, Source, Wanted};
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use std::io::{BufRead, Write};
use url::Url;

#[derive(Deserialize)]
struct Row {
    id: serde_json::Value,
    url: Option<String>,
    html: String,
}

#[allow(clippy::cast_precision_loss, reason = "nanoseconds of one process")]
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let whole = std::env::args().any(|argument| argument == "--whole");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let row: Row = serde_json::from_str(&line?)?;
        let start = cpu_ms();
        let url = row.url.as_deref().and_then(|url| Url::parse(url).ok());
        let bytes = row.html.as_bytes();
        let source =
            Source { bytes, content_type: Some("text/html; charset=utf-8"), url: url.as_ref(), status: None };
        let page = Page::read(&source, &Limits::default());
        let selection = page.select(&Wanted { only_main_content: !whole, ..Wanted::default() })?;
        let markdown = page.markdown(&selection, true);
        let title = page.metadata().title;
        let verdict = page.verdict();
        let ms = cpu_ms() - start;
        let answer = serde_json::json!({"id": row.id, "ms": ms, "markdown": markdown, "title": title,
            "verdict": verdict.kind, "evidence": verdict.evidence, "widened": selection.widened});
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
