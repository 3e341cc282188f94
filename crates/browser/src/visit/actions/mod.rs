//! Runs the actions on a page in order, each under the deadline of the visit. An action that fails ends the
//! visit with its index.

pub(crate) mod keyboard;
mod mouse;

use super::{evaluate, read_document, run_script, take_screenshot, wait_until_ready};
use crate::error::{Phase, VisitError, shorten};
use crate::session::VisitSession;
use crate::tab::Tab;
use crate::visit_request::{Action, PaperFormat};
use crate::visit_result::ActionResult;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use net::Deadline;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// How long a page may take to become ready after an action.
const READY_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a click waits for its element to appear.
const ELEMENT_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Characters that are typed one by one; the rest of a longer text is inserted at once.
const MAX_TYPED_CHARS: usize = 200;
/// The largest value a script may return, in bytes of JSON.
const MAX_VALUE_BYTES: usize = 4 << 20;

/// Why an action failed: because of itself, or because the visit ended.
pub(crate) enum ActionError {
    Action(String),
    Visit(VisitError),
}

impl From<VisitError> for ActionError {
    fn from(error: VisitError) -> Self {
        match error {
            VisitError::Invalid(message) => Self::Action(message),
            error => Self::Visit(error),
        }
    }
}

/// Runs all actions in order.
pub(crate) async fn run_actions(
    session: &VisitSession,
    actions: &[Action],
    mobile: bool,
    deadline: Deadline,
) -> Result<Vec<ActionResult>, VisitError> {
    let mut results = Vec::new();
    for (index, action) in actions.iter().enumerate() {
        let result = deadline.run(run_action(&session.tab, action, mobile, deadline)).await;
        let message = match result {
            Ok(Ok(result)) => {
                results.extend(result);
                continue;
            }
            Ok(Err(ActionError::Visit(error))) => return Err(error),
            Ok(Err(ActionError::Action(message))) => message,
            // Waiting for a missing element is an error of the action; anything else just takes too long.
            Err(_) if matches!(action, Action::WaitFor { .. } | Action::Click { .. }) => {
                "the element did not appear in time".into()
            }
            Err(_) => return Err(VisitError::Timeout { phase: Phase::Actions }),
        };
        let selector = action_selector(action).map(str::to_owned);
        return Err(VisitError::Action { index, selector, message: shorten(&message) });
    }
    Ok(results)
}

fn action_selector(action: &Action) -> Option<&str> {
    match action {
        Action::WaitFor { selector } | Action::Click { selector, .. } => Some(selector),
        Action::Scroll { selector, .. } => selector.as_deref(),
        _ => None,
    }
}

async fn run_action(
    tab: &Tab,
    action: &Action,
    mobile: bool,
    deadline: Deadline,
) -> Result<Option<ActionResult>, ActionError> {
    let wait_ready = || wait_until_ready(tab, deadline.child(READY_TIMEOUT));
    match action {
        Action::Wait { ms } => {
            tokio::select! {
                () = sleep(Duration::from_millis(*ms)) => {}
                lost = tab.page.wait_until_lost() => return Err(lost.into()),
            }
        }
        Action::WaitFor { selector } => wait_until_visible(tab, selector).await?,
        Action::Click { selector, all } => {
            mouse::click(tab, selector, *all, deadline.child(ELEMENT_TIMEOUT)).await?;
            wait_ready().await?;
        }
        Action::Write { text } => type_into_focused(tab, text).await?,
        Action::Press { key } => {
            keyboard::press(tab, key).await?;
            wait_ready().await?;
        }
        Action::Scroll { up, selector } => {
            mouse::scroll(tab, *up, selector.as_deref()).await?;
            wait_ready().await?;
        }
        Action::Screenshot(wanted) => {
            return Ok(Some(ActionResult::Screenshot(take_screenshot(tab, wanted, mobile).await?)));
        }
        Action::Scrape => {
            let snapshot = read_document(tab).await?;
            return Ok(Some(ActionResult::Scrape { url: snapshot.url, html: snapshot.html }));
        }
        Action::ExecuteJavascript { script } => {
            let result = run_user_script(tab, script).await?;
            wait_ready().await?;
            return Ok(Some(result));
        }
        Action::Pdf { format, landscape, scale } => {
            return Ok(Some(print_pdf(tab, *format, *landscape, *scale).await?));
        }
    }
    Ok(None)
}

/// A text as a JavaScript string literal.
pub(crate) fn js_string(text: &str) -> String {
    Value::from(text).to_string()
}

async fn wait_until_visible(tab: &Tab, selector: &str) -> Result<(), ActionError> {
    let expression = format!(
        "(() => {{ const found = document.querySelector({}); \
         return !!found && (found.getClientRects().length > 0 || found.closest('head') !== null); }})()",
        js_string(selector)
    );
    while !evaluate::<bool>(tab, &expression).await? {
        sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

/// Types into the focused element.
async fn type_into_focused(tab: &Tab, text: &str) -> Result<(), ActionError> {
    let focused = "(() => { let at = document.activeElement; \
        while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement; \
        return !!at && at !== document.body && at !== document.documentElement; })()";
    if !evaluate::<bool>(tab, focused).await? {
        return Err(ActionError::Action("no element has focus; click one first".into()));
    }
    let cut = text.char_indices().nth(MAX_TYPED_CHARS).map_or(text.len(), |(at, _)| at);
    keyboard::type_text(tab, &text[..cut]).await?;
    if cut < text.len() {
        tab.execute("Input.insertText", &json!({ "text": &text[cut..] })).await?;
    }
    Ok(())
}

/// Runs a script of the caller: a program whose last expression is its value, or the body of a function.
async fn run_user_script(tab: &Tab, script: &str) -> Result<ActionResult, ActionError> {
    let outcome = run_script(tab, script, false).await;
    if let Err(VisitError::Protocol(message)) = outcome {
        // The script has run, but its value cannot be serialized: it is too deep or cyclic.
        return Err(ActionError::Action(message));
    }
    let mut outcome = outcome?;
    // A script with a syntax error has not started to run, so it can be tried in another form.
    let failed_with = |words: &str| outcome.as_ref().is_err_and(|message| message.contains(words));
    if failed_with("Illegal return") {
        outcome = run_script(tab, &format!("(async () => {{ {script}\n}})()"), false).await?;
    } else if failed_with("await is only valid") {
        outcome = run_script(tab, script, true).await?;
    }
    let remote = outcome.map_err(ActionError::Action)?;
    let value = remote.unserializable.map_or(remote.value.unwrap_or_default(), Value::String);
    let kind = match &value {
        Value::Null if remote.subtype.as_deref() == Some("null") => "null".to_owned(),
        Value::Array(_) => "array".to_owned(),
        _ => remote.kind,
    };
    if serde_json::to_vec(&value).is_ok_and(|text| text.len() > MAX_VALUE_BYTES) {
        return Err(ActionError::Action(format!("the value is larger than {MAX_VALUE_BYTES} bytes")));
    }
    Ok(ActionResult::Javascript { kind, value })
}

async fn print_pdf(
    tab: &Tab,
    format: PaperFormat,
    landscape: bool,
    scale: f64,
) -> Result<ActionResult, ActionError> {
    #[derive(Deserialize)]
    struct Printed {
        data: String,
    }
    if !(0.1..=2.0).contains(&scale) {
        return Err(ActionError::Action(format!("scale {scale} is not between 0.1 and 2")));
    }
    let (width, height) = format.size();
    let wanted = json!({
        "landscape": landscape, "scale": scale, "paperWidth": width, "paperHeight": height, "printBackground": true,
    });
    let printed: Printed = tab.call("Page.printToPDF", &wanted).await?;
    let bytes = STANDARD.decode(printed.data).map_err(|error| VisitError::Protocol(error.to_string()))?;
    Ok(ActionResult::Pdf(bytes))
}
