//! Resources: the pages that the team has scraped in the last day, by the id of the scrape.

use crate::call::Sender;
use crate::output::Failure;
use http::Method;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;
use uuid::Uuid;

const PREFIX: &str = "gannet://scrape/";

pub fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{id}}"), "scrape")
        .with_title("A scraped page")
        .with_description("The result of a scrape of the last 24 hours, by metadata.scrapeId")
        .with_mime_type("text/markdown")
}

pub fn id_from_uri(uri: &str) -> Option<Uuid> {
    Uuid::try_parse(uri.strip_prefix(PREFIX)?).ok()
}

/// The newest scrapes of the team.
pub async fn list(sender: &Sender) -> Result<Vec<Resource>, Failure> {
    let activity =
        sender.request(Method::GET, "/v2/team/activity?endpoint=scrape&limit=50", None, &[]).await?;
    let entries = activity["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let resource = |entry: &Value| {
        let (id, target) = (entry["id"].as_str()?, entry["target"].as_str().unwrap_or_default());
        let name = if target.is_empty() { id } else { target };
        Some(Resource::new(format!("{PREFIX}{id}"), name).with_mime_type("text/markdown"))
    };
    Ok(entries.iter().filter_map(resource).collect())
}

/// A page as markdown, or as JSON where it was not scraped as markdown.
pub async fn read_scrape(sender: &Sender, id: Uuid) -> Result<ReadResourceResult, Failure> {
    let answer = sender.request(Method::GET, &format!("/v2/scrape/{id}"), None, &[]).await?;
    let document = &answer["data"];
    let (text, kind) = match document["markdown"].as_str() {
        Some(markdown) => (markdown.to_owned(), "text/markdown"),
        None => (serde_json::to_string_pretty(document).unwrap_or_default(), "application/json"),
    };
    let contents = ResourceContents::text(text, format!("{PREFIX}{id}")).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents]))
}
