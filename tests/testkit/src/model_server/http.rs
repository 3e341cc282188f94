//! Just enough HTTP for a model's server: one request for each connection.

use super::answer::Answer;
use super::{Asked, House, MODEL, Said};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How often somebody who stalls looks whether the server has ended.
const LOOK: Duration = Duration::from_millis(20);

struct Request {
    method: String,
    path: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

/// Reads one request and answers it. Whoever asked may be gone at any moment.
pub fn serve(house: &House, stream: &TcpStream) {
    let Ok(Some(request)) = read(stream) else { return };
    let _ = answer(house, stream, request);
}

fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut request =
        Request { method: method.to_owned(), path: path.to_owned(), authorization: None, body: Vec::new() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => request.authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

fn answer(house: &House, stream: &TcpStream, request: Request) -> io::Result<()> {
    let key = house.talents.key.as_ref().map(|key| format!("Bearer {key}"));
    if key.is_some() && key != request.authorization {
        let given = request.authorization.unwrap_or_default();
        return refuse(stream, 401, &format!("Incorrect API key provided: {given}"), &[]);
    }
    let path = request.path.split('?').next().unwrap_or_default();
    if let Some((_, body)) = house.talents.beside.iter().find(|(known, _)| *known == path) {
        return whole(stream, 200, "application/json", &[], body.to_string().as_bytes());
    }
    match (request.method.as_str(), path) {
        ("GET", "/v1/models") => {
            let mut model = json!({ "id": MODEL, "object": "model", "owned_by": "tests" });
            if let Some(context) = house.talents.context {
                model["max_model_len"] = context.into();
            }
            let list = json!({ "object": "list", "data": [model] });
            whole(stream, 200, "application/json", &[], list.to_string().as_bytes())
        }
        ("POST", "/v1/chat/completions") => {
            let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
                return refuse(stream, 400, "the body is not JSON", &[]);
            };
            let streamed = body["stream"] == true;
            let asked = Asked {
                number: 0,
                path: request.path.clone(),
                authorization: request.authorization,
                body,
                at: Instant::now(),
            };
            let input: usize = asked.messages().iter().map(|message| message.to_string().len() / 4).sum();
            house.came();
            let said = house.say(asked);
            let told = tell(house, stream, said, streamed, input);
            house.went();
            told
        }
        _ => refuse(stream, 404, "there is nothing here", &[]),
    }
}

fn tell(house: &House, stream: &TcpStream, said: Said, streamed: bool, input: usize) -> io::Result<()> {
    match said {
        Said::After(length, said) => {
            let end = Instant::now() + length;
            while Instant::now() < end && !house.ended() {
                std::thread::sleep(LOOK);
            }
            tell(house, stream, *said, streamed, input)
        }
        Said::Status(status, why) => refuse(stream, status, &why, &[]),
        Said::TooMany { retry_after } => {
            let header = retry_after.map(|seconds| format!("retry-after: {seconds}"));
            refuse(stream, 429, "Rate limit reached", &header.iter().map(String::as_str).collect::<Vec<_>>())
        }
        Said::Stall => stall(house, stream),
        Said::Garbage(bytes) => whole(stream, 200, "application/json", &[], &bytes),
        Said::WrongType(text) => whole(stream, 200, "text/html", &[], text.as_bytes()),
        Said::StallAfter(text) => {
            Answer::of_text(text, input).begin(stream, streamed)?;
            stall(house, stream)
        }
        Said::HangUpAfter(text) => Answer::of_text(text, input).begin(stream, streamed),
        Said::Huge(bytes) => Answer::huge(stream, streamed, bytes),
        said => {
            let answer = Answer::of(said, input);
            if streamed {
                answer.stream(stream)
            } else {
                whole(stream, 200, "application/json", &[], &answer.json())
            }
        }
    }
}

/// Holds the connection until the other side goes or the server ends.
fn stall(house: &House, stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(LOOK))?;
    let mut one = [0];
    while !house.ended() {
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
    whole(stream, status, "application/json", headers, body.to_string().as_bytes())
}

pub fn whole(stream: &TcpStream, status: u16, kind: &str, headers: &[&str], body: &[u8]) -> io::Result<()> {
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
