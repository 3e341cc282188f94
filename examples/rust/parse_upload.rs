//! Parses a file in three steps, as programs do that let others upload: asks for an upload URL, sends the file there
//! without a key, and has it parsed. Prints the markdown.
//!
//! usage: `parse_upload` FILE

use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: parse_upload FILE")?;
    let bytes = std::fs::read(&path)?;
    let name = Path::new(&path).file_name().ok_or("not a file")?.to_string_lossy();
    let upload = call("upload-url", &json!({ "filename": name, "declaredSizeBytes": bytes.len() })).await?;
    let url = upload["uploadUrl"].as_str().ok_or("the response has no uploadUrl")?;
    reqwest::Client::new().put(url).body(bytes).send().await?.error_for_status()?;
    let document = call("", &json!({ "uploadRef": upload["uploadRef"], "formats": ["markdown"] })).await?;
    println!("{}", document["markdown"].as_str().unwrap_or_default());
    Ok(())
}

/// The `data` of a response of `/v2/parse`, or the error text of the server.
async fn call(path: &str, body: &Value) -> Result<Value, Box<dyn Error>> {
    let (server, key) = (std::env::var("FIRECRAWL_API_URL")?, std::env::var("FIRECRAWL_API_KEY")?);
    let url = format!("{server}/v2/parse/{path}");
    let request = reqwest::Client::new().post(url.trim_end_matches('/')).bearer_auth(key);
    let mut answer: Value = request.json(body).send().await?.json().await?;
    match answer["success"].as_bool() {
        Some(true) => Ok(answer["data"].take()),
        _ => Err(answer["error"].as_str().unwrap_or("not a response of Gannet").into()),
    }
}
