//! Opens the page of a scrape again, in a session.

use crate::Error;
use crate::scrape::plan::Access;
use browser::Action;
use interact::{CdpClient, CdpError, Session};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;
use wire::Kind;

/// A page that has not loaded after this time is used as it is.
const LOAD_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    error_text: Option<String>,
}

/// A page of the session, driven by us.
struct DrivenPage {
    client: CdpClient,
    session: String,
}

/// Leaves empty what the actions type: passwords too are typed, and whoever opens the page again could read them.
pub(super) fn blank_typed_texts(actions: &mut [Action]) {
    for action in actions {
        if let Action::Write { text } = action {
            text.clear();
        }
    }
}

/// Shows the URL in the first page of the session, waits until it has loaded, and does what the scrape did there, all
/// of it within the time that the scrape had.
pub(super) async fn open_page(
    session: &Session,
    url: &Url,
    access: &Access,
    time: Duration,
) -> Result<(), Error> {
    let opened = tokio::time::timeout(time, open_and_act(session, url, access)).await;
    opened.unwrap_or_else(|_| {
        let why = format!("it was not open again after {} s, the time that the scrape had", time.as_secs());
        Err(Error::because(Kind::NoReplayContext, &why))
    })
}

async fn open_and_act(session: &Session, url: &Url, access: &Access) -> Result<(), Error> {
    let client =
        session.client().await.map_err(|error| Error::because(Kind::BrowserFailed, &error.to_string()))?;
    let page = DrivenPage::attach(session, client).await.map_err(|error| failed(&error))?;
    let wanted = json!({ "url": url.as_str() });
    let navigating = page.client.call::<Navigated>(Some(&page.session), "Page.navigate", &wanted);
    let navigated =
        tokio::time::timeout(LOAD_TIMEOUT, navigating).await.map_err(|_| failed(&CdpError::Timeout))?;
    if let Some(error) = navigated.map_err(|error| failed(&error))?.error_text {
        return Err(Error::because(Kind::NoReplayContext, &format!("it no longer loads ({error})")));
    }
    page.wait_until_loaded().await;
    tokio::time::sleep(access.wait_for).await;
    for action in &access.actions {
        let done = tokio::time::timeout(LOAD_TIMEOUT, page.act(action)).await;
        if !matches!(done, Ok(Ok(()))) {
            return Err(Error::because(
                Kind::NoReplayContext,
                "an action of the scrape no longer works there",
            ));
        }
    }
    Ok(())
}

fn failed(error: &CdpError) -> Error {
    Error::because(Kind::BrowserFailed, &error.to_string())
}

impl DrivenPage {
    async fn attach(session: &Session, client: CdpClient) -> Result<Self, CdpError> {
        let page = session.pages().into_iter().next().ok_or(CdpError::Over)?;
        let session = client.attach(&page.target_id).await?;
        Ok(Self { client, session })
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value, CdpError> {
        self.client.call(Some(&self.session), method, &params).await
    }

    async fn evaluate(&self, expression: &str) -> Result<Value, CdpError> {
        let wanted = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", wanted).await?;
        Ok(answer["result"]["value"].take())
    }

    async fn wait_until_loaded(&self) {
        let loading = async {
            loop {
                match self.evaluate("document.readyState").await {
                    Ok(state) if state == "complete" => return,
                    // The context of the document may be replaced while it loads.
                    Ok(_) | Err(CdpError::Rejected(_)) => tokio::time::sleep(POLL_INTERVAL).await,
                    Err(_) => return,
                }
            }
        };
        let _ = tokio::time::timeout(LOAD_TIMEOUT, loading).await;
    }

    /// Does one action. Those that only read the page have nothing to do here.
    async fn act(&self, action: &Action) -> Result<(), CdpError> {
        match action {
            Action::Wait { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Action::WaitFor { selector } => _ = self.find(selector).await?,
            Action::Click { selector, .. } => {
                let (x, y) = self.find(selector).await?;
                for event in ["mousePressed", "mouseReleased"] {
                    let wanted = json!({ "type": event, "x": x, "y": y, "button": "left", "clickCount": 1 });
                    self.call("Input.dispatchMouseEvent", wanted).await?;
                }
                self.wait_until_loaded().await;
            }
            Action::Write { text } => _ = self.call("Input.insertText", json!({ "text": text })).await?,
            Action::Press { key } => {
                for event in browser::key_events(key).unwrap_or_default() {
                    self.call("Input.dispatchKeyEvent", event).await?;
                }
                self.wait_until_loaded().await;
            }
            Action::Scroll { up, .. } => {
                let by = if *up { "-innerHeight" } else { "innerHeight" };
                self.evaluate(&format!("scrollBy(0, {by})")).await?;
            }
            Action::ExecuteJavascript { script } => _ = self.evaluate(script).await?,
            Action::Screenshot(_) | Action::Scrape | Action::Pdf { .. } => {}
        }
        Ok(())
    }

    /// Waits for an element that can be seen and returns its centre.
    async fn find(&self, selector: &str) -> Result<(f64, f64), CdpError> {
        let selector = Value::from(selector);
        let expression = format!(
            "(() => {{ const found = document.querySelector({selector}); if (!found) return null; \
             found.scrollIntoView({{ block: 'center' }}); const box = found.getBoundingClientRect(); \
             return box.width && box.height ? [box.x + box.width / 2, box.y + box.height / 2] : null; }})()"
        );
        loop {
            if let Ok(place) = serde_json::from_value(self.evaluate(&expression).await?) {
                return Ok(place);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_typed_texts_are_blanked() {
        let press = Action::Press { key: "Enter".to_owned() };
        let mut actions = [Action::Write { text: "s3cret".to_owned() }, press.clone(), Action::Scrape];
        blank_typed_texts(&mut actions);
        assert_eq!(actions, [Action::Write { text: String::new() }, press, Action::Scrape]);
    }
}
