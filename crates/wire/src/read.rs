//! Parses request bodies and query strings strictly: an unknown key at any level is an error that names it.
//! Only `origin` and `integration`, which every client adds, are accepted everywhere.

mod deserializer;
mod request_value;

use crate::WireError;
use crate::issue::{Issue, PathPart};
use crate::plain_words::{about_json, about_value};
use deserializer::{ReadError, UnknownKeys, ValueDeserializer};
use request_value::RequestValue;
use serde::de::DeserializeOwned;

/// Accepted in every request, without effect.
pub const ALWAYS_ACCEPTED: [&str; 2] = ["origin", "integration"];

/// Maximum number of unknown keys that are listed.
const MAX_ISSUES: usize = 20;

/// Parses a JSON object.
pub fn body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    let value = json_object(bytes)?;
    deserialize(value, WireError::unknown_keys)
}

/// Parses a query string. Repeated parameters become lists.
pub fn query<T: DeserializeOwned>(query: &str) -> Result<T, WireError> {
    deserialize(RequestValue::from_query(query), WireError::unknown_parameters)
}

/// The only function here that is compiled for each type of request.
fn deserialize<T: DeserializeOwned>(
    value: RequestValue,
    unknown_error: fn(&[Issue]) -> WireError,
) -> Result<T, WireError> {
    let unknown = UnknownKeys::default();
    let value = T::deserialize(ValueDeserializer::root(value, &unknown)).map_err(value_error)?;
    let issues = unknown.into_issues();
    if issues.is_empty() { Ok(value) } else { Err(unknown_error(&issues)) }
}

fn json_object(bytes: &[u8]) -> Result<RequestValue, WireError> {
    let text = std::str::from_utf8(bytes).map_err(|_| WireError::invalid_json("the body is not UTF-8"))?;
    let value = RequestValue::from_json(text)
        .map_err(|error| WireError::invalid_json(&about_json(&error.to_string())))?;
    let found = match value {
        RequestValue::Object(_) => return Ok(value),
        RequestValue::List(_) => "a list",
        RequestValue::Text(_) | RequestValue::Parameter(_) => "a string",
        RequestValue::Null => "null",
        RequestValue::Bool(true) => "true",
        RequestValue::Bool(false) => "false",
        RequestValue::Positive(_) | RequestValue::Negative(_) | RequestValue::Float(_) => "a number",
    };
    let message = format!("expected an object, found {found}");
    Err(WireError::invalid(&[Issue::new(Vec::new(), &message, "invalid_type")]))
}

fn value_error(error: ReadError) -> WireError {
    let (message, mut path) = error.into_parts();
    let code = if message.starts_with("invalid type") || message.starts_with("missing field") {
        "invalid_type"
    } else {
        "invalid_value"
    };
    // A missing field is reported at the object that lacks it; point at the field itself.
    let mut text = about_value(&message);
    if let Some(rest) = message.strip_prefix("missing field `") {
        path.push(PathPart::Key(rest.trim_end_matches('`').to_owned()));
        "required".clone_into(&mut text);
    }
    WireError::invalid(&[Issue::new(path, &text, code)])
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

    #[derive(Debug, PartialEq, Deserialize)]
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
        assert!(error.text().ends_with("request body changes: nope, inner.origin"), "{}", error.text());
        let error = body::<ExampleRequest>(br#"{"url":"u","maxage":1}"#).unwrap_err();
        assert!(error.text().ends_with(": maxage (did you mean maxAge?)"), "{}", error.text());
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
        let error = body::<ExampleRequest>(deep.as_bytes()).unwrap_err();
        assert_eq!(error.kind, Kind::InvalidJson);
        let message = details(&error)[0]["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("lists and objects stand in each other too deep"), "{message}");
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
        let error = query::<Query>("limit=x").unwrap_err();
        assert_eq!(error.text(), "Bad Request: limit: must be a whole number, not the string \"x\"");
        assert_eq!(query::<Query>("limit=1&limit=2").unwrap_err().kind, Kind::BadRequest);
        assert_eq!(query::<Query>("nope=1").unwrap_err().kind, Kind::UnknownParameters);
    }

    #[test]
    fn refuses_more_values_than_fit_in_memory() {
        let many = format!("{{\"url\":\"u\",\"x\":[{}0]}}", "0,".repeat(2_000_000));
        assert_eq!(body::<ExampleRequest>(many.as_bytes()).unwrap_err().kind, Kind::InvalidJson);
    }

    #[test]
    fn refuses_a_key_that_stands_twice_and_fields_by_position() {
        for (wrong, path) in [
            (&br#"{"url":"u","url":"v"}"#[..], json!([])),
            (br#"{"url":"u","inner":[[1]]}"#, json!(["inner"])),
            (br#"{"url":"u","maxAge":1.5}"#, json!(["maxAge"])),
        ] {
            let error = body::<ExampleRequest>(wrong).unwrap_err();
            assert_eq!(error.kind, Kind::BadRequest);
            assert_eq!(details(&error)[0]["path"], path);
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        Plain,
        Held(NestedExample),
        Named { list: Vec<u8> },
    }

    #[derive(Debug, Deserialize)]
    struct Choices {
        choices: Vec<Choice>,
    }

    #[test]
    fn reads_enums_by_name_and_by_object() {
        let read: Choices =
            body(br#"{"choices":["plain",{"held":{"list":[1]}},{"named":{"list":[2]}}]}"#).unwrap();
        let held = Choice::Held(NestedExample { list: vec![1] });
        assert_eq!(read.choices, [Choice::Plain, held, Choice::Named { list: vec![2] }]);
        for (wrong, path) in [
            (&br#"{"choices":["other"]}"#[..], json!(["choices", 0])),
            (br#"{"choices":[{"held":{"list":["x"]}}]}"#, json!(["choices", 0, "held", "list", 0])),
            (br#"{"choices":[{"held":{"list":[],"nope":1}}]}"#, json!(["choices", 0, "held", "nope"])),
            (br#"{"choices":[{"plain":{}}]}"#, json!(["choices", 0])),
        ] {
            assert_eq!(details(&body::<Choices>(wrong).unwrap_err())[0]["path"], path);
        }
    }
}
