//! A long crawl of a generated site of any size: does memory stay flat, how much does a page take in the
//! database, and is the last tenth as fast as the others?

use super::load::ask;
use super::processes::{Running, resident_mb};
use super::{KEY, Options, serve_gannet};
use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Serves a site of this many pages until it is killed: each links to two of its own, a neighbour and the
/// front page.
pub fn serve(pages: u64) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening http://{}", listener.local_addr()?);
        let answer = move |uri: Uri| std::future::ready(page(uri.path(), pages));
        axum::serve(listener, Router::new().fallback(answer)).await?;
        Ok(())
    })
}

fn page(path: &str, pages: u64) -> Response {
    if path == "/robots.txt" {
        return ([(header::CONTENT_TYPE, "text/plain")], "User-agent: *\nDisallow:\n").into_response();
    }
    let number = match path {
        "/" => Some(1),
        path => path.strip_prefix("/page/").and_then(|number| number.parse().ok()),
    };
    let Some(number) = number.filter(|number| (1..=pages).contains(number)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut html = format!("<!doctype html><title>Page {number}</title><main><h1>Page {number}</h1>");
    for paragraph in 0..12_u64 {
        html.push_str("<p>");
        for word in 0..40_u64 {
            let _ = write!(html, "word{} ", (number * 31 + paragraph * 17 + word * word) % 4093);
        }
        html.push_str("</p>");
    }
    html.push_str("</main><nav>");
    for next in [1, number * 2, number * 2 + 1, number + 1] {
        if next <= pages {
            let _ = write!(html, "<a href=/page/{next}>{next}</a> ");
        }
    }
    html.push_str("</nav>");
    Html(html).into_response()
}

pub fn measure(options: &Options, pages: u64) -> Result<()> {
    let site =
        Running::start(Command::new(std::env::current_exe()?).args(["long-site", &pages.to_string()]))?;
    let data = testkit::TempDir::new();
    let server = serve_gannet(options, data.path())?;
    let request = json!({
        "url": format!("http://{}/page/1", site.address), "crawlEntireDomain": true, "limit": pages, "sitemap": "skip",
        "scrapeOptions": { "formats": ["markdown"], "maxAge": 0, "storeInCache": false },
    });
    let before = stored_bytes(data.path())?;
    let begun = Instant::now();
    let started = ask(&server.address, KEY, "POST", "/v2/crawl", Some(&request))?;
    let id = started["id"].as_str().with_context(|| format!("no id in {started}"))?.to_owned();
    // Seconds since the start, and megabytes.
    let mut tenths: Vec<(f64, f64)> = Vec::new();
    loop {
        let status = ask(&server.address, KEY, "GET", &format!("/v2/crawl/{id}?limit=1"), None)?;
        let done = status["completed"].as_u64().unwrap_or(0);
        while (tenths.len() as u64 + 1) * pages / 10 <= done && tenths.len() < 10 {
            let (at, memory) = (begun.elapsed().as_secs_f64(), resident_mb(server.pid())?);
            let last = tenths.last().map_or(0.0, |(at, _)| *at);
            println!(
                "{:>3} %  {:.0} pages/s, {memory:.0} MB resident",
                (tenths.len() + 1) * 10,
                pages as f64 / 10.0 / (at - last)
            );
            tenths.push((at, memory));
        }
        if status["status"] != "scraping" {
            ensure!(status["status"] == "completed" && done == pages, "{status}");
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let times: Vec<f64> = tenths.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let middle = times[..times.len() - 1].iter().sum::<f64>() / (times.len() - 1) as f64;
    let last = times.last().context("no tenths")?;
    println!(
        "the last tenth took {:.2} × the mean of those before it (goal: at most 1.1); memory {:.0} MB after a fifth, {:.0} MB at the end; \
         {:.0} bytes a page in the data folder",
        last / middle,
        tenths[1].1,
        tenths[9].1,
        (stored_bytes(data.path())? - before) as f64 / pages as f64,
    );
    Ok(())
}

/// Bytes of the database and its other files.
fn stored_bytes(folder: &Path) -> Result<u64> {
    let mut total = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next)? {
            let entry = entry?;
            let kind = entry.metadata()?;
            if kind.is_dir() { folders.push(entry.path()) } else { total += kind.len() }
        }
    }
    Ok(total)
}
