//! A language model reads the prompt; our own plan checks what it makes of it.

use super::Fits;
use model::chat::structured::{StructuredError, ask_json};
use model::chat::{Chat, ChatRequest, Message};
use net::Deadline;
use serde_json::{Value, json};
use wire::crawl::CrawlOptions;

const RULES: &str = "You turn wishes about crawling a web site into options. Set only what the words ask for and leave out the rest. \
                     includePaths and excludePaths are regular expressions that are searched for in the path of an address, such as \
                     blog/.* for everything below /blog/. limit is the most pages. maxDiscoveryDepth is how many links away from the \
                     start. sitemap is include, only (nothing but the sitemap) or skip. crawlEntireDomain: also pages that do not lie \
                     below the start. delay is in seconds.";

pub async fn ask_model(
    chat: &dyn Chat,
    url: &str,
    prompt: &str,
    fits: &Fits<'_>,
    deadline: Deadline,
) -> Result<CrawlOptions, StructuredError> {
    let ask = ChatRequest {
        messages: vec![
            Message::System(RULES.to_owned()),
            Message::User(format!("The site: {url}\nThe wish: {prompt}")),
        ],
        max_tokens: Some(1_024),
        ..ChatRequest::default()
    };
    let check = |value: &Value| {
        let options: CrawlOptions =
            serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
        fits(&options)
    };
    let made = ask_json(chat, ask, &schema(), &check, deadline).await?;
    serde_json::from_value(made.value).map_err(|error| StructuredError::Invalid(error.to_string()))
}

fn schema() -> Value {
    let paths = json!({ "type": "array", "items": { "type": "string", "maxLength": 200 }, "maxItems": 20 });
    json!({ "type": "object", "additionalProperties": false, "properties": {
        "includePaths": paths,
        "excludePaths": paths,
        "maxDiscoveryDepth": { "type": "integer", "minimum": 0 },
        "sitemap": { "enum": ["include", "only", "skip"] },
        "ignoreQueryParameters": { "type": "boolean" },
        "deduplicateSimilarURLs": { "type": "boolean" },
        "limit": { "type": "integer", "minimum": 1 },
        "crawlEntireDomain": { "type": "boolean" },
        "allowExternalLinks": { "type": "boolean" },
        "allowSubdomains": { "type": "boolean" },
        "delay": { "type": "number", "minimum": 0, "maximum": 60 } } })
}
