//! Running scripts on a page: ours in a world of their own, where the page's scripts cannot change what words mean, and the
//! caller's in the page's world, where they belong.

use crate::error::{VisitError, clip};
use crate::tab::Tab;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Tries on a page that moves on again and again.
const MOST_TRIES: usize = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated<T> {
    result: Remote<T>,
    exception_details: Option<Exception>,
}

#[derive(Deserialize)]
pub(crate) struct Remote<T> {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) subtype: Option<String>,
    pub(crate) value: Option<T>,
    /// Values JSON has no word for: `NaN`, `-0`, big integers.
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
        clip(&described.or_else(valued).unwrap_or_else(|| self.text.clone()))
    }
}

/// Evaluates an expression of ours on the document that is shown now. The world it runs in belongs to that document, so
/// a value is always of one document: if the page moves on in the middle there is none, and the next one is asked.
pub(crate) async fn evaluate<T: DeserializeOwned>(tab: &Tab, expression: &str) -> Result<T, VisitError> {
    for _ in 0..MOST_TRIES {
        match evaluate_once(tab, expression).await {
            // The world is gone with its document.
            Err(VisitError::Protocol(_)) => tab.page.book().world = None,
            outcome => return outcome,
        }
    }
    evaluate_once(tab, expression).await
}

async fn evaluate_once<T: DeserializeOwned>(tab: &Tab, expression: &str) -> Result<T, VisitError> {
    let known = tab.page.book().world;
    let world = if let Some(world) = known { world } else { make_world(tab).await? };
    let wanted = json!({
        "expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true,
    });
    let answer = tab.answer(tab.send("Runtime.evaluate", &wanted)).await?;
    if let Ok(Evaluated { result: Remote { value: Some(value), .. }, exception_details: None }) =
        serde_json::from_str(answer.get())
    {
        return Ok(value);
    }
    // Not what was expected: a second look tells why.
    let evaluated: Evaluated<Value> =
        serde_json::from_str(answer.get()).map_err(|error| VisitError::Protocol(error.to_string()))?;
    match evaluated.exception_details {
        Some(exception) => Err(VisitError::Invalid(exception.message())),
        None => serde_json::from_value(evaluated.result.value.unwrap_or_default())
            .map_err(|error| VisitError::Invalid(error.to_string())),
    }
}

async fn make_world(tab: &Tab) -> Result<i64, VisitError> {
    let document = tab.page.book().document.clone();
    let wanted = json!({ "frameId": tab.page.frame, "worldName": "gannet" });
    let made: World = tab.call("Page.createIsolatedWorld", &wanted).await?;
    let mut book = tab.page.book();
    // Only if the page has not moved on since: then it belongs to a document that is gone.
    if book.document == document {
        book.world = Some(made.execution_context_id);
    }
    Ok(made.execution_context_id)
}

/// Runs a script of the caller in the page's own world. `Err` inside is what it threw. With `waits`, it may say `await`
/// outside of any function, but a promise as its value is not waited for.
pub(crate) async fn run_script(
    tab: &Tab,
    script: &str,
    waits: bool,
) -> Result<Result<Remote<Value>, String>, VisitError> {
    let wanted = json!({
        "expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        "replMode": waits, "allowUnsafeEvalBlockedByCSP": true,
    });
    let evaluated: Evaluated<Value> = tab.call("Runtime.evaluate", &wanted).await?;
    Ok(match evaluated.exception_details {
        Some(exception) => Err(exception.message()),
        None => Ok(evaluated.result),
    })
}
