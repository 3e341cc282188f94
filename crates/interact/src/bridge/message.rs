//! Messages of the protocol, taken apart and put together as text: what they carry, which may be megabytes, is copied and
//! never parsed.

use browser::RawMessage;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt::Write as _;

/// A command of a client.
#[derive(Deserialize)]
pub(super) struct ClientCommand<'a> {
    pub(super) id: i64,
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) method: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
}

/// Just the number of a command that is otherwise not valid.
#[derive(Deserialize)]
struct CommandId {
    id: i64,
}

pub(super) fn parse_command(text: &str) -> Result<ClientCommand<'_>, String> {
    let command: Result<ClientCommand<'_>, _> = serde_json::from_str(text);
    match command {
        Ok(command) if is_method(&command.method) => Ok(command),
        Ok(command) => Err(error_reply(command.id, command.session.as_deref(), NOT_FOUND, "no such method")),
        Err(error) => match serde_json::from_str::<CommandId>(text) {
            Ok(CommandId { id }) => Err(error_reply(id, None, INVALID_REQUEST, &error.to_string())),
            Err(_) => Err(format!(
                "{{\"error\":{{\"code\":{INVALID_REQUEST},\"message\":\"Message must have integer 'id' property\"}}}}"
            )),
        },
    }
}

/// Codes of JSON-RPC, as Chromium uses them.
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const NOT_FOUND: i32 = -32601;
pub(super) const SERVER_ERROR: i32 = -32000;
pub(super) const SESSION_NOT_FOUND: i32 = -32001;

/// Names of methods need no escapes.
fn is_method(text: &str) -> bool {
    text.len() <= 100 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_')
}

/// A command for the browser.
pub(super) fn command(id: u64, session: &str, method: &str, params: Option<&str>) -> Vec<u8> {
    let mut text = String::with_capacity(params.map_or(0, str::len) + method.len() + session.len() + 64);
    // Writing to a string cannot fail.
    let _ = write!(text, "{{\"id\":{id},\"method\":\"{method}\"");
    if let Some(params) = params {
        text.push_str(",\"params\":");
        text.push_str(params);
    }
    push_session(&mut text, Some(session));
    text.into_bytes()
}

/// An answer for a client. `session` is none for the client's own browser session, which it does not name.
pub(super) fn answer(id: i64, session: Option<&str>, message: &RawMessage<'_>) -> String {
    let (name, body) = match (message.error, message.result) {
        (Some(error), _) => ("error", error.get()),
        (None, Some(result)) => ("result", result.get()),
        (None, None) => ("result", "{}"),
    };
    let mut text = String::with_capacity(body.len() + 96);
    // Writing to a string cannot fail.
    let _ = write!(text, "{{\"id\":{id},\"{name}\":");
    text.push_str(body);
    push_session(&mut text, session);
    text
}

/// An event for a client.
pub(super) fn event(session: Option<&str>, method: &str, params: Option<&RawValue>) -> String {
    let params = params.map_or("{}", RawValue::get);
    let mut text = String::with_capacity(params.len() + method.len() + 96);
    text.push_str("{\"method\":");
    text.push_str(&quoted(method));
    text.push_str(",\"params\":");
    text.push_str(params);
    push_session(&mut text, session);
    text
}

/// An error of ours for a client.
pub(super) fn error_reply(id: i64, session: Option<&str>, code: i32, message: &str) -> String {
    let mut text = format!("{{\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}", quoted(message));
    push_session(&mut text, session);
    text
}

/// An empty result for a client.
pub(super) fn empty_reply(id: i64, session: Option<&str>) -> String {
    let mut text = format!("{{\"id\":{id},\"result\":{{}}");
    push_session(&mut text, session);
    text
}

fn push_session(text: &mut String, session: Option<&str>) {
    if let Some(session) = session {
        text.push_str(",\"sessionId\":");
        text.push_str(&quoted(session));
    }
    text.push('}');
}

fn quoted(text: &str) -> String {
    // A text is always valid JSON.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_answers_keep_what_they_carry_as_it_was() {
        let text = r#"{"id":7,"method":"Runtime.evaluate","params":{"expression":"\"x\"", "n": 1.50},"sessionId":"A"}"#;
        let parsed = parse_command(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((parsed.id, parsed.session.as_deref()), (7, Some("A")));
        let written = command(12, "A", &parsed.method, parsed.params.map(RawValue::get));
        assert_eq!(
            String::from_utf8(written).unwrap(),
            r#"{"id":12,"method":"Runtime.evaluate","params":{"expression":"\"x\"", "n": 1.50},"sessionId":"A"}"#
        );
        let result = RawValue::from_string(r#"{"value": 1.50}"#.to_owned()).unwrap();
        let message = RawMessage {
            id: Some(12),
            session: Some("A"),
            method: None,
            params: None,
            result: Some(&result),
            error: None,
        };
        assert_eq!(answer(7, Some("A"), &message), r#"{"id":7,"result":{"value": 1.50},"sessionId":"A"}"#);
        assert_eq!(answer(7, None, &message), r#"{"id":7,"result":{"value": 1.50}}"#);
        assert_eq!(event(None, "Page.x", None), r#"{"method":"Page.x","params":{}}"#);
    }

    #[test]
    fn what_is_no_command_is_answered_with_its_number_where_it_has_one() {
        for (text, wanted) in [
            ("", "integer 'id'"),
            ("[]", "integer 'id'"),
            (r#"{"method":"A.b"}"#, "integer 'id'"),
            (r#"{"id":"1","method":"A.b"}"#, "integer 'id'"),
            (r#"{"id":3}"#, "\"id\":3"),
            (r#"{"id":3,"method":"A\".b"}"#, "no such method"),
        ] {
            let Err(reply) = parse_command(text) else { panic!("{text}") };
            assert!(reply.contains(wanted), "{text}: {reply}");
            assert!(serde_json::from_str::<serde_json::Value>(&reply).is_ok(), "{reply}");
        }
    }
}
