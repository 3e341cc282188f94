//! The sender: takes what is due out of the outbox, posts it, and writes what came of it. Every process runs one; the
//! store sees to it that deliveries of one subject go out in their order and one at a time, over all processes.

use super::post::{Trouble, post, target_url};
use super::turnstile::{Place, Turnstile};
use crate::time;
use net::Fetcher;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::webhooks::{Delivery, DeliveryEnd, DeliveryLease};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long what was given up can be looked at and sent again.
const DEAD_LETTERS_KEPT: Duration = Duration::from_hours(7 * 24);
/// What could not be delivered for this long, waiting for its turn included, is given up: the documents it tells of are
/// not kept for longer.
const LONGEST_WAIT: Duration = Duration::from_hours(24);
/// After nothing was due: the signal is that of all work, and a busy crawl gives it for every page.
const QUIET: Duration = Duration::from_millis(50);
/// After a failure of our own.
const OWN_PAUSE: Duration = Duration::from_secs(5);
/// The longest text of an error that is kept.
const LONGEST_ERROR: usize = 500;

#[derive(Debug, Clone)]
pub struct SenderOptions {
    /// How long after a failed attempt the next one comes; after the last of them a delivery is given up.
    pub retries: Vec<Duration>,
    /// How long a receiver may take to answer.
    pub timeout: Duration,
    /// Deliveries that are taken out of the outbox at once.
    pub taken: usize,
    /// Of those, deliveries that are sent at once.
    pub at_once: usize,
    /// The same to one host.
    pub per_host: usize,
    /// The longest wait for a turn.
    pub patience: Duration,
    /// How often to look for deliveries when no signal comes.
    pub poll: Duration,
    /// How long sending may go on after the process was told to stop.
    pub grace: Duration,
}

impl Default for SenderOptions {
    fn default() -> Self {
        Self {
            retries: [1, 5, 15].map(Duration::from_mins).to_vec(),
            timeout: Duration::from_secs(10),
            taken: 256,
            at_once: 64,
            per_host: 8,
            patience: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            grace: Duration::from_secs(10),
        }
    }
}

impl SenderOptions {
    /// Waiting for a turn, the attempt, and room for what the store takes: another sender takes it for lost only then.
    fn lease(&self) -> Duration {
        self.patience + self.timeout + self.patience / 2
    }
}

#[derive(Debug, Clone)]
pub struct Sender(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    fetcher: Fetcher,
    options: SenderOptions,
    turnstile: Arc<Turnstile>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Sender").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Sender {
    pub fn new(store: Arc<dyn Store>, fetcher: Fetcher, options: SenderOptions) -> Self {
        let turnstile = Turnstile::new(options.at_once, options.per_host);
        Self(Arc::new(Inner { store, fetcher, options, turnstile }))
    }

    /// Runs until `stop`; what is being sent then may end within the grace time, the rest is handed back.
    pub async fn run(self, stop: CancellationToken) {
        let mut signal = self.0.store.work_signal();
        let mut running = JoinSet::new();
        while !stop.is_cancelled() {
            signal.mark_unchanged();
            let claimed = self.0.claim(running.len()).await;
            let busy = !claimed.is_empty();
            for (lease, delivery) in claimed {
                let (inner, stop) = (self.0.clone(), stop.clone());
                running.spawn(async move { inner.carry(lease, delivery, &stop).await });
            }
            let room = running.len() < self.0.options.taken;
            if !(busy && room) {
                let work = async {
                    tokio::time::sleep(QUIET.min(self.0.options.poll)).await;
                    let _ = tokio::time::timeout(self.0.options.poll, signal.changed()).await;
                };
                tokio::select! {
                    () = stop.cancelled() => break,
                    Some(ended) = running.join_next() => report(ended),
                    () = work, if room => {}
                }
            }
            while let Some(ended) = running.try_join_next() {
                report(ended);
            }
        }
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(self.0.options.grace, all).await.is_err() {
            tracing::info!(deliveries = running.len(), "webhooks were cut off; they are sent again");
        }
    }
}

/// A panic costs one attempt: the delivery is handed out again when its lease ends.
fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "sending a webhook panicked");
    }
}

impl Inner {
    async fn claim(&self, running: usize) -> Vec<(DeliveryLease, Delivery)> {
        let room = u32::try_from(self.options.taken.saturating_sub(running)).unwrap_or(u32::MAX);
        if room == 0 {
            return Vec::new();
        }
        self.store.claim_deliveries(room, self.options.lease()).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not look for webhooks to send");
            Vec::new()
        })
    }

    /// Takes one delivery to its end, or back to the outbox.
    async fn carry(&self, lease: DeliveryLease, delivery: Delivery, stop: &CancellationToken) {
        let end = match self.turnstile.enter(&host(&delivery)) {
            Err(delay) => DeliveryEnd::HandBack { delay },
            Ok(place) => self.attempt(&place, &delivery, stop).await,
        };
        count(&end);
        if let DeliveryEnd::Later { error, .. } | DeliveryEnd::GivenUp { error, .. } = &end {
            let given_up = matches!(end, DeliveryEnd::GivenUp { .. });
            tracing::info!(webhook = %delivery.id, event = delivery.event, error, given_up, "a webhook failed");
        }
        self.write(lease, end).await;
    }

    async fn attempt(&self, place: &Place, delivery: &Delivery, stop: &CancellationToken) -> DeliveryEnd {
        let waiting = tokio::time::timeout(self.options.patience, place.turn());
        let Some(Ok(Some(_turn))) = stop.run_until_cancelled(waiting).await else {
            return DeliveryEnd::HandBack { delay: Duration::ZERO };
        };
        let outcome = post(self.store.as_ref(), &self.fetcher, delivery, self.options.timeout).await;
        match outcome {
            Ok(()) => DeliveryEnd::Delivered,
            Err(Trouble::Ours(error)) => {
                tracing::warn!(webhook = %delivery.id, error, "a webhook could not be prepared");
                DeliveryEnd::HandBack { delay: OWN_PAUSE }
            }
            Err(Trouble::Hopeless(error)) => give_up(error),
            Err(Trouble::Receiver(error)) => self.after_failure(delivery, error),
        }
    }

    fn after_failure(&self, delivery: &Delivery, error: String) -> DeliveryEnd {
        let waited = time::now().saturating_sub(delivery.queued_at);
        let too_old = u128::try_from(waited).is_ok_and(|waited| waited > LONGEST_WAIT.as_millis());
        let retry = self.options.retries.get(delivery.attempts as usize);
        match retry.filter(|_| !too_old) {
            Some(delay) => DeliveryEnd::Later { error: clipped(error), delay: *delay },
            None => give_up(error),
        }
    }

    /// Tries again while the store is away. When it stays away the delivery is sent once more: at least once.
    async fn write(&self, lease: DeliveryLease, end: DeliveryEnd) {
        let patience = tokio::time::Instant::now() + self.options.patience / 2;
        let mut pause = Duration::from_millis(50);
        loop {
            match self.store.end_delivery(lease, end.clone()).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::debug!(webhook = %lease.delivery, "another sender took a webhook over");
                    return;
                }
                Err(error) if error.is_retryable() && tokio::time::Instant::now() + pause < patience => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                Err(error) => {
                    tracing::error!(webhook = %lease.delivery, %error, "could not write what came of a webhook");
                    return;
                }
            }
        }
    }
}

fn give_up(error: String) -> DeliveryEnd {
    DeliveryEnd::GivenUp { error: clipped(error), keep_for: DEAD_LETTERS_KEPT }
}

fn clipped(mut error: String) -> String {
    error.truncate(error.floor_char_boundary(LONGEST_ERROR));
    error
}

/// Whose line a delivery waits in.
fn host(delivery: &Delivery) -> String {
    let url = url::Url::parse(&target_url(&delivery.target)).ok();
    let host = url.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
    host.map(|(name, port)| format!("{name}:{port}")).unwrap_or_default()
}

fn count(end: &DeliveryEnd) {
    let outcome = match end {
        DeliveryEnd::Delivered => "delivered",
        DeliveryEnd::Later { .. } => "failed",
        DeliveryEnd::GivenUp { .. } => "given_up",
        DeliveryEnd::HandBack { .. } => return,
    };
    metrics::counter!("gannet_webhooks_total", "outcome" => outcome).increment(1);
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
