//! Tools of a catalogue, of which a self-hosted server has none: looking for some finds nothing, calling one
//! is an error that says so.

use crate::Error;
use serde_json::Value;
use uuid::Uuid;
use wire::scrape::{ScrapeOptions, ScrapeRequest};
use wire::search::{FoundTools, ToolCall, ToolError, ToolResponse, ToolResult, ToolResults};
use wire::{Issue, Issues, PathPart};

const FIELD: &str = "alexandria";
const MAX_CALLS: usize = 10;
const MAX_NAME_CHARS: usize = 200;
/// Where a search for tools is one of the catalogue's own.
const CATALOGUE: (&str, &str) = ("firecrawl", "find-tools");
const LEVELS: [&str; 4] = ["categories", "providers", "groups", "tools"];

/// Answers a scrape request that calls tools instead of asking for a page.
pub fn call_tools(request: &ScrapeRequest) -> Result<ToolResponse, Error> {
    let options = ScrapeOptions { timeout: None, ..request.options() };
    if request.url.is_some() || options != ScrapeOptions::default() {
        let text = "cannot be combined with url and its options";
        return Err(Error::invalid(&[Issue::at(FIELD, text, "custom")]));
    }
    call_all(request.alexandria.as_ref().unwrap_or(&Value::Null))
}

/// One call, or a list of them.
fn call_all(asked: &Value) -> Result<ToolResponse, Error> {
    let one = std::slice::from_ref(asked);
    let calls = asked.as_array().map_or(one, Vec::as_slice);
    let mut issues = Issues::default();
    if !(1..=MAX_CALLS).contains(&calls.len()) {
        issues.add(FIELD, &format!("must be 1 to {MAX_CALLS} calls"), "invalid_value");
    }
    let mut results = Vec::new();
    for (place, call) in calls.iter().take(MAX_CALLS).enumerate() {
        match parse_call(call) {
            Ok(call) => results.push(call_tool(call)),
            Err(why) => {
                let mut path = vec![PathPart::Key(FIELD.to_owned())];
                path.extend(asked.is_array().then_some(PathPart::Index(place)));
                issues.push(Issue::new(path, &why, "invalid_value"));
            }
        }
    }
    issues.finish()?;
    let data = ToolResults { alexandria: results, credits_cost: 0 };
    Ok(ToolResponse { success: true, scrape_id: Uuid::now_v7(), data })
}

fn parse_call(call: &Value) -> Result<ToolCall, String> {
    let call: ToolCall =
        serde::Deserialize::deserialize(call).map_err(|error: serde_json::Error| error.to_string())?;
    let named = |name: &str| (1..=MAX_NAME_CHARS).contains(&name.chars().count());
    if !named(&call.provider) || !named(&call.capability) {
        return Err(format!("provider and capability must have 1 to {MAX_NAME_CHARS} characters"));
    }
    Ok(call)
}

fn call_tool(call: ToolCall) -> ToolResult {
    let level = call.options.as_ref().and_then(|options| options.get("level")?.as_str()).unwrap_or(LEVELS[1]);
    let found = (call.provider.as_str(), call.capability.as_str()) == CATALOGUE;
    let level = LEVELS.into_iter().find(|known| *known == level);
    let (data, error) = match (found, level) {
        (true, Some(level)) => {
            (Some(FoundTools { level: level.to_owned(), items: Vec::new(), total: 0, next: None }), None)
        }
        (true, None) => {
            (None, Some(error("invalid_options", format!("level must be one of {}", LEVELS.join(", ")), 400)))
        }
        (false, _) => (
            None,
            Some(error("unknown_provider", "there is no catalogue of tools on this server".to_owned(), 404)),
        ),
    };
    ToolResult { provider: call.provider, capability: call.capability, credits_cost: 0, data, error }
}

fn error(code: &'static str, message: String, status: u16) -> ToolError {
    ToolError { code, message, status }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_search_for_tools_finds_none_in_the_right_shape() {
        let answer = call_all(
            &json!({ "provider": "firecrawl", "capability": "find-tools", "options": { "level": "tools" } }),
        );
        let mut json = serde_json::to_value(answer.unwrap()).unwrap();
        let id = json.as_object_mut().unwrap().remove("scrape_id").unwrap();
        assert!(Uuid::try_parse(id.as_str().unwrap()).is_ok(), "clients read an id: {id}");
        assert_eq!(
            json,
            json!({ "success": true, "data": { "creditsCost": 0, "alexandria": [{
                "provider": "firecrawl", "capability": "find-tools", "creditsCost": 0,
                "data": { "level": "tools", "items": [], "total": 0, "next": null },
            }] } })
        );
    }

    #[test]
    fn an_unknown_tool_is_an_entry_and_nonsense_a_mistake() {
        let answer = call_all(&json!([{ "provider": "acme", "capability": "x" }])).unwrap();
        assert_eq!(answer.data.alexandria[0].error.as_ref().unwrap().code, "unknown_provider");
        for wrong in [
            json!([]),
            json!(3),
            json!([{ "provider": "a" }]),
            json!({ "provider": "", "capability": "x" }),
            json!({ "provider": "a", "capability": "b", "more": 1 }),
        ] {
            assert_eq!(call_all(&wrong).unwrap_err().to_wire().status(), 400, "{wrong}");
        }
        assert!(call_all(&Value::from(vec![json!({ "provider": "a", "capability": "b" }); 11])).is_err());
    }
}
