//! Files that are text, by how they begin and by their lines.

use super::{FileHint, FileKind};
use crate::error::DocumentError;
use crate::text::{decode_text, is_regular_table, looks_binary};

/// As much of a text as decides what it is.
const HEAD_CHARS: usize = 4096;

pub(super) fn text_kind(bytes: &[u8], hint: FileHint<'_>) -> Result<FileKind, DocumentError> {
    if looks_binary(bytes) {
        return Err(DocumentError::Unsupported(unknown_name(hint)));
    }
    let text = decode_text(bytes);
    let start = after_comments(text.trim_start_matches('\u{feff}').trim_start());
    let head: String = start.chars().take(HEAD_CHARS).collect::<String>().to_ascii_lowercase();
    if let Some(kind) = markup_kind(&head) {
        return Ok(kind);
    }
    if let Some(kind) = data_kind(start, hint) {
        return Ok(kind);
    }
    // Anything may stand at the start of a page, a message of the server that put it together among it.
    if is_called_html(hint) && has_tags(&head) {
        return Ok(FileKind::Html);
    }
    if looks_like_mail(&head) {
        return Ok(FileKind::Eml);
    }
    let extension = hint.extension().unwrap_or_default();
    let media_type = hint.media_type().unwrap_or_default();
    if FileKind::Csv.extensions().contains(&extension.as_str())
        || matches!(media_type.as_str(), "text/csv" | "text/tab-separated-values" | "application/csv")
    {
        return Ok(FileKind::Csv);
    }
    if FileKind::Markdown.extensions().contains(&extension.as_str()) || media_type == "text/markdown" {
        return Ok(FileKind::Markdown);
    }
    // Its few letters are no text that anybody wrote: a picture that was cut short, or an error message in its place.
    if is_called_a_picture(&extension, &media_type) {
        return Err(DocumentError::damaged("it is called a picture, and its bytes are plain text"));
    }
    let named_text = FileKind::Text.extensions().contains(&extension.as_str());
    if !named_text && is_regular_table(start) {
        return Ok(FileKind::Csv);
    }
    Ok(FileKind::Text)
}

/// By its name or by its type.
fn is_called_html(hint: FileHint<'_>) -> bool {
    hint.extension().is_some_and(|name| FileKind::Html.extensions().contains(&name.as_str()))
        || matches!(hint.media_type().as_deref(), Some("text/html" | "application/xhtml+xml"))
}

/// Whether there is an element somewhere.
fn has_tags(head: &str) -> bool {
    let opens =
        |tag: &str| tag.strip_prefix('/').unwrap_or(tag).starts_with(|c: char| c.is_ascii_alphabetic());
    head.split('<').skip(1).any(opens)
}

/// By the type that its sender gave it, or by its name where no type says anything.
fn is_called_a_picture(extension: &str, media_type: &str) -> bool {
    match media_type {
        "" | "application/octet-stream" => {
            FileKind::ALL.iter().any(|kind| kind.is_image() && kind.extensions().contains(&extension))
        }
        _ => media_type.starts_with("image/") && media_type != "image/svg+xml",
    }
}

fn unknown_name(hint: FileHint<'_>) -> String {
    match (hint.extension(), hint.media_type()) {
        (Some(extension), _) => format!("a binary file named .{extension}"),
        (None, Some(media_type)) => format!("a binary file of the type {media_type}"),
        (None, None) => "a binary file".to_owned(),
    }
}

/// What follows comments and white space; all of it where a comment does not end.
fn after_comments(text: &str) -> &str {
    let mut rest = text;
    while let Some((_, after)) = rest.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) {
        rest = after.trim_start();
    }
    rest
}

/// What text without comments at its start is, in small letters.
fn markup_kind(head: &str) -> Option<FileKind> {
    const HTML_STARTS: [&str; 9] =
        ["<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<div", "<p>", "<table"];
    if HTML_STARTS.iter().any(|start| head.starts_with(start)) {
        return Some(FileKind::Html);
    }
    if head.starts_with("<?xml") || head.starts_with("<!doctype") {
        return Some(if head.contains("<html") { FileKind::Html } else { FileKind::Xml });
    }
    let name = head.strip_prefix('<')?;
    // An element with a prefix or a namespace is no HTML.
    let is_element = name.starts_with(|c: char| c.is_ascii_alphabetic()) && head.contains('>');
    is_element.then(|| if head.contains("</p>") { FileKind::Html } else { FileKind::Xml })
}

fn data_kind(text: &str, hint: FileHint<'_>) -> Option<FileKind> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let named = FileKind::Json.extensions().iter().any(|name| hint.extension().as_deref() == Some(*name))
        || hint.media_type().is_some_and(|kind| kind.ends_with("json"));
    let value = serde_json::from_str::<serde::de::IgnoredAny>(text);
    // Lines of JSON are JSON one by one.
    let by_lines = || {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(3);
        lines.all(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok())
    };
    if value.is_err() && !named && !by_lines() {
        return None;
    }
    let is_notebook = value.is_ok() && text.contains("\"nbformat\"") && text.contains("\"cells\"");
    Some(if is_notebook { FileKind::Notebook } else { FileKind::Json })
}

/// Two headers of a letter among the first lines, and nothing before them but headers.
fn looks_like_mail(head: &str) -> bool {
    const HEADERS: [&str; 13] = [
        "from",
        "to",
        "subject",
        "date",
        "received",
        "mime-version",
        "message-id",
        "return-path",
        "delivered-to",
        "content-type",
        "reply-to",
        "dkim-signature",
        "x-mailer",
    ];
    let mut found = 0;
    for line in head.lines().take(40) {
        if line.starts_with([' ', '\t']) {
            continue;
        }
        let Some((name, _)) = line.split_once(':') else {
            // The line that some mailboxes put in front of each letter.
            if line.starts_with("from ") && found == 0 {
                continue;
            }
            break;
        };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
            break;
        }
        found += usize::from(HEADERS.contains(&name));
    }
    found >= 2
}
