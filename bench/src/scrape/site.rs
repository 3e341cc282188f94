//! The generated site: served from memory, and read for what its pages must show.

use anyhow::Result;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use gannet_bench::pages::{self, path_of, site_urls};
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
    site_urls(folder)?.iter().map(|url| page(folder, &path_of(url))).collect()
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
    pages::serve(|base| {
        rename(&mut files, base);
        let files: HashMap<String, Bytes> =
            files.into_iter().map(|(name, file)| (name, file.into())).collect();
        let files = Arc::new(files);
        move |path: &str| match files.get(path).cloned() {
            Some(bytes) => ([(header::CONTENT_TYPE, content_type(path))], bytes).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        }
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

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("css") => "text/css",
        Some("xml") => "application/xml",
        _ => "text/plain; charset=utf-8",
    }
}
