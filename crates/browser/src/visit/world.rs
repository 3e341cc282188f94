//! Running scripts on a page: ours in a world of their own, where the page's scripts cannot change what words mean, and the
//! caller's in the page's world, where they belong.

use crate::error::{VisitError, clip};
use crate::tab::Tab;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: Remote,
    exception_details: Option<Exception>,
}

#[derive(Deserialize)]
pub(crate) struct Remote {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) subtype: Option<String>,
    #[serde(default)]
    pub(crate) value: Value,
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

/// Evaluates an expression of ours on the document that is shown now. It is made anew for each document, so a value is
/// always of one document: if the page moves on in the middle, there is none, and one more try is made on the next.
pub(crate) async fn evaluate<T: DeserializeOwned>(tab: &Tab, expression: &str) -> Result<T, VisitError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match evaluate_once(tab, expression).await {
            Err(VisitError::Protocol(_)) if tries < 4 => {}
            Ok(value) => {
                return serde_json::from_value(value).map_err(|error| VisitError::Protocol(error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
}

async fn evaluate_once(tab: &Tab, expression: &str) -> Result<Value, VisitError> {
    let known = tab.page.book().world;
    let world = match known {
        Some(world) => world,
        None => {
            let document = tab.page.book().document.clone();
            let wanted = json!({ "frameId": tab.page.frame, "worldName": "gannet" });
            let made: World = tab.call("Page.createIsolatedWorld", &wanted).await?;
            let mut book = tab.page.book();
            // Only if the page has not moved on since: then it belongs to a document that is gone.
            if book.document == document {
                book.world = Some(made.execution_context_id);
            }
            made.execution_context_id
        }
    };
    let wanted = json!({
        "expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true,
    });
    let evaluated: Evaluated = match tab.call("Runtime.evaluate", &wanted).await {
        Ok(evaluated) => evaluated,
        Err(error) => {
            tab.page.book().world = None;
            return Err(error);
        }
    };
    match evaluated.exception_details {
        Some(exception) => Err(VisitError::Invalid(exception.message())),
        None => Ok(evaluated.result.value),
    }
}

/// Runs a script of the caller in the page's own world. `Err` inside is what it threw.
pub(crate) async fn run_script(tab: &Tab, script: &str) -> Result<Result<Remote, String>, VisitError> {
    let wanted = json!({
        "expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        "replMode": true, "allowUnsafeEvalBlockedByCSP": true,
    });
    let evaluated: Evaluated = tab.call("Runtime.evaluate", &wanted).await?;
    Ok(match evaluated.exception_details {
        Some(exception) => Err(exception.message()),
        None => Ok(evaluated.result),
    })
}
