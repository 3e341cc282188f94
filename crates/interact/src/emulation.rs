//! Lets all pages of a session claim another device, language or time zone than the browser's own, before their first
//! request.

use crate::client::{CdpClient, CdpError};
use crate::session::Session;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

const FIRST_PAGE_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageAttached {
    session_id: String,
}

/// Sends these commands to every page, open or opened later, until the session ends. Returns when the first page has them.
pub fn emulate<'a>(
    session: &'a Session,
    commands: Vec<(&'static str, Value)>,
) -> BoxFuture<'a, Result<(), CdpError>> {
    Box::pin(async move {
        let client = session.client().await.map_err(|_| CdpError::Over)?;
        let (ready, mut is_ready) = watch::channel(false);
        tokio::spawn(follow(client.clone(), commands, ready));
        // A page waits at its start until everybody who attached to it lets it run.
        let wanted = json!({
            "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
            "filter": [{ "type": "page" }],
        });
        client.send(None, "Target.setAutoAttach", &wanted).await?;
        let first = is_ready.wait_for(|ready| *ready);
        match tokio::time::timeout(FIRST_PAGE_TIMEOUT, first).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(CdpError::Over),
            Err(_) => Err(CdpError::Timeout),
        }
    })
}

async fn follow(client: CdpClient, commands: Vec<(&'static str, Value)>, ready: watch::Sender<bool>) {
    let mut events = client.events();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = client.until_over() => return,
        };
        let event = match event {
            Ok(event) if &*event.method == "Target.attachedToTarget" => event,
            Ok(_) | Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let Ok(PageAttached { session_id }) = serde_json::from_str(event.params.get()) else { continue };
        // Sent in this order, and carried out in it.
        let mut answers = Vec::new();
        for (method, params) in &commands {
            answers.push(client.send(Some(&session_id), method, params));
        }
        answers.push(client.send(Some(&session_id), "Runtime.runIfWaitingForDebugger", &json!({})));
        for answer in answers {
            if let Err(error) = answer.await {
                tracing::debug!(%error, "a page of a session does not claim what it should");
            }
        }
        ready.send_replace(true);
    }
}
