//! A page that a run has open in a browser session: what it may do there, and the page as the run reads it.

use super::allowed_pages::{ALIKE, AllowedPages};
use super::web_error::{forbidden, web_error};
use crate::allowed_urls::AllowedUrls;
use crate::cpu_pool::CpuJob;
use crate::interact::RunBrowser;
use agent::{AgentPage, BrowserPage, BrowserView, PageLink, WebError};
use content::metadata::Metadata;
use content::{ContentScope, Page, PageSource};
use serde::Deserialize;
use sites::PageUrl;
use std::sync::Arc;
use url::Url;
use uuid::Uuid;

/// Links of one page.
const MAX_LINKS: usize = 5_000;

pub struct RunPage {
    pub browser: RunBrowser,
    /// The only pages that may be read, where the request is strict.
    pub only: Option<Arc<AllowedPages>>,
    pub allowed: AllowedUrls,
    pub job: CpuJob,
}

impl std::fmt::Debug for RunPage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RunPage").field("browser", &self.browser).finish_non_exhaustive()
    }
}

/// The value of [`browser::document_script`].
#[derive(Deserialize)]
struct ShownDocument {
    url: String,
    html: String,
}

impl RunPage {
    pub async fn open(&self, url: &Url) -> Result<(), WebError> {
        self.browser.commands.open(url.as_str()).await.map_err(failed)
    }

    /// Whether what is shown at this address may be read. A click leads where the page wants it to.
    fn check_place(&self, shown: &str) -> Result<Url, WebError> {
        let url = Url::parse(shown).map_err(|error| forbidden(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(forbidden("the browser shows no page of the web"));
        }
        let is_named = |only: &Arc<AllowedPages>| {
            PageUrl::from_url(url.clone(), ALIKE).is_ok_and(|address| only.names(&address))
        };
        if self.allowed.check(&url).is_err() || !self.only.as_ref().is_none_or(is_named) {
            return Err(forbidden("the page led to an address that the request does not allow"));
        }
        Ok(url)
    }
}

fn failed(message: String) -> WebError {
    WebError { message, retryable: false }
}

#[async_trait::async_trait]
impl BrowserPage for RunPage {
    fn session(&self) -> Uuid {
        self.browser.id()
    }

    async fn view(&self) -> Result<BrowserView, WebError> {
        let view = self.browser.commands.view().await.map_err(failed)?;
        self.check_place(&view.url)?;
        let elements = view.elements.into_iter().map(|element| (element.reference, element.name)).collect();
        Ok(BrowserView { url: view.url, text: view.text, elements })
    }

    async fn act(&self, command: &str) -> Result<(), WebError> {
        self.browser.touch();
        self.browser.commands.act(command).await.map_err(failed)
    }

    async fn read_page(&self) -> Result<AgentPage, WebError> {
        self.browser.touch();
        let value = self.browser.commands.evaluate(&browser::document_script()).await.map_err(failed)?;
        let ShownDocument { url, html } =
            serde_json::from_value(value).map_err(|error| failed(error.to_string()))?;
        let url = self.check_place(&url)?;
        self.job.run(move || parse(&url, &html)).await.map_err(|error| web_error(&error))
    }

    async fn close(&self) {
        self.browser.close().await;
    }
}

fn parse(url: &Url, html: &str) -> AgentPage {
    let content_type = Some("text/html; charset=utf-8");
    let source = PageSource { bytes: html.as_bytes(), content_type, url: Some(url), status: None };
    let page = Page::parse(&source, &agent::PAGE_LIMITS);
    // Without selectors none can be wrong.
    let selection = page.select(&ContentScope::default());
    let markdown = selection.map(|selection| page.markdown(&selection, true)).unwrap_or_default();
    AgentPage {
        url: url.to_string(),
        title: title(&page.metadata()),
        markdown: markdown.into(),
        links: page_links(&page),
        page: Arc::new(page),
        credits: 0,
    }
}

pub fn title(said: &Metadata) -> Option<String> {
    said.wire_title().filter(|title| !title.is_empty()).map(str::to_owned)
}

pub fn page_links(page: &Page) -> Vec<PageLink> {
    let links = page.links().into_iter().take(MAX_LINKS);
    links.map(|link| PageLink { url: link.url, text: link.text }).collect()
}
