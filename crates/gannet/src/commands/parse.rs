//! `gannet parse`: files to markdown, without a server. Each file is read in a sandboxed process; HTML is then
//! converted as a web page.

mod blocks;
mod html;
mod input;
mod overlay;
mod progress;
mod render;
mod rows;
mod target;

use crate::data_dir;
use crate::exit_code::usage_error;
use crate::ocr::OcrParts;
use crate::output;
use crate::settings::Settings;
use anyhow::{Result, bail};
use clap::ValueEnum;
use document_process::{DocumentParser, Mode, ParseError, ParseJob};
use futures_util::StreamExt as _;
use input::InputFile;
use progress::FileProgress;
use render::{Rendered, Renderer};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use target::OutputFolder;
use url::Url;
use uuid::Uuid;

/// Convert files to markdown, without a server: PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, HTML, e-mail,
/// notebooks, CSV, text, pictures
///
/// Exit code 0: all files were parsed, 1: none was, 2: invalid arguments, 3: some were not.
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
#[derive(Debug, clap::Args)]
pub struct Parse {
    /// Files to parse; `-` or nothing reads standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format [default: markdown; json with --pages or --jsonl]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Add the markdown of each page by itself; needs JSON
    #[arg(long)]
    pages: bool,
    /// Put a rule and a comment with the page's number between two pages
    #[arg(long)]
    page_markers: bool,
    /// Pages of a PDF to read at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    max_pages: Option<u32>,
    /// Which pages of a PDF are read by OCR
    #[arg(long, value_enum, default_value_t = ModeChoice::Auto)]
    mode: ModeChoice,
    /// Read every page by OCR: the same as --mode ocr
    #[arg(long, conflicts_with = "mode")]
    ocr: bool,
    /// Password of an encrypted PDF
    #[arg(long, value_name = "TEXT")]
    password: Option<String>,
    /// Folder to write to, one file for each input (a.pdf becomes a.pdf.md)
    #[arg(long, value_name = "DIR", conflicts_with = "jsonl")]
    out: Option<PathBuf>,
    /// Write one JSON line for each file. Rows {"id","url","html"} are read from standard input or from a .jsonl
    /// file, and rows {"id","ms","markdown","title","verdict"} written as they are done
    #[arg(long)]
    jsonl: bool,
    /// Draw the blocks over the pages, with their types and their reading order: a .pdf file, or a .png of one page
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    overlay: Option<PathBuf>,
    /// The page that a .png overlay shows
    #[arg(long, value_name = "N", default_value_t = 1, requires = "overlay", value_parser = clap::value_parser!(u32).range(1..))]
    page: u32,
    /// Time limit for each file in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// URL of an HTML page, to resolve relative links
    #[arg(long, value_name = "URL")]
    url: Option<Url>,
    /// All of an HTML page instead of its main content
    #[arg(long)]
    whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Markdown,
    /// Markdown, blocks and metadata
    Json,
    Html,
    /// Text without any marks
    Text,
    /// The typed blocks of each page with their places, as JSON
    Blocks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeChoice {
    /// None: text only
    Fast,
    /// Pages without usable text
    Auto,
    /// All
    Ocr,
}

impl Parse {
    pub async fn run(mut self, settings: impl FnOnce() -> Result<Settings>) -> Result<ExitCode> {
        if self.files.is_empty() {
            self.files.push("-".into());
        }
        if let Some(why) = self.find_conflict() {
            return Ok(usage_error(&why));
        }
        if let [file] = self.files.as_slice()
            && self.jsonl
            && holds_rows(file)
        {
            return rows::convert_rows(file, self.whole);
        }
        let folder = match &self.out {
            Some(folder) => Some(OutputFolder::create(folder, &self.files, self.format().extension())?),
            None => None,
        };
        let settings = settings()?;
        let parser = data_dir::open_documents_for_command(&settings, self.files.len());
        Ok(Run { parser, settings: &settings, options: &self }.parse_all(folder.as_ref()).await)
    }

    fn format(&self) -> Format {
        self.format.unwrap_or(if self.pages || self.jsonl { Format::Json } else { Format::Markdown })
    }

    /// Options that do not go together, in words.
    fn find_conflict(&self) -> Option<String> {
        if self.pages && self.format() != Format::Json {
            return Some(
                "--pages needs --format json; --page-markers keeps pages apart in markdown".to_owned(),
            );
        }
        if self.jsonl && !matches!(self.format(), Format::Json | Format::Blocks) {
            return Some("--jsonl needs --format json or blocks".to_owned());
        }
        if self.files.iter().filter(|file| is_standard_input(file)).count() > 1 {
            return Some("standard input can be read only once".to_owned());
        }
        let overlay = self.overlay.as_deref()?;
        if self.files.len() > 1 {
            return Some("--overlay draws over one file".to_owned());
        }
        overlay::find_conflict(overlay, &self.files)
    }

    fn job(&self, file: &InputFile) -> ParseJob {
        let mode = match if self.ocr { ModeChoice::Ocr } else { self.mode } {
            ModeChoice::Ocr => Mode::Ocr,
            ModeChoice::Auto => Mode::Auto,
            ModeChoice::Fast => Mode::Fast,
        };
        let (max_pages, password) = (self.max_pages, self.password.clone());
        ParseJob { name: file.name(), mode, max_pages, password, ..ParseJob::default() }
    }
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json | Self::Blocks => "json",
            Self::Html => "html",
            Self::Text => "txt",
        }
    }
}

fn is_standard_input(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Whether `--jsonl` reads rows from it.
fn holds_rows(file: &Path) -> bool {
    let endings = ["jsonl", "ndjson"];
    let has_ending =
        || file.extension().is_some_and(|own| endings.iter().any(|e| own.eq_ignore_ascii_case(e)));
    is_standard_input(file) || has_ending()
}

/// One call of the command.
struct Run<'a> {
    parser: DocumentParser,
    settings: &'a Settings,
    options: &'a Parse,
}

impl Run<'_> {
    /// Parses all files, several at the same time, and writes them in the order they were given.
    async fn parse_all(&self, folder: Option<&OutputFolder>) -> ExitCode {
        let files: Vec<InputFile> = self.options.files.iter().map(|path| InputFile::new(path)).collect();
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        let mut results =
            futures_util::stream::iter(&files).map(|file| self.parse_file(file)).buffered(at_once);
        let mut progress = FileProgress::start(files.len(), folder.is_some());
        for (index, file) in files.iter().enumerate() {
            let Some(result) = results.next().await else { break };
            progress.clear();
            let name = file.shown_name();
            let result = result.and_then(|rendered| {
                match folder {
                    Some(folder) => folder.write(index, &rendered.text)?,
                    None => self.print(&name, &rendered.text),
                }
                Ok(rendered)
            });
            if let (Err(error), true) = (&result, self.options.jsonl) {
                render::print_error_row(&name, error);
            }
            progress.finish_file(&name, &result);
        }
        progress.end(self.options.out.as_deref())
    }

    async fn parse_file(&self, file: &InputFile) -> Result<Rendered> {
        let source = file.open().await?;
        let options = self.options;
        let renderer = Renderer::new(options, file);
        let time_limit = Duration::from_millis(options.timeout);
        match self.parser.parse(Uuid::nil(), &source, &options.job(file), time_limit).await {
            Err(ParseError::Html) if options.overlay.is_some() => bail!("HTML has no pages to draw on"),
            Err(ParseError::Html) => {
                html::render_page(source, options.url.clone(), options.whole, renderer).await
            }
            Err(error @ ParseError::OcrRequired { .. }) => match self.describe_missing_ocr() {
                Some(problems) => bail!("{error} What is missing for OCR: {problems}"),
                None => Err(error.into()),
            },
            Err(error) => Err(error.into()),
            Ok(parsed) => {
                if let Some(path) = &options.overlay {
                    let drawing =
                        overlay::Overlay { path, page: options.page, password: options.password.as_deref() };
                    drawing.draw(&source, &parsed, time_limit).await?;
                }
                renderer.render_file(parsed).await
            }
        }
    }

    fn describe_missing_ocr(&self) -> Option<String> {
        if self.parser.has_ocr() {
            return None;
        }
        Some(OcrParts::find(self.settings).describe_problems()).filter(|problems| !problems.is_empty())
    }

    fn print(&self, name: &str, text: &str) {
        // Only a drawing was asked for.
        if self.options.overlay.is_some() && self.options.format.is_none() {
            return;
        }
        if self.options.files.len() > 1 && !self.options.jsonl {
            render::print_heading(self.options.format(), name);
        }
        output::print(format_args!("{text}"));
    }
}
