//! Rows of JSON: pages as anybody may write them, and what GitHub's REST API answers with.

use crate::github::{self, Annex};
use crate::search_page::moment;
use crate::{Body, ImportError, MAX_PIECE_BYTES, Piece, Pieces, is_web_address};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes of a file of JSON that has no lines.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// One row in a line; a line may also hold a list of rows, as a page of an API does.
pub fn of_lines(path: &Path) -> Pieces {
    let mut annex = Annex::default();
    for row in lines(path).filter_map(Result::ok).flat_map(|(_, row)| rows(row)) {
        if let Err(reason) = annex.take_in(&row) {
            return Box::new(std::iter::once(Err(ImportError::new(path.display(), reason))));
        }
    }
    Box::new(lines(path).flat_map(move |line| match line {
        Ok((place, row)) => pieces(&place, row, &annex),
        Err(import_error) => vec![Err(import_error)],
    }))
}

/// A whole file of JSON: a row, a list of rows, or several of either one after the other.
pub fn of_json(path: &Path) -> Pieces {
    match whole(path) {
        Ok(values) => {
            let place = path.display().to_string();
            let all: Vec<Value> = values.into_iter().flat_map(rows).collect();
            let mut annex = Annex::default();
            match all.iter().try_for_each(|row| annex.take_in(row)) {
                Ok(()) => Box::new(all.into_iter().enumerate().flat_map(move |(number, row)| {
                    pieces(&format!("{place}: row {}", number + 1), row, &annex)
                })),
                Err(reason) => Box::new(std::iter::once(Err(ImportError::new(place, reason)))),
            }
        }
        Err(import_error) => Box::new(std::iter::once(Err(import_error))),
    }
}

fn whole(path: &Path) -> Result<Vec<Value>, ImportError> {
    let import_error = |reason: &dyn std::fmt::Display| ImportError::new(path.display(), reason);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| import_error(&error))?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| import_error(&error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(import_error(&"larger than 64 MB; write it as lines (.jsonl)"));
    }
    let values = serde_json::Deserializer::from_slice(&bytes).into_iter().collect::<Result<_, _>>();
    values.map_err(|error| import_error(&error))
}

/// The lines of a file, with their places.
fn lines(path: &Path) -> Box<dyn Iterator<Item = Result<(String, Value), ImportError>> + Send> {
    match File::open(path) {
        Ok(file) => Box::new(Lines { path: path.to_owned(), file: BufReader::new(file), number: 0 }),
        Err(error) => Box::new(std::iter::once(Err(ImportError::new(path.display(), error)))),
    }
}

struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    number: u64,
}

impl Iterator for Lines {
    type Item = Result<(String, Value), ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.number += 1;
            let place = format!("{}:{}", self.path.display(), self.number);
            let mut line = Vec::new();
            match (&mut self.file).take(MAX_PIECE_BYTES as u64 + 1).read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) if line.len() > MAX_PIECE_BYTES => {
                    return Some(match self.file.skip_until(b'\n') {
                        Ok(_) => Err(ImportError::new(place, "longer than 16 MB")),
                        Err(error) => Err(ImportError::new(place, error)),
                    });
                }
                Ok(_) if line.trim_ascii().is_empty() => {}
                Ok(_) => {
                    let read = serde_json::from_slice(&line);
                    return Some(read.map_or_else(
                        |error| Err(ImportError::new(&place, error)),
                        |row| Ok((place.clone(), row)),
                    ));
                }
                Err(error) => {
                    // A file that cannot be read further has ended.
                    self.file = BufReader::new(File::open("/dev/null").ok()?);
                    return Some(Err(ImportError::new(place, error)));
                }
            }
        }
    }
}

/// The rows that a value holds.
fn rows(value: Value) -> Vec<Value> {
    match value {
        Value::Array(rows) => rows,
        // The search API of GitHub wraps them.
        Value::Object(mut wrapped)
            if wrapped.contains_key("total_count") && wrapped.contains_key("items") =>
        {
            match wrapped.remove("items") {
                Some(Value::Array(rows)) => rows,
                _ => Vec::new(),
            }
        }
        row => vec![row],
    }
}

fn pieces(place: &str, value: Value, annex: &Annex) -> Vec<Result<Piece, ImportError>> {
    rows(value).into_iter().filter_map(|row| piece(place, row, annex)).collect()
}

/// What a row is; none for rows that belong to others.
fn piece(place: &str, row: Value, annex: &Annex) -> Option<Result<Piece, ImportError>> {
    let Value::Object(row) = row else {
        return Some(Err(ImportError::new(place, "not an object")));
    };
    if github::belongs_to_another(&row) {
        return None;
    }
    let read = github::piece(&row, annex).map_or_else(|| of_anybody(row), Ok);
    let read = read.and_then(|piece| {
        let address = is_web_address(&piece.url).then_some(piece);
        address.ok_or("its url is not an http or https address")
    });
    Some(read.map_err(|reason| ImportError::new(place, reason)))
}

/// `{url, title, text | markdown | html, …}`; whatever else it has is something to filter by.
fn of_anybody(mut row: Map<String, Value>) -> Result<Piece, &'static str> {
    let mut text = |names: &[&str]| {
        names.iter().find_map(|name| match row.remove(*name) {
            Some(Value::String(text)) => Some(text),
            Some(Value::Null) | None => None,
            Some(other) => {
                row.insert((*name).to_owned(), other);
                None
            }
        })
    };
    let url = text(&["url", "html_url", "link"]).filter(|url| !url.trim().is_empty()).ok_or("has no url")?;
    let title = text(&["title", "name"]);
    let body = if let Some(markdown) = text(&["markdown", "content_md"]) {
        Body::Markdown(markdown)
    } else if let Some(html) = text(&["html", "raw_html", "rawHtml"]) {
        Body::Html { bytes: html.into_bytes(), content_type: Some("text/html; charset=utf-8".to_owned()) }
    } else if let Some(plain) = text(&["text", "body", "content", "plain_text"]) {
        Body::Text(plain)
    } else if title.is_some() {
        Body::default()
    } else {
        return Err("has neither title nor text, markdown or html");
    };
    let description = text(&["description", "summary", "snippet"]);
    let kind = text(&["kind", "type"]);
    // With a collection of code `language` is that of the code: both are kept.
    let lang = text(&["lang"]);
    let date = text(&["published", "date", "date_filed", "updated_at", "created_at"]);
    let spoken =
        row.get("language").and_then(Value::as_str).filter(|tag| tag.len() <= 3 || tag.contains('-'));
    Ok(Piece {
        url,
        title,
        description,
        body,
        kind,
        language: lang.or_else(|| spoken.map(str::to_owned)),
        published: date.and_then(|date| moment(&date)),
        attributes: attributes(row),
        warning: None,
    })
}

/// Plain values and lists of them.
fn attributes(row: Map<String, Value>) -> BTreeMap<String, String> {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    row.into_iter()
        .filter_map(|(name, value)| match &value {
            Value::Array(list) => {
                let list: Vec<String> = list.iter().filter_map(plain).collect();
                (!list.is_empty()).then(|| (name, list.join("\n")))
            }
            one => plain(one).map(|one| (name, one)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::TempDir;

    fn read_pieces(name: &str, text: &str) -> Vec<Result<Piece, ImportError>> {
        let folder = TempDir::new();
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        if name == "x.json" { of_json(&path).collect() } else { of_lines(&path).collect() }
    }

    #[test]
    fn rows_of_anybody_become_pieces() {
        let text = r##"{"url":"https://a.test/1","title":"One","text":"words","cites":["A","B"],"stars":7,"nested":{}}

{"url":"https://a.test/2","markdown":"# Two","language":"de","date":"1970-01-02"}
[{"url":"https://a.test/3","html":"<p>three</p>","type":"opinion"},{"title":"no address"}]
{"url": broken
"text"
{"url":"https://a.test/4"}
{"url":"javascript:alert(1)","text":"words"}
{"html_url":"javascript://x/o/n/issues/1","number":1,"title":"words"}
"##;
        let read = read_pieces("rows.jsonl", text);
        let (good, bad): (Vec<_>, Vec<_>) = read.into_iter().partition(Result::is_ok);
        let good: Vec<Piece> = good.into_iter().map(Result::unwrap).collect();
        assert_eq!(good.len(), 3);
        assert_eq!(good[0].attributes["cites"], "A\nB");
        assert_eq!((&*good[0].attributes["stars"], good[0].attributes.len()), ("7", 2));
        assert_eq!((good[1].language.as_deref(), good[1].published), (Some("de"), Some(86_400_000)));
        assert_eq!(good[2].kind.as_deref(), Some("opinion"));
        let reasons: Vec<String> =
            bad.into_iter().map(|import_error| import_error.unwrap_err().to_string()).collect();
        assert_eq!(reasons.len(), 6, "{reasons:?}");
        assert!(reasons[0].contains("rows.jsonl:4") && reasons[0].contains("no url"), "{reasons:?}");
        assert!(reasons[1].contains("rows.jsonl:5") && reasons[2].contains("not an object"), "{reasons:?}");
    }

    #[test]
    fn a_long_line_costs_itself_alone() {
        let long =
            format!("{{\"url\":\"https://a.test/\",\"text\":\"{}\"}}", "x".repeat(MAX_PIECE_BYTES + 10));
        let read =
            read_pieces("rows.jsonl", &format!("{long}\n{{\"url\":\"https://a.test/2\",\"text\":\"y\"}}\n"));
        assert!(read[0].as_ref().unwrap_err().reason.contains("16 MB"));
        assert!(read[1].is_ok() && read.len() == 2);
    }

    #[test]
    fn a_file_of_json_may_hold_lists() {
        let pages = r#"[{"url":"https://a.test/1","text":"a"}]  [{"url":"https://a.test/2","text":"b"}]"#;
        assert_eq!(read_pieces("x.json", pages).into_iter().flatten().count(), 2);
        let found = r#"{"total_count":1,"items":[{"url":"https://a.test/1","text":"a"}]}"#;
        assert_eq!(read_pieces("x.json", found).len(), 1);
        assert!(read_pieces("x.json", "[").pop().unwrap().is_err());
        let deep = "[".repeat(100_000);
        assert!(read_pieces("x.jsonl", &deep).pop().unwrap().is_err(), "nothing is read without end");
    }
}
