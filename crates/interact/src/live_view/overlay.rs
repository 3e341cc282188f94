//! What a browser draws outside of its pages and no picture of a page shows: JavaScript dialogs, the lists of `<select>`
//! elements, and the choice of files. A viewer who may act is shown them and answers them.

use super::Viewer;
use crate::client::CdpEvent;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;

const MAX_OPTIONS: usize = 1_000;
const MAX_LABEL_CHARS: usize = 200;
const MAX_MESSAGE_CHARS: usize = 2_000;
/// A page that takes longer to say what is under the pointer is busy, and gets the click.
const LOOK_TIMEOUT: Duration = Duration::from_millis(300);

/// What waits for an answer of the viewer.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Overlay {
    pub(super) dialog: Option<DialogView>,
    pub(super) list: Option<ListView>,
    pub(super) chooser: Option<ChooserView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DialogView {
    kind: String,
    message: String,
    default_text: String,
}

/// The list of a `<select>` element, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ListView {
    options: Vec<OptionView>,
    multiple: bool,
    x: f64,
    y: f64,
    /// The element, as the browser knows it in the protocol session of the page.
    #[serde(skip)]
    object: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OptionView {
    label: String,
    selected: bool,
    disabled: bool,
}

/// A page asks for files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ChooserView {
    multiple: bool,
    #[serde(skip)]
    field: i64,
}

const DESCRIBE_LIST: &str = "function(most, longest) { \
    const list = this.nodeType === 1 ? this.closest('select') : null; if (!list || list.disabled || list.size > 1) return null; \
    const box = list.getBoundingClientRect(); \
    return { multiple: list.multiple, x: box.left, y: box.bottom, options: [...list.options].slice(0, most).map((o) => \
      ({ label: o.label.trim().slice(0, longest), selected: o.selected, disabled: o.disabled || Boolean(o.closest('optgroup[disabled]')) })) }; }";
const CHOOSE: &str = "function(chosen) { const list = this.closest('select'); list.focus(); \
    [...list.options].forEach((option, at) => { option.selected = chosen.includes(at) && !option.disabled; }); \
    list.dispatchEvent(new Event('input', { bubbles: true })); list.dispatchEvent(new Event('change', { bubbles: true })); }";

impl Viewer {
    /// Takes what an event tells about a dialog or a choice of files; whether the viewer has to be told.
    pub(super) fn take_overlay(&mut self, event: &CdpEvent) -> bool {
        let shown = self.shown.as_ref().map(|shown| &*shown.session);
        if !self.interactive || event.session.as_deref() != shown {
            return false;
        }
        match &*event.method {
            "Page.javascriptDialogOpening" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Opening {
                    r#type: String,
                    message: String,
                    default_prompt: Option<String>,
                }
                let Ok(opening) = serde_json::from_str::<Opening>(event.params.get()) else { return false };
                let short = |text: &str| text.chars().take(MAX_MESSAGE_CHARS).collect();
                self.overlay.dialog = Some(DialogView {
                    kind: opening.r#type,
                    message: short(&opening.message),
                    default_text: short(&opening.default_prompt.unwrap_or_default()),
                });
            }
            "Page.javascriptDialogClosed" => self.overlay.dialog = None,
            "Page.fileChooserOpened" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Opened {
                    mode: String,
                    backend_node_id: Option<i64>,
                }
                let Ok(opened) = serde_json::from_str::<Opened>(event.params.get()) else { return false };
                let Some(field) = opened.backend_node_id else { return false };
                self.overlay.chooser = Some(ChooserView { multiple: opened.mode == "selectMultiple", field });
            }
            // What belonged to the document that was left is gone with it.
            "Page.frameNavigated" if is_main_frame(event) => {
                self.overlay.list = None;
                self.overlay.chooser = None;
            }
            _ => return false,
        }
        true
    }

    /// The list under the pointer, which would open where no picture shows it.
    pub(super) async fn find_list(&self, x: f64, y: f64) -> Option<ListView> {
        timeout(LOOK_TIMEOUT, self.look_for_list(x, y)).await.ok().flatten()
    }

    async fn look_for_list(&self, x: f64, y: f64) -> Option<ListView> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Located {
            backend_node_id: i64,
        }
        #[derive(Deserialize)]
        struct Resolved {
            object: Object,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Object {
            object_id: String,
        }
        #[derive(Deserialize)]
        struct List {
            options: Vec<OptionView>,
            multiple: bool,
            x: f64,
            y: f64,
        }
        let session = Some(&*self.shown.as_ref()?.session);
        #[expect(clippy::cast_possible_truncation, reason = "pixels of a page")]
        let place =
            json!({ "x": x.round() as i64, "y": y.round() as i64, "includeUserAgentShadowDOM": false });
        let located: Located = self.client.call(session, "DOM.getNodeForLocation", &place).await.ok()?;
        let node = json!({ "backendNodeId": located.backend_node_id });
        let Resolved { object } = self.client.call(session, "DOM.resolveNode", &node).await.ok()?;
        let wanted = json!({
            "objectId": object.object_id, "functionDeclaration": DESCRIBE_LIST, "returnByValue": true,
            "arguments": [{ "value": MAX_OPTIONS }, { "value": MAX_LABEL_CHARS }],
        });
        let described: Value = self.client.call(session, "Runtime.callFunctionOn", &wanted).await.ok()?;
        let List { options, multiple, x, y } =
            serde_json::from_value(described["result"]["value"].clone()).ok()?;
        Some(ListView { options, multiple, x, y, object: object.object_id })
    }

    /// The options of the open list that the viewer has chosen; none for closing it.
    pub(super) fn choose(&mut self, chosen: Option<Vec<usize>>) {
        let list = self.overlay.list.take();
        self.push_state();
        let (Some(list), Some(chosen)) = (list, chosen) else { return };
        let wanted = json!({
            "objectId": list.object, "functionDeclaration": CHOOSE, "userGesture": true, "arguments": [{ "value": chosen }],
        });
        self.post("Runtime.callFunctionOn", &wanted);
    }

    /// Closes the dialog that is open.
    pub(super) fn answer_dialog(&self, accept: bool, text: Option<String>) {
        let mut wanted = json!({ "accept": accept });
        if let Some(text) = text {
            wanted["promptText"] = text.into();
        }
        self.post("Page.handleJavaScriptDialog", &wanted);
    }

    /// Gives the page files that were sent for this session; none for closing the choice.
    pub(super) fn give_files(&mut self, files: &[String]) {
        let chooser = self.overlay.chooser.take();
        self.push_state();
        let Some(chooser) = chooser.filter(|_| !files.is_empty()) else { return };
        // Only names of our own making: a number, a slash and the name of a file.
        let sent = self.uploads.as_path();
        let is_sent = |name: &&String| {
            Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        let paths: Vec<String> =
            files.iter().filter(is_sent).map(|name| sent.join(name).to_string_lossy().into_owned()).collect();
        self.post("DOM.setFileInputFiles", &json!({ "files": paths, "backendNodeId": chooser.field }));
    }
}

fn is_main_frame(event: &CdpEvent) -> bool {
    #[derive(Deserialize)]
    struct Navigated {
        frame: Frame,
    }
    #[derive(Deserialize)]
    struct Frame {
        #[serde(rename = "parentId")]
        parent: Option<String>,
    }
    serde_json::from_str::<Navigated>(event.params.get())
        .is_ok_and(|navigated| navigated.frame.parent.is_none())
}
