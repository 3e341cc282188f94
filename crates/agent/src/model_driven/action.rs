//! The tools offered to a model, and the parsing of its calls. A call that cannot be parsed is answered with
//! the reason, never guessed at.

use crate::Suggestion;
use crate::agent::cut;
use model::chat::Tool;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write;

const MAX_ARGUMENT_BYTES: usize = 256 << 10;
/// Fields of one `record` call, parts of one `delegate` call.
const MAX_RECORD_FIELDS: usize = 200;
const MAX_DELEGATE_PARTS: usize = 16;

/// A parsed tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    Search(SearchArguments),
    Map(MapArguments),
    Scrape(PageArguments),
    OpenBrowser(PageArguments),
    BrowserCommand(CommandArguments),
    ReadBrowser,
    ReadPassages(PassageArguments),
    Calculate(CalculateArguments),
    Record(Vec<RecordEntry>),
    Delegate(Vec<DelegatedPart>),
    Finish(FinishArguments),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct SearchArguments {
    pub query: String,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct MapArguments {
    pub url: String,
    pub search: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct PageArguments {
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct CommandArguments {
    pub command: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct PassageArguments {
    pub url: String,
    pub query: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct CalculateArguments {
    pub expression: String,
}

/// One value with the page and the words that state it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct RecordEntry {
    pub field: String,
    pub value: Value,
    pub url: String,
    pub quote: String,
}

/// A part of the task for a sub-agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct DelegatedPart {
    pub task: String,
    #[serde(default)]
    pub urls: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(super) struct FinishArguments {
    pub data: Option<Value>,
    pub message: Option<String>,
    pub suggestions: Vec<Suggestion>,
}

impl Action {
    /// Whether the same call may bring something new.
    pub fn is_repeatable(&self) -> bool {
        matches!(self, Self::OpenBrowser(_) | Self::BrowserCommand(_) | Self::ReadBrowser)
    }
}

/// Which tools an agent may use at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one group of tools")]
pub(super) struct Toolbox {
    /// Searching and mapping; off in a run that may visit only the URLs of its request.
    pub explore: bool,
    /// Off for sub-agents.
    pub delegate: bool,
    /// Off when the credits for exploring are used up.
    pub read: bool,
    /// Off where there is no browser.
    pub browser: bool,
}

impl Toolbox {
    fn has(self, name: &str) -> bool {
        match name {
            "search" | "map" => self.explore && self.read,
            "scrape" => self.read,
            "open_browser" | "browser_command" | "read_browser" => self.browser && self.read,
            "delegate" => self.delegate && self.read,
            _ => true,
        }
    }

    pub fn tools(self) -> Vec<Tool> {
        let all = every_tool();
        all.into_iter().filter(|tool| self.has(&tool.name)).collect()
    }

    pub fn names(self) -> Vec<String> {
        self.tools().into_iter().map(|tool| tool.name).collect()
    }

    /// Parses a call; the error text is written for the model.
    pub fn parse_call(self, name: &str, arguments: &str) -> Result<Action, String> {
        if !TOOLS.contains(&name) || !self.has(name) {
            return Err(format!(
                "there is no tool called `{}`; there are: {}",
                cut(name, 60),
                self.names().join(", ")
            ));
        }
        if arguments.len() > MAX_ARGUMENT_BYTES {
            return Err(format!("the arguments are longer than {MAX_ARGUMENT_BYTES} bytes"));
        }
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        parse_action(name, arguments)
            .map_err(|error| format!("the arguments of `{name}` cannot be read: {error}"))
    }
}

const TOOLS: [&str; 11] = [
    "search",
    "map",
    "scrape",
    "open_browser",
    "browser_command",
    "read_browser",
    "read_passages",
    "calculate",
    "record",
    "delegate",
    "finish",
];

fn parse_action(name: &str, arguments: &str) -> Result<Action, serde_json::Error> {
    #[derive(Deserialize)]
    struct RecordArguments {
        fields: Vec<RecordEntry>,
    }
    #[derive(Deserialize)]
    struct DelegateArguments {
        parts: Vec<DelegatedPart>,
    }
    Ok(match name {
        "search" => Action::Search(serde_json::from_str(arguments)?),
        "map" => Action::Map(serde_json::from_str(arguments)?),
        "scrape" => Action::Scrape(serde_json::from_str(arguments)?),
        "open_browser" => Action::OpenBrowser(serde_json::from_str(arguments)?),
        "browser_command" => Action::BrowserCommand(serde_json::from_str(arguments)?),
        "read_browser" => Action::ReadBrowser,
        "read_passages" => Action::ReadPassages(serde_json::from_str(arguments)?),
        "calculate" => Action::Calculate(serde_json::from_str(arguments)?),
        "record" => {
            let mut fields = serde_json::from_str::<RecordArguments>(arguments)?.fields;
            fields.truncate(MAX_RECORD_FIELDS);
            Action::Record(fields)
        }
        "delegate" => {
            let mut parts = serde_json::from_str::<DelegateArguments>(arguments)?.parts;
            parts.truncate(MAX_DELEGATE_PARTS);
            Action::Delegate(parts)
        }
        _ => Action::Finish(serde_json::from_str(arguments)?),
    })
}

fn every_tool() -> Vec<Tool> {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let tool = |name: &str, description: &str, properties: Value, required: Value| Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({ "type": "object", "properties": properties, "required": required }),
    };
    let url = || text("an absolute address that the request, a page or a search named");
    vec![
        tool(
            "search",
            "Search the web. Brings titles and addresses.",
            json!({ "query": text("words to search by"), "limit": { "type": "integer", "minimum": 1, "maximum": 20 } }),
            json!(["query"]),
        ),
        tool(
            "map",
            "List addresses of a site, those that fit the words first.",
            json!({ "url": url(), "search": text("words that the wanted pages are about") }),
            json!(["url"]),
        ),
        tool("scrape", "Read a page. Each page is read once.", json!({ "url": url() }), json!(["url"])),
        tool(
            "open_browser",
            "Open a page in a browser, for pages that show what is wanted only after clicks: load more, tabs, forms, cookie \
             walls. Brings the page as a tree whose elements have refs such as @e3. Scrape first; most pages need no browser.",
            json!({ "url": url() }),
            json!(["url"]),
        ),
        tool(
            "browser_command",
            "Act in the open browser with one command: click @e3 | fill @e3 \"words\" | select @e3 \"option\" | check @e3 | \
             press Enter | hover @e3 | scroll down | wait 500 | back | tab t2 | dialog accept | dialog dismiss. Only words of \
             the task can be typed. Brings the page after it, with new refs.",
            json!({ "command": text("one command") }),
            json!(["command"]),
        ),
        tool(
            "read_browser",
            "Read the page that the browser shows, so that its values can be recorded with its address.",
            json!({}),
            json!([]),
        ),
        tool(
            "read_passages",
            "Look for passages in a page that was read.",
            json!({ "url": url(), "query": text("what the passages should answer") }),
            json!(["url", "query"]),
        ),
        tool(
            "calculate",
            "Evaluate arithmetic.",
            json!({ "expression": text("numbers, + - * / % ^ ( ), min, max, sum, avg, abs, sqrt, round") }),
            json!(["expression"]),
        ),
        tool(
            "record",
            "Put values into the result. Each needs the address of the page and the words there that state it.",
            json!({ "fields": { "type": "array", "maxItems": MAX_RECORD_FIELDS, "items": { "type": "object",
                "properties": {
                    "field": text("the place in the result, such as /title or /items/0/price"),
                    "value": {},
                    "url": text("the page that states it"),
                    "quote": text("the words of the page, exactly"),
                },
                "required": ["field", "value", "url", "quote"] } } }),
            json!(["fields"]),
        ),
        tool(
            "delegate",
            "Let sub-agents work on independent parts of the task at the same time. They record into the same result.",
            json!({ "parts": { "type": "array", "maxItems": MAX_DELEGATE_PARTS, "items": { "type": "object",
                "properties": {
                    "task": text("what to find out, complete in itself"),
                    "urls": { "type": "array", "items": { "type": "string" } },
                },
                "required": ["task"] } } }),
            json!(["parts"]),
        ),
        tool(
            "finish",
            "End the task. Without `data` the recorded result is the answer.",
            json!({
                "data": { "description": "the whole result, in the wanted shape" },
                "message": text("an answer in words"),
                "suggestions": { "type": "array", "maxItems": 5, "items": { "type": "object",
                    "properties": { "label": text("a few words"), "prompt": text("what could be asked next") },
                    "required": ["label", "prompt"] } },
            }),
            json!([]),
        ),
    ]
}

/// For models without tools: one JSON object that names a tool and its arguments.
pub(super) fn action_schema(toolbox: Toolbox) -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool": { "type": "string", "enum": toolbox.names() },
            "arguments": { "type": "object" },
        },
        "required": ["tool", "arguments"],
    })
}

/// A description of the tools for models without tool calling.
pub(super) fn describe_tools(toolbox: Toolbox) -> String {
    let mut text = String::from(
        "Answer with one JSON object and nothing else: {\"tool\": \"…\", \"arguments\": {…}}. The tools:\n",
    );
    for tool in toolbox.tools() {
        let arguments = &tool.parameters["properties"];
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {}: {} Arguments: {arguments}", tool.name, tool.description);
    }
    text
}

/// A call written as text: `{"tool": …, "arguments": …}`, bare or within a fence or a sentence.
pub(super) fn find_call(text: &str) -> Option<(String, String)> {
    let object = find_json_object(text)?;
    let name = ["tool", "name", "action"].iter().find_map(|key| object.get(*key)?.as_str())?.to_owned();
    let arguments = ["arguments", "parameters", "args"].iter().find_map(|key| object.get(*key)).cloned();
    let arguments = match arguments {
        Some(Value::String(written)) => written,
        Some(other) => other.to_string(),
        None => "{}".to_owned(),
    };
    Some((name, arguments))
}

/// The first JSON object in a text.
pub(super) fn find_json_object(text: &str) -> Option<Value> {
    if text.len() > MAX_ARGUMENT_BYTES {
        return None;
    }
    text.match_indices('{').take(4).find_map(|(start, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        values.next()?.ok().filter(Value::is_object)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Toolbox = Toolbox { explore: true, delegate: true, read: true, browser: true };

    #[test]
    fn every_tool_that_is_named_can_be_called() {
        assert_eq!(ALL.names(), TOOLS);
        let strict = Toolbox { explore: false, ..ALL };
        assert!(
            strict.parse_call("search", r#"{"query":"x"}"#).unwrap_err().contains("no tool called `search`")
        );
        let without = Toolbox { browser: false, ..ALL };
        assert!(!without.names().iter().any(|name| name.contains("browser")));
        let spent = Toolbox { read: false, ..ALL };
        assert_eq!(spent.names(), ["read_passages", "calculate", "record", "finish"]);
    }

    #[test]
    fn calls_are_read_or_the_reason_is_said() {
        let finish = ALL.parse_call("finish", "").unwrap();
        assert_eq!(finish, Action::Finish(FinishArguments::default()));
        assert!(ALL.parse_call("scrape", "{").unwrap_err().contains("cannot be read"));
        assert!(ALL.parse_call("scrape", "{}").unwrap_err().contains("url"));
        assert!(ALL.parse_call("rm_rf", "{}").unwrap_err().contains("there are: search"));
        let many = json!({ "parts": vec![json!({"task": "x"}); 99] }).to_string();
        assert!(
            matches!(ALL.parse_call("delegate", &many), Ok(Action::Delegate(parts)) if parts.len() == MAX_DELEGATE_PARTS)
        );
        assert!(ALL.parse_call("finish", &"x".repeat(MAX_ARGUMENT_BYTES + 1)).is_err());
        assert!(ALL.parse_call("finish", &"[".repeat(10_000)).is_err());
    }

    #[test]
    fn calls_are_found_in_text() {
        let fenced =
            "Sure!\n```json\n{\"tool\": \"scrape\", \"arguments\": {\"url\": \"https://a.example\"}}\n```";
        assert_eq!(
            find_call(fenced),
            Some(("scrape".to_owned(), "{\"url\":\"https://a.example\"}".to_owned()))
        );
        assert_eq!(find_call("{\"name\":\"finish\"}"), Some(("finish".to_owned(), "{}".to_owned())));
        assert_eq!(find_call("{not json} {\"price\": 3}"), None);
        assert_eq!(find_json_object("{oops {\"price\": 3}"), Some(json!({"price": 3})));
    }
}
