//! The live view: somebody looks at the pages of a session and, if they may, acts in them. Nothing is captured while nobody
//! looks, and no frame before the last one was shown.

use crate::bridge::is_allowed;
use crate::client::{CdpClient, CdpError, CdpEvent};
use crate::session::Session;
use crate::targets::PageInfo;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc;
use url::Url;

/// The largest frame, in pixels of the viewer.
const MAX_SIZE: (u32, u32) = (1280, 800);
const JPEG_QUALITY: u32 = 60;
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
    State(ViewState),
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
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Tab {
    id: String,
    title: String,
    url: String,
}

/// Something the viewer does.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ViewInput {
    /// The last frame was shown.
    Shown,
    ShowTab {
        id: String,
    },
    NewTab,
    CloseTab {
        id: String,
    },
    Navigate {
        url: String,
    },
    Back,
    Forward,
    Reload,
    Mouse {
        /// `mousePressed`, `mouseReleased` or `mouseMoved`.
        event: String,
        x: f64,
        y: f64,
        #[serde(default)]
        button: String,
        #[serde(default)]
        buttons: u32,
        #[serde(default)]
        clicks: u32,
        #[serde(default)]
        modifiers: u32,
    },
    Wheel {
        x: f64,
        y: f64,
        delta_x: f64,
        delta_y: f64,
        #[serde(default)]
        modifiers: u32,
    },
    Touch {
        event: String,
        points: Vec<TouchPoint>,
    },
    Key {
        /// `keyDown` or `keyUp`.
        event: String,
        key: String,
        code: String,
        key_code: u32,
        #[serde(default)]
        text: String,
        #[serde(default)]
        modifiers: u32,
    },
    Paste {
        text: String,
    },
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TouchPoint {
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScreencastFrame {
    data: String,
    session_id: i64,
    metadata: FrameMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameMetadata {
    device_width: f64,
    device_height: f64,
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
    size: (f64, f64),
    ready: VecDeque<ViewOutput>,
}

struct ShownPage {
    target: String,
    session: String,
}

/// Shows a session to one viewer, until the receiver of outputs is dropped or the session ends. `on_act` is called
/// whenever the viewer acts in the session.
pub async fn open(
    session: Arc<Session>,
    interactive: bool,
    on_act: impl Fn() + Send + Sync + 'static,
) -> Result<(mpsc::Sender<ViewInput>, mpsc::Receiver<ViewOutput>), CdpError> {
    let client = session.client().await.map_err(|_| CdpError::Over)?;
    let (events, pages) = (client.events(), session.watch_pages());
    let mut viewer = Viewer {
        client,
        events,
        pages,
        interactive,
        shown: None,
        unshown: None,
        size: (f64::from(MAX_SIZE.0), f64::from(MAX_SIZE.1)),
        ready: VecDeque::new(),
    };
    let (inputs, wanted) = mpsc::channel(MAX_QUEUED_INPUTS);
    let (outputs, shown) = mpsc::channel(1);
    tokio::spawn(async move { viewer.run(wanted, &outputs, &on_act).await });
    Ok((inputs, shown))
}

impl Viewer {
    async fn run(
        &mut self,
        mut inputs: mpsc::Receiver<ViewInput>,
        outputs: &mpsc::Sender<ViewOutput>,
        on_act: &impl Fn(),
    ) {
        self.follow_pages().await;
        loop {
            while let Some(output) = self.ready.pop_front() {
                if outputs.send(output).await.is_err() {
                    return;
                }
            }
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
                        self.take_frame(&event);
                    }
                }
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
            ViewInput::Shown => self.acknowledge().await,
            ViewInput::ShowTab { id } => self.show(&id).await,
            _ if !self.interactive => Ok(()),
            input => self.act(input).await,
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "an input of a live view had no effect");
        }
        acts
    }

    async fn acknowledge(&mut self) -> Result<(), CdpError> {
        let Some(frame) = self.unshown.take() else { return Ok(()) };
        self.call("Page.screencastFrameAck", json!({ "sessionId": frame })).await
    }

    /// The tabs have changed: shows another page if the shown one is gone, and tells the viewer.
    async fn follow_pages(&mut self) {
        let pages = self.pages.borrow_and_update().clone();
        let is_open = |shown: &ShownPage| pages.iter().any(|page| page.target_id == shown.target);
        if !self.shown.as_ref().is_some_and(is_open) {
            self.shown = None;
            self.unshown = None;
            if let Some(newest) = pages.last() {
                let _ = self.show(&newest.target_id.clone()).await;
            }
        }
        self.push_state();
    }

    async fn show(&mut self, target: &str) -> Result<(), CdpError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Attached {
            session_id: String,
        }
        if !self.pages.borrow().iter().any(|page| page.target_id == target) {
            return Ok(());
        }
        if let Some(old) = self.shown.take() {
            let gone = json!({ "sessionId": old.session });
            let _ = self.client.send(None, "Target.detachFromTarget", &gone).await;
        }
        self.unshown = None;
        let wanted = json!({ "targetId": target, "flatten": true });
        let attached: Attached = self.client.call(None, "Target.attachToTarget", &wanted).await?;
        self.shown = Some(ShownPage { target: target.to_owned(), session: attached.session_id });
        let (width, height) = MAX_SIZE;
        let wanted = json!({
            "format": "jpeg", "quality": JPEG_QUALITY, "maxWidth": width, "maxHeight": height, "everyNthFrame": 1,
        });
        self.call("Page.enable", json!({})).await?;
        self.call("Page.startScreencast", wanted).await?;
        self.push_state();
        Ok(())
    }

    fn push_state(&mut self) {
        let tab = |page: &PageInfo| Tab {
            id: page.target_id.clone(),
            title: page.title.clone(),
            url: page.url.clone(),
        };
        let tabs = self.pages.borrow().iter().map(tab).collect();
        let active = self.shown.as_ref().map(|shown| shown.target.clone()).unwrap_or_default();
        let (width, height) = self.size;
        let state = ViewState { kind: "state", tabs, active, width, height, interactive: self.interactive };
        self.ready.retain(|output| !matches!(output, ViewOutput::State(_)));
        self.ready.push_back(ViewOutput::State(state));
    }

    fn take_frame(&mut self, event: &CdpEvent) {
        let shown = self.shown.as_ref().map(|shown| &*shown.session);
        if &*event.method != "Page.screencastFrame" || event.session.as_deref() != shown {
            return;
        }
        let Ok(frame) = serde_json::from_str::<ScreencastFrame>(event.params.get()) else { return };
        let Ok(jpeg) = STANDARD.decode(&frame.data) else { return };
        self.unshown = Some(frame.session_id);
        let size = (frame.metadata.device_width, frame.metadata.device_height);
        if size != self.size {
            self.size = size;
            self.push_state();
        }
        self.ready.push_back(ViewOutput::Frame(jpeg.into()));
    }

    async fn act(&mut self, input: ViewInput) -> Result<(), CdpError> {
        match input {
            ViewInput::Shown | ViewInput::ShowTab { .. } => Ok(()),
            ViewInput::NewTab => self.ask("Target.createTarget", json!({ "url": "about:blank" })).await,
            ViewInput::CloseTab { id } => self.ask("Target.closeTarget", json!({ "targetId": id })).await,
            ViewInput::Navigate { url } => match typed_url(&url) {
                Some(url) => self.call("Page.navigate", json!({ "url": url.as_str() })).await,
                None => Ok(()),
            },
            ViewInput::Back => self.step(-1).await,
            ViewInput::Forward => self.step(1).await,
            ViewInput::Reload => self.call("Page.reload", json!({})).await,
            ViewInput::Mouse { event, x, y, button, buttons, clicks, modifiers } => {
                let button = if button.is_empty() { "none".to_owned() } else { button };
                let wanted = json!({
                    "type": event, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks,
                    "modifiers": modifiers,
                });
                self.call("Input.dispatchMouseEvent", wanted).await
            }
            ViewInput::Wheel { x, y, delta_x, delta_y, modifiers } => {
                let wanted = json!({
                    "type": "mouseWheel", "x": x, "y": y, "deltaX": delta_x, "deltaY": delta_y, "modifiers": modifiers,
                });
                self.call("Input.dispatchMouseEvent", wanted).await
            }
            ViewInput::Touch { event, points } => {
                let wanted = json!({ "type": event, "touchPoints": points });
                self.call("Input.dispatchTouchEvent", wanted).await
            }
            ViewInput::Key { event, key, code, key_code, text, modifiers } => {
                // A key that types nothing must not be sent with a text.
                let event = if event == "keyDown" && text.is_empty() { "rawKeyDown" } else { event.as_str() };
                let mut wanted = json!({
                    "type": event, "key": key, "code": code, "modifiers": modifiers,
                    "windowsVirtualKeyCode": key_code, "nativeVirtualKeyCode": key_code,
                });
                if event == "keyDown" {
                    wanted["text"] = text.into();
                }
                self.call("Input.dispatchKeyEvent", wanted).await
            }
            ViewInput::Paste { text } => {
                let text: String = text.chars().take(MAX_TEXT_CHARS).collect();
                self.call("Input.insertText", json!({ "text": text })).await
            }
        }
    }

    /// Goes back or forward in the history of the page.
    async fn step(&self, by: i64) -> Result<(), CdpError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct History {
            current_index: i64,
            entries: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            id: i64,
        }
        let Some(shown) = &self.shown else { return Ok(()) };
        let history: History =
            self.client.call(Some(&shown.session), "Page.getNavigationHistory", &json!({})).await?;
        let wanted = usize::try_from(history.current_index + by).ok();
        match wanted.and_then(|index| history.entries.get(index)) {
            Some(entry) => self.call("Page.navigateToHistoryEntry", json!({ "entryId": entry.id })).await,
            None => Ok(()),
        }
    }

    /// A command to the shown page.
    async fn call(&self, method: &str, params: Value) -> Result<(), CdpError> {
        let Some(shown) = &self.shown else { return Ok(()) };
        self.client.send(Some(&shown.session), method, &params).await.map(drop)
    }

    /// A command to the browser.
    async fn ask(&self, method: &str, params: Value) -> Result<(), CdpError> {
        self.client.send(None, method, &params).await.map(drop)
    }
}

/// What was typed into the address bar as a URL.
fn typed_url(text: &str) -> Option<Url> {
    let text = text.trim();
    let url = match Url::parse(text) {
        // `localhost:8000` looks like a URL of the scheme `localhost`.
        Ok(url) if is_allowed(&url) => url,
        _ if text.contains("://") => return None,
        _ => Url::parse(&format!("https://{text}")).ok()?,
    };
    is_allowed(&url).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_bar_completes_what_people_type() {
        let typed = |text: &str| typed_url(text).map(String::from);
        assert_eq!(typed(" a.example ").as_deref(), Some("https://a.example/"));
        assert_eq!(typed("http://a.example/x").as_deref(), Some("http://a.example/x"));
        assert_eq!(typed("localhost:8000").as_deref(), Some("https://localhost:8000/"));
        assert_eq!(typed("file:///etc/passwd").as_deref(), None);
        assert_eq!(typed(""), None);
    }

    #[test]
    fn inputs_are_read_strictly() {
        let read = |text: &str| serde_json::from_str::<ViewInput>(text);
        assert!(matches!(read(r#"{"type":"shown"}"#), Ok(ViewInput::Shown)));
        let wheel = r#"{"type":"wheel","x":1,"y":2,"deltaX":0,"deltaY":-3}"#;
        assert!(matches!(read(wheel), Ok(ViewInput::Wheel { delta_y, .. }) if delta_y < 0.0));
        assert!(read(r#"{"type":"navigate","url":"x","more":1}"#).is_err());
        assert!(read(r#"{"type":"evaluate","script":"1"}"#).is_err());
    }
}
