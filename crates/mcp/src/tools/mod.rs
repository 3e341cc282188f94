//! The tools: how they are described (the JSON files beside) and what they do (the modules).

mod agents;
mod browsers;
mod continuing;
mod crawls;
mod deprecated;
mod feedback;
mod files;
mod monitors;
mod pages;
mod research;
mod usage;

use crate::arguments::Object;
use crate::call::Call;
use crate::output::{Failure, Output};
use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Output, Failure>> + Send + 'a>>;
pub type Run = for<'a> fn(&'a Call) -> Running<'a>;

/// A tool as calls need it.
#[derive(Debug)]
pub struct ToolEntry {
    pub name: &'static str,
    /// Whether it is in the short profile.
    pub core: bool,
    /// Known, but not listed: for clients that learnt of it earlier.
    pub hidden: bool,
    /// Whether it reads files of this machine.
    pub files: bool,
    pub schema: Arc<Object>,
    /// As clients see it.
    pub described: Tool,
    pub run: Run,
}

impl ToolEntry {
    /// Whether its text is cut at `maxChars`.
    pub fn bounded(&self) -> bool {
        self.schema.get("properties").is_some_and(|properties| properties.get("maxChars").is_some())
    }
}

/// All tools, in the order in which they are listed.
pub static TOOLS: LazyLock<Vec<ToolEntry>> = LazyLock::new(|| {
    let shared: Object = parse(include_str!("shared.json"));
    let files = [include_str!("web.json"), include_str!("jobs.json"), include_str!("records.json")];
    let rows = files.into_iter().flat_map(parse::<Vec<Row>>);
    rows.map(|row| row.to_entry(&shared)).collect()
});

/// Our own files; a test reads them all.
fn parse<T: serde::de::DeserializeOwned>(text: &'static str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("the description of a tool: {error}"))
}

macro_rules! runs {
    ($($name:literal => $path:path),+ $(,)?) => {
        /// What each tool does.
        const RUNS: &[(&str, Run)] = &[$(($name, |call| Box::pin($path(call)))),+];
    };
}

runs! {
    "firecrawl_scrape" => pages::scrape,
    "firecrawl_map" => pages::map,
    "firecrawl_search" => pages::search,
    "firecrawl_find_tools" => pages::find_tools,
    "gannet_structured_data" => pages::structured_data,
    "firecrawl_crawl" => crawls::crawl,
    "firecrawl_check_crawl_status" => crawls::status,
    "firecrawl_parse" => files::parse_file,
    "firecrawl_agent" => agents::start,
    "firecrawl_agent_status" => agents::status,
    "gannet_agent_trace" => agents::trace,
    "firecrawl_interact" => browsers::interact,
    "firecrawl_interact_stop" => browsers::interact_stop,
    "gannet_browser_open" => browsers::open,
    "gannet_browser_command" => browsers::command,
    "gannet_browser_close" => browsers::close,
    "gannet_continue" => continuing::read_on,
    "firecrawl_monitor_create" => monitors::create,
    "firecrawl_monitor_list" => monitors::list,
    "firecrawl_monitor_get" => monitors::get,
    "firecrawl_monitor_update" => monitors::update,
    "firecrawl_monitor_delete" => monitors::delete,
    "firecrawl_monitor_run" => monitors::run,
    "firecrawl_monitor_checks" => monitors::checks,
    "firecrawl_monitor_check" => monitors::check,
    "firecrawl_research_search_papers" => research::search_papers,
    "firecrawl_research_inspect_paper" => research::inspect_paper,
    "firecrawl_research_related_papers" => research::related_papers,
    "firecrawl_research_read_paper" => research::read_paper,
    "firecrawl_developer_search" => research::developer_search,
    "firecrawl_credit_usage" => usage::credit_usage,
    "firecrawl_search_feedback" => feedback::rate_search,
    "firecrawl_feedback" => feedback::rate,
    "firecrawl_extract" => deprecated::extract,
    "firecrawl_research_search_github" => deprecated::search_github,
}

/// A tool in a file. What is missing is false or empty.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the marks of a tool, each of them on or off")]
struct Row {
    name: String,
    title: String,
    description: String,
    #[serde(default)]
    core: bool,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    files: bool,
    /// Whether unknown arguments are accepted.
    #[serde(default)]
    open: bool,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    destructive: bool,
    open_world: bool,
    #[serde(default)]
    required: Vec<String>,
    /// The name of a shared schema that every result fulfils.
    output: Option<String>,
    properties: Value,
}

impl Row {
    fn to_entry(&self, shared: &Object) -> ToolEntry {
        let Some((name, run)) = RUNS.iter().find(|(name, _)| *name == self.name) else {
            panic!("the tool {} does nothing", self.name);
        };
        let properties = resolve(&self.properties, shared);
        let mut schema = json!({ "type": "object", "properties": properties });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        if !self.open {
            schema["additionalProperties"] = false.into();
        }
        let schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
        let annotations = ToolAnnotations::with_title(&self.title)
            .read_only(self.read_only)
            .destructive(self.destructive)
            .idempotent(self.read_only)
            .open_world(self.open_world);
        let mut described = Tool::new(*name, self.description.clone(), schema.clone())
            .with_title(&self.title)
            .with_annotations(annotations);
        if let Some(output) = &self.output {
            let output = resolve(&json!({ "$use": output }), shared);
            described.output_schema = output.as_object().cloned().map(Arc::new);
        }
        let (core, hidden, files) = (self.core, self.hidden, self.files);
        ToolEntry { name, core, hidden, files, schema, described, run: *run }
    }
}

/// Puts shared pieces where `$use` names them; what stands beside `$use` is added or replaces. As deep as our
/// own files.
fn resolve(value: &Value, shared: &Object) -> Value {
    match value {
        Value::Object(fields) => {
            let base = fields.get("$use").and_then(Value::as_str).map(|name| match shared.get(name) {
                Some(piece) => resolve(piece, shared),
                None => panic!("there is no shared piece {name}"),
            });
            let mut all = base.and_then(|base| base.as_object().cloned()).unwrap_or_default();
            let own = fields.iter().filter(|(name, _)| *name != "$use");
            all.extend(own.map(|(name, value)| (name.clone(), resolve(value, shared))));
            Value::Object(all)
        }
        Value::Array(items) => items.iter().map(|item| resolve(item, shared)).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_tool_is_described_and_does_something() {
        let described: BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
        let running: BTreeSet<_> = RUNS.iter().map(|(name, _)| *name).collect();
        assert_eq!(described, running);
        assert_eq!(TOOLS.len(), described.len(), "a name is used twice");
        for tool in TOOLS.iter() {
            assert!(
                !Value::Object(tool.schema.as_ref().clone()).to_string().contains("$use"),
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn the_short_profile_is_short() {
        let size = |tools: Vec<&ToolEntry>| {
            let text = tools.iter().map(|tool| serde_json::to_string(&tool.described).unwrap().len());
            text.sum::<usize>()
        };
        let (core, all): (Vec<_>, Vec<_>) = (
            TOOLS.iter().filter(|tool| tool.core).collect(),
            TOOLS.iter().filter(|tool| !tool.hidden).collect(),
        );
        let (core, all) = (size(core), size(all));
        // About four characters for a token.
        assert!(core < 24_000 && all < 48_000, "{core} and {all} characters");
    }
}
