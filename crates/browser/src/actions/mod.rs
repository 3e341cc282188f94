//! Steps on a page, one after the other, each under the deadline of the visit. A step that fails ends the visit and says
//! which one it was.

mod keys;
mod pointer;

use crate::asked::{Action, PaperFormat};
use crate::brought::ActionResult;
use crate::browsers::Seat;
use crate::error::{Phase, VisitError, clip};
use crate::tab::Tab;
use crate::visit::{document, evaluate, picture, run_script, settle};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use net::Deadline;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// How long a page may take to calm down after a step.
const AFTERMATH: Duration = Duration::from_secs(3);
/// How long an element is waited for that a click or a scroll needs.
const APPEARANCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(50);
/// Characters that are typed one by one; the rest of a longer text is put in at once.
const TYPED: usize = 200;
/// The largest value a script may hand back, in bytes of JSON.
const LARGEST_VALUE: usize = 4 << 20;

/// Why a step failed: because of itself, or because the visit did.
pub(crate) enum Failed {
    Step(String),
    Visit(VisitError),
}

impl From<VisitError> for Failed {
    fn from(error: VisitError) -> Self {
        match error {
            VisitError::Invalid(message) => Self::Step(message),
            error => Self::Visit(error),
        }
    }
}

/// Carries out all actions in order.
pub(crate) async fn carry_out(
    seat: &Seat,
    actions: &[Action],
    mobile: bool,
    deadline: Deadline,
) -> Result<Vec<ActionResult>, VisitError> {
    let mut results = Vec::new();
    for (index, action) in actions.iter().enumerate() {
        let step = deadline.run(step(&seat.tab, action, mobile, deadline)).await;
        let failed = match step {
            Ok(Ok(result)) => {
                results.extend(result);
                continue;
            }
            Ok(Err(Failed::Visit(error))) => return Err(error),
            Ok(Err(Failed::Step(message))) => message,
            // Waiting for what does not come is the fault of the step; anything else just takes too long.
            Err(_) if matches!(action, Action::WaitFor { .. } | Action::Click { .. }) => {
                "the element did not appear in time".into()
            }
            Err(_) => return Err(VisitError::Timeout { phase: Phase::Actions }),
        };
        let selector = selector_of(action).map(str::to_owned);
        return Err(VisitError::Action { index, selector, message: clip(&failed) });
    }
    Ok(results)
}

fn selector_of(action: &Action) -> Option<&str> {
    match action {
        Action::WaitFor { selector } | Action::Click { selector, .. } => Some(selector),
        Action::Scroll { selector, .. } => selector.as_deref(),
        _ => None,
    }
}

async fn step(
    tab: &Tab,
    action: &Action,
    mobile: bool,
    deadline: Deadline,
) -> Result<Option<ActionResult>, Failed> {
    let calm = || settle(tab, deadline.child(AFTERMATH));
    match action {
        Action::Wait { ms } => {
            tokio::select! {
                () = sleep(Duration::from_millis(*ms)) => {}
                lost = tab.page.lost() => return Err(lost.into()),
            }
        }
        Action::WaitFor { selector } => until_shown(tab, selector).await?,
        Action::Click { selector, all } => {
            pointer::click(tab, selector, *all, deadline.child(APPEARANCE)).await?;
            calm().await?;
        }
        Action::Write { text } => write(tab, text).await?,
        Action::Press { key } => {
            keys::press(tab, key).await?;
            calm().await?;
        }
        Action::Scroll { up, selector } => {
            pointer::scroll(tab, *up, selector.as_deref()).await?;
            calm().await?;
        }
        Action::Screenshot(wanted) => {
            return Ok(Some(ActionResult::Screenshot(picture(tab, wanted, mobile).await?)));
        }
        Action::Scrape => {
            let snapshot = document(tab).await?;
            return Ok(Some(ActionResult::Scrape { url: snapshot.url, html: snapshot.html }));
        }
        Action::ExecuteJavascript { script } => {
            let result = execute(tab, script).await?;
            calm().await?;
            return Ok(Some(result));
        }
        Action::Pdf { format, landscape, scale } => {
            return Ok(Some(print(tab, *format, *landscape, *scale).await?));
        }
    }
    Ok(None)
}

/// A text as it stands in a script.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

async fn until_shown(tab: &Tab, selector: &str) -> Result<(), Failed> {
    let expression = format!(
        "(() => {{ const found = document.querySelector({}); \
         return !!found && (found.getClientRects().length > 0 || found.closest('head') !== null); }})()",
        quoted(selector)
    );
    while !evaluate::<bool>(tab, &expression).await? {
        sleep(LOOK).await;
    }
    Ok(())
}

/// Types into what has the focus.
async fn write(tab: &Tab, text: &str) -> Result<(), Failed> {
    let focused = "(() => { let at = document.activeElement; \
        while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement; \
        return !!at && at !== document.body && at !== document.documentElement; })()";
    if !evaluate::<bool>(tab, focused).await? {
        return Err(Failed::Step("no element has the focus; click one first".into()));
    }
    let cut = text.char_indices().nth(TYPED).map_or(text.len(), |(at, _)| at);
    keys::type_text(tab, &text[..cut]).await?;
    if cut < text.len() {
        tab.tell("Input.insertText", &json!({ "text": &text[cut..] })).await?;
    }
    Ok(())
}

/// Runs a script of the caller: a program whose last expression is its value, or the body of a function.
async fn execute(tab: &Tab, script: &str) -> Result<ActionResult, Failed> {
    let outcome = run_script(tab, script, false).await;
    if let Err(VisitError::Protocol(message)) = outcome {
        // It has run, and its value cannot be told: it is too deep, or has no end.
        return Err(Failed::Step(message));
    }
    let mut outcome = outcome?;
    // What is no program as it stands has not begun to run, so it can be read in another way.
    let says = |words: &str| outcome.as_ref().is_err_and(|message| message.contains(words));
    if says("Illegal return") {
        outcome = run_script(tab, &format!("(async () => {{ {script}\n}})()"), false).await?;
    } else if says("await is only valid") {
        outcome = run_script(tab, script, true).await?;
    }
    let remote = outcome.map_err(Failed::Step)?;
    let value = remote.unserializable.map_or(remote.value.unwrap_or_default(), Value::String);
    let kind = match &value {
        Value::Null if remote.subtype.as_deref() == Some("null") => "null".to_owned(),
        Value::Array(_) => "array".to_owned(),
        _ => remote.kind,
    };
    if serde_json::to_vec(&value).is_ok_and(|text| text.len() > LARGEST_VALUE) {
        return Err(Failed::Step(format!("the value is larger than {LARGEST_VALUE} bytes")));
    }
    Ok(ActionResult::Javascript { kind, value })
}

async fn print(tab: &Tab, format: PaperFormat, landscape: bool, scale: f64) -> Result<ActionResult, Failed> {
    #[derive(Deserialize)]
    struct Printed {
        data: String,
    }
    if !(0.1..=2.0).contains(&scale) {
        return Err(Failed::Step(format!("a scale of {scale} is not between 0.1 and 2")));
    }
    let (width, height) = format.size();
    let wanted = json!({
        "landscape": landscape, "scale": scale, "paperWidth": width, "paperHeight": height, "printBackground": true,
    });
    let printed: Printed = tab.call("Page.printToPDF", &wanted).await?;
    let bytes = STANDARD.decode(printed.data).map_err(|error| VisitError::Protocol(error.to_string()))?;
    Ok(ActionResult::Pdf(bytes))
}
