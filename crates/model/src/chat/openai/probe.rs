//! What a server can do, found out by asking: its list of models, the size of the context where it tells, one tool call, and one
//! answer of a tiny schema.

use super::super::{Ask, Chat, ChatError, Message, Tool};
use super::dialect::SchemaWay;
use super::{OpenAi, Trouble};
use net::{Deadline, Purpose, Request};
use serde_json::{Value, json};
use std::time::Duration;

/// The name of the tool and of the schema; servers that play a part in tests know it.
const NAME: &str = "gannet_probe";
const LONGEST_LOOK: Duration = Duration::from_secs(5);
/// Ollama cuts what is longer than this without a word, unless it is told otherwise.
const OLLAMA_CONTEXT: u32 = 4_096;
const MOST_MODELS: usize = 1_000;

/// What the probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub model: String,
    /// Where, without a password.
    pub base: String,
    /// Why it cannot be used, when it cannot.
    pub trouble: Option<ChatError>,
    /// Whether the server lists the model; none when it has no list.
    pub listed: Option<bool>,
    pub tools: bool,
    pub json_schema: bool,
    /// None: the server does not tell, and a careful size is used.
    pub context: Option<u32>,
    /// What is used.
    pub context_tokens: u32,
}

impl OpenAi {
    /// Finds out everything, by a few small requests.
    pub async fn probe(&self, deadline: Deadline) -> Report {
        let models = self.models(deadline).await;
        self.find_context(deadline).await;
        let trouble = match self.try_schema(deadline).await {
            Ok(()) => self.try_tools(deadline).await.err(),
            Err(error) => Some(error),
        };
        let abilities = self.abilities();
        Report {
            model: self.endpoint.model.clone(),
            base: self.base(),
            trouble,
            listed: models.ok().map(|models| entry(&models, &self.endpoint.model).is_some()),
            tools: abilities.tools,
            json_schema: abilities.json_schema,
            context: self.endpoint.context.or(self.context.get().copied().flatten()),
            context_tokens: abilities.context_tokens,
        }
    }

    /// Whether answers are held to a schema: the question does not tell the names of the fields.
    async fn try_schema(&self, deadline: Deadline) -> Result<(), ChatError> {
        let schema = json!({ "title": NAME, "type": "object", "properties": { "ok": { "type": "boolean" } },
            "required": ["ok"], "additionalProperties": false });
        let ask = Ask {
            messages: vec![Message::User("Is water wet? Answer in JSON.".to_owned())],
            schema: Some(schema),
            max_tokens: Some(32),
            ..Ask::default()
        };
        let reply = self.ask(&ask, deadline).await?;
        let held =
            serde_json::from_str::<Value>(reply.text.trim()).is_ok_and(|answer| answer["ok"].is_boolean());
        if !held && self.dialect().schema == SchemaWay::Schema {
            // It takes the field and does nothing with it.
            self.learn(|dialect| dialect.schema = SchemaWay::Object);
        }
        Ok(())
    }

    async fn try_tools(&self, deadline: Deadline) -> Result<(), ChatError> {
        let parameters =
            json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"] });
        let tool =
            Tool { name: NAME.to_owned(), description: "Reports that tools work.".to_owned(), parameters };
        let ask = Ask {
            messages: vec![Message::User(format!("Call the tool {NAME} with ok set to true."))],
            tools: vec![tool],
            max_tokens: Some(64),
            ..Ask::default()
        };
        match self.ask(&ask, deadline).await {
            Ok(reply) => {
                let called = reply.calls.iter().any(|call| call.name == NAME);
                self.learn(|dialect| dialect.tools = called);
                Ok(())
            }
            // It talks, for it did a moment ago; tools are what it does not know.
            Err(ChatError::Refused(_)) => {
                self.learn(|dialect| dialect.tools = false);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Asks for the size of the context, once; a server that cannot be reached is asked again next time.
    pub(super) async fn find_context(&self, deadline: Deadline) {
        if self.endpoint.context.is_none() {
            // What went wrong is told by whoever asks for words next.
            let _ = self.context.get_or_try_init(|| self.look_for_context(deadline)).await;
        }
    }

    async fn look_for_context(&self, deadline: Deadline) -> Result<Option<u32>, ChatError> {
        let models = self.models(deadline).await;
        if let Ok(models) = &models
            && let Some(size) = entry(models, &self.endpoint.model).and_then(told)
        {
            return Ok(Some(size));
        }
        let root = self.base.strip_suffix("/v1").unwrap_or(&self.base);
        // llama.cpp's server.
        if let Ok(props) = self.look(&format!("{root}/props"), None, deadline).await {
            let size = props.pointer("/default_generation_settings/n_ctx").or_else(|| props.get("n_ctx"));
            if let Some(size) = size.and_then(number) {
                return Ok(Some(size));
            }
        }
        if let Some(size) = self.look_at_ollama(root, deadline).await {
            return Ok(Some(size));
        }
        match models {
            Err(ChatError::Unreachable(why)) => Err(ChatError::Unreachable(why)),
            Err(ChatError::Timeout) => Err(ChatError::Timeout),
            _ => Ok(None),
        }
    }

    /// Ollama tells what a loaded model has, and what a model could have; it gives a model less than that unless it is told to.
    async fn look_at_ollama(&self, root: &str, deadline: Deadline) -> Option<u32> {
        let model = &self.endpoint.model;
        if let Ok(loaded) = self.look(&format!("{root}/api/ps"), None, deadline).await {
            let named = |entry: &&Value| entry["name"] == model.as_str() || entry["model"] == model.as_str();
            let entry = loaded["models"].as_array().and_then(|models| models.iter().find(named));
            if let Some(size) = entry.and_then(|entry| number(&entry["context_length"])) {
                return Some(size);
            }
        }
        let body = json!({ "model": model });
        let shown = self.look(&format!("{root}/api/show"), Some(&body), deadline).await.ok()?;
        let set = shown["parameters"].as_str().and_then(|lines| {
            let line = lines.lines().find_map(|line| line.trim().strip_prefix("num_ctx"));
            line?.trim().parse().ok()
        });
        let info = shown["model_info"].as_object()?;
        let able = info
            .iter()
            .find(|(name, _)| name.ends_with(".context_length"))
            .and_then(|(_, size)| number(size));
        set.or_else(|| able.map(|size| size.min(OLLAMA_CONTEXT)))
    }

    async fn models(&self, deadline: Deadline) -> Result<Value, ChatError> {
        self.look(&format!("{}/models", self.base), None, deadline).await
    }

    /// A small JSON answer, asked for once.
    async fn look(&self, url: &str, body: Option<&Value>, deadline: Deadline) -> Result<Value, ChatError> {
        let told = |trouble: Trouble| trouble.error;
        let request = self.credentials(url).and_then(|credentials| match body {
            None => Request::get(Purpose::Model, url, credentials),
            Some(body) => {
                let body = body.to_string().into_bytes().into();
                Request::post(Purpose::Model, url, credentials, "application/json", body)
            }
        });
        let request = self.prepared(request.map_err(|error| told(self.trouble(&error)))?);
        let looking = self.fetcher.fetch(request, deadline.child(LONGEST_LOOK));
        let fetched = looking.await.map_err(|error| told(self.trouble(&error)))?;
        let status = fetched.outcome.head.status;
        if !status.is_success() {
            return Err(ChatError::Refused(format!("status {}", status.as_u16())));
        }
        serde_json::from_slice(&fetched.body).map_err(|_| ChatError::Nonsense("no JSON".to_owned()))
    }
}

/// The line of a model in a list; Ollama's names have a tag that may be left out.
fn entry<'a>(models: &'a Value, name: &str) -> Option<&'a Value> {
    let list = models["data"].as_array()?;
    let named = |entry: &&Value| {
        let id = entry["id"].as_str().unwrap_or_default();
        id == name || id.strip_suffix(":latest") == Some(name)
    };
    list.iter().take(MOST_MODELS).find(named)
}

/// The size of the context as vLLM, `OpenRouter`, Groq and llama.cpp write it.
fn told(entry: &Value) -> Option<u32> {
    let places = ["/max_model_len", "/context_length", "/context_window", "/meta/n_ctx"];
    places.iter().find_map(|place| number(entry.pointer(place)?))
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
}
