//! Parse: files that callers upload, in the formats of a scrape. A file comes with its request, or first and by itself
//! ([`uploads`]); the request becomes a [`ScrapePlan`], and [`Scraper::parse_upload`] does the rest.

mod formats;
mod incoming;
mod plan;
mod reference;
mod uploads;

pub use document_process::MAX_FILE_BYTES;
pub use formats::formats_table;
pub use incoming::{IncomingError, IncomingFile, IncomingFiles};
pub use uploads::{OpenUpload, Uploads};

use crate::Error;
use crate::scrape::{ScrapePlan, Scraped, Scraper, UploadedFile};
use crate::services::Services;
use access::Caller;
use document_process::DocumentParser;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use store::objects::Objects;
use wire::parse::{ParseFormats, ParseRequest};
use wire::{Issue, Kind};

/// Longer names are cut: they are shown, and tell kinds of text files apart.
const MAX_NAME_CHARS: usize = 512;
const DEFAULT_NAME: &str = "upload";

/// A file as its sender calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLabel {
    name: String,
    content_type: Option<String>,
}

impl FileLabel {
    /// The last part of a name that may be a path, without control characters.
    pub fn new(name: &str, content_type: Option<String>) -> Self {
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let shown: String = last.chars().filter(|char| !char.is_control()).take(MAX_NAME_CHARS).collect();
        let name = match shown.trim() {
            "" | "." | ".." => DEFAULT_NAME.to_owned(),
            name => name.to_owned(),
        };
        Self { name, content_type }
    }
}

/// Parses uploaded files. One per process.
pub struct FileParser {
    scraper: Arc<Scraper>,
    documents: DocumentParser,
    files: Arc<IncomingFiles>,
    uploads: Uploads,
}

impl std::fmt::Debug for FileParser {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("FileParser").field("files", &self.files).finish_non_exhaustive()
    }
}

impl FileParser {
    pub fn open(
        services: &Services,
        scraper: Arc<Scraper>,
        objects: Objects,
        files: Arc<IncomingFiles>,
    ) -> BoxFuture<'_, Result<Self, Error>> {
        Box::pin(async move {
            let uploads = Uploads::open(services.store.clone(), objects).await?;
            Ok(Self { scraper, documents: services.documents.clone(), files, uploads })
        })
    }

    /// Where files that arrive are written.
    pub fn files(&self) -> &Arc<IncomingFiles> {
        &self.files
    }

    /// Files that are uploaded before they are parsed.
    pub fn uploads(&self) -> &Uploads {
        &self.uploads
    }

    /// The kinds of files that are read.
    pub fn formats(&self) -> ParseFormats {
        formats::list(self.documents.has_ocr())
    }

    /// What a request means, or what is wrong with it.
    pub fn plan(&self, caller: &Caller, asked: &ParseRequest) -> Result<ScrapePlan, Error> {
        let options = plan::resolve(asked)?;
        self.scraper.plan_upload(caller, &options, asked.zero_data_retention == Some(true))
    }

    /// Parses a file that came with its request.
    pub fn parse_file<'a>(
        &'a self,
        caller: &'a Arc<Caller>,
        plan: ScrapePlan,
        mut file: IncomingFile,
        label: FileLabel,
        idempotency_key: Option<String>,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<Scraped, Error>> {
        Box::pin(async move {
            let uploaded = UploadedFile {
                name: label.name,
                content_type: label.content_type,
                file: file.open_for_reading().await?,
                bytes: file.len(),
            };
            // `file` is kept until the end: its bytes are on disk until then, and count.
            self.scraper.parse_upload(caller, plan, uploaded, idempotency_key, base_url).await
        })
    }

    /// Parses a file that was uploaded before.
    pub fn parse_reference<'a>(
        &'a self,
        caller: &'a Arc<Caller>,
        plan: ScrapePlan,
        reference: Option<&'a str>,
        idempotency_key: Option<String>,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<Scraped, Error>> {
        Box::pin(async move {
            let reference = reference.ok_or_else(|| {
                let text = "required in a JSON body; or send the file as multipart/form-data";
                Error::invalid(&[Issue::at("uploadRef", text, "invalid_type")])
            })?;
            let claimed = self.uploads.claim(caller.team, reference).await?;
            let mut file = self.files.create(caller.team)?;
            if file.fill(self.uploads.objects(), &claimed.object_key(), claimed.bytes()).await?.is_none() {
                // Deleted to make room for others.
                return Err(Kind::UploadExpired.into());
            }
            let parsed =
                self.parse_file(caller, plan, file, claimed.label(), idempotency_key, base_url).await;
            claimed.release_or_delete(&parsed).await;
            parsed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_no_paths() {
        let name = |text: &str| FileLabel::new(text, None).name;
        assert_eq!(name("report.pdf"), "report.pdf");
        assert_eq!(name("../../etc/passwd"), "passwd");
        assert_eq!(name("C:\\Users\\me\\Übersicht 1.docx"), "Übersicht 1.docx");
        assert_eq!(name("a\0b\r\nc.txt"), "abc.txt");
        for none in ["", " ", "..", "/", "a/", "\u{7}"] {
            assert_eq!(name(none), "upload", "{none:?}");
        }
        assert_eq!(name(&"ä".repeat(9999)).chars().count(), MAX_NAME_CHARS);
    }
}
