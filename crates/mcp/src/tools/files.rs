//! Files of this machine, sent to the API as an upload. Only for the user whose process this is.

use super::pages::scrape_options;
use crate::call::Call;
use crate::output::{Failure, Output};
use bytes::Bytes;
use http::Method;
use serde_json::Value;
use std::path::Path;
use tokio::io::AsyncReadExt;
use uuid::Uuid;

/// The API has a limit of its own, which is usually lower.
const MAX_FILE_BYTES: u64 = 512 << 20;
const TYPES: [(&str, &str); 10] = [
    ("html", "text/html"),
    ("htm", "text/html"),
    ("xhtml", "application/xhtml+xml"),
    ("pdf", "application/pdf"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("doc", "application/msword"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("rtf", "application/rtf"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xls", "application/vnd.ms-excel"),
];

pub async fn parse_file(call: &Call) -> Result<Output, Failure> {
    let path = Path::new(call.text("filePath"));
    let bytes = read_file(path).await?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let kind = match call.trimmed("contentType") {
        Some(kind) => kind.to_owned(),
        None => type_of(&name).to_owned(),
    };
    let mut options = call.arguments.clone();
    for own in ["filePath", "contentType"] {
        options.remove(own);
    }
    let options = Value::Object(scrape_options(options)).to_string();
    let boundary = format!("gannet-{}", Uuid::new_v4().as_simple());
    let body = multipart(&boundary, &name, &kind, &bytes, &options);
    let sent = format!("multipart/form-data; boundary={boundary}");
    let answer = call.sender.request(Method::POST, "/v2/parse", Some((&sent, body)), &[]).await?;
    Ok(Output::pretty(answer))
}

async fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Arguments(format!("cannot read the file {}: {error}", path.display()))
    };
    let file = tokio::fs::File::open(path).await.map_err(|error| failed(&error))?;
    let about = file.metadata().await.map_err(|error| failed(&error))?;
    // A pipe or a device may never end.
    if !about.is_file() {
        return Err(failed(&"it is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).await.map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(failed(&format!("it has more than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    Ok(bytes)
}

fn type_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    TYPES.iter().find(|(known, _)| *known == ending).map_or("application/octet-stream", |(_, kind)| kind)
}

fn multipart(boundary: &str, name: &str, kind: &str, bytes: &[u8], options: &str) -> Bytes {
    // What would end a header or a quoted name.
    let plain = |text: &str| text.replace(['"', '\r', '\n', '\\'], "_");
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\
         Content-Type: {}\r\n\r\n",
        plain(name),
        plain(kind),
    )
    .into_bytes();
    body.extend_from_slice(bytes);
    let rest = format!(
        "\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n\
         {options}\r\n--{boundary}--\r\n"
    );
    body.extend_from_slice(rest.as_bytes());
    body.into()
}
