//! A client of the protocol for our own code.

use crate::bridge::{CdpPort, PortSender};
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::{broadcast, oneshot};
use tokio_util::sync::CancellationToken;

/// Events that a slow reader may be behind before it loses some.
const MAX_EVENTS_BEHIND: usize = 1024;
/// A browser that takes longer for a command does not answer it at all.
const CALL_TIMEOUT: Duration = Duration::from_mins(1);

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CdpError {
    #[error("the browser session has ended")]
    Over,
    #[error("the browser did not answer in time")]
    Timeout,
    #[error("{0}")]
    Rejected(String),
    #[error("the browser sent an invalid answer: {0}")]
    Invalid(String),
}

/// An event of a page or of the browser.
#[derive(Debug, Clone)]
pub struct CdpEvent {
    /// The protocol session it belongs to; none for the browser itself.
    pub session: Option<Arc<str>>,
    pub method: Arc<str>,
    pub params: Arc<RawValue>,
}

/// Sends commands and awaits their answers. Cheap to clone; disconnected with its last clone.
#[derive(Clone)]
pub struct CdpClient(Arc<ClientParts>);

struct ClientParts {
    sender: PortSender,
    next: AtomicI64,
    waiting: Arc<Mutex<Waiting>>,
    events: broadcast::Sender<CdpEvent>,
    over: CancellationToken,
}

#[derive(Default)]
struct Waiting {
    over: bool,
    answers: HashMap<i64, oneshot::Sender<Result<Box<RawValue>, CdpError>>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<i64>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Rejection>,
}

#[derive(Deserialize)]
struct Rejection {
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
}

impl CdpClient {
    pub fn new(port: CdpPort) -> Self {
        let (sender, mut receiver) = port.split();
        let events = broadcast::channel(MAX_EVENTS_BEHIND).0;
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let over = CancellationToken::new();
        let parts = ClientParts {
            sender,
            next: AtomicI64::new(1),
            waiting: Arc::clone(&waiting),
            events: events.clone(),
            over: over.clone(),
        };
        tokio::spawn(async move {
            while let Some(text) = receiver.recv().await {
                dispatch(&text, &waiting, &events);
            }
            let answers = {
                let mut waiting = waiting.lock();
                waiting.over = true;
                std::mem::take(&mut waiting.answers)
            };
            for answer in answers.into_values() {
                let _ = answer.send(Err(CdpError::Over));
            }
            over.cancel();
        });
        Self(Arc::new(parts))
    }

    /// Sends a command to a protocol session, or to the browser: at once, also when nobody waits for the answer.
    pub fn send(
        &self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> impl Future<Output = Result<Box<RawValue>, CdpError>> + Send + use<> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let mut text = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            text["sessionId"] = session.into();
        }
        let (answer, answered) = oneshot::channel();
        let waiting = Arc::clone(&self.0.waiting);
        let is_over = {
            let mut waiting = waiting.lock();
            if !waiting.over {
                waiting.answers.insert(id, answer);
            }
            waiting.over
        };
        let forget = Forget { waiting, id };
        if !is_over {
            self.0.sender.send(&text.to_string());
        }
        async move {
            let _forget = forget;
            let answered = tokio::time::timeout(CALL_TIMEOUT, answered).await;
            answered.map_err(|_| CdpError::Timeout)?.unwrap_or(Err(CdpError::Over))
        }
    }

    /// The same with the answer parsed.
    pub async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<T, CdpError> {
        let answer = self.send(session, method, params).await?;
        serde_json::from_str(answer.get()).map_err(|error| CdpError::Invalid(error.to_string()))
    }

    /// Attaches to a target; the protocol session of it.
    pub async fn attach(&self, target: &str) -> Result<String, CdpError> {
        let wanted = json!({ "targetId": target, "flatten": true });
        let attached: Attached = self.call(None, "Target.attachToTarget", &wanted).await?;
        Ok(attached.session_id)
    }

    /// Returns when the session has ended or this client was disconnected. [`CdpClient::events`] does not tell: it stays
    /// open while there is a client.
    pub async fn until_over(&self) {
        self.0.over.cancelled().await;
    }

    pub(crate) fn sender(&self) -> &PortSender {
        &self.0.sender
    }

    /// Events from now on, of all protocol sessions of this client.
    pub fn events(&self) -> broadcast::Receiver<CdpEvent> {
        self.0.events.subscribe()
    }
}

/// A caller who stops waiting leaves nothing behind.
struct Forget {
    waiting: Arc<Mutex<Waiting>>,
    id: i64,
}

impl Drop for Forget {
    fn drop(&mut self) {
        self.waiting.lock().answers.remove(&self.id);
    }
}

fn dispatch(text: &str, waiting: &Mutex<Waiting>, events: &broadcast::Sender<CdpEvent>) {
    let Ok(message) = serde_json::from_str::<Message<'_>>(text) else { return };
    if let Some(id) = message.id {
        let result = match (message.error, message.result) {
            (Some(error), _) => Err(CdpError::Rejected(error.message)),
            (None, Some(result)) => Ok(result.to_owned()),
            (None, None) => Err(CdpError::Invalid("neither a result nor an error".to_owned())),
        };
        let answer = waiting.lock().answers.remove(&id);
        if let Some(answer) = answer {
            let _ = answer.send(result);
        }
    } else if let (Some(method), Some(params)) = (message.method, message.params) {
        let event = CdpEvent {
            session: message.session.map(Into::into),
            method: method.into(),
            params: params.to_owned().into(),
        };
        // Without a reader it is dropped.
        let _ = events.send(event);
    }
}

impl std::fmt::Debug for CdpClient {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CdpClient").finish_non_exhaustive()
    }
}
