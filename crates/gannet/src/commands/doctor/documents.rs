//! Reading files: whether a sandboxed process does it, and whether it has OCR.

use super::{CheckResult, CheckStatus};
use crate::data_dir;
use crate::settings::Settings;
use document_process::{MAX_FILE_BYTES, ParseJob};
use std::time::Duration;
use uuid::Uuid;

/// Time limit for a small file, the start of its process included.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);
const SAMPLE: &[u8] = b"{\\rtf1 A sample.}";

pub async fn check(settings: &Settings) -> CheckResult {
    let part = "documents";
    let documents = data_dir::open_documents(settings);
    match documents.read_bytes(Uuid::nil(), SAMPLE, &ParseJob::default(), PROBE_TIMEOUT).await {
        Ok(_) => {
            let ocr = if documents.has_ocr() { "with OCR" } else { "without OCR" };
            let text = format!(
                "files of up to {} MB are parsed in a sandboxed process; {ocr}",
                MAX_FILE_BYTES / (1024 * 1024)
            );
            CheckResult { part, verdict: CheckStatus::Ok, text }
        }
        Err(error) => CheckResult { part, verdict: CheckStatus::Broken, text: error.to_string() },
    }
}
