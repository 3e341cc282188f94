//! What a model responds, in the two shapes of the protocol: one JSON object, or a stream of pieces.

use super::http::head;
use super::{MODEL, ScriptedResponse};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::net::TcpStream;

/// Characters in one piece of a stream.
const PIECE: usize = 7;

#[derive(Debug, Default)]
pub struct Completion {
    text: String,
    refusal: Option<String>,
    calls: Vec<(String, String)>,
    finish: &'static str,
    input: usize,
}

impl Completion {
    pub fn of_text(text: String, input: usize) -> Self {
        Self { text, finish: "stop", input, ..Self::default() }
    }

    pub fn from_script(response: ScriptedResponse, input: usize) -> Self {
        let plain = Self { finish: "stop", input, ..Self::default() };
        match response {
            ScriptedResponse::Text(text) => Self { text, ..plain },
            ScriptedResponse::Calls(calls) => Self { calls, finish: "tool_calls", ..plain },
            ScriptedResponse::TextAndCalls(text, calls) => {
                Self { text, calls, finish: "tool_calls", ..plain }
            }
            ScriptedResponse::Cut(text) => Self { text, finish: "length", ..plain },
            ScriptedResponse::Refusal(why) => Self { refusal: Some(why), ..plain },
            ScriptedResponse::Filtered => Self { finish: "content_filter", ..plain },
            other => panic!("{other:?} is not words"),
        }
    }

    fn calls(&self) -> Vec<Value> {
        let call = |(index, (name, arguments)): (usize, &(String, String))| {
            json!({ "index": index, "id": format!("call_{index}"), "type": "function",
                "function": { "name": name, "arguments": arguments } })
        };
        self.calls.iter().enumerate().map(call).collect()
    }

    fn usage(&self) -> Value {
        let output = self.text.len() / 4 + self.calls.len() * 10 + 1;
        json!({ "prompt_tokens": self.input, "completion_tokens": output, "total_tokens": self.input + output })
    }

    pub fn json(&self) -> Vec<u8> {
        let mut message = json!({ "role": "assistant", "content": self.text });
        if let Some(why) = &self.refusal {
            message["refusal"] = why.as_str().into();
            message["content"] = Value::Null;
        }
        if !self.calls.is_empty() {
            message["tool_calls"] = self.calls().into();
        }
        let choice = json!({ "index": 0, "message": message, "finish_reason": self.finish });
        let whole = json!({ "id": "chatcmpl-1", "object": "chat.completion", "model": MODEL,
            "choices": [choice], "usage": self.usage() });
        whole.to_string().into_bytes()
    }

    /// The pieces of a stream, without its end.
    fn deltas(&self) -> Vec<Value> {
        let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
        let letters: Vec<char> = self.text.chars().collect();
        let pieces = letters.chunks(PIECE).map(|piece| piece.iter().collect::<String>());
        deltas.extend(pieces.map(|piece| json!({ "content": piece })));
        if let Some(why) = &self.refusal {
            deltas.push(json!({ "refusal": why }));
        }
        for mut call in self.calls() {
            // The name first, then the arguments piece by piece, as servers do.
            let arguments = call["function"]["arguments"].take();
            let arguments: Vec<char> = arguments.as_str().unwrap_or_default().chars().collect();
            let index = call["index"].clone();
            call["function"]["arguments"] = "".into();
            deltas.push(json!({ "tool_calls": [call] }));
            for piece in arguments.chunks(PIECE) {
                let piece: String = piece.iter().collect();
                deltas
                    .push(json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }));
            }
        }
        deltas
    }

    pub fn stream(&self, stream: &TcpStream) -> io::Result<()> {
        self.begin(stream, true)?;
        event(stream, &piece(&json!({}), Some(self.finish)))?;
        let usage = json!({ "object": "chat.completion.chunk", "choices": [], "usage": self.usage() });
        event(stream, &usage.to_string())?;
        event(stream, "[DONE]")?;
        (&*stream).write_all(b"0\r\n\r\n")
    }

    /// The response without its end.
    pub fn begin(&self, stream: &TcpStream, streamed: bool) -> io::Result<()> {
        if !streamed {
            let half = self.json();
            let head = head(200, "application/json", &[&format!("content-length: {}", half.len())]);
            (&*stream).write_all(format!("{head}\r\n").as_bytes())?;
            return (&*stream).write_all(&half[..half.len() / 2]);
        }
        start(stream)?;
        self.deltas().iter().try_for_each(|delta| event(stream, &piece(delta, None)))
    }

    /// Text of a given size, streamed.
    pub fn huge(stream: &TcpStream, streamed: bool, bytes: usize) -> io::Result<()> {
        let many = "blah ".repeat(13_107);
        let rounds = bytes / many.len() + 1;
        if streamed {
            start(stream)?;
            let delta = piece(&json!({ "content": many }), None);
            return (0..rounds).try_for_each(|_| event(stream, &delta));
        }
        let head = head(200, "application/json", &[&format!("content-length: {}", rounds * many.len() + 3)]);
        (&*stream).write_all(format!("{head}\r\n{{\"a").as_bytes())?;
        (0..rounds).try_for_each(|_| (&*stream).write_all(many.as_bytes()))
    }
}

fn piece(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": MODEL, "choices": [choice] })
        .to_string()
}

fn start(stream: &TcpStream) -> io::Result<()> {
    let head = head(200, "text/event-stream", &["transfer-encoding: chunked"]);
    (&*stream).write_all(format!("{head}\r\n").as_bytes())
}

/// One event, in a chunk of its own.
fn event(stream: &TcpStream, data: &str) -> io::Result<()> {
    let event = format!("data: {data}\n\n");
    (&*stream).write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}
