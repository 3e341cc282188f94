//! A session whose browser this process has, from its begin to its end.

use super::billing::{EndedSession, end_row};
use super::code::CodeRunner;
use super::sessions::HOLD_FOR;
use crate::scrape::profile::OpenProfile;
use access::limits::BrowserSlot;
use interact::{EndReason, Session};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;
use store::browser_sessions::BrowserSession;
use store::{Millis, Store};
use stored_data::time;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How often a session is looked after.
const TICK: Duration = Duration::from_secs(1);
/// Ticks between two renewals of the row and of the profile.
const TICKS_PER_RENEWAL: u32 = 5;
/// How long the last pictures of a recording may take to be stored.
const RECORDING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the state of a profile may take to be read.
const SAVE_TIMEOUT: Duration = Duration::from_secs(30);

/// A running session.
pub(super) struct ActiveSession {
    pub(super) session: Arc<Session>,
    pub(super) row: BrowserSession,
    activity_ttl: Duration,
    profile: OpenProfile,
    last_activity: AtomicI64,
    /// Tasks that run: while there are any the session is not idle.
    busy: AtomicUsize,
    prompted: AtomicBool,
    /// Why somebody wants it to end.
    end_reason: Mutex<Option<&'static str>>,
    end: CancellationToken,
    outcome: watch::Sender<Option<EndedSession>>,
    /// Stores the recording; ends when the browser has.
    recording: Mutex<Option<JoinHandle<()>>>,
    /// One of the team's browsers.
    _slot: BrowserSlot,
}

/// Holds off the end for lack of activity.
pub(super) struct Busy<'a>(&'a ActiveSession);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ActiveSession {
    pub(super) fn new(
        session: Arc<Session>,
        row: BrowserSession,
        activity_ttl: Duration,
        profile: OpenProfile,
        slot: BrowserSlot,
        recording: Option<JoinHandle<()>>,
    ) -> Self {
        Self {
            session,
            last_activity: AtomicI64::new(time::now()),
            prompted: AtomicBool::new(row.prompted),
            row,
            activity_ttl,
            profile,
            busy: AtomicUsize::new(0),
            end_reason: Mutex::new(None),
            end: CancellationToken::new(),
            outcome: watch::Sender::new(None),
            recording: Mutex::new(recording),
            _slot: slot,
        }
    }

    /// The session was used just now.
    pub(super) fn touch(&self) {
        self.last_activity.store(time::now(), Ordering::Relaxed);
    }

    pub(super) fn begin_task(&self) -> Busy<'_> {
        self.touch();
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(self)
    }

    /// A prompt is used; whether it is the first.
    pub(super) fn note_prompt(&self) -> bool {
        !self.prompted.swap(true, Ordering::Relaxed)
    }

    /// The prompt was refused after all.
    pub(super) fn forget_prompt(&self) {
        self.prompted.store(false, Ordering::Relaxed);
    }

    pub(super) fn last_activity(&self) -> Millis {
        self.last_activity.load(Ordering::Relaxed)
    }

    /// Tells it to end; the first reason counts.
    pub(super) fn end(&self, reason: &'static str) {
        self.end_reason.lock().get_or_insert(reason);
        self.end.cancel();
    }

    /// Returns when nothing of it is left; `None` when somebody else ended its row.
    pub(super) async fn until_ended(&self) -> Option<EndedSession> {
        let mut outcome = self.outcome.subscribe();
        outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| *outcome)
    }

    /// Looks after the session until it ends, and cleans up.
    pub(super) async fn run(&self, store: &dyn Store, runner: Option<&dyn CodeRunner>) {
        let (reason, save) = tokio::select! {
            reason = self.session.until_over() => match reason {
                EndReason::ClosedByClient => ("a client closed the browser", true),
                EndReason::BrowserDied => ("the browser crashed", false),
                EndReason::OutOfMemory => ("the browser used too much memory", false),
                EndReason::OutOfDisk => ("too much was stored in it", false),
            },
            reason = self.until_time(store) => (reason, true),
            () = self.end.cancelled() => (self.end_reason.lock().unwrap_or("deleted"), true),
        };
        let ended_at = time::now();
        if let Some(runner) = runner {
            runner.end(self.row.id).await;
        }
        if save && self.profile.is_saved() {
            self.save_profile().await;
        }
        self.profile.release().await;
        self.session.end().await;
        let recording = self.recording.lock().take();
        if let Some(recording) = recording
            && tokio::time::timeout(RECORDING_TIMEOUT, recording).await.is_err()
        {
            tracing::warn!(session = %self.row.id, "the recording of a browser session was not stored in time");
        }
        let row = BrowserSession { prompted: self.prompted.load(Ordering::Relaxed), ..self.row.clone() };
        let outcome = match end_row(store, &row, reason, ended_at).await {
            Ok(outcome) => outcome,
            Err(error) => {
                tracing::warn!(%error, session = %row.id, "could not record the end of a browser session");
                None
            }
        };
        tracing::info!(session = %row.id, reason, "a browser session ended");
        let duration_ms = (ended_at - row.created_at).max(0);
        self.outcome.send_replace(Some(outcome.unwrap_or(EndedSession { duration_ms, credits: 0 })));
    }

    /// Returns why its time is over.
    async fn until_time(&self, store: &dyn Store) -> &'static str {
        for tick in 1_u32.. {
            tokio::time::sleep(TICK).await;
            let now = time::now();
            if now >= self.row.expires_at {
                return "its ttl has passed";
            }
            let idle = now - self.last_activity();
            let limit = i64::try_from(self.activity_ttl.as_millis()).unwrap_or(i64::MAX);
            if self.busy.load(Ordering::Relaxed) == 0 && idle >= limit {
                return "it was idle for its activityTtl";
            }
            if tick.is_multiple_of(TICKS_PER_RENEWAL) && !self.renew(store).await {
                return "deleted";
            }
        }
        "its ttl has passed"
    }

    /// Tells the store that the browser is still here; false when the session was ended by another process.
    async fn renew(&self, store: &dyn Store) -> bool {
        if let Err(error) = self.profile.renew(HOLD_FOR).await {
            tracing::warn!(%error, "could not keep a profile of a browser session");
        }
        let prompted = self.prompted.load(Ordering::Relaxed);
        let renewed = store
            .renew_browser_session(self.row.id, self.row.holder, HOLD_FOR, self.last_activity(), prompted)
            .await;
        renewed.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not renew a browser session");
            true
        })
    }

    async fn save_profile(&self) {
        let collecting = self.session.collect_state(self.profile.state());
        let saved = match tokio::time::timeout(SAVE_TIMEOUT, collecting).await {
            Ok(Ok(state)) => self.profile.save(&state).await.map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the browser did not answer in time".to_owned()),
        };
        if let Err(error) = saved {
            tracing::warn!(error, session = %self.row.id, "could not save the profile of a browser session");
        }
    }
}
