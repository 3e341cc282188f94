//! Sends one kind of records: when, how often again, and what is counted and said when the collector does not take
//! them.

use crate::post::{Answer, Post};
use crate::protobuf::Protobuf;
use crate::queue::Queue;
use bytes::Bytes;
use metrics::counter;
use std::time::Duration;
use tokio::time::Instant;

/// Attempts for one batch; then it makes room for newer ones.
const MAX_ATTEMPTS: u32 = 6;
const FIRST_RETRY_WAIT: Duration = Duration::from_secs(1);
/// The longest that a collector is left alone, whatever it asks for.
const MAX_RETRY_WAIT: Duration = Duration::from_mins(1);
/// The shortest time between two lines of the log about the same.
const WARNING_PAUSE: Duration = Duration::from_mins(1);
/// What is shown of the reason of a collector.
const MAX_REASON_CHARS: usize = 200;

/// Spans, logs or metrics.
#[derive(Debug, Clone, Copy)]
pub struct Signal {
    pub name: &'static str,
    pub path: &'static str,
}

pub struct SignalSender {
    signal: Signal,
    post: Post,
    pending: Option<Pending>,
    /// Since the last line of the log.
    dropped: u64,
    warned_at: Option<Instant>,
}

/// A request that was not taken yet.
struct Pending {
    body: Bytes,
    records: u64,
    attempts: u32,
    not_before: Instant,
}

/// What an attempt came to.
enum ExportOutcome {
    Taken { rejected: u64, why: String },
    Later { wait: Option<Duration>, why: String },
    Never { why: String },
}

impl SignalSender {
    pub fn new(signal: Signal, post: Post) -> Self {
        Self { signal, post, pending: None, dropped: 0, warned_at: None }
    }

    /// Sends what waits, unless the collector is to be left alone for a while. At the end of the process it is tried
    /// once more in any case.
    pub async fn send_queue(&mut self, queue: &Queue, resource: &[u8], is_last: bool) {
        let dropped = queue.take_dropped();
        self.count("dropped", dropped);
        if self.pending.is_none() {
            let batch = queue.take();
            if batch.records > 0 {
                let body = wrap(resource, &batch.bytes);
                self.pending =
                    Some(Pending { body, records: batch.records, attempts: 0, not_before: Instant::now() });
            }
        }
        self.attempt(is_last).await;
        if self.pending.is_none() {
            queue.sent();
        }
        if dropped > 0 {
            self.warn("more came than it took in time");
        }
    }

    /// Sends one request that is not worth a second attempt: the next one says the same.
    pub async fn send_once(&mut self, body: Bytes, records: u64) {
        self.pending = Some(Pending { body, records, attempts: MAX_ATTEMPTS, not_before: Instant::now() });
        self.attempt(true).await;
    }

    async fn attempt(&mut self, is_last: bool) {
        let Some(pending) = self.pending.take_if(|pending| is_last || Instant::now() >= pending.not_before)
        else {
            return;
        };
        let records = pending.records;
        match judge((self.post)(self.signal.path, pending.body.clone()).await) {
            ExportOutcome::Taken { rejected, why } => {
                let rejected = rejected.min(records);
                self.count("sent", records - rejected);
                self.count("rejected", rejected);
                if rejected > 0 {
                    self.warn(&why);
                }
            }
            ExportOutcome::Later { wait, why } if pending.attempts + 1 < MAX_ATTEMPTS => {
                let wait = wait.unwrap_or(FIRST_RETRY_WAIT * 2_u32.pow(pending.attempts));
                let not_before = Instant::now() + wait.min(MAX_RETRY_WAIT);
                self.pending = Some(Pending { attempts: pending.attempts + 1, not_before, ..pending });
                self.warn(&why);
            }
            ExportOutcome::Later { why, .. } | ExportOutcome::Never { why } => {
                self.count("dropped", records);
                self.warn(&why);
            }
        }
    }

    fn count(&mut self, outcome: &'static str, records: u64) {
        if records > 0 {
            let signal = self.signal.name;
            counter!("gannet_otlp_records_total", "signal" => signal, "outcome" => outcome)
                .increment(records);
            if outcome != "sent" {
                self.dropped += records;
            }
        }
    }

    /// One line in a while, with how many were lost since the last.
    fn warn(&mut self, why: &str) {
        if self.warned_at.is_some_and(|at| at.elapsed() < WARNING_PAUSE) {
            return;
        }
        self.warned_at = Some(Instant::now());
        let (signal, lost) = (self.signal.name, std::mem::take(&mut self.dropped));
        tracing::warn!(signal, lost, why, "the collector of OpenTelemetry did not take what it was sent");
    }
}

/// The whole request: the resource, our scope, and the records.
pub fn wrap(resource: &[u8], records: &[u8]) -> Bytes {
    let mut request = Protobuf(Vec::with_capacity(records.len() + resource.len() + 64));
    request.message(1, |signal| {
        signal.bytes(1, resource);
        signal.message(2, |of_scope| {
            of_scope.message(1, |scope| {
                scope.text(1, "gannet");
                scope.text(2, env!("CARGO_PKG_VERSION"));
            });
            of_scope.0.extend_from_slice(records);
        });
    });
    request.0.into()
}

/// What the specification of OTLP says of an answer.
fn judge(answer: Result<Answer, String>) -> ExportOutcome {
    match answer {
        Ok(Answer { status: 200..=299, body, .. }) => {
            let (rejected, why) = rejected_records(&body).unwrap_or_default();
            ExportOutcome::Taken { rejected, why: format!("it rejected records: {}", shorten(&why)) }
        }
        Ok(Answer { status: status @ (429 | 502 | 503 | 504), retry_after, .. }) => {
            ExportOutcome::Later { wait: retry_after, why: format!("it answered {status}") }
        }
        Ok(Answer { status, .. }) => ExportOutcome::Never { why: format!("it answered {status}") },
        Err(why) => ExportOutcome::Later { wait: None, why: shorten(&why) },
    }
}

fn shorten(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(MAX_REASON_CHARS).collect()
}

/// How many records an answer says were rejected, and why. An answer that cannot be read says that all were taken.
fn rejected_records(answer: &[u8]) -> Option<(u64, String)> {
    let (mut rejected, mut why) = (0, String::new());
    let (partial, _) = read_bytes(answer.strip_prefix(&[0x0a])?)?;
    let mut rest = partial;
    while let Some((tag, more)) = rest.split_first() {
        match tag {
            0x08 => (rejected, rest) = read_varint(more)?,
            0x12 => {
                let (text, after) = read_bytes(more)?;
                (why, rest) = (String::from_utf8_lossy(text).into_owned(), after);
            }
            _ => return None,
        }
    }
    Some((rejected, why))
}

fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let (digits, rest) = bytes.split_at(length);
    let value = digits.iter().rev().fold(0_u64, |value, byte| (value << 7) | u64::from(byte & 0x7f));
    Some((value, rest))
}

fn read_bytes(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = read_varint(bytes)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_rejects_some_is_read_and_garbage_is_not() {
        let mut answer = Protobuf::default();
        answer.message(1, |partial| {
            partial.uint(1, 300);
            partial.text(2, "too old");
        });
        assert_eq!(rejected_records(&answer.0), Some((300, "too old".to_owned())));
        assert_eq!(rejected_records(b"\x0a\x00"), Some((0, String::new())));
        for garbage in [
            &b""[..],
            b"{}",
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x0a\x05\x08",
            b"\x0a\x02\x1a\x00",
        ] {
            assert_eq!(rejected_records(garbage), None, "{garbage:?}");
        }
    }
}
