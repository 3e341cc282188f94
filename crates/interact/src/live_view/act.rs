//! Does in the shown page what the viewer does in the view.

use super::{MAX_TEXT_CHARS, ViewInput, Viewer};
use crate::bridge::is_allowed;
use crate::client::CdpError;
use serde::Deserialize;
use serde_json::json;
use url::Url;

impl Viewer {
    pub(super) async fn act(&mut self, input: ViewInput) -> Result<(), CdpError> {
        match input {
            ViewInput::Shown | ViewInput::ShowTab { .. } => Ok(()),
            ViewInput::NewTab => self.ask("Target.createTarget", json!({ "url": "about:blank" })).await,
            ViewInput::CloseTab { id } => self.ask("Target.closeTarget", json!({ "targetId": id })).await,
            ViewInput::Navigate { url } => {
                if let Some(url) = typed_url(&url) {
                    self.post("Page.navigate", &json!({ "url": url.as_str() }));
                }
                Ok(())
            }
            ViewInput::Back => self.step(-1).await,
            ViewInput::Forward => self.step(1).await,
            ViewInput::Reload => {
                self.post("Page.reload", &json!({}));
                Ok(())
            }
            ViewInput::Dialog { accept, text } => {
                self.answer_dialog(accept, text);
                Ok(())
            }
            ViewInput::Choose { options } => {
                self.choose(options);
                Ok(())
            }
            ViewInput::Files { files } => {
                self.give_files(&files);
                Ok(())
            }
            ViewInput::Mouse { event, x, y, button, buttons, clicks, modifiers } => {
                // A list that opens outside of the page is shown by the view instead.
                if button == "left" && event == "mousePressed" && self.overlay.dialog.is_none() {
                    self.overlay.list = self.find_list(x, y).await;
                    self.push_state();
                    self.is_press_taken = self.overlay.list.is_some();
                }
                if self.is_press_taken && event != "mouseMoved" {
                    self.is_press_taken = event != "mouseReleased";
                    return Ok(());
                }
                let button = if button.is_empty() { "none".to_owned() } else { button };
                let wanted = json!({
                    "type": event, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks,
                    "modifiers": modifiers,
                });
                self.post("Input.dispatchMouseEvent", &wanted);
                Ok(())
            }
            ViewInput::Wheel { x, y, delta_x, delta_y, modifiers } => {
                let wanted = json!({
                    "type": "mouseWheel", "x": x, "y": y, "deltaX": delta_x, "deltaY": delta_y, "modifiers": modifiers,
                });
                self.post("Input.dispatchMouseEvent", &wanted);
                Ok(())
            }
            ViewInput::Touch { event, points } => {
                let wanted = json!({ "type": event, "touchPoints": points });
                self.post("Input.dispatchTouchEvent", &wanted);
                Ok(())
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
                self.post("Input.dispatchKeyEvent", &wanted);
                Ok(())
            }
            ViewInput::Paste { text } | ViewInput::Text { text } => {
                let text: String = text.chars().take(MAX_TEXT_CHARS).collect();
                self.post("Input.insertText", &json!({ "text": text }));
                Ok(())
            }
            ViewInput::Compose { text } => {
                let text: String = text.chars().take(MAX_TEXT_CHARS).collect();
                let end = text.encode_utf16().count();
                let wanted = json!({ "text": text, "selectionStart": end, "selectionEnd": end });
                self.post("Input.imeSetComposition", &wanted);
                Ok(())
            }
        }
    }

    /// Goes back or forward in the history of the page.
    async fn step(&self, by: i64) -> Result<(), CdpError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct History {
            current_index: i64,
            entries: Vec<HistoryEntry>,
        }
        #[derive(Deserialize)]
        struct HistoryEntry {
            id: i64,
        }
        let Some(shown) = &self.shown else { return Ok(()) };
        let history: History =
            self.client.call(Some(&shown.session), "Page.getNavigationHistory", &json!({})).await?;
        let wanted = usize::try_from(history.current_index + by).ok();
        if let Some(entry) = wanted.and_then(|index| history.entries.get(index)) {
            self.post("Page.navigateToHistoryEntry", &json!({ "entryId": entry.id }));
        }
        Ok(())
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
}
