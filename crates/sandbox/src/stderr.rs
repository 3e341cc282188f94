//! What a process wrote to standard error before it ended. It may quote the document, so nothing of it is
//! shown but the place of a panic in our code.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;

const MAX_KEPT_BYTES: usize = 4096;
const MAX_PLACE_BYTES: usize = 200;
/// How long the last output of an ended process is waited for.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);

/// The first output of a process: what it wrote first is the reason, what follows are consequences.
#[derive(Debug)]
pub(crate) struct FirstOutput {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl FirstOutput {
    /// Reads until the end, so that a full pipe never blocks the process.
    pub(crate) fn collect(mut errors: ChildStderr) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let collected = kept.clone();
        let reader = tokio::spawn(async move {
            let mut chunk = [0; 1024];
            while let Ok(length @ 1..) = errors.read(&mut chunk).await {
                let mut kept = collected.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_KEPT_BYTES - kept.len();
                kept.extend_from_slice(&chunk[..length.min(room)]);
            }
        });
        Self { kept, reader }
    }

    /// The text, after the process has ended.
    pub(crate) async fn text(&mut self) -> String {
        if !self.reader.is_finished() {
            let _ = tokio::time::timeout(LAST_OUTPUT_TIMEOUT, &mut self.reader).await;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

impl Drop for FirstOutput {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Whether the Rust runtime said that there is no memory left.
pub(crate) fn is_out_of_memory(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("memory allocation of ") && line.contains(" failed"))
}

/// The file, line and column of a panic.
pub(crate) fn panic_place(text: &str) -> Option<String> {
    let (_, rest) = text.lines().find_map(|line| line.split_once(" panicked at "))?;
    let place = rest.trim_end_matches(':');
    let is_place = place.contains(".rs:") && place.len() <= MAX_PLACE_BYTES;
    (is_place && !place.contains(char::is_control)).then(|| place.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found_without_quoting_the_document() {
        let text =
            "\nthread 'main' (7) panicked at crates/documents/src/pdf.rs:10:5:\nsecret text of a page\n";
        assert_eq!(panic_place(text).as_deref(), Some("crates/documents/src/pdf.rs:10:5"));
        assert_eq!(panic_place("thread 'main' panicked at nothing.txt"), None);
        assert_eq!(panic_place(&format!("x panicked at {}.rs:1:1:", "long".repeat(99))), None);
        assert!(is_out_of_memory("memory allocation of 1073741824 bytes failed\n"));
        assert!(!is_out_of_memory("\nthread 'main' has overflowed its stack\n"));
    }
}
