//! `wait`: for an element, a time, a text, an address, a load state, or a condition of the page.

use super::{CommandResult, Context};
use crate::arguments::Arguments;
use crate::element::{Element, Locator};
use crate::error::CommandError;
use crate::page::{CommandPage, is_context_gone};
use crate::reply::Outcome;
use crate::state::glob_matches;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(25);
const POLL_PAUSE: Duration = Duration::from_millis(100);
const LOAD_STATES: &[(&str, &str)] =
    &[("load", "load"), ("domcontentloaded", "DOMContentLoaded"), ("networkidle", "networkIdle")];
const ELEMENT_STATES: &[&str] = &["visible", "hidden", "attached", "detached"];

pub(super) async fn wait(context: &Context, arguments: &Arguments) -> CommandResult {
    let timeout = arguments.timeout()?.unwrap_or(DEFAULT_TIMEOUT);
    let limit = context.deadline.min(Instant::now() + timeout);
    let timed_out = |what: String| {
        CommandError::failed(format!("Wait timed out after {}ms: {what}", timeout.as_millis()))
    };
    if let Some(typed) = arguments.values.first()
        && let Ok(milliseconds) = typed.parse::<u64>()
    {
        let end = Instant::now() + Duration::from_millis(milliseconds);
        if end > context.deadline {
            return Err(CommandError::failed(format!(
                "{milliseconds} ms are longer than this command may take"
            )));
        }
        tokio::time::sleep_until(end).await;
        return Ok(Outcome { data: json!({ "waited": "timeout", "ms": milliseconds }), ..Outcome::done() });
    }
    let page = context.page().await?;
    if let Some(text) = arguments.flag("--text") {
        let script = format!(
            "(() => {{ const find = {}.toLowerCase(); return (document.body?.innerText ?? '').toLowerCase().includes(find); }})()",
            json!(text)
        );
        poll_frames(&page, limit, &script).await?.ok_or_else(|| timed_out(format!("no text '{text}'")))?;
        return Ok(Outcome::new(text, json!({ "waited": "text", "text": text })));
    }
    if let Some(pattern) = arguments.flag("--url") {
        let reached = page.browser.wait_for(limit, |state| {
            let tab = state.tab(&page.target)?;
            (glob_matches(pattern, &tab.url) && !tab.is_loading).then(|| tab.url.clone())
        });
        let url = reached.await.ok_or_else(|| timed_out(format!("the address is {}", page.url())))?;
        return Ok(Outcome::new(url.clone(), json!({ "waited": "url", "url": url })));
    }
    if let Some(typed) = arguments.flag("--load") {
        let names: Vec<&str> = LOAD_STATES.iter().map(|(name, _)| *name).collect();
        let known = LOAD_STATES.iter().find(|(name, _)| *name == typed);
        let (_, event) =
            known.ok_or_else(|| CommandError::invalid_value("load state", typed, &names.join(", ")))?;
        let reached = |state: &crate::state::BrowserState| {
            state.tab(&page.target)?.lifecycle.contains(*event).then_some(())
        };
        page.browser.wait_for(limit, reached).await.ok_or_else(|| timed_out(format!("not yet {typed}")))?;
        return Ok(Outcome { data: json!({ "state": typed }), ..Outcome::done() });
    }
    if let Some(expression) = arguments.flag("--fn") {
        let value = poll_condition(&page, limit, expression).await?;
        let value = value.ok_or_else(|| timed_out(format!("{expression} is not true")))?;
        return Ok(Outcome::new(value.to_string(), json!({ "waited": "function", "result": value })));
    }
    wait_for_element(&page, arguments, limit).await?.ok_or_else(|| {
        let state = arguments.flag("--state").unwrap_or("visible");
        timed_out(format!("{} is not {state}", arguments.values.first().map_or("", String::as_str)))
    })?;
    let data = json!({ "waited": "selector", "selector": arguments.value(0)? });
    Ok(Outcome { data, ..Outcome::done() })
}

async fn wait_for_element(
    page: &CommandPage,
    arguments: &Arguments,
    limit: Instant,
) -> Result<Option<()>, CommandError> {
    let wanted = arguments.flag("--state").unwrap_or("visible");
    if !ELEMENT_STATES.contains(&wanted) {
        return Err(CommandError::invalid_value("--state", wanted, &ELEMENT_STATES.join(", ")));
    }
    let locator = Locator::parse(arguments.value(0)?);
    loop {
        let found = match Element::find_now(page, &locator).await {
            // A ref to an element that is gone, or a page that is just being replaced.
            Err(error) if is_context_gone(&error) || matches!(locator, Locator::Ref(_)) => None,
            found => found?,
        };
        let is_visible = match &found {
            Some(element) => is_visible(element).await.unwrap_or(false),
            None => false,
        };
        let reached = match wanted {
            "visible" => is_visible,
            "hidden" => !is_visible,
            "attached" => found.is_some(),
            _ => found.is_none(),
        };
        if reached {
            return Ok(Some(()));
        }
        if Instant::now() >= limit {
            return Ok(None);
        }
        tokio::time::sleep(POLL_PAUSE).await;
    }
}

/// Whether a user could see the element after scrolling.
pub(super) async fn is_visible(element: &Element) -> Result<bool, CommandError> {
    let script = "function() { const e = this.nodeType === 1 ? this : this.parentElement; if (!e || !e.isConnected) return false; \
        const box = e.getBoundingClientRect(); \
        return box.width > 0 && box.height > 0 && e.checkVisibility({ visibilityProperty: true }); }";
    Ok(element.call(script, &[]).await? == true)
}

/// Asks all frames again and again until the script is true in one of them.
async fn poll_frames(page: &CommandPage, limit: Instant, script: &str) -> Result<Option<()>, CommandError> {
    loop {
        page.check_alive()?;
        for frame in page.frames().await.unwrap_or_default() {
            let Ok(world) = page.world(&frame).await else { continue };
            if page.evaluate(&world, script).await.is_ok_and(|value| value == true) {
                return Ok(Some(()));
            }
        }
        if let Some(dialog) = page.dialog() {
            return Err(crate::page::dialog_error(&dialog));
        }
        if Instant::now() >= limit {
            return Ok(None);
        }
        tokio::time::sleep(POLL_PAUSE).await;
    }
}

/// Evaluates an expression of the page until it is true.
async fn poll_condition(
    page: &CommandPage,
    limit: Instant,
    expression: &str,
) -> Result<Option<Value>, CommandError> {
    loop {
        match super::read::evaluate_in_page(page, expression).await {
            Ok(value) if is_true(&value) => return Ok(Some(value)),
            Err(error) if !is_context_gone(&error) => return Err(error),
            _ => {}
        }
        if Instant::now() >= limit {
            return Ok(None);
        }
        tokio::time::sleep(POLL_PAUSE).await;
    }
}

/// What JavaScript takes for true.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
