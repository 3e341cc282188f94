//! Scrapes a page and checks every link on it that leads to the same site: prints each address with its status and
//! exits with 1 when one of them is broken.
//!
//! usage: `broken_links` URL

use serde_json::{Value, json};
use std::error::Error;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let page = std::env::args().nth(1).ok_or("usage: broken_links URL")?;
    let document = scrape(&page).await?;
    let links = document["links"].as_array().ok_or("the response has no links")?;
    let origin: String = page.split('/').take(3).collect::<Vec<_>>().join("/");
    let mut broken = 0;
    for link in links.iter().filter_map(Value::as_str).filter(|link| link.starts_with(&origin)) {
        match scrape(link).await {
            Ok(document) => {
                let status = document["metadata"]["statusCode"].as_u64().unwrap_or(0);
                broken += u32::from(status >= 400);
                println!("{status} {link}");
            }
            Err(error) => {
                broken += 1;
                println!("--- {link}: {error}");
            }
        }
    }
    println!("{broken} of {} links are broken", links.len());
    Ok(ExitCode::from(u8::from(broken > 0)))
}

/// The `data` of a scrape response, or the error text of the server.
async fn scrape(url: &str) -> Result<Value, Box<dyn Error>> {
    let server = std::env::var("FIRECRAWL_API_URL")?;
    let key = std::env::var("FIRECRAWL_API_KEY")?;
    let request = reqwest::Client::new().post(format!("{server}/v2/scrape")).bearer_auth(key);
    let response = request.json(&json!({ "url": url, "formats": ["links"] })).send().await?;
    let mut body: Value = response.json().await?;
    match body["success"].as_bool() {
        Some(true) => Ok(body["data"].take()),
        _ => Err(body["error"].as_str().unwrap_or("not a response of Gannet").into()),
    }
}
