//! The live view: somebody looks at the pages of a session and, if they may, acts in them. Nothing is captured while nobody
//! looks, and no frame before the last one was shown.

mod act;
mod input;
mod overlay;

pub use input::{TouchPoint, ViewInput};

use crate::client::{CdpClient, CdpError, CdpEvent};
use crate::screencast;
use crate::session::Session;
use crate::targets::PageInfo;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use overlay::Overlay;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The largest frame, in pixels of the viewer.
const MAX_SIZE: (u32, u32) = (1280, 800);
const JPEG_QUALITY: u32 = 60;
/// Titles are asked for this often at most, while pages change.
const TITLES_INTERVAL: Duration = Duration::from_millis(500);
const FIRST_FRAME_TIMEOUT: Duration = Duration::from_millis(500);
/// Inputs of a viewer that wait; more than these wait in its connection.
const MAX_QUEUED_INPUTS: usize = 64;
/// The most text that is pasted or typed at once.
const MAX_TEXT_CHARS: usize = 20_000;

/// Something for the viewer.
#[derive(Debug)]
pub enum ViewOutput {
    /// A picture of the page, as JPEG.
    Frame(Bytes),
    /// What is open, and what is shown, as JSON.
    State(Box<ViewState>),
}

/// The tabs of the session, and the size of the shown page in its own pixels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewState {
    #[serde(rename = "type")]
    kind: &'static str,
    tabs: Vec<Tab>,
    active: String,
    width: f64,
    height: f64,
    interactive: bool,
    #[serde(flatten)]
    overlay: Overlay,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Tab {
    id: String,
    title: String,
    url: String,
}

/// One viewer.
struct Viewer {
    client: CdpClient,
    events: Receiver<CdpEvent>,
    pages: tokio::sync::watch::Receiver<Vec<PageInfo>>,
    interactive: bool,
    shown: Option<ShownPage>,
    /// The frame to acknowledge once the viewer has shown it.
    unshown: Option<i64>,
    /// When pictures are asked for again, because none has come: a page that was just being replaced by another one
    /// may never send any.
    first_frame_due: Option<Instant>,
    size: (f64, f64),
    overlay: Overlay,
    /// The press of the mouse that has opened a list, until it is released.
    is_press_taken: bool,
    /// Where files lie that were sent for this session.
    uploads: PathBuf,
    /// Titles by target. The browser does not tell when they change, so they are asked for after a page has.
    titles: HashMap<String, String>,
    titles_due: Option<Instant>,
    ready: VecDeque<ViewOutput>,
}

struct ShownPage {
    target: String,
    session: String,
}

/// What a viewer does, and what it is shown.
pub type ViewChannels = (mpsc::Sender<ViewInput>, mpsc::Receiver<ViewOutput>);

/// Shows a session to one viewer, until the receiver of outputs is dropped or the session ends. `on_act` is called
/// whenever the viewer acts in the session.
pub fn open(
    session: Arc<Session>,
    interactive: bool,
    on_act: Box<dyn Fn() + Send + Sync>,
) -> BoxFuture<'static, Result<ViewChannels, CdpError>> {
    Box::pin(async move {
        let client = session.client().await.map_err(|_| CdpError::Over)?;
        let (events, pages) = (client.events(), session.watch_pages());
        let mut viewer = Viewer {
            client,
            events,
            pages,
            interactive,
            shown: None,
            unshown: None,
            first_frame_due: None,
            size: (f64::from(MAX_SIZE.0), f64::from(MAX_SIZE.1)),
            overlay: Overlay::default(),
            is_press_taken: false,
            uploads: session.uploads(),
            titles: HashMap::new(),
            titles_due: Some(Instant::now()),
            ready: VecDeque::new(),
        };
        let (inputs, wanted) = mpsc::channel(MAX_QUEUED_INPUTS);
        let (outputs, shown) = mpsc::channel(1);
        tokio::spawn(async move { viewer.run(wanted, &outputs, on_act.as_ref()).await });
        Ok((inputs, shown))
    })
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

impl Viewer {
    async fn run(
        &mut self,
        mut inputs: mpsc::Receiver<ViewInput>,
        outputs: &mpsc::Sender<ViewOutput>,
        on_act: &(dyn Fn() + Send + Sync),
    ) {
        self.follow_pages().await;
        loop {
            while let Some(output) = self.ready.pop_front() {
                if outputs.send(output).await.is_err() {
                    return;
                }
            }
            let (titles_due, first_frame_due) = (self.titles_due, self.first_frame_due);
            // What follows a branch runs to its end: none of it is cancelled half way.
            tokio::select! {
                () = self.client.until_over() => return,
                () = outputs.closed() => return,
                changed = self.pages.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    self.follow_pages().await;
                }
                event = self.events.recv() => {
                    if let Ok(event) = event {
                        if self.take_overlay(&event) {
                            self.push_state();
                        }
                        self.take_frame(&event);
                    }
                }
                () = until(titles_due) => self.refresh_titles().await,
                () = until(first_frame_due) => self.start_pictures(),
                input = inputs.recv() => {
                    let Some(input) = input else { return };
                    if self.handle(input).await {
                        on_act();
                    }
                }
            }
        }
    }

    /// Does what the viewer wants; without the right to act it may only choose what it looks at. Returns whether it acted
    /// in the session.
    async fn handle(&mut self, input: ViewInput) -> bool {
        let acts = self.interactive && !matches!(input, ViewInput::Shown | ViewInput::ShowTab { .. });
        let outcome = match input {
            ViewInput::Shown => {
                self.acknowledge();
                Ok(())
            }
            ViewInput::ShowTab { id } => self.show(&id).await,
            _ if !self.interactive => Ok(()),
            input => self.act(input).await,
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "an input of a live view had no effect");
        }
        acts
    }

    fn acknowledge(&mut self) {
        if let Some(frame) = self.unshown.take() {
            self.post("Page.screencastFrameAck", &json!({ "sessionId": frame }));
        }
    }

    /// The tabs have changed: shows another page if the shown one is gone, and tells the viewer.
    async fn follow_pages(&mut self) {
        let pages = self.pages.borrow_and_update().clone();
        let is_open = |shown: &ShownPage| pages.iter().any(|page| page.target_id == shown.target);
        if !self.shown.as_ref().is_some_and(is_open) {
            self.shown = None;
            self.overlay = Overlay::default();
            self.unshown = None;
            if let Some(newest) = pages.last() {
                let _ = self.show(&newest.target_id.clone()).await;
            }
        }
        self.push_state();
    }

    async fn show(&mut self, target: &str) -> Result<(), CdpError> {
        if !self.pages.borrow().iter().any(|page| page.target_id == target) {
            return Ok(());
        }
        if let Some(old) = self.shown.take() {
            let gone = json!({ "sessionId": old.session });
            let _ = self.client.send(None, "Target.detachFromTarget", &gone).await;
        }
        self.unshown = None;
        let session = self.client.attach(target).await?;
        self.shown = Some(ShownPage { target: target.to_owned(), session });
        self.overlay = Overlay::default();
        if self.interactive {
            // From now on dialogs wait for an answer, and choices of files are ours.
            self.post("Page.enable", &json!({}));
            self.post("DOM.enable", &json!({}));
            self.post("Page.setInterceptFileChooserDialog", &json!({ "enabled": true }));
        }
        self.start_pictures();
        self.push_state();
        Ok(())
    }

    fn start_pictures(&mut self) {
        self.first_frame_due = self.shown.as_ref().map(|shown| {
            // The first picture says that it began; a page with an open dialog gives no answer.
            drop(screencast::start(&self.client, &shown.session, MAX_SIZE, JPEG_QUALITY));
            Instant::now() + FIRST_FRAME_TIMEOUT
        });
    }

    async fn refresh_titles(&mut self) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Targets {
            target_infos: Vec<PageInfo>,
        }
        self.titles_due = None;
        let wanted = json!({ "filter": [{ "type": "page" }] });
        let found = self.client.call::<Targets>(None, "Target.getTargets", &wanted).await;
        let Ok(Targets { target_infos }) = found else { return };
        let titles: HashMap<String, String> =
            target_infos.into_iter().map(|page| (page.target_id, page.title)).collect();
        if titles != self.titles {
            self.titles = titles;
            self.push_state();
        }
    }

    fn push_state(&mut self) {
        let tab = |page: &PageInfo| Tab {
            id: page.target_id.clone(),
            title: self.titles.get(&page.target_id).unwrap_or(&page.title).clone(),
            url: page.url.clone(),
        };
        let tabs = self.pages.borrow().iter().map(tab).collect();
        let active = self.shown.as_ref().map(|shown| shown.target.clone()).unwrap_or_default();
        let (width, height) = self.size;
        let overlay = self.overlay.clone();
        let state =
            ViewState { kind: "state", tabs, active, width, height, interactive: self.interactive, overlay };
        self.ready.retain(|output| !matches!(output, ViewOutput::State(_)));
        self.ready.push_back(ViewOutput::State(Box::new(state)));
    }

    fn take_frame(&mut self, event: &CdpEvent) {
        let shown = self.shown.as_ref().map(|shown| &*shown.session);
        if event.session.as_deref() != shown {
            return;
        }
        let Some(frame) = screencast::frame_of(event) else { return };
        self.unshown = Some(frame.number);
        self.first_frame_due = None;
        self.titles_due.get_or_insert_with(|| Instant::now() + TITLES_INTERVAL);
        if frame.size != self.size {
            self.size = frame.size;
            self.push_state();
        }
        self.ready.push_back(ViewOutput::Frame(frame.jpeg));
    }

    /// A command to the shown page whose answer is not waited for: a page with an open dialog gives none.
    fn post(&self, method: &str, params: &Value) {
        if let Some(shown) = &self.shown {
            drop(self.client.send(Some(&shown.session), method, params));
        }
    }

    /// A command to the browser.
    async fn ask(&self, method: &str, params: Value) -> Result<(), CdpError> {
        self.client.send(None, method, &params).await.map(drop)
    }
}
