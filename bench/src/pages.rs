//! Pages to measure with: rows of a file, or a folder that a site generator made, read one at a time or served over
//! HTTP. Parses none of them.

use anyhow::{Context, Result};
use axum::Router;
use axum::http::Uri;
use axum::response::Response;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// A page and its URL.
#[derive(Debug, Deserialize)]
pub struct PageRow {
    pub url: String,
    pub html: String,
}

/// Visits the rows of a file, or the pages that `urls.txt` of a folder names, one at a time: a large set needs no memory.
pub fn for_each_page(path: &Path, mut visit: impl FnMut(&PageRow)) -> Result<()> {
    if !path.is_dir() {
        return rows(path)?.try_for_each(|row| {
            visit(&row?);
            Ok(())
        });
    }
    for url in site_urls(path)? {
        let mut file = path_of(&url);
        if file.ends_with('/') {
            file.push_str("index.html");
        }
        let html = fs::read_to_string(path.join(file.trim_start_matches('/')))?;
        visit(&PageRow { url, html });
    }
    Ok(())
}

/// The rows of a file with one JSON value in each line; `.gz` and `.zst` are unpacked.
pub fn rows<T: DeserializeOwned>(path: &Path) -> Result<impl Iterator<Item = Result<T>>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let reader: Box<dyn Read> = match path.extension().and_then(|end| end.to_str()) {
        Some("zst") => {
            let mut decoder = zstd::Decoder::new(file)?;
            // Files of many like pages are packed with a long window.
            decoder.window_log_max(31)?;
            Box::new(decoder)
        }
        Some("gz") => Box::new(flate2::read::GzDecoder::new(BufReader::new(file))),
        _ => Box::new(file),
    };
    Ok(BufReader::new(reader).lines().map(|line| Ok(serde_json::from_str(&line?)?)))
}

/// The URLs of a generated site.
pub fn site_urls(folder: &Path) -> Result<Vec<String>> {
    let urls = fs::read_to_string(folder.join("urls.txt")).context("urls.txt of the site")?;
    Ok(urls.lines().map(str::to_owned).collect())
}

/// The part of a URL after its host.
pub fn path_of(url: &str) -> String {
    format!("/{}", url.splitn(4, '/').nth(3).unwrap_or_default())
}

/// The answer to each path, until the process is killed. `answer` is made with the URL of the server, which is printed.
pub fn serve<A>(answer: impl FnOnce(&str) -> A) -> Result<()>
where
    A: Fn(&str) -> Response + Clone + Send + Sync + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("http://{}", listener.local_addr()?);
        let answer = answer(&base);
        println!("listening {base}");
        let handler = move |uri: Uri| std::future::ready(answer(uri.path()));
        axum::serve(listener, Router::new().fallback(handler)).await?;
        Ok(())
    })
}
