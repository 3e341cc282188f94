//! A site as a target: a crawl finds its pages; those that are new, changed or gone are pages of the check.

use super::context::{CheckContext, check_all};
use super::page_check::{PageNews, PageOutcome, PageTask};
use super::page_options::{Compared, compared, page_options};
use super::read_page::ReadPage;
use super::stored_page::page_key;
use crate::{Error, from_store};
use access::CallerError;
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::time::Duration;
use store::crawls::CrawlKind;
use store::monitors::{CheckPageStatus, SnapshotChange};
use uuid::Uuid;
use wire::crawl::{CrawlRequest, JobErrors, PageError, PageQuery};
use wire::monitor::{CheckPageView, TargetResult, UnreadPage, UnreadPages};
use wire::scrape::ScrapeOptions;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Pages of a site that are remembered.
const MAX_KNOWN_PAGES: u32 = 100_000;
const DOCUMENTS_AT_ONCE: usize = 50;
/// Pages that the crawl could not read or did not find are read themselves, up to so many of each.
const MAX_PAGES_READ: usize = 200;
/// Pages of each kind that are named among those that could not be read.
const MAX_UNREAD_NAMED: usize = 10;
const ROBOTS_BLOCKED: &str = "robots.txt forbids it";

/// What is needed of the status of a crawl.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CrawlProgress {
    status: String,
    completed: u64,
    #[serde(default)]
    failed: u64,
    credits_used: i64,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    data: Vec<CrawledPage>,
}

/// A page as a crawl returns it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CrawledPage {
    markdown: Option<String>,
    json: Option<Value>,
    screenshot: Option<String>,
    metadata: Map<String, Value>,
}

impl CrawledPage {
    fn url(&self) -> Option<String> {
        let text = |name: &str| self.metadata.get(name).and_then(Value::as_str);
        text("sourceURL").or_else(|| text("url")).map(str::to_owned)
    }
}

/// A site that is being checked.
struct SiteCheck<'a> {
    target: Uuid,
    options: &'a ScrapeOptions,
    compared: Compared,
    is_first_check: bool,
}

impl SiteCheck<'_> {
    /// A page of it, still without its address.
    fn task(&self) -> PageTask<'static> {
        PageTask {
            target: self.target,
            url: "",
            compared: self.compared,
            is_named: false,
            is_first_check: self.is_first_check,
        }
    }
}

impl CheckContext {
    pub async fn check_site(
        &self,
        target: Uuid,
        request: &CrawlRequest,
        result: &mut TargetResult,
    ) -> Result<(), Error> {
        let options = request.scrape_options.clone().unwrap_or_default();
        let is_first_check = self.is_first_check(target).await?;
        let site = SiteCheck { target, options: &options, compared: compared(&options), is_first_check };
        let crawl = self.start_crawl(target, request).await?;
        result.crawl_id = Some(crawl);
        let progress = self.wait_for_crawl(crawl).await?;
        self.add_credits(progress.credits_used);
        let mut found = HashSet::new();
        let mut skip = 0;
        loop {
            let documents = self.crawl_progress(crawl, skip, DOCUMENTS_AT_ONCE).await?.data;
            if documents.is_empty() {
                break;
            }
            skip += documents.len();
            let pages = documents
                .into_iter()
                .filter_map(|document| Some((document.url()?, document)))
                .filter(|(url, _)| found.insert(url.clone()))
                .map(|page| self.check_document(&site, page).boxed());
            check_all(pages.collect()).await?;
        }
        result.result_count = Some(found.len() as u64);
        let errors = self.tools.crawler.errors(&self.caller, CrawlKind::Crawl, crawl).await?;
        result.unread = unread_pages(&errors, progress.failed);
        self.check_failed(&site, errors.errors, &mut found).await?;
        if progress.status != "completed" {
            let error = progress.error.unwrap_or_else(|| "The crawl of the site did not end".to_owned());
            return Err(Error::with_text(wire::Kind::BadRequest, &error));
        }
        let limit = request.limit.and_then(|limit| u64::try_from(limit).ok()).unwrap_or(u64::MAX);
        self.check_missing(&site, &found, progress.completed >= limit).await
    }

    /// Starts the crawl of the check. One that an earlier attempt started goes on.
    async fn start_crawl(&self, target: Uuid, request: &CrawlRequest) -> Result<Uuid, Error> {
        let mut asked = request.clone();
        asked.scrape_options = Some(page_options(&request.scrape_options.clone().unwrap_or_default()));
        let key = format!("monitor {} {target}", self.lease.check);
        let base_url = &self.tools.base_url;
        match self.tools.crawler.start(&self.caller, &asked, Some(&key), base_url).await {
            Ok(accepted) => Ok(accepted.id),
            Err(Error::Caller(CallerError::KeyUsed(used))) => {
                used.resource.ok_or_else(|| CallerError::KeyUsed(used).into())
            }
            Err(error) => Err(error),
        }
    }

    async fn wait_for_crawl(&self, id: Uuid) -> Result<CrawlProgress, Error> {
        loop {
            let progress = self.crawl_progress(id, 0, 1).await?;
            if progress.status != "scraping" {
                return Ok(progress);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn crawl_progress(&self, id: Uuid, skip: usize, limit: usize) -> Result<CrawlProgress, Error> {
        let page = PageQuery { skip: Some(skip.to_string()), limit: Some(limit.to_string()) };
        let (crawler, base_url) = (&self.tools.crawler, &self.tools.base_url);
        let json = crawler.status(&self.caller, CrawlKind::Crawl, id, &page, base_url).await?;
        serde_json::from_slice(&json).map_err(Error::internal)
    }

    /// The crawl was the first read; differences are confirmed by reading the page itself.
    async fn check_document(&self, site: &SiteCheck<'_>, page: (String, CrawledPage)) -> Result<(), Error> {
        let (url, CrawledPage { markdown, json, screenshot, metadata }) = page;
        let crawled = ReadPage::from_parts(markdown, json, &metadata);
        let mut crawled = Some(ReadPage { screenshot, ..crawled });
        let task = PageTask { url: &url, ..site.task() };
        self.check_page(task, || {
            let crawled = crawled.take();
            let url = &url;
            async move {
                match crawled {
                    Some(page) => Ok(page),
                    None => self.read_uncharged(url, site.options).await,
                }
            }
        })
        .await
    }

    /// The crawl paid for its pages.
    async fn read_uncharged(&self, url: &str, options: &ScrapeOptions) -> Result<ReadPage, Error> {
        Ok(ReadPage { credits: 0, ..self.read_page(url, options).await? })
    }

    /// Pages that the crawl could not read are read themselves, up to a number: they may be gone, or be there
    /// again.
    async fn check_failed(
        &self,
        site: &SiteCheck<'_>,
        mut failed: Vec<PageError>,
        found: &mut HashSet<String>,
    ) -> Result<(), Error> {
        failed.retain(|failed| found.insert(failed.url.clone()));
        let others = failed.split_off(failed.len().min(MAX_PAGES_READ));
        let check = |url| {
            let task = PageTask { url, ..site.task() };
            self.check_page(task, move || self.read_uncharged(url, site.options)).boxed()
        };
        check_all(failed.iter().map(|failed| failed.url.as_str()).map(check).collect()).await?;
        for failed in others {
            let view = CheckPageView { error: Some(failed.error), ..CheckPageView::default() };
            let outcome = (CheckPageStatus::Error, SnapshotChange::Keep);
            self.write_unread(site, &failed.url, view, outcome).await?;
        }
        Ok(())
    }

    async fn write_unread(
        &self,
        site: &SiteCheck<'_>,
        url: &str,
        view: CheckPageView,
        (status, snapshot): (CheckPageStatus, SnapshotChange),
    ) -> Result<(), Error> {
        let key = page_key(site.target, url);
        if self.is_written(&key) {
            return Ok(());
        }
        let previous_scrape_id = self.stored_page(&key).await?.and_then(|before| before.scrape_id);
        let view = CheckPageView { previous_scrape_id, ..view };
        let news = PageNews { is_first: false, errors_in_a_row: 1 };
        let outcome = PageOutcome { view, status, snapshot, credits: 0, news };
        self.write_page((site.target, url), key, outcome).await
    }

    /// Pages that are known and that the crawl did not find: gone, or no longer linked, or beyond its limit.
    /// The pages themselves tell.
    async fn check_missing(
        &self,
        site: &SiteCheck<'_>,
        found: &HashSet<String>,
        is_cut_off: bool,
    ) -> Result<(), Error> {
        let known = self.store.known_pages(self.monitor, site.target, MAX_KNOWN_PAGES).await;
        let mut missing: Vec<String> = known.map_err(from_store)?.into_iter().map(|page| page.url).collect();
        missing.retain(|url| !found.contains(url));
        let others = missing.split_off(missing.len().min(MAX_PAGES_READ));
        let check = |url| {
            let task = PageTask { url, ..site.task() };
            self.check_page(task, move || self.read_in_place(url, site.options)).boxed()
        };
        check_all(missing.iter().map(String::as_str).map(check).collect()).await?;
        // A crawl that reached its limit says nothing about pages that it did not come to.
        for url in others.iter().filter(|_| !is_cut_off) {
            let outcome = (CheckPageStatus::Removed, SnapshotChange::Delete);
            self.write_unread(site, url, CheckPageView::default(), outcome).await?;
        }
        Ok(())
    }

    /// A page that leads elsewhere is not there any more.
    async fn read_in_place(&self, url: &str, options: &ScrapeOptions) -> Result<ReadPage, Error> {
        let page = self.read_uncharged(url, options).await?;
        let moved = page.final_url.as_deref().is_some_and(|final_url| !is_same_page(url, final_url));
        Ok(if moved { ReadPage { status: 410, ..page } } else { page })
    }
}

/// What the crawl found and could not read. Those among them that no check ever read are told nowhere else.
fn unread_pages(errors: &JobErrors, failed: u64) -> Option<UnreadPages> {
    let page = |url: &str, error: &str| UnreadPage { url: url.to_owned(), error: error.to_owned() };
    let blocked = &errors.robots_blocked;
    let mut pages: Vec<UnreadPage> =
        errors.errors.iter().take(MAX_UNREAD_NAMED).map(|failed| page(&failed.url, &failed.error)).collect();
    pages.extend(blocked.iter().take(MAX_UNREAD_NAMED).map(|url| page(url, ROBOTS_BLOCKED)));
    let unread = UnreadPages { failed, robots_blocked: blocked.len() as u64, pages };
    (unread != UnreadPages::default()).then_some(unread)
}

fn is_same_page(url: &str, other: &str) -> bool {
    let bare = |url: &str| url.split('#').next().unwrap_or_default().trim_end_matches('/').to_owned();
    bare(url) == bare(other)
}
