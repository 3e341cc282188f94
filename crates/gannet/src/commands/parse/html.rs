//! HTML files, converted in this process as the service converts web pages: by code that bounds what it reads.

use super::render::{Rendered, Renderer};
use anyhow::{Context as _, Result};
use content::{ContentScope, Limits, Page, PageSource};
use std::fs::File;
use std::io::{Read as _, Seek as _};
use url::Url;

/// The main content of a page, or all of it.
pub fn content_scope(whole: bool) -> ContentScope<'static> {
    ContentScope { only_main_content: !whole, ..ContentScope::default() }
}

/// Converts a page, on a thread that may be busy for long.
pub async fn render_page(
    mut file: File,
    url: Option<Url>,
    whole: bool,
    renderer: Renderer,
) -> Result<Rendered> {
    let work = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).context("cannot read it")?;
        let source = PageSource { bytes: &bytes, url: url.as_ref(), ..PageSource::default() };
        let page = Page::parse(&source, &Limits::default());
        let selection = page.select(&content_scope(whole))?;
        renderer.render_page(&page, &selection)
    });
    work.await?
}
