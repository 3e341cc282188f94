//! `gannet scrape`: scrape one page without a server. The exit code reports the result.

use crate::data_dir;
use crate::exit_code;
use crate::output;
use crate::settings::Settings;
use access::limits::free_slot;
use anyhow::{Context, Result};
use clap::ValueEnum;
use engine::models::Models;
use engine::scrape::derived::{self, StatedData};
use engine::scrape::fetched_page::FetchedPage;
use engine::scrape::{Ladder, ScrapePlan, document};
use net::{Deadline, Purpose};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use uuid::Uuid;
use wire::scrape::{Document, FormatInput, FormatObject, ScrapeRequest};
use wire::{Kind, WireError};

/// Scrape one page without a server
///
/// Exit code 0: success, 1: could not fetch the page, 2: invalid arguments, 4: blocked by the site,
/// 5: forbidden address, 6: timeout.
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
#[derive(Debug, clap::Args)]
pub struct Scrape {
    /// URL of the page
    url: String,
    /// Output format; several are written as one JSON document
    #[arg(long = "format", value_enum, value_name = "FORMAT")]
    formats: Vec<Format>,
    /// A question to answer from the page; needs a language model
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// File with a JSON Schema to fill from the page
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Description of the data to extract; without a schema it needs a language model
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Output file instead of standard output
    #[arg(long, value_name = "FILE")]
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
    /// HTTP header to send, `Name: value`; may be repeated
    #[arg(long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// Emulate a mobile device
    #[arg(long)]
    mobile: bool,
    /// Do not start a browser unless an option needs one
    #[arg(long)]
    fast: bool,
    /// Timeout in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    timeout: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Markdown,
    Html,
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
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let fetcher = data_dir::open_fetcher(settings, None)?;
        let browsers = data_dir::open_browsers(settings, &fetcher);
        let documents = data_dir::open_documents(settings);
        let ladder = Ladder::without_server(fetcher, browsers.clone(), documents);
        let outcome = self.scrape(settings, &ladder).await;
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        match outcome {
            Ok((document, fetched)) => {
                self.write(&document, &fetched)?;
                if let Some(warning) = &document.warning {
                    eprintln!("gannet: {warning}");
                }
                let status = fetched.response.status;
                if status >= 400 {
                    eprintln!("gannet: the site answered with status {status}");
                }
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => Ok(exit_code::print_refusal(&error)),
        }
    }

    async fn scrape(
        &self,
        settings: &Settings,
        ladder: &Ladder,
    ) -> Result<(Document, FetchedPage), WireError> {
        let names_host = |host: &str| settings.egress_allow.names_host(Purpose::Scrape, host);
        let plan = ScrapePlan::resolve(&self.request()?, false, &names_host)?;
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
        Ok((document, fetched))
    }

    /// Formats that are derived from the text: data and answers.
    fn derived_formats(&self) -> Result<Vec<FormatInput>, WireError> {
        let invalid = |why: String| WireError::because(Kind::BadRequest, &why);
        let mut asked = Vec::new();
        let mut ask = |object: FormatObject| asked.push(FormatInput::Object(Box::new(object)));
        if self.schema.is_some() || self.prompt.is_some() {
            let read = |path: &PathBuf| {
                let shown = path.display();
                let text =
                    std::fs::read_to_string(path).map_err(|error| invalid(format!("{shown}: {error}")))?;
                serde_json::from_str(&text).map_err(|error| invalid(format!("{shown} is not JSON: {error}")))
            };
            let (kind, prompt) = (Some("json".to_owned()), self.prompt.clone());
            let schema = self.schema.as_ref().map(read).transpose()?;
            ask(FormatObject { kind, prompt, schema, ..FormatObject::default() });
        }
        if let Some(question) = self.question.clone() {
            let (kind, question) = (Some("question".to_owned()), Some(question));
            ask(FormatObject { kind, question, ..FormatObject::default() });
        }
        Ok(asked)
    }

    fn request(&self) -> Result<ScrapeRequest, WireError> {
        let named = |name: &str| FormatInput::Plain(name.to_owned());
        let mut formats: Vec<_> = self.formats.iter().filter_map(|format| format.name()).map(named).collect();
        formats.extend(self.derived_formats()?);
        if formats.is_empty() {
            formats.push(named("markdown"));
        }
        if self.screenshot.is_some() {
            let shot = FormatObject {
                kind: Some("screenshot".to_owned()),
                full_page: Some(self.full_page),
                ..FormatObject::default()
            };
            formats.push(FormatInput::Object(Box::new(shot)));
        }
        let mut headers = std::collections::BTreeMap::new();
        for header in &self.headers {
            let Some((name, value)) = header.split_once(':') else {
                return Err(WireError::because(
                    Kind::BadRequest,
                    &format!("`{header}` must be `Name: value`"),
                ));
            };
            headers.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        Ok(ScrapeRequest {
            url: Some(self.url.clone()),
            formats: Some(formats),
            only_main_content: Some(!self.whole),
            wait_for: Some(self.wait_for),
            headers: (!headers.is_empty()).then(|| headers.into()),
            mobile: Some(self.mobile),
            fast_mode: Some(self.fast),
            timeout: Some(self.timeout),
            ..ScrapeRequest::default()
        })
    }

    fn write(&self, document: &Document, fetched: &FetchedPage) -> Result<()> {
        if let (Some(path), Some(picture)) = (&self.screenshot, &fetched.browser_outputs.screenshot) {
            write_file(path, &picture.bytes)?;
            eprintln!("wrote {}", path.display());
        }
        let data = self.schema.is_some() || self.prompt.is_some();
        let text = match self.formats.as_slice() {
            [] if data && self.question.is_none() => {
                serde_json::to_string_pretty(&document.json.as_ref().unwrap_or_default())? + "\n"
            }
            [] if self.question.is_some() && !data => document.answer.clone().unwrap_or_default() + "\n",
            [Format::Summary] if !data && self.question.is_none() => {
                document.summary.clone().unwrap_or_default() + "\n"
            }
            _ if data || self.question.is_some() => serde_json::to_string_pretty(document)? + "\n",
            [] if self.screenshot.is_some() && self.out.is_none() => return Ok(()),
            [] | [Format::Markdown] => document.markdown.clone().unwrap_or_default(),
            [Format::Html] => document.html.clone().unwrap_or_default(),
            [Format::RawHtml] => document.raw_html.clone().unwrap_or_default(),
            [Format::Links] => join_lines(document.links.as_deref()),
            [Format::Images] => join_lines(document.images.as_deref()),
            _ => serde_json::to_string_pretty(document)? + "\n",
        };
        if let Some(path) = &self.out {
            return write_file(path, text.as_bytes());
        }
        output::print(format_args!("{text}"));
        Ok(())
    }
}

fn join_lines(list: Option<&[String]>) -> String {
    list.unwrap_or_default().iter().fold(String::new(), |text, line| text + line + "\n")
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
