//! Uploaded files: read like pages that are files, but without an address. Nothing of them is stored for other
//! requests, neither in the cache nor in the search index.

use super::fetched_page::{self, FetchedPage, PageResponse, ReadPage};
use super::plan::ScrapePlan;
use super::spans::document_span;
use super::{PageSource, ScrapeTask, Scraped, Scraper, derived};
use super::{file, file_reader};
use crate::Error;
use crate::cpu_pool::CpuJob;
use crate::page_memory::BodyMemory;
use crate::wall::Rung;
use access::Caller;
use bytes::Bytes;
use document_process::{INSTALL_OCR_MODELS, MAX_FILE_BYTES, ParseError, ParsedFile};
use net::CredentialScope;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::sync::Arc;
use tracing::Instrument as _;
use url::Url;
use uuid::Uuid;
use wire::Kind;
use wire::scrape::ScrapeOptions;

const ENDPOINT: &str = "parse";
const DEFAULT_TIMEOUT_MS: i64 = 30_000;
/// What some clients call every file.
const ANY_FILE: &str = "application/octet-stream";
/// Pages that an error names at most.
const MAX_NAMED_PAGES: usize = 20;

/// A file that somebody sent.
#[derive(Debug)]
pub struct UploadedFile {
    pub name: String,
    pub content_type: Option<String>,
    /// Open for reading only.
    pub file: File,
    pub bytes: u64,
}

impl Scraper {
    /// What the options of an upload mean, or what is wrong with them. Options that make no sense without an
    /// address are refused by the caller.
    pub fn plan_upload(
        &self,
        caller: &Caller,
        asked: &ScrapeOptions,
        zero_data_retention: bool,
    ) -> Result<ScrapePlan, Error> {
        let private = caller.keeps_nothing() || zero_data_retention;
        let asked = ScrapeOptions { timeout: asked.timeout.or(Some(DEFAULT_TIMEOUT_MS)), ..asked.clone() };
        let mut plan = ScrapePlan::template(&asked, private, CredentialScope::none())?;
        plan.cache.store = false;
        derived::require_models(&self.models, &plan)?;
        Ok(plan)
    }

    /// Reads an uploaded file and writes its formats. It is charged and recorded like a scrape.
    pub async fn parse_upload(
        &self,
        caller: &Arc<Caller>,
        plan: ScrapePlan,
        file: UploadedFile,
        idempotency_key: Option<String>,
        base_url: &str,
    ) -> Result<Scraped, Error> {
        let (plan, id, target) = (Arc::new(plan), Uuid::now_v7(), file.name.clone());
        let is_charged = true;
        let task = ScrapeTask { caller, plan: &plan, id, base_url, endpoint: ENDPOINT, target, is_charged };
        let document = self
            .scrape_once(task, idempotency_key.as_deref(), PageSource::Upload(file), |_, json, _| json)
            .await?;
        Ok(Scraped { id, document })
    }

    pub(super) async fn read_upload(
        &self,
        team: Uuid,
        plan: &ScrapePlan,
        upload: UploadedFile,
        job: &CpuJob,
    ) -> Result<FetchedPage, Error> {
        let UploadedFile { name, content_type, file, bytes } = upload;
        if bytes > MAX_FILE_BYTES {
            let why = format!("{} MB are allowed", MAX_FILE_BYTES >> 20);
            return Err(Error::File(ParseError::TooLarge(why)));
        }
        let (mut held_memory, memory) = (BodyMemory::default(), self.ladder.memory.of_team(team));
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        if let Some(room) = held_memory.grow(&memory, size.saturating_mul(file_reader::MEMORY_GROWTH)) {
            job.deadline().run(room).await.map_err(|_| Error::NoMemory)?;
        }
        let parse_job = file_reader::parse_job(plan, Some(name.clone()), content_type.clone());
        let time_left = job.deadline().remaining();
        let reading = self.ladder.documents.read(team, &file, &parse_job, time_left);
        let answer = reading.instrument(document_span()).await;
        let parsed = file_reader::decode(answer, &mut held_memory, &memory, job.deadline()).await?;
        let parsed = match parsed {
            Ok(parsed) => Some(Arc::new(parsed)),
            Err(ParseError::Html) => None,
            Err(error) => return Err(refused(error)),
        };
        let body = if parsed.is_none() { read_whole(file, job).await? } else { Bytes::new() };
        let response = PageResponse {
            url: name_as_url(&name)?,
            status: 200,
            content_type: told_type(content_type, parsed.as_deref()),
            etag: None,
            last_modified: None,
            robots_tags: Vec::new(),
            retry_after: None,
            body,
            cut: false,
            chosen_markdown: false,
            held_memory,
        };
        let reading = job.run(move || {
            // Links of an upload are relative to nothing.
            let page = match &parsed {
                Some(file) => file::to_page(file, None, response.status),
                None => fetched_page::parse_page(&response, None),
            };
            let (page, verdict) = (Arc::new(page), fetched_page::file_verdict());
            ReadPage { response, page, verdict, file: parsed }
        });
        let fetched = reading.await?.obtained(Rung::Http, Vec::new(), None);
        Ok(FetchedPage { uploaded_name: Some(name), ..fetched })
    }
}

/// What is wrong with a file is the mistake of who sent it, and not of a site.
fn refused(error: ParseError) -> Error {
    let error = Error::from_file(error);
    let Error::File(cause) = &error else { return error };
    let why = cause.to_string();
    let why = why.trim_end_matches('.');
    match cause {
        ParseError::Unsupported(format) => Error::because(Kind::UnsupportedFileType, format),
        ParseError::OcrRequired { pages } => {
            let ocr = "OCR is off or not installed here; the operator installs it with";
            let (kind, what) = if pages.is_empty() {
                (Kind::UnsupportedFileType, "it is a picture".to_owned())
            } else {
                let pages: Vec<String> = pages.iter().take(MAX_NAMED_PAGES).map(u32::to_string).collect();
                (Kind::UploadOcrRequired, format!("pages {}", pages.join(", ")))
            };
            Error::because(kind, &format!("{what}; {ocr} `{INSTALL_OCR_MODELS}`"))
        }
        ParseError::TimedOut | ParseError::Unavailable(_) => error,
        _ => Error::because(Kind::UnreadableUpload, why),
    }
}

/// What the sender says the file is, unless that says nothing. A page is one, whatever the sender says.
fn told_type(content_type: Option<String>, file: Option<&ParsedFile>) -> Option<String> {
    let told = content_type.filter(|told| !told.is_empty() && !told.starts_with(ANY_FILE));
    match file {
        Some(file) => told.or_else(|| Some(file.kind.media_type().to_owned())),
        None => told.filter(|told| told.contains("html")).or_else(|| Some("text/html".to_owned())),
    }
}

/// The source that a language model is told.
fn name_as_url(name: &str) -> Result<Url, Error> {
    let mut url = Url::parse("file:///").map_err(Error::internal)?;
    url.set_path(name);
    Ok(url)
}

async fn read_whole(mut file: File, job: &CpuJob) -> Result<Bytes, Error> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(Bytes::from(bytes))
    });
    let late = |_| Error::timeout("reading the file");
    let read = job.deadline().run(reading).await.map_err(late)?;
    read.map_err(Error::internal)?.map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use documents::{Document, FileKind};

    #[test]
    fn a_file_is_called_what_its_sender_calls_it_unless_that_says_nothing() {
        let (pages_needing_ocr, pages_read_by_ocr) = (Vec::new(), Vec::new());
        let document = Document::default();
        let file = ParsedFile { kind: FileKind::Pdf, document, pages_needing_ocr, pages_read_by_ocr };
        let told = |told: &str, file| told_type(Some(told.to_owned()), file);
        assert_eq!(told("application/x-pdf", Some(&file)).as_deref(), Some("application/x-pdf"));
        assert_eq!(told("application/octet-stream", Some(&file)).as_deref(), Some("application/pdf"));
        assert_eq!(told_type(None, Some(&file)).as_deref(), Some("application/pdf"));
        assert_eq!(told("text/html; charset=latin1", None).as_deref(), Some("text/html; charset=latin1"));
        assert_eq!(told("text/plain", None).as_deref(), Some("text/html"), "it was read as a page");
    }

    #[test]
    fn what_needs_ocr_is_refused_with_the_command_that_installs_it() {
        for (pages, what) in [(vec![], "it is a picture"), (vec![1, 2], "pages 1, 2")] {
            let text = refused(ParseError::OcrRequired { pages }).to_wire().text().to_owned();
            assert!(text.contains(what) && text.contains("gannet models add ocr"), "{text}");
        }
    }

    #[test]
    fn the_name_of_a_file_leads_nowhere() {
        assert_eq!(name_as_url("a b.pdf").unwrap().as_str(), "file:///a%20b.pdf");
        assert_eq!(name_as_url("../../etc/passwd").unwrap().as_str(), "file:///etc/passwd");
    }
}
