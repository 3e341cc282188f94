//! Letters as Outlook keeps them: a compound file in which each property is a stream.

use std::io::{Cursor, Read};

use encoding_rs::{UTF_8, UTF_16LE, WINDOWS_1252};

use super::{Attachment, Letter};
use crate::block::Document;
use crate::error::DocumentError;
use crate::text::text_blocks;

const MAX_PROPERTY_BYTES: u64 = 32 * 1024 * 1024;
const MAX_ATTACHMENTS: usize = 1000;

const SUBJECT: &str = "0037";
const SENDER_NAME: &str = "0C1A";
const SENDER_SMTP: &str = "5D01";
const SENDER_ADDRESS: &str = "0C1F";
const DISPLAY_TO: &str = "0E04";
const DISPLAY_CC: &str = "0E03";
const BODY: &str = "1000";
const BODY_HTML: &str = "1013";
const LONG_FILE_NAME: &str = "3707";
const FILE_NAME: &str = "3704";
const MEDIA_TYPE: &str = "370E";
const ATTACHED_BYTES: &str = "3701";

type Container<'a> = cfb::CompoundFile<Cursor<&'a [u8]>>;

pub(crate) fn parse_msg(bytes: &[u8]) -> Result<Document, DocumentError> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(DocumentError::damaged)?;
    let name = text_property(&mut file, "", SENDER_NAME);
    let address = [SENDER_SMTP, SENDER_ADDRESS]
        .into_iter()
        .map(|id| text_property(&mut file, "", id))
        .find(|address| address.contains('@'))
        .unwrap_or_default();
    let from = match (name.is_empty(), address.is_empty() || address == name) {
        (false, false) => format!("{name} ({address})"),
        (false, true) => name,
        (true, _) => address,
    };
    let html = binary_property(&mut file, "", BODY_HTML).map(|bytes| super::html_blocks(&bytes, "text/html"));
    let html = html.unwrap_or_else(|| {
        let html = text_property(&mut file, "", BODY_HTML);
        super::html_blocks(html.as_bytes(), "text/html; charset=utf-8")
    });
    let body = if html.is_empty() { text_blocks(&text_property(&mut file, "", BODY)) } else { html };
    let letter = Letter {
        subject: text_property(&mut file, "", SUBJECT),
        from,
        to: text_property(&mut file, "", DISPLAY_TO),
        copies: text_property(&mut file, "", DISPLAY_CC),
        date: sent_date(&mut file).unwrap_or_default(),
        body,
        attachments: attachments(&mut file),
    };
    Ok(letter.into_document())
}

fn attachments(file: &mut Container<'_>) -> Vec<Attachment> {
    let storages: Vec<String> = file
        .read_root_storage()
        .filter(|entry| entry.is_storage() && entry.name().starts_with("__attach_version1.0_"))
        .map(|entry| format!("/{}", entry.name()))
        .take(MAX_ATTACHMENTS)
        .collect();
    let mut found = Vec::new();
    for storage in storages {
        let long = text_property(file, &storage, LONG_FILE_NAME);
        let name = if long.is_empty() { text_property(file, &storage, FILE_NAME) } else { long };
        let data = format!("{storage}/__substg1.0_{ATTACHED_BYTES}0102");
        let bytes = file.entry(&data).ok().and_then(|entry| usize::try_from(entry.len()).ok());
        found.push(Attachment { name, media_type: text_property(file, &storage, MEDIA_TYPE), bytes });
    }
    found
}

fn stream_bytes(file: &mut Container<'_>, path: &str) -> Option<Vec<u8>> {
    if !file.is_stream(path) {
        return None;
    }
    let mut bytes = Vec::new();
    let stream = file.open_stream(path).ok()?;
    // What could be read before an error is better than nothing.
    let _ = stream.take(MAX_PROPERTY_BYTES).read_to_end(&mut bytes);
    Some(bytes)
}

fn binary_property(file: &mut Container<'_>, storage: &str, id: &str) -> Option<Vec<u8>> {
    stream_bytes(file, &format!("{storage}/__substg1.0_{id}0102"))
}

fn text_property(file: &mut Container<'_>, storage: &str, id: &str) -> String {
    let text = if let Some(bytes) = stream_bytes(file, &format!("{storage}/__substg1.0_{id}001F")) {
        UTF_16LE.decode_without_bom_handling(&bytes).0.into_owned()
    } else {
        let bytes = stream_bytes(file, &format!("{storage}/__substg1.0_{id}001E")).unwrap_or_default();
        let encoding = if std::str::from_utf8(&bytes).is_ok() { UTF_8 } else { WINDOWS_1252 };
        encoding.decode_without_bom_handling(&bytes).0.into_owned()
    };
    text.trim_end_matches('\0').to_owned()
}

/// When it was sent, else when it came: 100 nanoseconds since 1601, in the list of fixed properties.
fn sent_date(file: &mut Container<'_>) -> Option<String> {
    const HEADER_BYTES: usize = 32;
    const SENT: u32 = 0x0039_0040;
    const DELIVERED: u32 = 0x0E06_0040;
    let properties = stream_bytes(file, "/__properties_version1.0")?;
    let records: Vec<&[u8]> = properties.get(HEADER_BYTES..)?.chunks_exact(16).collect();
    let time = |wanted: u32| {
        let record = records.iter().find(|record| record[..4] == wanted.to_le_bytes())?;
        Some(u64::from_le_bytes(record[8..16].try_into().ok()?))
    };
    let ticks = time(SENT).or_else(|| time(DELIVERED))?;
    let seconds = i64::try_from(ticks / 10_000_000).ok()? - 11_644_473_600;
    (seconds > 0).then(|| mail_parser::DateTime::from_timestamp(seconds).to_rfc3339())
}
