//! A long crawl of a generated site of any size: does memory stay flat, how much does a page take in the
//! database, and is the last tenth as fast as the others?

use super::crawl::start_crawl;
use super::start_gannet;
use anyhow::{Context, Result, ensure};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use gannet_bench::pages;
use gannet_bench::processes::{Server, resident_mb};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Serves a site of this many pages until it is killed: each links to two of its own, a neighbour and the
/// front page.
pub fn serve(pages: u64) -> Result<()> {
    pages::serve(|_| move |path: &str| page(path, pages))
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

pub fn measure(gannet: &Path, pages: u64) -> Result<()> {
    let site = Server::start_self(&["scrape", "long-site", &pages.to_string()])?;
    let data = testkit::TempDir::new();
    let server = start_gannet(gannet, data.path(), &[], &[])?;
    let before = stored_bytes(data.path())?;
    let start = Instant::now();
    let crawl = start_crawl(
        &server,
        &json!({
            "url": format!("http://{}/page/1", site.address), "crawlEntireDomain": true, "limit": pages, "sitemap": "skip",
            "scrapeOptions": { "formats": ["markdown"], "maxAge": 0, "storeInCache": false },
        }),
    )?;
    // Seconds since the start, and megabytes.
    let mut tenths: Vec<(f64, f64)> = Vec::new();
    loop {
        let status = crawl.status()?;
        let completed = status["completed"].as_u64().unwrap_or(0);
        while (tenths.len() as u64 + 1) * pages / 10 <= completed && tenths.len() < 10 {
            let (at, memory) = (start.elapsed().as_secs_f64(), resident_mb(server.pid())?);
            let last = tenths.last().map_or(0.0, |(at, _)| *at);
            println!(
                "{:>3} %  {:.0} pages/s, {memory:.0} MB resident",
                (tenths.len() + 1) * 10,
                pages as f64 / 10.0 / (at - last)
            );
            tenths.push((at, memory));
        }
        if status["status"] != "scraping" {
            ensure!(status["status"] == "completed" && completed == pages, "{status}");
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
