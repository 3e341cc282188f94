//! A model server with a script instead of a model: OpenAI-compatible, on a free loopback port, streamed or
//! not as requested. A function decides what it responds; every request is recorded.
//!
//! It answers the capability probe itself, so that a script sees only the requests that a test is about.

mod completion;
mod http;

use serde_json::Value;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The name of the tool and of the schema that the capability probe uses.
pub const PROBE: &str = "gannet_probe";

/// The text of the capability probe.
const PROBE_WORDS: &str = "Is water wet? Answer in JSON.";

/// The name of its model.
pub const MODEL: &str = "scripted-1";

/// What the server responds to one request.
#[derive(Debug, Clone)]
pub enum ScriptedResponse {
    Text(String),
    /// Tools to call, by name, with arguments as text, which need not be JSON.
    Calls(Vec<(String, String)>),
    /// Text and tools together.
    TextAndCalls(String, Vec<(String, String)>),
    /// Text that was cut at the token limit.
    Cut(String),
    /// The model declines, with this text.
    Refusal(String),
    /// The server filtered the response.
    Filtered,
    /// An error as such servers send it.
    Status(u16, String),
    TooMany {
        retry_after: Option<u64>,
    },
    /// Never sends a byte.
    Stall,
    /// Sends this much, then nothing for ever.
    StallAfter(String),
    /// Sends this much, then closes the connection.
    HangUpAfter(String),
    /// Bytes that are not what the headers say.
    Garbage(Vec<u8>),
    /// This many bytes of text.
    Huge(usize),
    /// A web page instead of JSON.
    WrongType(String),
    /// The same after a delay.
    After(Duration, Box<ScriptedResponse>),
}

impl ScriptedResponse {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn json(value: &Value) -> Self {
        Self::Text(value.to_string())
    }

    pub fn call(name: &str, arguments: &Value) -> Self {
        Self::Calls(vec![(name.to_owned(), arguments.to_string())])
    }
}

/// What a server can do besides plain text.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that servers differ in")]
#[derive(Debug, Clone)]
pub struct ModelCapabilities {
    pub tools: bool,
    pub json_schema: bool,
    pub json_object: bool,
    pub streams: bool,
    /// Shown in the list of models, as vLLM does.
    pub context: Option<u32>,
    /// More paths that it serves, with their responses: `/props`, `/api/ps`, `/api/show`.
    pub extra_routes: Vec<(&'static str, Value)>,
    /// The key it requires.
    pub key: Option<String>,
}

impl Default for ModelCapabilities {
    fn default() -> Self {
        Self {
            tools: true,
            json_schema: true,
            json_object: true,
            streams: true,
            context: Some(32_768),
            extra_routes: Vec::new(),
            key: None,
        }
    }
}

/// One chat request.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// How many came before it, not counting the probe.
    pub number: usize,
    pub path: String,
    pub authorization: Option<String>,
    pub traceparent: Option<String>,
    pub body: Value,
    pub at: Instant,
}

impl ModelRequest {
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// All texts of a role, joined by newlines.
    pub fn text_by_role(&self, role: &str) -> String {
        let texts = self.messages().iter().filter(|message| message["role"] == role);
        texts.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
    }

    pub fn system(&self) -> String {
        self.text_by_role("system")
    }

    pub fn user(&self) -> String {
        self.text_by_role("user")
    }

    /// The schema that the response must conform to.
    pub fn schema(&self) -> Option<&Value> {
        self.body.pointer("/response_format/json_schema/schema")
    }

    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
    }

    /// Whether this is the capability probe: by its tool or schema, or by its text where those were refused.
    fn is_probe(&self) -> bool {
        let named = self.body.pointer("/response_format/json_schema/name");
        self.tools() == [PROBE] || named == Some(&PROBE.into()) || self.user() == PROBE_WORDS
    }
}

type Script = dyn Fn(&ModelRequest) -> ScriptedResponse + Send + Sync;

pub(crate) struct ServerState {
    capabilities: ModelCapabilities,
    script: Box<Script>,
    requests: Mutex<Vec<ModelRequest>>,
    probes: Mutex<Vec<ModelRequest>>,
    open: Mutex<usize>,
    max_open: Mutex<usize>,
    ended: AtomicBool,
}

/// Stops when dropped.
pub struct ModelServer {
    pub address: SocketAddr,
    state: Arc<ServerState>,
}

impl std::fmt::Debug for ModelServer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ModelServer {
    /// A server that can do everything.
    pub fn start(script: impl Fn(&ModelRequest) -> ScriptedResponse + Send + Sync + 'static) -> Self {
        Self::with(ModelCapabilities::default(), script)
    }

    /// A server with these responses, one after the other; the last one repeats.
    pub fn with_responses(response: Vec<ScriptedResponse>) -> Self {
        Self::start(move |request| response[request.number.min(response.len() - 1)].clone())
    }

    pub fn with(
        capabilities: ModelCapabilities,
        script: impl Fn(&ModelRequest) -> ScriptedResponse + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(ServerState {
            capabilities,
            script: Box::new(script),
            requests: Mutex::default(),
            probes: Mutex::default(),
            open: Mutex::default(),
            max_open: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let accepting = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.ended.load(Ordering::SeqCst) {
                    return;
                }
                let state = accepting.clone();
                std::thread::spawn(move || http::serve(&state, &stream));
            }
        });
        Self { address, state }
    }

    /// As `model_url` wants it.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every chat request, oldest first, without the probe.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.state.requests.lock().expect("requests").clone()
    }

    /// The requests of the capability probe.
    pub fn probes(&self) -> Vec<ModelRequest> {
        self.state.probes.lock().expect("requests").clone()
    }

    /// The highest number of concurrent requests.
    pub fn max_concurrent(&self) -> usize {
        *self.state.max_open.lock().expect("a number")
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::SeqCst);
        // Unblocks the listener; stalled responses check the flag themselves.
        let _ = std::net::TcpStream::connect(self.address);
    }
}

impl ServerState {
    /// Records a request and decides the response.
    fn respond(&self, mut request: ModelRequest) -> ScriptedResponse {
        let schema = request.body.pointer("/response_format/type").and_then(Value::as_str);
        let unable = match schema {
            Some("json_schema") if !self.capabilities.json_schema => {
                Some("response_format: json_schema is not supported")
            }
            Some("json_object") if !self.capabilities.json_object => {
                Some("response_format: json_object is not supported")
            }
            _ if !request.tools().is_empty() && !self.capabilities.tools => {
                Some("this model does not support tools")
            }
            _ if request.body["stream"] == true && !self.capabilities.streams => {
                Some("stream is not supported")
            }
            _ => None,
        };
        if let Some(why) = unable {
            return ScriptedResponse::Status(400, why.to_owned());
        }
        if request.is_probe() {
            let tools = !request.tools().is_empty();
            self.probes.lock().expect("requests").push(request);
            let yes = serde_json::json!({ "ok": true });
            return match tools {
                true => ScriptedResponse::call(PROBE, &yes),
                false if self.capabilities.json_schema => ScriptedResponse::json(&yes),
                false => ScriptedResponse::text("Water is wet."),
            };
        }
        {
            let mut known = self.requests.lock().expect("requests");
            request.number = known.len();
            known.push(request.clone());
        }
        (self.script)(&request)
    }

    fn ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    fn request_started(&self) {
        let mut open = self.open.lock().expect("a number");
        *open += 1;
        let mut most = self.max_open.lock().expect("a number");
        *most = (*most).max(*open);
    }

    fn request_ended(&self) {
        *self.open.lock().expect("a number") -= 1;
    }
}
