//! Just enough HTTP for a model server: one request for each connection.

use super::completion::Completion;
use super::{MODEL, ModelRequest, ScriptedResponse, ServerState};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How often a stalled response checks whether the server has stopped.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(20);

struct Request {
    method: String,
    path: String,
    authorization: Option<String>,
    traceparent: Option<String>,
    body: Vec<u8>,
}

/// Reads one request and responds to it. The client may disconnect at any moment.
pub fn serve(state: &ServerState, stream: &TcpStream) {
    let Ok(Some(request)) = read_request(stream) else { return };
    let _ = answer(state, stream, request);
}

fn read_request(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        authorization: None,
        traceparent: None,
        body: Vec::new(),
    };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => request.authorization = Some(value.trim().to_owned()),
            "traceparent" => request.traceparent = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

fn answer(state: &ServerState, stream: &TcpStream, request: Request) -> io::Result<()> {
    let key = state.capabilities.key.as_ref().map(|key| format!("Bearer {key}"));
    if key.is_some() && key != request.authorization {
        let given = request.authorization.unwrap_or_default();
        return refuse(stream, 401, &format!("Incorrect API key provided: {given}"), &[]);
    }
    let path = request.path.split('?').next().unwrap_or_default();
    if let Some((_, body)) = state.capabilities.extra_routes.iter().find(|(known, _)| *known == path) {
        return send_response(stream, 200, "application/json", &[], body.to_string().as_bytes());
    }
    match (request.method.as_str(), path) {
        ("GET", "/v1/models") => {
            let mut model = json!({ "id": MODEL, "object": "model", "owned_by": "tests" });
            if let Some(context) = state.capabilities.context {
                model["max_model_len"] = context.into();
            }
            let list = json!({ "object": "list", "data": [model] });
            send_response(stream, 200, "application/json", &[], list.to_string().as_bytes())
        }
        ("POST", "/v1/chat/completions") => {
            let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
                return refuse(stream, 400, "the body is not JSON", &[]);
            };
            let streamed = body["stream"] == true;
            let request = ModelRequest {
                number: 0,
                path: request.path.clone(),
                authorization: request.authorization,
                traceparent: request.traceparent,
                body,
                at: Instant::now(),
            };
            let input: usize = request.messages().iter().map(|message| message.to_string().len() / 4).sum();
            state.request_started();
            let response = state.respond(request);
            let told = send_scripted(state, stream, response, streamed, input);
            state.request_ended();
            told
        }
        _ => refuse(stream, 404, "there is nothing here", &[]),
    }
}

fn send_scripted(
    state: &ServerState,
    stream: &TcpStream,
    response: ScriptedResponse,
    streamed: bool,
    input: usize,
) -> io::Result<()> {
    match response {
        ScriptedResponse::After(length, response) => {
            let end = Instant::now() + length;
            while Instant::now() < end && !state.ended() {
                std::thread::sleep(STOP_CHECK_INTERVAL);
            }
            send_scripted(state, stream, *response, streamed, input)
        }
        ScriptedResponse::Status(status, why) => refuse(stream, status, &why, &[]),
        ScriptedResponse::TooMany { retry_after } => {
            let header = retry_after.map(|seconds| format!("retry-after: {seconds}"));
            refuse(stream, 429, "Rate limit reached", &header.iter().map(String::as_str).collect::<Vec<_>>())
        }
        ScriptedResponse::Stall => stall(state, stream),
        ScriptedResponse::Garbage(bytes) => send_response(stream, 200, "application/json", &[], &bytes),
        ScriptedResponse::WrongType(text) => send_response(stream, 200, "text/html", &[], text.as_bytes()),
        ScriptedResponse::StallAfter(text) => {
            Completion::of_text(text, input).begin(stream, streamed)?;
            stall(state, stream)
        }
        ScriptedResponse::HangUpAfter(text) => Completion::of_text(text, input).begin(stream, streamed),
        ScriptedResponse::Huge(bytes) => Completion::huge(stream, streamed, bytes),
        response => {
            let answer = Completion::from_script(response, input);
            if streamed {
                answer.stream(stream)
            } else {
                send_response(stream, 200, "application/json", &[], &answer.json())
            }
        }
    }
}

/// Holds the connection until the client disconnects or the server stops.
fn stall(state: &ServerState, stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(STOP_CHECK_INTERVAL))?;
    let mut one = [0];
    while !state.ended() {
        match (&*stream).read(&mut one) {
            Ok(0) => return Ok(()),
            Err(error) if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Ok(());
            }
            _ => {}
        }
    }
    Ok(())
}

fn refuse(stream: &TcpStream, status: u16, why: &str, headers: &[&str]) -> io::Result<()> {
    let body = json!({ "error": { "message": why, "type": "invalid_request_error", "code": status } });
    send_response(stream, status, "application/json", headers, body.to_string().as_bytes())
}

pub fn send_response(
    stream: &TcpStream,
    status: u16,
    kind: &str,
    headers: &[&str],
    body: &[u8],
) -> io::Result<()> {
    let head = format!("{}content-length: {}\r\n\r\n", head(status, kind, headers), body.len());
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

pub fn head(status: u16, kind: &str, headers: &[&str]) -> String {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\nconnection: close\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head
}
