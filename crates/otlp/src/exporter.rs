//! Sends what was collected, from time to time, until the process ends. One loop for each kind of records, so that a
//! collector that is slow with one does not hold up the others.

use crate::layer::Collected;
use crate::metrics_text::{Period, write_metrics};
use crate::post::{Answer, Post};
use crate::protobuf::Protobuf;
use crate::queue::Queue;
use crate::record::{AttributeValue, RESOURCE_ATTRIBUTES, nanos, write_attribute};
use crate::signal_sender::{Signal, SignalSender, wrap};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;

/// How long spans and log records wait for others to be sent with.
const SEND_EVERY: Duration = Duration::from_secs(2);
const METRICS_EVERY: Duration = Duration::from_mins(1);
/// How long the end of the process waits for the last records to be taken.
const LAST_SEND_TIMEOUT: Duration = Duration::from_millis(1500);

const SPANS: Signal = Signal { name: "spans", path: "/v1/traces" };
const LOGS: Signal = Signal { name: "logs", path: "/v1/logs" };
const METRICS: Signal = Signal { name: "metrics", path: "/v1/metrics" };

/// The metrics of this process in the text format of Prometheus.
pub type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// Which process sends: its attributes.
#[derive(Debug, Clone, Default)]
pub struct Resource(Protobuf);

impl Resource {
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        write_attribute(&mut self.0, RESOURCE_ATTRIBUTES, name, AttributeValue::Text(value));
        self
    }
}

pub struct Exporter {
    collected: Collected,
    resource: Resource,
    post: Post,
    metrics: MetricsText,
}

impl std::fmt::Debug for Exporter {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Exporter").finish_non_exhaustive()
    }
}

impl Exporter {
    pub fn new(collected: Collected, resource: Resource, post: Post, metrics: MetricsText) -> Self {
        Self { collected, resource, post, metrics }
    }

    /// Runs until `stop`, and then until what is left was sent, for a second or two at most.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let queues = &self.collected.0;
            let over = async {
                stop.cancelled().await;
                tokio::time::sleep(LAST_SEND_TIMEOUT).await;
            };
            let sending = async {
                tokio::join!(
                    self.send_records(SPANS, &queues.spans, &stop),
                    self.send_records(LOGS, &queues.logs, &stop),
                    self.send_metrics(&stop),
                );
            };
            tokio::select! {
                () = sending => {}
                () = over => {}
            }
        })
    }

    async fn send_records(&self, signal: Signal, queue: &Queue, stop: &CancellationToken) {
        let mut sender = SignalSender::new(signal, self.post.clone());
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => {}
                () = queue.full.notified() => {}
                () = tokio::time::sleep(SEND_EVERY) => {}
            }
            sender.send_queue(queue, &self.resource.0.0, stop.is_cancelled()).await;
        }
        // What came while the batch before was being sent.
        sender.send_queue(queue, &self.resource.0.0, true).await;
    }

    async fn send_metrics(&self, stop: &CancellationToken) {
        let mut sender = SignalSender::new(METRICS, self.post.clone());
        let start = nanos(SystemTime::now());
        while !stop.is_cancelled() {
            stop.run_until_cancelled(tokio::time::sleep(METRICS_EVERY)).await;
            let mut metrics = Protobuf::default();
            let period = Period { start, now: nanos(SystemTime::now()) };
            let count = write_metrics(&mut metrics, &(self.metrics)(), period);
            if count > 0 {
                sender.send_once(wrap(&self.resource.0.0, &metrics.0), count).await;
            }
        }
    }
}

/// A request without spans, which every collector takes: whether it can be reached and what it answers. For
/// `gannet doctor`.
pub async fn probe(post: &Post) -> Result<Answer, String> {
    post(SPANS.path, wrap(&[], &[])).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    type Answers = dyn Fn(usize) -> Option<Result<Answer, String>> + Send + Sync;

    /// A collector that answers the requests to one path one after another as it is told; `None` never answers.
    fn collector(answers: Box<Answers>) -> (Post, Arc<Mutex<Vec<&'static str>>>) {
        let asked: Arc<Mutex<Vec<&'static str>>> = Arc::default();
        let (seen, answers) = (asked.clone(), Arc::new(answers));
        let post: Post = Arc::new(move |path, _| {
            let mut seen = seen.lock();
            let number = seen.iter().filter(|known| **known == path).count();
            seen.push(path);
            let answer = answers(number);
            Box::pin(async move {
                match answer {
                    Some(answer) => answer,
                    None => std::future::pending().await,
                }
            })
        });
        (post, asked)
    }

    fn status(status: u16, seconds: Option<u64>) -> Answer {
        Answer { status, retry_after: seconds.map(Duration::from_secs), ..Answer::default() }
    }

    fn start(post: Post) -> (Collected, CancellationToken, tokio::task::JoinHandle<()>) {
        let (collected, stop) = (Collected::with_ceilings(1000, 1000), CancellationToken::new());
        let metrics: MetricsText = Arc::new(String::new);
        let exporter = Exporter::new(collected.clone(), Resource::default(), post, metrics);
        (collected, stop.clone(), tokio::spawn(exporter.run(stop)))
    }

    fn push(collected: &Collected) {
        collected.0.spans.push(|out| out.text(2, "a span"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_is_sent_again_when_the_collector_says_and_given_up_in_the_end() {
        let (post, asked) = collector(Box::new(|number| match number {
            0 => Some(Ok(status(429, Some(20)))),
            1 => Some(Err("no route to host".to_owned())),
            2 => Some(Ok(status(200, None))),
            _ => Some(Ok(status(503, None))),
        }));
        let (collected, stop, task) = start(post);
        let count = || asked.lock().len();
        push(&collected);
        tokio::time::sleep(Duration::from_secs(15)).await;
        assert_eq!(count(), 1, "not before the time it asked for");
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert_eq!(count(), 3, "once more, and again after it could not be reached");
        push(&collected);
        tokio::time::sleep(Duration::from_mins(5)).await;
        assert_eq!(count(), 3 + 6, "a few times, not for ever");
        stop.cancel();
        task.await.unwrap();
        assert_eq!(count(), 9, "it was given up");
    }

    #[tokio::test(start_paused = true)]
    async fn a_collector_that_hangs_holds_a_ceiling_and_not_the_end_of_the_process() {
        let (post, asked) = collector(Box::new(|_| None));
        let (collected, stop, task) = start(post);
        push(&collected);
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(asked.lock().len(), 1);
        for _ in 0..1000 {
            push(&collected);
        }
        assert!(collected.0.spans.take_dropped() > 800, "what does not fit is dropped");
        let began = tokio::time::Instant::now();
        stop.cancel();
        task.await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_left_is_sent_at_the_end() {
        let (post, asked) = collector(Box::new(|_| Some(Ok(status(200, None)))));
        let (collected, stop, task) = start(post);
        push(&collected);
        stop.cancel();
        task.await.unwrap();
        assert_eq!(*asked.lock(), ["/v1/traces"]);
    }
}
