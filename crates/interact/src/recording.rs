//! Records what the pages of a session show: a picture of a page whenever it has changed, twice a second at most.

use crate::client::{CdpClient, CdpError, CdpEvent};
use crate::screencast;
use crate::session::Session;
use crate::targets::PageInfo;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// The largest picture, in pixels.
const MAX_SIZE: (u32, u32) = (1280, 800);
const JPEG_QUALITY: u32 = 45;
/// Time between two pictures of a page.
const FRAME_INTERVAL: Duration = Duration::from_millis(500);
/// Pages that are recorded over the whole session.
const MAX_RECORDED_PAGES: usize = 20;
/// Pictures that wait to be stored; while there are more, new ones are dropped.
const MAX_QUEUED_FRAMES: usize = 32;

/// A picture of a page.
#[derive(Debug, Clone)]
pub struct RecordedFrame {
    /// Counts the pages of the session from 0, in the order they were opened.
    pub page: usize,
    pub url: Arc<str>,
    /// Since the recording began.
    pub at: Duration,
    pub jpeg: Bytes,
}

/// A page that is recorded.
struct RecordedPage {
    number: usize,
    url: Arc<str>,
    last: Option<Bytes>,
    /// When the next picture may be passed on.
    due: Instant,
    /// A picture that came too early, replaced by any later one.
    held: Option<Bytes>,
    /// Pictures to acknowledge: the browser sends no further ones before.
    unacknowledged: Vec<i64>,
}

struct Recorder {
    client: CdpClient,
    events: Receiver<CdpEvent>,
    pages: watch::Receiver<Vec<PageInfo>>,
    /// By the protocol session of each page.
    recorded: HashMap<String, RecordedPage>,
    /// The protocol sessions of all pages that were ever recorded; none where a page could not be.
    known: HashMap<String, Option<String>>,
    frames: mpsc::Sender<RecordedFrame>,
    started: Instant,
}

/// Records a session until it ends or the receiver is dropped.
pub fn record(session: &Session) -> BoxFuture<'_, Result<mpsc::Receiver<RecordedFrame>, CdpError>> {
    Box::pin(async move {
        let client = session.client().await.map_err(|_| CdpError::Over)?;
        let (frames, recorded) = mpsc::channel(MAX_QUEUED_FRAMES);
        let recorder = Recorder {
            events: client.events(),
            client,
            pages: session.watch_pages(),
            recorded: HashMap::new(),
            known: HashMap::new(),
            frames,
            started: Instant::now(),
        };
        tokio::spawn(recorder.run());
        Ok(recorded)
    })
}

impl Recorder {
    async fn run(mut self) {
        self.follow_pages().await;
        loop {
            let due = self.next_due();
            let until_due = async move {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.client.until_over() => break,
                () = self.frames.closed() => return,
                changed = self.pages.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    self.follow_pages().await;
                }
                event = self.events.recv() => {
                    if let Ok(event) = event {
                        self.take_frame(&event);
                    }
                }
                () = until_due => {}
            }
            self.pass_on(Instant::now());
        }
        // What the pages showed last is part of the recording.
        self.pass_on(Instant::now() + FRAME_INTERVAL);
    }

    /// Begins with pages that are new and notes the addresses of all.
    async fn follow_pages(&mut self) {
        let pages = self.pages.borrow_and_update().clone();
        for page in &pages {
            if let Some(known) = self.known.get(&page.target_id) {
                let recorded = known.as_ref().and_then(|session| self.recorded.get_mut(session));
                if let Some(recorded) = recorded.filter(|recorded| *recorded.url != *page.url) {
                    recorded.url = page.url.as_str().into();
                }
                continue;
            }
            if self.known.len() >= MAX_RECORDED_PAGES {
                continue;
            }
            let session = match self.client.attach(&page.target_id).await {
                Ok(session) => session,
                Err(error) => {
                    tracing::debug!(%error, "a page of a session is not recorded");
                    self.known.insert(page.target_id.clone(), None);
                    continue;
                }
            };
            let number = self.known.len();
            self.known.insert(page.target_id.clone(), Some(session.clone()));
            let recorded = RecordedPage {
                number,
                url: page.url.as_str().into(),
                last: None,
                due: self.started,
                held: None,
                unacknowledged: Vec::new(),
            };
            self.recorded.insert(session.clone(), recorded);
            if let Err(error) = screencast::start(&self.client, &session, MAX_SIZE, JPEG_QUALITY).await {
                tracing::debug!(%error, "a page of a session is not recorded");
            }
        }
    }

    fn take_frame(&mut self, event: &CdpEvent) {
        let page = event.session.as_deref().and_then(|session| self.recorded.get_mut(session));
        let Some(page) = page else { return };
        let Some(frame) = screencast::frame_of(event) else { return };
        page.unacknowledged.push(frame.number);
        if page.last.as_ref() != Some(&frame.jpeg) {
            page.held = Some(frame.jpeg);
        }
    }

    /// When the next page may show another picture.
    fn next_due(&self) -> Option<Instant> {
        let waits = |page: &&RecordedPage| !page.unacknowledged.is_empty();
        self.recorded.values().filter(waits).map(|page| page.due).min()
    }

    /// Passes on the pictures whose time has come, and lets their pages send further ones.
    fn pass_on(&mut self, now: Instant) {
        for (session, page) in &mut self.recorded {
            if page.unacknowledged.is_empty() || page.due > now {
                continue;
            }
            for number in page.unacknowledged.drain(..) {
                // Sent at once; nobody waits for the answer.
                drop(self.client.send(
                    Some(session),
                    "Page.screencastFrameAck",
                    &json!({ "sessionId": number }),
                ));
            }
            page.due = now + FRAME_INTERVAL;
            let Some(jpeg) = page.held.take() else { continue };
            page.last = Some(jpeg.clone());
            let frame = RecordedFrame {
                page: page.number,
                url: Arc::clone(&page.url),
                at: self.started.elapsed(),
                jpeg,
            };
            // While storing is slower than the pages change, pictures are left out.
            let _ = self.frames.try_send(frame);
        }
    }
}
