//! Letters as they travel.

use mail_parser::{Address, MessageParser, MimeHeaders, PartType};

use super::{Attachment, Letter};
use crate::block::Document;
use crate::error::DocumentError;
use crate::text::text_blocks;

const MAX_ATTACHMENTS: usize = 1000;

pub(crate) fn parse_eml(bytes: &[u8]) -> Result<Document, DocumentError> {
    let message =
        MessageParser::default().parse(bytes).ok_or_else(|| DocumentError::damaged("it has no headers"))?;
    let mut body = Vec::new();
    for part in &message.html_body {
        match message.parts.get(*part as usize).map(|part| &part.body) {
            Some(PartType::Html(html)) => {
                body.extend(super::html_blocks(html.as_bytes(), "text/html; charset=utf-8"));
            }
            Some(PartType::Text(text)) => body.extend(text_blocks(text)),
            _ => {}
        }
    }
    let attachments = message.attachments().take(MAX_ATTACHMENTS).map(|part| Attachment {
        name: part.attachment_name().unwrap_or_default().to_owned(),
        media_type: part.content_type().map(media_type).unwrap_or_default(),
        bytes: Some(part.len()),
    });
    let letter = Letter {
        subject: message.subject().unwrap_or_default().to_owned(),
        from: message.from().map(addresses).unwrap_or_default(),
        to: message.to().map(addresses).unwrap_or_default(),
        copies: message.cc().map(addresses).unwrap_or_default(),
        date: message.date().map(mail_parser::DateTime::to_rfc3339).unwrap_or_default(),
        body,
        attachments: attachments.collect(),
    };
    Ok(letter.into_document())
}

fn media_type(content_type: &mail_parser::ContentType<'_>) -> String {
    match content_type.subtype() {
        Some(subtype) => format!("{}/{subtype}", content_type.ctype()),
        None => content_type.ctype().to_owned(),
    }
}

fn addresses(list: &Address<'_>) -> String {
    let written = list.iter().map(|one| match (one.name(), one.address()) {
        (Some(name), Some(address)) => format!("{name} ({address})"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => String::new(),
    });
    written.collect::<Vec<_>>().join(", ")
}
