//! Progress on a terminal: one line that is overwritten.

use crate::output::shows_progress;
use std::io::Write;
use std::time::Instant;
use wire::crawl::JobHead;

#[derive(Debug)]
pub struct ProgressLine {
    shown: bool,
    /// Time of the first update, and the number of pages done by then.
    begun: Option<(Instant, u64)>,
}

impl ProgressLine {
    pub fn start() -> Self {
        Self { shown: shows_progress(), begun: None }
    }

    pub fn show(&mut self, head: &JobHead) {
        if !self.shown {
            return;
        }
        let done = head.completed + head.failed;
        let (at, before) = *self.begun.get_or_insert((Instant::now(), done));
        let seconds = at.elapsed().as_secs_f64();
        let rate = if seconds > 0.0 { done.saturating_sub(before) as f64 / seconds } else { 0.0 };
        let JobHead { failed, skipped, total, .. } = head;
        let left = total.saturating_sub(done);
        let time_left =
            if rate > 0.0 { format!(", {:.0} s left", left as f64 / rate) } else { String::new() };
        // Ignore a closed terminal.
        let _ = write!(
            std::io::stderr(),
            "\r{done} of {total} pages found so far  {failed} failed  {skipped} skipped  {rate:.1} pages/s{time_left}\x1b[K"
        );
    }

    pub fn end(&self) {
        if self.shown {
            eprintln!();
        }
    }
}
