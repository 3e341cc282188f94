//! Runs scripts on a page: ours in an isolated world, where the page's scripts cannot interfere, and the
//! caller's in the page's own world.

use crate::error::{VisitError, shorten};
use crate::tab::Tab;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Attempts on a page that keeps navigating.
const MAX_ATTEMPTS: usize = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated<T> {
    result: RemoteValue<T>,
    exception_details: Option<Exception>,
}

#[derive(Deserialize)]
pub(crate) struct RemoteValue<T> {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) subtype: Option<String>,
    pub(crate) value: Option<T>,
    /// Values that JSON cannot represent: `NaN`, `-0`, big integers.
    #[serde(rename = "unserializableValue")]
    pub(crate) unserializable: Option<String>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(default)]
    text: String,
    exception: Option<Thrown>,
}

#[derive(Deserialize)]
struct Thrown {
    description: Option<String>,
    value: Option<Value>,
}

impl Exception {
    fn message(&self) -> String {
        let thrown = self.exception.as_ref();
        let described = thrown.and_then(|thrown| thrown.description.clone());
        let valued = || thrown.and_then(|thrown| thrown.value.as_ref()).map(ToString::to_string);
        shorten(&described.or_else(valued).unwrap_or_else(|| self.text.clone()))
    }
}

/// Evaluates an expression of ours in the current document. Its isolated world belongs to that document, so a
/// value is always of one document: if the page navigates meanwhile, the expression is evaluated in the next
/// one.
pub(crate) async fn evaluate<T: DeserializeOwned>(tab: &Tab, expression: &str) -> Result<T, VisitError> {
    for _ in 0..MAX_ATTEMPTS {
        match evaluate_once(tab, expression).await {
            // The world was destroyed with its document.
            Err(VisitError::Protocol(_)) => tab.page.state().world = None,
            outcome => return outcome,
        }
    }
    evaluate_once(tab, expression).await
}

async fn evaluate_once<T: DeserializeOwned>(tab: &Tab, expression: &str) -> Result<T, VisitError> {
    let known = tab.page.state().world;
    let world = if let Some(world) = known { world } else { create_world(tab).await? };
    let params = json!({
        "expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true,
    });
    let response = tab.wait_for(tab.send("Runtime.evaluate", &params)).await?;
    if let Ok(Evaluated { result: RemoteValue { value: Some(value), .. }, exception_details: None }) =
        serde_json::from_str(response.get())
    {
        return Ok(value);
    }
    // Not the expected type: parse it again to find out why.
    let evaluated: Evaluated<Value> =
        serde_json::from_str(response.get()).map_err(|error| VisitError::Protocol(error.to_string()))?;
    match evaluated.exception_details {
        Some(exception) => Err(VisitError::Invalid(exception.message())),
        None => serde_json::from_value(evaluated.result.value.unwrap_or_default())
            .map_err(|error| VisitError::Invalid(error.to_string())),
    }
}

async fn create_world(tab: &Tab) -> Result<i64, VisitError> {
    let document = tab.page.state().document.clone();
    let params = json!({ "frameId": tab.page.frame, "worldName": "gannet" });
    let made: World = tab.call("Page.createIsolatedWorld", &params).await?;
    let mut state = tab.page.state();
    // Only if the page has not navigated since: otherwise it belongs to an old document.
    if state.document == document {
        state.world = Some(made.execution_context_id);
    }
    Ok(made.execution_context_id)
}

/// Runs a script of the caller in the page's own world. The inner `Err` is what it threw. With
/// `top_level_await` it may use `await` outside of functions, but a promise as its value is not awaited.
pub(crate) async fn run_script(
    tab: &Tab,
    script: &str,
    top_level_await: bool,
) -> Result<Result<RemoteValue<Value>, String>, VisitError> {
    let params = json!({
        "expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        "replMode": top_level_await, "allowUnsafeEvalBlockedByCSP": true,
    });
    let evaluated: Evaluated<Value> = tab.call("Runtime.evaluate", &params).await?;
    Ok(match evaluated.exception_details {
        Some(exception) => Err(exception.message()),
        None => Ok(evaluated.result),
    })
}
