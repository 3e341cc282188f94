//! Tools that clients learnt of earlier and that others have replaced.

use crate::call::Call;
use crate::output::{Failure, Output};
use serde_json::{Value, json};
use std::future::{Ready, ready};

pub fn extract(_: &Call) -> Ready<Result<Output, Failure>> {
    let example = json!({
        "url": "https://example.com/", "formats": ["json"],
        "jsonOptions": { "schema": { "type": "object", "properties": {} } },
    });
    replaced(
        "firecrawl_extract is deprecated: call firecrawl_scrape for each URL with formats [\"json\"] and a \
         schema or a prompt in jsonOptions, or firecrawl_agent when the URLs are not known.",
        "firecrawl_scrape",
        &example,
    )
}

pub fn search_github(_: &Call) -> Ready<Result<Output, Failure>> {
    replaced(
        "firecrawl_research_search_github is deprecated: call firecrawl_developer_search with the same \
         query.",
        "firecrawl_developer_search",
        &json!({ "query": "memory leak in a parser" }),
    )
}

fn replaced(message: &str, name: &str, example: &Value) -> Ready<Result<Output, Failure>> {
    let replacement = json!({ "name": name, "example_arguments": example });
    let data = json!({ "code": "DEPRECATED_TOOL", "message": message, "replacement": replacement });
    ready(Err(Failure::Tool { message: message.to_owned(), data }))
}
