//! Running scripts in a page: expressions, and functions on one of its objects.

use super::{CommandPage, World};
use crate::error::CommandError;
use serde_json::{Value, json};

const MAX_ERROR_BYTES: usize = 2_000;

impl CommandPage {
    /// The value of an expression in our own world of a frame.
    pub(crate) async fn evaluate(&self, world: &World, expression: &str) -> Result<Value, CommandError> {
        let params = json!({
            "expression": expression,
            "contextId": world.context,
            "returnByValue": true,
            "awaitPromise": true,
        });
        let result = self.call_in(&world.session, "Runtime.evaluate", params).await?;
        Ok(check_exception(result)?["value"].take())
    }

    /// The object that an expression gives in our own world, by its id; `None` when there is none.
    pub(crate) async fn evaluate_object(
        &self,
        world: &World,
        expression: &str,
    ) -> Result<Option<String>, CommandError> {
        let params = json!({ "expression": expression, "contextId": world.context, "awaitPromise": true });
        let result = self.call_in(&world.session, "Runtime.evaluate", params).await?;
        Ok(check_exception(result)?["objectId"].as_str().map(str::to_owned))
    }

    /// Calls a function with an object as its `this`, and returns its value.
    pub(crate) async fn call_function(
        &self,
        session: &str,
        object: &str,
        function: &str,
        arguments: &[Value],
    ) -> Result<Value, CommandError> {
        let arguments: Vec<Value> = arguments.iter().map(|value| json!({ "value": value })).collect();
        let params = json!({
            "objectId": object,
            "functionDeclaration": function,
            "arguments": arguments,
            "returnByValue": true,
            "awaitPromise": true,
        });
        let result = self.call_in(session, "Runtime.callFunctionOn", params).await?;
        Ok(check_exception(result)?["value"].take())
    }
}

/// The result of a script, or the error that it threw.
pub(crate) fn check_exception(mut result: Value) -> Result<Value, CommandError> {
    let details = &result["exceptionDetails"];
    if details.is_null() {
        return Ok(result["result"].take());
    }
    let exception = &details["exception"];
    let text = exception["description"]
        .as_str()
        .map(str::to_owned)
        .or_else(|| exception.get("value").map(ToString::to_string))
        .unwrap_or_else(|| details["text"].as_str().unwrap_or_default().to_owned());
    let text = &text[..text.floor_char_boundary(MAX_ERROR_BYTES)];
    Err(CommandError::failed(format!("Evaluation error: {text}")))
}
