//! `gannet scrape`: scrape pages, without a server or through one. The exit code reports the result.

mod action;
mod output;
mod request;

use super::api::{ApiClient, ServerChoice};
use crate::data_dir;
use crate::exit_code::{self, usage_error};
use crate::settings::Settings;
use access::limits::free_slot;
use anyhow::Result;
use browser::ActionResult;
use clap::ValueEnum;
use engine::models::Models;
use engine::scrape::derived::{self, StatedData};
use engine::scrape::fetched_page::FetchedPage;
use engine::scrape::{Ladder, ScrapePlan, document};
use futures_util::StreamExt as _;
use net::{Deadline, Purpose, StatusCode};
use output::{PageDocument, PageWriter, ScrapedPage};
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;
use uuid::Uuid;
use wire::WireError;
use wire::scrape::{ActionInput, ActionResults, Document, JavascriptReturn, ScrapedFrame};

/// Pages that are scraped at the same time.
const AT_ONCE: usize = 4;

/// Scrape pages, without a server or through one
///
/// Of several pages the outputs follow each other, each below a line with its URL; JSON is one document per
/// line. A saved profile and the cache are a server's: with --profile, --max-age or --server a running server
/// scrapes.
///
/// Exit code 0: success, 1: could not fetch the page, 2: invalid arguments, 3: some of several pages failed, 4:
/// blocked by the site, 5: forbidden address, 6: timeout.
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
#[derive(Debug, clap::Args)]
pub struct Scrape {
    /// URLs of the pages
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
    /// Output format; several are written as one JSON document
    #[arg(long = "format", value_enum, value_name = "FORMAT")]
    formats: Vec<Format>,
    /// Print the whole document as JSON: the same as --format json
    #[arg(long)]
    json: bool,
    /// A question to answer from the page; needs a language model
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// File with a JSON Schema to fill from the page
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Description of the data to extract; without a schema it needs a language model
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Output file instead of standard output; of several pages a .jsonl file or a folder
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// Save a screenshot of the page as PNG
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// Screenshot of the full page
    #[arg(long, requires = "screenshot")]
    full_page: bool,
    /// The whole page instead of its main content
    #[arg(long)]
    whole: bool,
    /// Milliseconds to wait in the browser before the page is read
    #[arg(long, value_name = "MS", default_value_t = 0)]
    wait_for: i64,
    /// What to do in the browser before the page is read: wait:MS, wait:SELECTOR, click:SELECTOR, write:TEXT,
    /// press:KEY, scroll:up, scroll:down, executeJavascript:CODE, scrape, or a JSON object as the API takes it; may be
    /// repeated
    #[arg(long = "action", value_name = "ACTION", value_parser = action::parse_action)]
    actions: Vec<ActionInput>,
    /// Saved browser profile of the server to visit the page with; it is not changed
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Country of the request, such as DE: its languages and time zone [default: US]
    #[arg(long, value_name = "CODE")]
    country: Option<String>,
    /// Take a page from the server's cache that is not older than this, in milliseconds; 0 = none
    #[arg(long, value_name = "MS")]
    max_age: Option<i64>,
    /// HTTP header to send, `Name: value`; may be repeated
    #[arg(long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// Emulate a mobile device
    #[arg(long)]
    mobile: bool,
    /// Do not start a browser unless an option needs one
    #[arg(long)]
    fast: bool,
    /// Timeout of each page in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    timeout: i64,
    #[command(flatten)]
    server: ServerChoice,
}

/// Formats by their names in the API; words with a hyphen are taken too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Markdown,
    Html,
    #[value(name = "rawHtml", alias = "raw-html")]
    RawHtml,
    Links,
    Images,
    Branding,
    Product,
    Menu,
    /// Written by a language model
    Summary,
    /// The whole document with metadata
    Json,
}

impl Format {
    /// Its name in the API; the document itself has none.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Markdown => Some("markdown"),
            Self::Html => Some("html"),
            Self::RawHtml => Some("rawHtml"),
            Self::Links => Some("links"),
            Self::Images => Some("images"),
            Self::Branding => Some("branding"),
            Self::Product => Some("product"),
            Self::Menu => Some("menu"),
            Self::Summary => Some("summary"),
            Self::Json => None,
        }
    }
}

impl Scrape {
    pub async fn run(mut self, settings: &Settings) -> Result<ExitCode> {
        if self.json {
            self.formats.push(Format::Json);
        }
        if let Some(why) = self.find_conflict() {
            return Ok(usage_error(&why));
        }
        if self.needs_server() {
            let client = self.server.clone().connect(settings)?;
            return self.scrape_all(&|url| Box::pin(self.scrape_by_server(&client, url))).await;
        }
        let fetcher = data_dir::open_fetcher(settings, None)?;
        let browsers = data_dir::open_browsers(settings, &fetcher);
        let documents = data_dir::open_documents(settings);
        let ladder = Ladder::without_server(fetcher, browsers.clone(), documents);
        let ended = self.scrape_all(&|url| Box::pin(self.scrape_here(settings, &ladder, url))).await;
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        ended
    }

    /// Options that do not go together, in words.
    fn find_conflict(&self) -> Option<String> {
        if self.urls.len() > 1 && self.screenshot.is_some() {
            return Some("--screenshot writes one file, so it takes one URL".to_owned());
        }
        let keeps_file = |action: &&ActionInput| matches!(action.kind.as_deref(), Some("screenshot" | "pdf"));
        let found = self.actions.iter().find(keeps_file).filter(|_| !self.needs_server())?;
        let kind = found.kind.as_deref().unwrap_or_default();
        Some(format!(
            "--action {kind}: its file is kept by a server; name one by --server (--screenshot FILE needs none)"
        ))
    }

    /// Whether something is asked for that only a running server has.
    fn needs_server(&self) -> bool {
        self.server.server.is_some() || self.profile.is_some() || self.max_age.is_some()
    }

    /// Scrapes several pages at the same time and writes them in the order they were given.
    async fn scrape_all<'a>(&'a self, scrape: &PageScrape<'a>) -> Result<ExitCode> {
        let mut writer = PageWriter::open(self)?;
        let mut pages = futures_util::stream::iter(&self.urls).map(scrape).buffered(AT_ONCE);
        let (mut failed, mut last) = (0, ExitCode::SUCCESS);
        for url in &self.urls {
            let Some(outcome) = pages.next().await else { break };
            match outcome {
                Ok(page) => writer.write(url, &page)?,
                Err(error) => {
                    failed += 1;
                    let named = (self.urls.len() > 1).then_some(url.as_str());
                    last = exit_code::print_failure(named, &error);
                }
            }
        }
        Ok(match self.urls.len() {
            1 => last,
            _ if failed == 0 => ExitCode::SUCCESS,
            all if failed == all => ExitCode::from(exit_code::FAILED),
            _ => ExitCode::from(exit_code::SOME_FAILED),
        })
    }

    /// By a running server, which has a cache and profiles.
    async fn scrape_by_server(&self, client: &ApiClient, url: &str) -> Result<ScrapedPage> {
        let mut asked = serde_json::to_value(self.request(url)?)?;
        if let Some(fields) = asked.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let mut answer = client.post("/v2/scrape", &asked).await?;
        if answer["success"] == false {
            return Err(client.refusal(StatusCode::OK, &answer).into());
        }
        let document = answer["data"].take();
        let screenshot = match (&self.screenshot, document["screenshot"].as_str()) {
            (Some(_), Some(address)) => Some(client.download(address).await?.to_vec()),
            _ => None,
        };
        let warning = [&answer["warning"], &document["warning"]].into_iter().find_map(Value::as_str);
        Ok(ScrapedPage {
            status: document["metadata"]["statusCode"].as_u64().unwrap_or_default(),
            warning: warning.map(str::to_owned),
            document: PageDocument::OfServer(document),
            screenshot,
        })
    }

    async fn scrape_here(&self, settings: &Settings, ladder: &Ladder, url: &str) -> Result<ScrapedPage> {
        let (document, mut fetched) = self.read_page(settings, ladder, url).await?;
        let screenshot = fetched.browser_outputs.screenshot.take();
        Ok(ScrapedPage {
            status: fetched.response.status.into(),
            warning: document.warning.clone(),
            document: PageDocument::Own(Box::new(document)),
            screenshot: screenshot.map(|picture| picture.bytes),
        })
    }

    async fn read_page(
        &self,
        settings: &Settings,
        ladder: &Ladder,
        url: &str,
    ) -> Result<(Document, FetchedPage), WireError> {
        let names_host = |host: &str| settings.egress_allow.names_host(Purpose::Scrape, host);
        let plan = ScrapePlan::resolve(&self.request(url)?, false, &names_host)?;
        let models = Models::open(&settings.models, &ladder.fetcher);
        derived::require_models(&models, &plan)?;
        let job = ladder.cpu_pool.job(Uuid::nil(), "scrape", Deadline::after(plan.timeout));
        let fetched = ladder.climb_alone(&plan, job.clone(), free_slot()).await?;
        let (mut document, stated) = job.part(|| {
            let document = document::write_formats(&plan, &fetched, &document::page_metadata(&fetched))?;
            let (url, text) = (fetched.response.url.as_str(), document.markdown.as_deref());
            let stated = StatedData::from_page(
                &plan,
                derived::may_ask_model(&models, &plan),
                url,
                &fetched.page,
                text,
            );
            Ok::<_, WireError>((document, stated))
        })??;
        derived::add_formats(&models, &plan, stated, &fetched, &mut document, &job).await?;
        if !plan.formats.markdown {
            document.markdown = None;
        }
        if !self.actions.is_empty() {
            document.actions = Some(action_results(&fetched));
        }
        Ok((document, fetched))
    }
}

/// Scrapes the page of a URL.
type PageScrape<'a> =
    dyn Fn(&'a String) -> futures_util::future::BoxFuture<'a, Result<ScrapedPage>> + Send + Sync + 'a;

/// What actions returned that is no file.
fn action_results(fetched: &FetchedPage) -> ActionResults {
    let mut results = ActionResults::default();
    for result in &fetched.browser_outputs.results {
        match result {
            ActionResult::Scrape { url, html } => {
                results.scrapes.push(ScrapedFrame { url: url.clone(), html: html.clone() });
            }
            ActionResult::Javascript { kind, value } => {
                let (kind, value) = (kind.clone(), value.clone());
                results.javascript_returns.push(JavascriptReturn { kind, value });
            }
            ActionResult::Screenshot(_) | ActionResult::Pdf(_) => {}
        }
    }
    results
}
