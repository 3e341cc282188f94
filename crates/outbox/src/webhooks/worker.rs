//! The worker for webhooks and messages: takes what is due out of the outbox, sends it, and writes what came
//! of it. Every process runs one; the store sees to it that deliveries of one subject go out in their order
//! and one at a time, over all processes.

use super::post::{DeliveryError, Target, job_id, post, target_url};
use super::send_limits::{HostPlace, SendLimits};
use crate::messages::{self, MessageSender, MessageTarget};
use futures_util::future::BoxFuture;
use net::Fetcher;
use notifications::outcome::SendOutcome;
use std::sync::Arc;
use std::time::Duration;
use store::webhooks::{Delivery, DeliveryEnd, DeliveryLease};
use store::work::LeaseStatus;
use store::{Store, StoreError, StoreResult};
use stored_data::time;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use tracing::field::Empty;
use work::{LeaseWorker, LeasedQueue, Signals, SlotShare, WorkSlots, WorkerOptions};

/// How long a delivery that was given up can be looked at and sent again.
const DEAD_LETTER_RETENTION: Duration = Duration::from_hours(7 * 24);
/// What could not be delivered for this long, waiting for its turn included, is given up: the documents it
/// tells of are not kept for longer.
const MAX_DELIVERY_AGE: Duration = Duration::from_hours(24);
/// People read messages later than machines do, and mail servers put unknown senders off for a while: these
/// come after the retries of webhooks.
const MESSAGE_RETRIES: [Duration; 2] = [Duration::from_hours(1), Duration::from_hours(4)];
/// After nothing was due: the signal is that of all work, and a busy crawl gives it for every page.
const QUIET: Duration = Duration::from_millis(50);
/// The pause after an error of our own.
const OWN_ERROR_PAUSE: Duration = Duration::from_secs(5);
/// The longest text of an error that is stored.
const MAX_ERROR_BYTES: usize = 500;

#[derive(Debug, Clone)]
pub struct DeliveryOptions {
    /// How long after a failed attempt the next one comes; after the last of them a delivery is given up.
    pub retries: Vec<Duration>,
    /// How long a receiver may take to answer.
    pub timeout: Duration,
    /// How long a mail server may take to accept a mail.
    pub mail_timeout: Duration,
    /// Deliveries that are taken out of the outbox at once. Most of them wait for their host; each that is
    /// being sent has a slot of the process.
    pub max_claimed: usize,
    /// Deliveries that are sent to one host at once.
    pub max_per_host: usize,
    /// The longest wait for a host and a slot.
    pub max_wait: Duration,
    /// How often to look for deliveries when no signal comes.
    pub poll: Duration,
    /// How long sending may go on after the process was told to stop.
    pub grace: Duration,
}

impl Default for DeliveryOptions {
    fn default() -> Self {
        Self {
            retries: [1, 5, 15].map(Duration::from_mins).to_vec(),
            timeout: Duration::from_secs(10),
            mail_timeout: Duration::ZERO,
            max_claimed: 256,
            max_per_host: 8,
            max_wait: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            grace: Duration::from_secs(10),
        }
    }
}

impl DeliveryOptions {
    /// Waiting for a turn, the attempt, and room for what the store takes: another process takes it for lost
    /// only then. So a lease outlasts its attempt and need not be renewed.
    fn lease(&self) -> Duration {
        self.max_wait + self.timeout.max(self.mail_timeout) + self.max_wait / 2
    }
}

/// One per process.
#[derive(Debug)]
pub struct DeliveryWorker(DeliveryQueue);

struct DeliveryQueue {
    store: Arc<dyn Store>,
    fetcher: Fetcher,
    options: DeliveryOptions,
    limits: Arc<SendLimits>,
    /// Sends messages of monitors.
    messages: Option<MessageSender>,
}

impl std::fmt::Debug for DeliveryQueue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("DeliveryQueue").field("options", &self.options).finish_non_exhaustive()
    }
}

impl DeliveryWorker {
    /// `slots` bounds what is sent at once.
    pub fn new(store: Arc<dyn Store>, fetcher: Fetcher, slots: SlotShare, options: DeliveryOptions) -> Self {
        let limits = SendLimits::new(slots, options.max_per_host);
        Self(DeliveryQueue { store, fetcher, options, limits, messages: None })
    }

    #[must_use]
    pub fn with_messages(mut self, messages: MessageSender) -> Self {
        self.0.messages = Some(messages);
        self
    }

    /// Runs until `stop`; what is being sent then may end within the grace time, the rest is handed back.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let options = &self.0.options;
            let worker = WorkerOptions {
                renew_every: None,
                min_poll: options.poll,
                max_poll: options.poll,
                quiet: QUIET.min(options.poll),
                write_retry_limit: options.max_wait / 2,
                ..WorkerOptions::with_lease(options.lease(), options.grace)
            };
            // A delivery that waits for its host takes none of the slots that others could work in.
            let claimed = WorkSlots::new(options.max_claimed).share(options.max_claimed);
            LeaseWorker::new(Arc::new(self.0), claimed, worker).run(stop).await;
        })
    }
}

#[async_trait::async_trait]
impl LeasedQueue for DeliveryQueue {
    type Lease = DeliveryLease;
    type Item = (DeliveryLease, Delivery);
    type End = DeliveryEnd;

    fn items(&self) -> &'static str {
        "webhooks"
    }

    fn lease(&self, (lease, _): &Self::Item) -> DeliveryLease {
        *lease
    }

    fn work_signal(&self) -> watch::Receiver<u64> {
        self.store.work_signal()
    }

    async fn claim(&self, limit: u32) -> StoreResult<Vec<Self::Item>> {
        self.store.claim_deliveries(limit, self.options.lease()).await
    }

    async fn renew(&self, leases: &[DeliveryLease]) -> StoreResult<Vec<LeaseStatus>> {
        Ok(vec![LeaseStatus::Held; leases.len()])
    }

    async fn attempt(&self, (_, delivery): Self::Item, signals: Signals) -> Option<DeliveryEnd> {
        let span = tracing::info_span!(
            target: otlp::SPANS,
            "webhook",
            otel.root = true,
            gannet.webhook.id = %delivery.id,
            gannet.webhook.event = delivery.event.as_str(),
            gannet.job.id = %job_id(&delivery),
            gannet.attempt = delivery.attempts,
            "error.type" = Empty,
        );
        let request = Target::parse(&delivery.target).and_then(|target| target.traceparent);
        if let Some(request) = request.as_deref().and_then(otlp::TraceContext::parse) {
            otlp::link_to(&span, &request);
        }
        let delivering = self.deliver(&delivery, &signals.stopping).instrument(span.clone());
        let end = signals.hand_back.run_until_cancelled(Box::pin(delivering)).await?;
        if matches!(end, DeliveryEnd::Later { .. } | DeliveryEnd::GivenUp { .. }) {
            span.record("error.type", "not_delivered");
        }
        count(&end);
        if let DeliveryEnd::Later { error, .. } | DeliveryEnd::GivenUp { error, .. } = &end {
            let given_up = matches!(end, DeliveryEnd::GivenUp { .. });
            tracing::info!(webhook = %delivery.id, event = delivery.event, error, given_up, "a webhook failed");
        }
        Some(end)
    }

    /// It is sent again when its lease ends.
    fn after_panic(&self, _: DeliveryLease) -> Option<DeliveryEnd> {
        None
    }

    async fn end(&self, ends: Vec<(DeliveryLease, DeliveryEnd)>) -> StoreResult<()> {
        let writes = ends.into_iter().map(|(lease, end)| async move {
            if !self.store.end_delivery(lease, end).await? {
                tracing::debug!(webhook = %lease.delivery, "another process took a webhook over");
            }
            Ok(())
        });
        futures_util::future::join_all(writes).await.into_iter().collect()
    }

    /// They are sent once more when their leases end: at least once.
    async fn give_up(&self, ends: Vec<(DeliveryLease, DeliveryEnd)>, error: &StoreError) {
        tracing::error!(webhooks = ends.len(), %error, "could not write what came of webhooks");
    }

    async fn hand_back(&self, leases: Vec<DeliveryLease>) -> StoreResult<()> {
        let back = DeliveryEnd::HandBack { delay: Duration::ZERO };
        self.end(leases.into_iter().map(|lease| (lease, back.clone())).collect()).await
    }

    /// Deliveries whose lease has ended are claimed as they are.
    async fn sweep(&self) -> StoreResult<()> {
        Ok(())
    }
}

impl DeliveryQueue {
    /// Takes one delivery to its end, or back to the outbox.
    async fn deliver(&self, delivery: &Delivery, stopping: &CancellationToken) -> DeliveryEnd {
        match self.limits.enter(&host(delivery)) {
            Err(delay) => DeliveryEnd::HandBack { delay },
            Ok(place) => self.send(&place, delivery, stopping).await,
        }
    }

    async fn send(
        &self,
        place: &HostPlace,
        delivery: &Delivery,
        stopping: &CancellationToken,
    ) -> DeliveryEnd {
        let waiting = tokio::time::timeout(self.options.max_wait, place.permit());
        let Some(Ok(Some(_permit))) = stopping.run_until_cancelled(waiting).await else {
            return DeliveryEnd::HandBack { delay: Duration::ZERO };
        };
        if let Some(target) = MessageTarget::parse(&delivery.target) {
            return self.send_message(delivery, &target).await;
        }
        let outcome = post(self.store.as_ref(), &self.fetcher, delivery, self.options.timeout).await;
        match outcome {
            Ok(()) => DeliveryEnd::Delivered,
            Err(DeliveryError::Internal(error)) => hand_back_unprepared(delivery, &error),
            Err(DeliveryError::Permanent(error)) => give_up(error),
            Err(DeliveryError::Temporary(error)) => {
                let retry = self.options.retries.get(delivery.attempts as usize).copied();
                after_failure(delivery.queued_at, retry, error)
            }
        }
    }

    async fn send_message(&self, delivery: &Delivery, target: &MessageTarget) -> DeliveryEnd {
        let Some(messages) = &self.messages else { return give_up("messages are not set up".to_owned()) };
        let timeout = if target.is_mail() { self.options.mail_timeout } else { self.options.timeout };
        match messages.send(delivery, target, timeout).await {
            Ok(SendOutcome::Delivered) => DeliveryEnd::Delivered,
            Ok(SendOutcome::Permanent { reason }) => give_up(reason),
            Ok(SendOutcome::Temporary { reason, retry_after }) => {
                let retries = self.options.retries.iter().chain(&MESSAGE_RETRIES);
                let retry = retries.copied().nth(delivery.attempts as usize);
                let retry = retry.map(|delay| delay.max(retry_after.unwrap_or_default()));
                after_failure(delivery.queued_at.max(messages::held_until(delivery)), retry, reason)
            }
            Err(error) => hand_back_unprepared(delivery, &error.to_string()),
        }
    }
}

fn hand_back_unprepared(delivery: &Delivery, error: &str) -> DeliveryEnd {
    tracing::warn!(webhook = %delivery.id, error, "a webhook could not be prepared");
    DeliveryEnd::HandBack { delay: OWN_ERROR_PAUSE }
}

/// Again after a pause, if there is one; what has waited for too long `since` it could be sent is given up.
fn after_failure(since: i64, retry: Option<Duration>, error: String) -> DeliveryEnd {
    let waited = time::now().saturating_sub(since);
    let too_old = u128::try_from(waited).is_ok_and(|waited| waited > MAX_DELIVERY_AGE.as_millis());
    match retry.filter(|_| !too_old) {
        Some(delay) => DeliveryEnd::Later { error: clipped(error), delay },
        None => give_up(error),
    }
}

fn give_up(error: String) -> DeliveryEnd {
    DeliveryEnd::GivenUp { error: clipped(error), keep_for: DEAD_LETTER_RETENTION }
}

fn clipped(mut error: String) -> String {
    error.truncate(error.floor_char_boundary(MAX_ERROR_BYTES));
    error
}

/// The host that a delivery goes to, with its port; all mail goes to one server.
fn host(delivery: &Delivery) -> String {
    if MessageTarget::parse(&delivery.target).is_some_and(|target| target.is_mail()) {
        return "mail".to_owned();
    }
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
#[path = "worker_tests.rs"]
mod tests;
