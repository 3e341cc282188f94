//! The trace of a run: all its events, those after a given one, those that come, and the artifact at any
//! moment.

use super::open_agents;
use super::order::Order;
use super::start::Agents;
use super::unpaid;
use crate::watchers::WatcherPermit;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use store::agents::{Event, Run, RunKind};
use stored_data::time::iso;
use uuid::Uuid;
use wire::agent::{ActiveBrowserSession, AgentSnapshot, TraceQuery, Viewport, event_json};
use wire::{AGENT_GENERATION, Issue, Kind};

/// Events that are read in one go.
const EVENTS_PER_READ: u32 = 1_000;
const BYTES_PER_READ: u64 = 4 << 20;
/// What a session of a run shows.
const VIEWPORT: Viewport = Viewport { width: browser::SESSION_WINDOW.0, height: browser::SESSION_WINDOW.1 };
/// How often a watcher checks for new events.
const CHECK_EVERY: Duration = Duration::from_millis(250);

impl Agents {
    /// The trace, as JSON. `live_view_url` is where a browser session can be watched.
    pub fn trace<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        query: &'a TraceQuery,
        live_view_url: &'a (dyn Fn(Uuid) -> String + Sync),
    ) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            let live_view = flag("liveView", query.live_view.as_deref())?;
            let run = self.traced(caller, id).await?;
            let withheld = unpaid::withholds(&Order::from_run(&run)?, &run);
            let mut after = self.after(&run, query.after.as_deref()).await?;
            let mut json = format!("{{\"success\":true,\"id\":\"{id}\",\"events\":[").into_bytes();
            let begins = json.len();
            loop {
                let events = self
                    .store
                    .run_events(id, after, EVENTS_PER_READ, BYTES_PER_READ)
                    .await
                    .map_err(from_store)?;
                let Some(last) = events.last() else { break };
                after = last.number;
                for event in &events {
                    if json.len() > begins {
                        json.push(b',');
                    }
                    json.extend_from_slice(written_event(id, event, withheld).as_bytes());
                }
            }
            json.extend_from_slice(
                format!("],\"creditsUsed\":{}", run.credits.min(run.max_credits)).as_bytes(),
            );
            if live_view && !run.state.is_terminal() {
                let open = open_agents::open_parts(self.store.as_ref(), id).await.map_err(from_store)?;
                let ids = open.sessions.iter().filter_map(|(session, _)| Uuid::try_parse(session).ok());
                let sessions: Vec<ActiveBrowserSession> = ids
                    .map(|id| ActiveBrowserSession {
                        id,
                        live_view_url: live_view_url(id),
                        viewport: VIEWPORT,
                    })
                    .collect();
                json.extend_from_slice(b",\"activeBrowserSessions\":");
                serde_json::to_writer(&mut json, &sessions).map_err(Error::internal)?;
            }
            json.push(b'}');
            Ok(json)
        })
    }

    /// Follows the trace from an event on.
    pub fn watch_trace<'a>(
        self: &'a Arc<Self>,
        caller: &'a Caller,
        id: Uuid,
        query: &'a TraceQuery,
    ) -> BoxFuture<'a, Result<TraceWatch, Error>> {
        Box::pin(async move {
            flag("liveView", query.live_view.as_deref())?;
            let run = self.traced(caller, id).await?;
            let after = self.after(&run, query.after.as_deref()).await?;
            let permit = self.watchers.acquire(caller.team)?;
            Ok(TraceWatch {
                agents: self.clone(),
                team: caller.team,
                id,
                after,
                every: CHECK_EVERY,
                _permit: permit,
            })
        })
    }

    pub fn snapshot<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        snapshot: &'a str,
    ) -> BoxFuture<'a, Result<AgentSnapshot, Error>> {
        Box::pin(async move {
            let snapshot_id = Uuid::try_parse(snapshot).map_err(|_| Error::from(Kind::InvalidSnapshotId))?;
            let run = self.find(caller, RunKind::Agent, id).await?;
            if run.generation != AGENT_GENERATION {
                return Err(Kind::SnapshotsNotRecorded.into());
            }
            if unpaid::withholds(&Order::from_run(&run)?, &run) {
                return Err(Kind::SnapshotNotFound.into());
            }
            let packed = self.store.run_snapshot(id, snapshot_id).await.map_err(from_store)?;
            let plain = stored_data::compression::unpack(&packed.ok_or(Kind::SnapshotNotFound)?);
            let snapshot = String::from_utf8(plain.map_err(Error::internal)?).map_err(Error::internal)?;
            Ok(AgentSnapshot { success: true, id, snapshot_id, snapshot })
        })
    }

    pub(super) async fn traced(&self, caller: &Caller, id: Uuid) -> Result<Run, Error> {
        let run = self.find(caller, RunKind::Agent, id).await?;
        if run.generation == AGENT_GENERATION { Ok(run) } else { Err(Kind::TraceNotRecorded.into()) }
    }

    /// The number of the event that is known already.
    async fn after(&self, run: &Run, event: Option<&str>) -> Result<u64, Error> {
        let Some(event) = event else { return Ok(0) };
        let wrong = || Error::invalid(&[Issue::at("after", "must be an event of this run", "invalid_value")]);
        let id = Uuid::try_parse(event).map_err(|_| wrong())?;
        let number = self.store.event_number(run.id, id).await.map_err(from_store)?;
        number.ok_or_else(wrong)
    }
}

/// A caller that watches a run.
#[derive(Debug)]
pub struct TraceWatch {
    agents: Arc<Agents>,
    team: Uuid,
    id: Uuid,
    after: u64,
    every: Duration,
    _permit: WatcherPermit,
}

/// What a look brought.
#[derive(Debug)]
pub struct TraceLook {
    /// New events as JSON, each with its id.
    pub events: Vec<(Uuid, String)>,
    /// That was all: the run has ended.
    pub ended: bool,
}

impl TraceWatch {
    /// Checks more often, for a command that has the store to itself.
    #[must_use]
    pub fn checking_every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// Waits for something new.
    pub fn next_look(&mut self) -> BoxFuture<'_, Result<TraceLook, Error>> {
        Box::pin(async move {
            let store = &self.agents.store;
            loop {
                // Whether it has ended is read before its events, so that none of them can be missed.
                let run =
                    store.run(self.team, self.id).await.map_err(from_store)?.ok_or(Kind::AgentNotFound)?;
                let events = store.run_events(self.id, self.after, EVENTS_PER_READ, BYTES_PER_READ).await;
                let events = events.map_err(from_store)?;
                if let Some(last) = events.last() {
                    self.after = last.number;
                } else if !run.state.is_terminal() {
                    tokio::time::sleep(self.every).await;
                    continue;
                }
                let ended = run.state.is_terminal() && self.after >= run.events;
                let withheld = unpaid::withholds(&Order::from_run(&run)?, &run);
                let events =
                    events.iter().map(|event| (event.id, written_event(self.id, event, withheld))).collect();
                return Ok(TraceLook { events, ended });
            }
        })
    }
}

fn written_event(run: Uuid, event: &Event, withheld: bool) -> String {
    let body = if withheld { unpaid::shown_event(&event.body) } else { event.body.as_str().into() };
    event_json(event.id, run, &iso(event.written_at), event.sequence, &body)
}

/// A switch of a query.
pub fn flag(name: &str, written: Option<&str>) -> Result<bool, Error> {
    match written {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Error::invalid(&[Issue::at(name, "must be true or false", "invalid_value")])),
    }
}
