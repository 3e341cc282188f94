//! Follows the events of the browser: keeps the state current, attaches to new tabs, closes alerts, decides
//! about requests that a route holds. One task per session, which ends with it.

use crate::page::SessionBrowser;
use crate::state::{Reaction, apply_event};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout};

/// How long attaching to a tab may take. A page may be busy from its first moment on.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts the task.
pub(crate) fn follow(browser: &Arc<SessionBrowser>) {
    let mut receiver = browser.cdp.events();
    // A weak reference: dropping the session's commands ends the task.
    let weak = Arc::downgrade(browser);
    tokio::spawn(async move {
        loop {
            let received = receiver.recv().await;
            let Some(browser) = weak.upgrade() else { return };
            match received {
                Ok(event) => {
                    let reaction = apply_event(&mut browser.state(), &event);
                    browser.notify();
                    if let Some(reaction) = reaction {
                        tokio::spawn(async move { react(&browser, reaction).await });
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    tokio::spawn(async move { find_tabs(&browser).await });
                }
                Err(RecvError::Closed) => return,
            }
        }
    });
}

/// Compares the tabs and their titles with those that the browser has: at the start, after lost events, and for
/// lists.
pub(crate) async fn find_tabs(browser: &Arc<SessionBrowser>) {
    let deadline = Instant::now() + ATTACH_TIMEOUT;
    let Ok(found) = browser.call(None, "Target.getTargets", json!({}), deadline).await else { return };
    let infos = found["targetInfos"].as_array().cloned().unwrap_or_default();
    let exists = |target: &str| infos.iter().any(|info| info["targetId"] == target);
    let gone: Vec<String> = {
        let state = browser.state();
        state.tabs.iter().map(|tab| tab.target.clone()).filter(|target| !exists(target)).collect()
    };
    for target in gone {
        browser.state().remove_tab(&target);
    }
    for info in infos {
        for method in ["Target.targetCreated", "Target.targetInfoChanged"] {
            let params = json!({ "targetInfo": info });
            let event = crate::cdp::CdpEvent { session: None, method: method.to_owned(), params };
            let reaction = apply_event(&mut browser.state(), &event);
            if let Some(reaction) = reaction {
                let browser = Arc::clone(browser);
                tokio::spawn(async move { react(&browser, reaction).await });
            }
        }
    }
    browser.notify();
}

async fn react(browser: &Arc<SessionBrowser>, reaction: Reaction) {
    let send = |session: Option<String>, method: &'static str, params: Value| async move {
        // The page or the tab may be gone by now; then there is nothing left to do.
        let _ = timeout(ATTACH_TIMEOUT, browser.cdp.call(session.as_deref(), method, params)).await;
    };
    match reaction {
        Reaction::Attach { target } => attach(browser, &target).await,
        Reaction::CloseTarget { target } => {
            send(None, "Target.closeTarget", json!({ "targetId": target })).await;
        }
        Reaction::PrepareFrame { session } => prepare_frame(browser, &session).await,
        Reaction::CloseAlert { session } => {
            send(Some(session), "Page.handleJavaScriptDialog", json!({ "accept": true })).await;
        }
        Reaction::DecideRequest { session, params } => {
            let (method, answer) = decide_request(browser, &params);
            send(Some(session), method, answer).await;
        }
        Reaction::Login { session, request } => {
            let credentials = browser.state().settings.credentials.clone();
            let response = match credentials {
                Some((user, password)) => {
                    json!({ "response": "ProvideCredentials", "username": user, "password": password })
                }
                None => json!({ "response": "Default" }),
            };
            let params = json!({ "requestId": request, "authChallengeResponse": response });
            send(Some(session), "Fetch.continueWithAuth", params).await;
        }
    }
}

async fn attach(browser: &Arc<SessionBrowser>, target: &str) {
    let params = json!({ "targetId": target, "flatten": true });
    let attached = timeout(ATTACH_TIMEOUT, browser.cdp.call(None, "Target.attachToTarget", params)).await;
    let Ok(Ok(attached)) = attached else { return };
    let Some(session) = attached["sessionId"].as_str() else { return };
    if let Some(tab) = browser.state().tab_mut(target) {
        tab.session = Some(session.to_owned());
    }
    let mut calls = vec![
        ("Page.enable", json!({})),
        ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
        ("DOM.enable", json!({})),
        ("Runtime.enable", json!({})),
        ("Network.enable", json!({})),
        ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
        (
            "Target.setAutoAttach",
            json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true }),
        ),
        // Older browsers do not know it; then a page has no tools.
        ("WebMCP.enable", json!({})),
    ];
    calls.extend(browser.state().settings.calls());
    send_all(browser, session, calls).await;
    if let Some(tab) = browser.state().tab_mut(target) {
        tab.is_ready = true;
    }
    browser.notify();
}

async fn prepare_frame(browser: &Arc<SessionBrowser>, session: &str) {
    let mut calls = vec![
        ("Page.enable", json!({})),
        ("DOM.enable", json!({})),
        ("Runtime.enable", json!({})),
        ("Network.enable", json!({})),
        (
            "Target.setAutoAttach",
            json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true }),
        ),
    ];
    calls.extend(browser.state().settings.interception().map(|params| ("Fetch.enable", params)));
    send_all(browser, session, calls).await;
}

async fn send_all(browser: &Arc<SessionBrowser>, session: &str, calls: Vec<(&'static str, Value)>) {
    let calls = calls.into_iter().map(|(method, params)| browser.cdp.call(Some(session), method, params));
    let _ = timeout(ATTACH_TIMEOUT, join_all(calls)).await;
}

fn decide_request(browser: &Arc<SessionBrowser>, params: &Value) -> (&'static str, Value) {
    let request = &params["requestId"];
    let url = params["request"]["url"].as_str().unwrap_or_default();
    let route = browser.state().settings.route_for(url).cloned();
    match route {
        Some(route) => match route.body {
            Some(body) => {
                let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&body).is_ok();
                let kind = if is_json { "application/json" } else { "text/html; charset=utf-8" };
                let headers = json!([{ "name": "Content-Type", "value": kind }]);
                let body = BASE64.encode(body);
                let answer = json!({ "requestId": request, "responseCode": 200, "responseHeaders": headers, "body": body });
                ("Fetch.fulfillRequest", answer)
            }
            None => ("Fetch.failRequest", json!({ "requestId": request, "errorReason": "BlockedByClient" })),
        },
        None => ("Fetch.continueRequest", json!({ "requestId": request })),
    }
}
