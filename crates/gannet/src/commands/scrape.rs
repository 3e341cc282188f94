//! `gannet scrape`: one page from the command line, without a server. The exit code tells the outcome.

use crate::home;
use crate::settings::Settings;
use anyhow::{Context, Result};
use clap::ValueEnum;
use engine::answers::{self, Stated};
use engine::models::Models;
use engine::scrape::capture::Capture;
use engine::scrape::ladder::free_slot;
use engine::scrape::memory::PageMemory;
use engine::scrape::workbench::Workbench;
use engine::scrape::{Ladder, ScrapePlan, document};
use net::{Deadline, Purpose};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use uuid::Uuid;
use wire::scrape::{Document, FormatAsked, FormatObject, ScrapeRequest};
use wire::{Kind, WireError};

/// The page could not be had.
const NOT_HAD: u8 = 1;
/// The command does not make sense; also what the command line itself answers with.
const MISTAKE: u8 = 2;
/// Time ran out.
const TIMED_OUT: u8 = 3;
/// The site answered with a block page, a captcha or nothing.
const WALLED: u8 = 4;
/// The address must not be reached.
const FORBIDDEN: u8 = 5;

/// Scrape one page; 1 = not had, 2 = mistake, 3 = timed out, 4 = walled, 5 = forbidden address
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
#[derive(Debug, clap::Args)]
pub struct Scrape {
    /// The page
    url: String,
    /// What to write; several make one JSON document
    #[arg(long = "format", value_enum, value_name = "FORMAT")]
    formats: Vec<Format>,
    /// A question that the page answers; needs a language model
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// A JSON Schema to fill from the page
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// What data is wanted of the page, in words; without a schema it needs a language model
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Where to write it instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// A picture of the page as PNG
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// The picture shows the whole page
    #[arg(long, requires = "screenshot")]
    full_page: bool,
    /// The whole page rather than its main content
    #[arg(long)]
    whole: bool,
    /// Let the page settle in the browser for so many milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0)]
    wait_for: i64,
    /// A header to send, `Name: value`; may be repeated
    #[arg(long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// Ask as a phone would
    #[arg(long)]
    mobile: bool,
    /// Never start a browser unless something asks for one
    #[arg(long)]
    fast: bool,
    /// Milliseconds until it must have ended
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
    /// By a language model
    Summary,
    /// The whole document, metadata included
    Json,
}

impl Format {
    /// Its name on the wire; the document itself has none.
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
        let fetcher = home::open_fetcher(settings, None)?;
        let browsers = home::open_browsers(settings, &fetcher);
        let memory = PageMemory::default().of_team(Uuid::nil());
        let ladder = Ladder { fetcher, browsers: browsers.clone(), bench: Workbench::new(), memory };
        let outcome = self.scrape(settings, &ladder).await;
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        match outcome {
            Ok((document, capture)) => {
                self.write(&document, &capture)?;
                if let Some(warning) = &document.warning {
                    eprintln!("gannet: {warning}");
                }
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                eprintln!("gannet: {error}");
                if let Some(details) = error.details() {
                    eprintln!("{details:#}");
                }
                Ok(ExitCode::from(exit_code(&error)))
            }
        }
    }

    async fn scrape(&self, settings: &Settings, ladder: &Ladder) -> Result<(Document, Capture), WireError> {
        let names_host = |host: &str| settings.egress_allow.names_host(Purpose::Scrape, host);
        let plan = ScrapePlan::resolve(&self.request()?, false, &names_host)?;
        let models = Models::open(&settings.models, &ladder.fetcher);
        answers::must_be_able(&models, &plan)?;
        let job = ladder.bench.job(Uuid::nil(), "scrape", Deadline::after(plan.timeout));
        let capture = ladder.climb_alone(&plan, job.clone(), free_slot()).await?;
        let (mut document, stated) = job.part(|| {
            let document = document::write(&plan, &capture)?;
            let (url, text) = (capture.answer.url.as_str(), document.markdown.as_deref());
            let stated = Stated::of(&plan, answers::may_ask(&models, &plan), url, &capture.page, text);
            Ok::<_, WireError>((document, stated))
        })??;
        answers::add(&models, &plan, stated, &mut document, &job).await?;
        if !plan.formats.markdown {
            document.markdown = None;
        }
        Ok((document, capture))
    }

    /// What is worked out of the text beside the formats.
    fn worked_out(&self) -> Result<Vec<FormatAsked>, WireError> {
        let mistake = |why: String| WireError::because(Kind::BadRequest, &why);
        let mut asked = Vec::new();
        let mut ask = |object: FormatObject| asked.push(FormatAsked::Object(Box::new(object)));
        if self.schema.is_some() || self.prompt.is_some() {
            let read = |path: &PathBuf| {
                let shown = path.display();
                let text =
                    std::fs::read_to_string(path).map_err(|error| mistake(format!("{shown}: {error}")))?;
                serde_json::from_str(&text).map_err(|error| mistake(format!("{shown} is not JSON: {error}")))
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
        let named = |name: &str| FormatAsked::Plain(name.to_owned());
        let mut formats: Vec<_> = self.formats.iter().filter_map(|format| format.name()).map(named).collect();
        formats.extend(self.worked_out()?);
        if formats.is_empty() {
            formats.push(named("markdown"));
        }
        if self.screenshot.is_some() {
            let shot = FormatObject {
                kind: Some("screenshot".to_owned()),
                full_page: Some(self.full_page),
                ..FormatObject::default()
            };
            formats.push(FormatAsked::Object(Box::new(shot)));
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

    fn write(&self, document: &Document, capture: &Capture) -> Result<()> {
        if let (Some(path), Some(picture)) = (&self.screenshot, &capture.souvenirs.screenshot) {
            write_file(path, &picture.bytes)?;
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
            [Format::Links] => lines(document.links.as_deref()),
            [Format::Images] => lines(document.images.as_deref()),
            _ => serde_json::to_string_pretty(document)? + "\n",
        };
        if let Some(path) = &self.out {
            return write_file(path, text.as_bytes());
        }
        let mut out = std::io::stdout().lock();
        // Whoever reads may have seen enough.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        Ok(())
    }
}

fn lines(list: Option<&[String]>) -> String {
    list.unwrap_or_default().iter().fold(String::new(), |text, line| text + line + "\n")
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn exit_code(error: &WireError) -> u8 {
    match error.kind {
        Kind::ScrapeTimeout => TIMED_OUT,
        Kind::ScrapeAllFailed | Kind::PromptInjection => WALLED,
        Kind::UnsafeDomain => FORBIDDEN,
        _ if error.status() == 400 => MISTAKE,
        _ => NOT_HAD,
    }
}
