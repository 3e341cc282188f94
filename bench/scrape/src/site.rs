//! The generated site: served from memory, and read for what its pages must show.

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, Uri, header};
use axum::response::IntoResponse;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A page with the words that its content must keep.
#[derive(Clone)]
pub struct Page {
    pub path: String,
    pub kept: Vec<String>,
    /// A word of its navigation, which main content leaves out.
    pub dropped: Option<&'static str>,
}

/// The pages of `urls.txt`. Articles carry marker words with their number.
pub fn articles(folder: &Path) -> Result<Vec<Page>> {
    let urls = std::fs::read_to_string(folder.join("urls.txt")).context("urls.txt of the site")?;
    urls.lines().map(|url| page(folder, &path_of(url))).collect()
}

fn page(folder: &Path, path: &str) -> Result<Page> {
    let text = std::fs::read_to_string(folder.join(path.trim_start_matches('/')))?;
    let number = path.strip_prefix("/a/").and_then(|rest| rest.strip_suffix(".html"));
    let marks = number.map_or_else(Vec::new, |number| {
        ["head", "mid", "tail"].map(|place| format!("main{number:0>4}{place}")).to_vec()
    });
    let kept = marks.into_iter().filter(|mark| text.contains(mark.as_str())).collect();
    Ok(Page { path: path.to_owned(), kept, dropped: number.map(|_| "footmark") })
}

/// The pages whose text a script loads.
pub fn scripted(folder: &Path) -> Vec<Page> {
    let mut pages = Vec::new();
    for number in 0.. {
        let path = format!("/js/{number}.html");
        if !folder.join(path.trim_start_matches('/')).exists() {
            break;
        }
        pages.push(Page { path, kept: vec![format!("js{number:04}text")], dropped: None });
    }
    pages
}

/// The part of a URL after its host.
pub fn path_of(url: &str) -> String {
    format!("/{}", url.splitn(4, '/').nth(3).unwrap_or_default())
}

/// Serves the folder until it is killed.
pub fn serve(folder: &Path) -> Result<()> {
    let mut files = HashMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = format!("/{}", path.strip_prefix(folder)?.display());
            files.insert(name, std::fs::read(&path)?);
        }
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let base = format!("http://{}", listener.local_addr()?);
    rename(&mut files, &base);
    let files: HashMap<String, Bytes> = files.into_iter().map(|(name, file)| (name, file.into())).collect();
    let files = Arc::new(files);
    let answer = move |uri: Uri| {
        let found = files.get(uri.path()).cloned();
        std::future::ready(match found {
            Some(bytes) => ([(header::CONTENT_TYPE, kind(uri.path()))], bytes).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        })
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        println!("listening {base}");
        axum::serve(listener, Router::new().fallback(answer)).await?;
        Ok(())
    })
}

/// The sitemaps of the site contain the URLs it was generated with; they are rewritten to where it is served.
fn rename(files: &mut HashMap<String, Vec<u8>>, base: &str) {
    let was = files.get("/urls.txt").and_then(|urls| {
        let first = String::from_utf8_lossy(urls).lines().next()?.to_owned();
        Some(first.strip_suffix(&path_of(&first))?.to_owned())
    });
    let Some(was) = was else { return };
    for name in ["/sitemap.xml", "/robots.txt"] {
        if let Some(file) = files.get_mut(name) {
            *file = String::from_utf8_lossy(file).replace(&was, base).into_bytes();
        }
    }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("css") => "text/css",
        Some("xml") => "application/xml",
        _ => "text/plain; charset=utf-8",
    }
}
