//! Parses request bodies and query strings strictly: an unknown key at any level is an error that names it.
//! Only `origin` and `integration`, which every client adds, are accepted everywhere.

use crate::WireError;
use crate::issue::{Issue, PathPart};
use crate::plain_words::{about_json, about_value};
use serde::de::DeserializeOwned;

/// Accepted in every request, without effect.
pub const ALWAYS_ACCEPTED: [&str; 2] = ["origin", "integration"];

/// Maximum number of unknown keys that are listed.
const MAX_ISSUES: usize = 20;

/// Parses a JSON object.
pub fn body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    let text = std::str::from_utf8(bytes).map_err(|_| WireError::invalid_json("the body is not UTF-8"))?;
    // A plain list would be read as a struct with positional fields; the contract only has objects.
    let first = text.trim_start().chars().next();
    if let Some(other) = first.filter(|char| *char != '{') {
        serde_json::from_str::<serde::de::IgnoredAny>(text)
            .map_err(|error| WireError::invalid_json(&about_json(&error.to_string())))?;
        let found = match other {
            '[' => "a list",
            '"' => "a string",
            _ => "a plain value",
        };
        let message = format!("expected an object, found {found}");
        return Err(WireError::invalid(&[Issue::new(Vec::new(), &message, "invalid_type")]));
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let mut unknown = UnknownKeys::default();
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let read = serde_ignored::deserialize(tracked, |path| unknown.record(&path));
    let value: T = read.map_err(|error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Data => value_error(path_parts(&track.path()), &error.to_string()),
        _ => WireError::invalid_json(&about_json(&error.to_string())),
    })?;
    json.end().map_err(|error| WireError::invalid_json(&about_json(&error.to_string())))?;
    unknown.into_result(WireError::unknown_keys)?;
    Ok(value)
}

/// Parses a query string. Repeated parameters become lists.
pub fn query<T: DeserializeOwned>(query: &str) -> Result<T, WireError> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    let mut unknown = UnknownKeys::default();
    let mut track = serde_path_to_error::Track::new();
    let form = serde_html_form::Deserializer::new(pairs);
    let tracked = serde_path_to_error::Deserializer::new(form, &mut track);
    let read = serde_ignored::deserialize(tracked, |path| unknown.record(&path));
    let value: T = read.map_err(|error| value_error(path_parts(&track.path()), &error.to_string()))?;
    unknown.into_result(WireError::unknown_parameters)?;
    Ok(value)
}

/// The first unknown keys. Their number is limited, so that a hostile body does not fill our memory or our
/// response.
#[derive(Default)]
struct UnknownKeys(Vec<Issue>);

impl UnknownKeys {
    fn record(&mut self, path: &serde_ignored::Path<'_>) {
        if self.0.len() >= MAX_ISSUES {
            return;
        }
        let path = key_path(path);
        let accepted = matches!(&path[..], [PathPart::Key(key)] if ALWAYS_ACCEPTED.contains(&key.as_str()));
        if !accepted {
            self.0.push(Issue::new(path, "this key is not supported here", "unrecognized_keys"));
        }
    }

    fn into_result(self, error: fn(&[Issue]) -> WireError) -> Result<(), WireError> {
        if self.0.is_empty() { Ok(()) } else { Err(error(&self.0)) }
    }
}

fn value_error(path: Vec<PathPart>, message: &str) -> WireError {
    // serde_json appends a position in the text that the caller cannot see; the path is better.
    let message = message.split(" at line ").next().unwrap_or(message);
    let code = if message.starts_with("invalid type") || message.starts_with("missing field") {
        "invalid_type"
    } else {
        "invalid_value"
    };
    // A missing field is reported at the object that lacks it; point at the field itself.
    let mut path = path;
    let mut text = about_value(message);
    if let Some(rest) = message.strip_prefix("missing field `") {
        path.push(PathPart::Key(rest.trim_end_matches('`').to_owned()));
        "required".clone_into(&mut text);
    }
    WireError::invalid(&[Issue::new(path, &text, code)])
}

fn path_parts(path: &serde_path_to_error::Path) -> Vec<PathPart> {
    use serde_path_to_error::Segment;
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(PathPart::Index(*index)),
            Segment::Map { key } => Some(PathPart::Key(key.clone())),
            Segment::Enum { variant } => Some(PathPart::Key(variant.clone())),
            Segment::Unknown => None,
        })
        .collect()
}

fn key_path(path: &serde_ignored::Path<'_>) -> Vec<PathPart> {
    use serde_ignored::Path;
    let mut parts = Vec::new();
    let mut at = Some(path);
    while let Some(step) = at {
        at = match step {
            Path::Root => None,
            Path::Seq { parent, index } => {
                parts.push(PathPart::Index(*index));
                Some(parent)
            }
            Path::Map { parent, key } => {
                parts.push(PathPart::Key(key.clone()));
                Some(parent)
            }
            Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
                Some(parent)
            }
        };
    }
    parts.reverse();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ExampleRequest {
        url: String,
        max_age: Option<u32>,
        inner: Option<NestedExample>,
    }

    #[derive(Debug, Deserialize)]
    struct NestedExample {
        list: Vec<u8>,
    }

    fn details(error: &WireError) -> serde_json::Value {
        error.details().cloned().unwrap_or_default()
    }

    #[test]
    fn reads_what_is_right_and_lets_client_marks_pass() {
        let asked: ExampleRequest =
            body(br#"{"url":"u","maxAge":3,"origin":"python-sdk@4.54.0","integration":"x"}"#).unwrap();
        assert_eq!((asked.url.as_str(), asked.max_age), ("u", Some(3)));
        assert!(asked.inner.is_none());
        let nested: ExampleRequest = body(br#"{"url":"u","inner":{"list":[1,2]}}"#).unwrap();
        assert_eq!(nested.inner.unwrap().list, [1, 2]);
    }

    #[test]
    fn names_every_unknown_key_where_it_stands() {
        let error =
            body::<ExampleRequest>(br#"{"url":"u","nope":1,"inner":{"list":[],"origin":2}}"#).unwrap_err();
        assert_eq!(error.kind, Kind::UnknownKeys);
        assert_eq!(details(&error)[0]["path"], json!(["nope"]));
        assert_eq!(details(&error)[1]["path"], json!(["inner", "origin"]));
    }

    #[test]
    fn points_at_the_wrong_value() {
        let error = body::<ExampleRequest>(br#"{"url":"u","inner":{"list":[1,"x"]}}"#).unwrap_err();
        assert_eq!(error.kind, Kind::BadRequest);
        assert_eq!(details(&error)[0]["path"], json!(["inner", "list", 1]));
        assert_eq!(details(&error)[0]["code"], "invalid_type");
        let missing = body::<ExampleRequest>(b"{}").unwrap_err();
        assert_eq!(details(&missing)[0]["path"], json!(["url"]));
        assert_eq!(missing.text(), "Bad Request: url: required");
    }

    #[test]
    fn tells_broken_json_from_wrong_json() {
        for broken in [&b"{"[..], b"", b"{\"url\":\"u\"} x", b"\xff", b"nope", b"[1,"] {
            let error = body::<ExampleRequest>(broken).unwrap_err();
            assert_eq!(error.kind, Kind::InvalidJson, "{broken:?}");
        }
        for wrong in [&b"[]"[..], b"3", b"\"x\"", b"null"] {
            assert_eq!(body::<ExampleRequest>(wrong).unwrap_err().kind, Kind::BadRequest, "{wrong:?}");
        }
    }

    #[test]
    fn survives_deep_nesting() {
        let deep = format!("{{\"url\":\"u\",\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(body::<ExampleRequest>(deep.as_bytes()).unwrap_err().kind, Kind::UnknownKeys);
        let list = "[".repeat(1_000_000);
        assert_eq!(body::<ExampleRequest>(list.as_bytes()).unwrap_err().kind, Kind::InvalidJson);
    }

    #[derive(Debug, Deserialize)]
    struct Query {
        limit: Option<u32>,
        #[serde(default)]
        anchor: Vec<String>,
    }

    #[test]
    fn reads_queries() {
        let read: Query = query("limit=3&anchor=a&anchor=b%2Fc&origin=x").unwrap();
        assert_eq!((read.limit, read.anchor), (Some(3), vec!["a".to_owned(), "b/c".to_owned()]));
        assert_eq!(query::<Query>("limit=x").unwrap_err().kind, Kind::BadRequest);
        assert_eq!(query::<Query>("nope=1").unwrap_err().kind, Kind::UnknownParameters);
    }
}
