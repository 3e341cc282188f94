//! The browser of a session as the browser commands know one.

use browser_commands::{BoxFuture, Cdp, CdpError, CdpEvent};
use interact::CdpClient;
use serde_json::Value;
use tokio::sync::broadcast;

/// Events that a slow reader may be behind before it loses some.
const MAX_EVENTS_BEHIND: usize = 1024;

/// A client of the session's browser.
pub(super) struct SessionCdp {
    client: CdpClient,
    events: broadcast::Sender<CdpEvent>,
}

impl SessionCdp {
    pub(super) fn new(client: CdpClient) -> Self {
        let events = broadcast::channel(MAX_EVENTS_BEHIND).0;
        tokio::spawn(pass_on(client.clone(), events.clone()));
        Self { client, events }
    }
}

/// Passes events on until the client is gone or nobody can listen any more.
async fn pass_on(client: CdpClient, events: broadcast::Sender<CdpEvent>) {
    let mut received = client.events();
    loop {
        let event = tokio::select! {
            event = received.recv() => event,
            () = client.until_over() => return,
        };
        match event {
            Ok(event) => {
                let Ok(params) = serde_json::from_str(event.params.get()) else { continue };
                let session = event.session.as_deref().map(str::to_owned);
                // Without a reader it is dropped.
                let _ = events.send(CdpEvent { session, method: event.method.to_string(), params });
            }
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

impl Cdp for SessionCdp {
    fn call<'a>(
        &'a self,
        session: Option<&'a str>,
        method: &'a str,
        params: Value,
    ) -> BoxFuture<'a, Result<Value, CdpError>> {
        let answer = self.client.send(session, method, &params);
        Box::pin(async move {
            let answer = answer.await.map_err(|error| match error {
                interact::CdpError::Over => CdpError::Closed,
                other => CdpError::Rejected(other.to_string()),
            })?;
            serde_json::from_str(answer.get()).map_err(|error| CdpError::Rejected(error.to_string()))
        })
    }

    fn events(&self) -> broadcast::Receiver<CdpEvent> {
        self.events.subscribe()
    }
}
