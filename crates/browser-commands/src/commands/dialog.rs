//! `dialog`: answers a confirm or prompt. Alerts are closed by themselves.

use super::{CommandResult, Context};
use crate::arguments::Arguments;
use crate::error::CommandError;
use crate::reply::Outcome;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the page's scripts may go on before the next command.
const SETTLE_TIME: Duration = Duration::from_millis(30);

pub(super) async fn dialog(context: &Context, arguments: &Arguments) -> CommandResult {
    let page = context.page().await?;
    let operation = arguments.value(0)?;
    let (open, last_alert) = {
        let state = context.browser.state();
        let tab = state.tab(&page.target);
        (tab.and_then(|tab| tab.dialog.clone()), tab.and_then(|tab| tab.last_alert.clone()))
    };
    if operation == "status" {
        let Some(open) = open else {
            let seen =
                last_alert.as_ref().map(|text| format!("\n  Last alert: \"{text}\"")).unwrap_or_default();
            let data = json!({ "hasDialog": false, "lastAlert": last_alert });
            return Ok(Outcome::new(format!("✓ No dialog is currently open{seen}"), data));
        };
        let text = format!(
            "⚠ JavaScript {} dialog is open: \"{}\"\n  Default prompt text: \"{}\"\n  Use `dialog accept [text]` or `dialog dismiss` to resolve it",
            open.kind, open.message, open.default_text
        );
        let data = json!({ "hasDialog": true, "type": open.kind, "message": open.message, "defaultPrompt": open.default_text });
        return Ok(Outcome::new(text, data));
    }
    let Some(open) = open else { return Err(CommandError::failed("No dialog is open")) };
    let accepts = operation == "accept";
    let mut params = json!({ "accept": accepts });
    if accepts && open.kind == "prompt" {
        let text = arguments.values[1..].join(" ");
        params["promptText"] = json!(if arguments.values.len() > 1 { text } else { open.default_text });
    }
    let browser = &context.browser;
    browser.call(Some(&open.session), "Page.handleJavaScriptDialog", params, context.deadline).await?;
    let limit = context.deadline.min(Instant::now() + CLOSE_TIMEOUT);
    browser
        .wait_for(limit, |state| state.tab(&page.target).is_none_or(|tab| tab.dialog.is_none()).then_some(()))
        .await;
    tokio::time::sleep(SETTLE_TIME).await;
    Ok(Outcome { data: json!({ "handled": true, "accepted": accepts }), ..Outcome::done() })
}
