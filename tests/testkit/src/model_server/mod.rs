//! A language model's server with a script instead of a model: OpenAI-compatible, on a free loopback port, streamed or not as it is
//! asked. What it says comes from a function; what it was asked is kept, every word of it.
//!
//! It answers the capability probe by itself, so that a script sees only what a test is about.

mod answer;
mod http;

use serde_json::Value;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The name of the tool and of the schema that the capability probe asks with.
pub const PROBE: &str = "gannet_probe";

/// What it asks in words.
const PROBE_WORDS: &str = "Is water wet? Answer in JSON.";

/// The model it says it has.
pub const MODEL: &str = "scripted-1";

/// What the server says to one request.
#[derive(Debug, Clone)]
pub enum Said {
    Text(String),
    /// Tools to call, by name, with arguments as text: perhaps not even JSON.
    Calls(Vec<(String, String)>),
    /// Text and tools together.
    TextAndCalls(String, Vec<(String, String)>),
    /// Text that was cut at the token limit.
    Cut(String),
    /// The model declines, in its own words.
    Refusal(String),
    /// The server held the answer back.
    Filtered,
    /// An error as such servers answer it.
    Status(u16, String),
    TooMany {
        retry_after: Option<u64>,
    },
    /// Not a byte, for ever.
    Stall,
    /// So much, and then nothing for ever.
    StallAfter(String),
    /// So much, and the connection ends.
    HangUpAfter(String),
    /// Bytes that are not what they are declared to be.
    Garbage(Vec<u8>),
    /// More than anybody wants: so many bytes of text.
    Huge(usize),
    /// A web page where JSON belongs.
    WrongType(String),
    /// The same after a while.
    After(Duration, Box<Said>),
}

impl Said {
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

/// What a server can do beside talking.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that servers differ in")]
#[derive(Debug, Clone)]
pub struct Talents {
    pub tools: bool,
    pub json_schema: bool,
    pub json_object: bool,
    pub streams: bool,
    /// Told in the list of models, as vLLM does.
    pub context: Option<u32>,
    /// Other addresses that it answers, with what: `/props`, `/api/ps`, `/api/show`.
    pub beside: Vec<(&'static str, Value)>,
    /// The key it asks for.
    pub key: Option<String>,
}

impl Default for Talents {
    fn default() -> Self {
        Self {
            tools: true,
            json_schema: true,
            json_object: true,
            streams: true,
            context: Some(32_768),
            beside: Vec::new(),
            key: None,
        }
    }
}

/// One request for words.
#[derive(Debug, Clone)]
pub struct Asked {
    /// How many came before it, the probe's left out.
    pub number: usize,
    pub path: String,
    pub authorization: Option<String>,
    pub body: Value,
    pub at: Instant,
}

impl Asked {
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// All texts of a role, one below the other.
    pub fn said_by(&self, role: &str) -> String {
        let texts = self.messages().iter().filter(|message| message["role"] == role);
        texts.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
    }

    pub fn system(&self) -> String {
        self.said_by("system")
    }

    pub fn user(&self) -> String {
        self.said_by("user")
    }

    /// The schema that the answer is to be of.
    pub fn schema(&self) -> Option<&Value> {
        self.body.pointer("/response_format/json_schema/schema")
    }

    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
    }

    /// Asked to find out what the server can do: by name, or in words where names were refused.
    fn is_probe(&self) -> bool {
        let named = self.body.pointer("/response_format/json_schema/name");
        self.tools() == [PROBE] || named == Some(&PROBE.into()) || self.user() == PROBE_WORDS
    }
}

type Script = dyn Fn(&Asked) -> Said + Send + Sync;

pub(crate) struct House {
    talents: Talents,
    script: Box<Script>,
    asked: Mutex<Vec<Asked>>,
    probes: Mutex<Vec<Asked>>,
    open: Mutex<usize>,
    most_open: Mutex<usize>,
    ended: AtomicBool,
}

/// Ends when dropped.
pub struct ModelServer {
    pub address: SocketAddr,
    house: Arc<House>,
}

impl std::fmt::Debug for ModelServer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ModelServer {
    /// One that can do everything.
    pub fn start(script: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> Self {
        Self::with(Talents::default(), script)
    }

    /// One that says these things, one after the other, and the last one for ever.
    pub fn saying(said: Vec<Said>) -> Self {
        Self::start(move |asked| said[asked.number.min(said.len() - 1)].clone())
    }

    pub fn with(talents: Talents, script: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let house = Arc::new(House {
            talents,
            script: Box::new(script),
            asked: Mutex::default(),
            probes: Mutex::default(),
            open: Mutex::default(),
            most_open: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let keeper = house.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if keeper.ended.load(Ordering::SeqCst) {
                    return;
                }
                let keeper = keeper.clone();
                std::thread::spawn(move || http::serve(&keeper, &stream));
            }
        });
        Self { address, house }
    }

    /// As `model_url` wants it.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request for words, oldest first, the probe's left out.
    pub fn asked(&self) -> Vec<Asked> {
        self.house.asked.lock().expect("requests").clone()
    }

    /// What the probe asked.
    pub fn probes(&self) -> Vec<Asked> {
        self.house.probes.lock().expect("requests").clone()
    }

    /// The most requests that were open at once.
    pub fn most_at_once(&self) -> usize {
        *self.house.most_open.lock().expect("a number")
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.house.ended.store(true, Ordering::SeqCst);
        // The listener waits for somebody; those who stall look at the flag.
        let _ = std::net::TcpStream::connect(self.address);
    }
}

impl House {
    /// Notes a request and says what comes back.
    fn say(&self, mut asked: Asked) -> Said {
        let schema = asked.body.pointer("/response_format/type").and_then(Value::as_str);
        let unable = match schema {
            Some("json_schema") if !self.talents.json_schema => {
                Some("response_format: json_schema is not supported")
            }
            Some("json_object") if !self.talents.json_object => {
                Some("response_format: json_object is not supported")
            }
            _ if !asked.tools().is_empty() && !self.talents.tools => {
                Some("this model does not support tools")
            }
            _ if asked.body["stream"] == true && !self.talents.streams => Some("stream is not supported"),
            _ => None,
        };
        if let Some(why) = unable {
            return Said::Status(400, why.to_owned());
        }
        if asked.is_probe() {
            let tools = !asked.tools().is_empty();
            self.probes.lock().expect("requests").push(asked);
            let yes = serde_json::json!({ "ok": true });
            return match tools {
                true => Said::call(PROBE, &yes),
                false if self.talents.json_schema => Said::json(&yes),
                false => Said::text("Water is wet."),
            };
        }
        {
            let mut known = self.asked.lock().expect("requests");
            asked.number = known.len();
            known.push(asked.clone());
        }
        (self.script)(&asked)
    }

    fn ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    fn came(&self) {
        let mut open = self.open.lock().expect("a number");
        *open += 1;
        let mut most = self.most_open.lock().expect("a number");
        *most = (*most).max(*open);
    }

    fn went(&self) {
        *self.open.lock().expect("a number") -= 1;
    }
}
