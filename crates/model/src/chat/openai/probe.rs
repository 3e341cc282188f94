//! Finds out what a server supports: its list of models, the context size if it reports one, a tool call, and
//! a response with a small schema.

use super::super::{Chat, ChatError, ChatRequest, Message, Tool};
use super::dialect::SchemaMode;
use super::{AttemptError, OpenAi};
use futures_util::future::BoxFuture;
use net::{Deadline, Purpose, Request};
use serde_json::{Value, json};
use std::time::Duration;

/// Name of the tool and of the schema; scripted test servers recognise it.
const PROBE_NAME: &str = "gannet_probe";
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// Ollama silently cuts off longer input unless configured otherwise.
const OLLAMA_CONTEXT_TOKENS: u32 = 4_096;
const MAX_MODELS: usize = 1_000;

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeReport {
    pub model: String,
    /// The base URL without a password.
    pub base: String,
    /// Why the model cannot be used.
    pub error: Option<ChatError>,
    /// Whether the server lists the model; none if it has no list.
    pub listed: Option<bool>,
    pub tools: bool,
    pub json_schema: bool,
    /// None: the server does not report it, and a conservative size is used.
    pub context: Option<u32>,
    /// The size in use.
    pub context_tokens: u32,
}

impl OpenAi {
    /// Probes everything with a few small requests.
    pub fn probe(&self, deadline: Deadline) -> BoxFuture<'_, ProbeReport> {
        Box::pin(async move {
            let models = self.models(deadline).await;
            self.find_context(deadline).await;
            let error = match self.try_schema(deadline).await {
                Ok(()) => self.try_tools(deadline).await.err(),
                Err(error) => Some(error),
            };
            let abilities = self.abilities();
            ProbeReport {
                model: self.endpoint.model.clone(),
                base: self.base(),
                error,
                listed: models.ok().map(|models| find_entry(&models, &self.endpoint.model).is_some()),
                tools: abilities.tools,
                json_schema: abilities.json_schema,
                context: self.endpoint.context.or(self.context.get().copied().flatten()),
                context_tokens: abilities.context_tokens,
            }
        })
    }

    /// Whether the server enforces a schema: the prompt does not name the fields.
    async fn try_schema(&self, deadline: Deadline) -> Result<(), ChatError> {
        let schema = json!({ "title": PROBE_NAME, "type": "object", "properties": { "ok": { "type": "boolean" } },
            "required": ["ok"], "additionalProperties": false });
        let ask = ChatRequest {
            messages: vec![Message::User("Is water wet? Answer in JSON.".to_owned())],
            schema: Some(schema),
            max_tokens: Some(32),
            ..ChatRequest::default()
        };
        let response = self.ask(&ask, deadline).await?;
        let held =
            serde_json::from_str::<Value>(response.text.trim()).is_ok_and(|answer| answer["ok"].is_boolean());
        if !held && self.dialect().schema == SchemaMode::Schema {
            // It accepts the option but ignores it.
            self.update_dialect(|dialect| dialect.schema = SchemaMode::Object);
        }
        Ok(())
    }

    async fn try_tools(&self, deadline: Deadline) -> Result<(), ChatError> {
        let parameters =
            json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"] });
        let tool = Tool {
            name: PROBE_NAME.to_owned(),
            description: "Reports that tools work.".to_owned(),
            parameters,
        };
        let ask = ChatRequest {
            messages: vec![Message::User(format!("Call the tool {PROBE_NAME} with ok set to true."))],
            tools: vec![tool],
            max_tokens: Some(64),
            ..ChatRequest::default()
        };
        match self.ask(&ask, deadline).await {
            Ok(response) => {
                let called = response.calls.iter().any(|call| call.name == PROBE_NAME);
                self.update_dialect(|dialect| dialect.tools = called);
                Ok(())
            }
            // It responded to the previous request, so only tools are not supported.
            Err(ChatError::Refused(_)) => {
                self.update_dialect(|dialect| dialect.tools = false);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Asks for the context size once; after an error it is asked again next time.
    pub(super) async fn find_context(&self, deadline: Deadline) {
        if self.endpoint.context.is_none() {
            // The next chat request will report the error.
            let _ = self.context.get_or_try_init(|| self.request_context(deadline)).await;
        }
    }

    async fn request_context(&self, deadline: Deadline) -> Result<Option<u32>, ChatError> {
        let models = self.models(deadline).await;
        if let Ok(models) = &models
            && let Some(size) = find_entry(models, &self.endpoint.model).and_then(reported_context)
        {
            return Ok(Some(size));
        }
        let root = self.base.strip_suffix("/v1").unwrap_or(&self.base);
        // llama.cpp's server.
        if let Ok(props) = self.get_json(&format!("{root}/props"), None, deadline).await {
            let size = props.pointer("/default_generation_settings/n_ctx").or_else(|| props.get("n_ctx"));
            if let Some(size) = size.and_then(number) {
                return Ok(Some(size));
            }
        }
        if let Some(size) = self.ollama_context(root, deadline).await {
            return Ok(Some(size));
        }
        match models {
            Err(ChatError::Unreachable(why)) => Err(ChatError::Unreachable(why)),
            Err(ChatError::Timeout) => Err(ChatError::Timeout),
            _ => Ok(None),
        }
    }

    /// Ollama reports the context of a loaded model and the maximum of a model; its default is smaller than
    /// the maximum.
    async fn ollama_context(&self, root: &str, deadline: Deadline) -> Option<u32> {
        let model = &self.endpoint.model;
        if let Ok(loaded) = self.get_json(&format!("{root}/api/ps"), None, deadline).await {
            let named = |entry: &&Value| entry["name"] == model.as_str() || entry["model"] == model.as_str();
            let entry = loaded["models"].as_array().and_then(|models| models.iter().find(named));
            if let Some(size) = entry.and_then(|entry| number(&entry["context_length"])) {
                return Some(size);
            }
        }
        let body = json!({ "model": model });
        let shown = self.get_json(&format!("{root}/api/show"), Some(&body), deadline).await.ok()?;
        let set = shown["parameters"].as_str().and_then(|lines| {
            let line = lines.lines().find_map(|line| line.trim().strip_prefix("num_ctx"));
            line?.trim().parse().ok()
        });
        let info = shown["model_info"].as_object()?;
        let able = info
            .iter()
            .find(|(name, _)| name.ends_with(".context_length"))
            .and_then(|(_, size)| number(size));
        set.or_else(|| able.map(|size| size.min(OLLAMA_CONTEXT_TOKENS)))
    }

    async fn models(&self, deadline: Deadline) -> Result<Value, ChatError> {
        self.get_json(&format!("{}/models", self.base), None, deadline).await
    }

    /// Requests a small JSON document, without retries.
    async fn get_json(
        &self,
        url: &str,
        body: Option<&Value>,
        deadline: Deadline,
    ) -> Result<Value, ChatError> {
        let cause = |error: AttemptError| error.error;
        let request = self.credentials(url).and_then(|credentials| match body {
            None => Request::get(Purpose::Model, url, credentials),
            Some(body) => {
                let body = body.to_string().into_bytes().into();
                Request::post(Purpose::Model, url, credentials, "application/json", body)
            }
        });
        let request = self.with_limits(request.map_err(|error| cause(self.to_attempt_error(&error)))?);
        let looking = self.fetcher.fetch(request, deadline.child(PROBE_TIMEOUT));
        let fetched = looking.await.map_err(|error| cause(self.to_attempt_error(&error)))?;
        let status = fetched.meta.head.status;
        if !status.is_success() {
            return Err(ChatError::Refused(format!("status {}", status.as_u16())));
        }
        serde_json::from_slice(&fetched.body).map_err(|_| ChatError::InvalidResponse("no JSON".to_owned()))
    }
}

/// The entry of a model in a list; the tag in Ollama's names may be omitted.
fn find_entry<'a>(models: &'a Value, name: &str) -> Option<&'a Value> {
    let list = models["data"].as_array()?;
    let named = |entry: &&Value| {
        let id = entry["id"].as_str().unwrap_or_default();
        id == name || id.strip_suffix(":latest") == Some(name)
    };
    list.iter().take(MAX_MODELS).find(named)
}

/// The context size in the fields of vLLM, `OpenRouter`, Groq and llama.cpp.
fn reported_context(entry: &Value) -> Option<u32> {
    let fields = ["/max_model_len", "/context_length", "/context_window", "/meta/n_ctx"];
    fields.iter().find_map(|field| number(entry.pointer(field)?))
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
}
