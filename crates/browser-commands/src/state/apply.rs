//! How an event of the browser changes the state, and what has to be done about it. Decides only; the effects
//! are in `events`.

use super::log::shorten;
use super::{BrowserState, ConsoleEntry, OpenDialog, PageError, RequestEntry};
use crate::cdp::CdpEvent;
use serde_json::Value;

/// Alerts of one document that are closed for the page. Later ones stay open, because it may never end.
const MAX_ALERTS: u32 = 20;

/// What an event asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reaction {
    /// A new tab has to be attached.
    Attach { target: String },
    /// There are too many windows.
    CloseTarget { target: String },
    /// A frame with a process of its own has a session now.
    PrepareFrame { session: String },
    /// An alert is closed for the page.
    CloseAlert { session: String },
    /// A request waits for the decision of a route.
    DecideRequest { session: String, params: Value },
    /// A server asks for a login.
    Login { session: String, request: String },
}

pub(crate) fn apply_event(state: &mut BrowserState, event: &CdpEvent) -> Option<Reaction> {
    let params = &event.params;
    match event.method.split_once('.')?.0 {
        "Target" => apply_target(state, event),
        "Browser" => {
            apply_download(state, &event.method, params);
            None
        }
        _ => apply_page(state, event.session.as_deref()?, &event.method, params),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn apply_target(state: &mut BrowserState, event: &CdpEvent) -> Option<Reaction> {
    let params = &event.params;
    let info = &params["targetInfo"];
    let target = text(info, "targetId");
    match event.method.as_str() {
        "Target.targetCreated" => {
            let url = text(info, "url");
            if text(info, "type") != "page" || url.starts_with("devtools:") || state.tab(target).is_some() {
                return None;
            }
            let target = target.to_owned();
            if state.add_tab(&target, url, text(info, "title")) {
                return Some(Reaction::Attach { target });
            }
            return Some(Reaction::CloseTarget { target });
        }
        "Target.targetInfoChanged" => {
            if let Some(tab) = state.tab_mut(target) {
                tab.url = shorten(text(info, "url"));
                tab.title = shorten(text(info, "title"));
            }
        }
        "Target.targetDestroyed" => state.remove_tab(text(params, "targetId")),
        "Target.targetCrashed" => {
            if let Some(tab) = state.tab_mut(text(params, "targetId")) {
                tab.has_crashed = true;
                tab.is_loading = false;
            }
        }
        "Target.attachedToTarget" => {
            let session = text(params, "sessionId").to_owned();
            if let Some(parent) = &event.session {
                let tab = state.tab_of_session(parent).filter(|_| text(info, "type") == "iframe")?;
                tab.add_frame_session(target, &session);
                return Some(Reaction::PrepareFrame { session });
            }
            if let Some(tab) = state.tab_mut(target) {
                tab.session = Some(session);
            }
        }
        "Target.detachedFromTarget" => {
            let session = text(params, "sessionId");
            let tab = state.tab_of_session(session)?;
            tab.frame_sessions.retain(|_, own| own != session);
            tab.contexts.retain(|(own, _), _| own != session);
            if tab.session.as_deref() == Some(session) {
                (tab.session, tab.is_ready) = (None, false);
            }
        }
        _ => {}
    }
    None
}

fn apply_download(state: &mut BrowserState, method: &str, params: &Value) {
    let id = text(params, "guid");
    if method == "Browser.downloadWillBegin" {
        state.add_download(id, text(params, "suggestedFilename"));
    } else if method == "Browser.downloadProgress"
        && let Some(download) = state.downloads.get_mut(id)
    {
        download.is_finished = params["state"] == "completed";
        download.is_canceled = params["state"] == "canceled";
    }
}

fn apply_page(state: &mut BrowserState, session: &str, method: &str, params: &Value) -> Option<Reaction> {
    match method {
        "Page.windowOpen" => state.opened_windows += 1,
        "Runtime.consoleAPICalled" => state.console.push(ConsoleEntry::from_event(params)),
        "Runtime.exceptionThrown" => state.errors.push(PageError::from_event(params)),
        "Fetch.requestPaused" => {
            return Some(Reaction::DecideRequest { session: session.to_owned(), params: params.clone() });
        }
        "Fetch.authRequired" => {
            let request = text(params, "requestId").to_owned();
            return Some(Reaction::Login { session: session.to_owned(), request });
        }
        _ if method.starts_with("Network.") => apply_request(state, method, params),
        _ => return apply_tab(state, session, method, params),
    }
    None
}

fn apply_request(state: &mut BrowserState, method: &str, params: &Value) {
    let id = text(params, "requestId");
    let response = match method {
        "Network.requestWillBeSent" => &params["redirectResponse"],
        "Network.responseReceived" => &params["response"],
        _ => &Value::Null,
    };
    // The newest of this id: after a redirect there are several.
    if let Some(entry) = state.requests.iter_mut().rev().find(|entry| entry.id == id) {
        if let Some(status) = response["status"].as_i64() {
            entry.status = Some(status);
            entry.mime_type = response["mimeType"].as_str().map(shorten);
        }
        if method == "Network.loadingFailed" {
            let reason = params["blockedReason"].as_str().or(params["errorText"].as_str());
            entry.error = Some(shorten(reason.unwrap_or("failed")));
        }
    }
    if method == "Network.requestWillBeSent" && !text(&params["request"], "url").starts_with("data:") {
        state.requests.push(RequestEntry::from_event(params));
    }
}

fn apply_tab(state: &mut BrowserState, session: &str, method: &str, params: &Value) -> Option<Reaction> {
    let tab = state.tab_of_session(session)?;
    let is_main_frame = text(params, "frameId") == tab.target;
    match method {
        "Page.frameStartedLoading" if is_main_frame => {
            tab.is_loading = true;
            tab.lifecycle.clear();
        }
        "Page.frameStoppedLoading" if is_main_frame => tab.is_loading = false,
        "Page.frameRequestedNavigation" if is_main_frame => tab.requested_navigations += 1,
        "Page.lifecycleEvent" if is_main_frame => {
            if params["name"] == "init" {
                tab.lifecycle.clear();
            }
            // The names are a fixed set of the browser's.
            tab.lifecycle.insert(text(params, "name").to_owned());
        }
        "Page.frameNavigated" if text(&params["frame"], "id") == tab.target => {
            tab.start_document(text(&params["frame"], "url"));
            text(&params["frame"], "loaderId").clone_into(&mut tab.loader);
            if params["type"] == "BackForwardCacheRestore" {
                // It was loaded before; its events do not come again.
                tab.lifecycle = ["DOMContentLoaded", "load", "networkIdle"].map(str::to_owned).into();
            }
        }
        "Page.frameDetached" if tab.frame.as_deref() == params["frameId"].as_str() => tab.frame = None,
        "Page.navigatedWithinDocument" if is_main_frame => tab.url = shorten(text(params, "url")),
        "Page.javascriptDialogOpening" => {
            let (kind, message) = (text(params, "type").to_owned(), shorten(text(params, "message")));
            let is_question = kind == "confirm" || kind == "prompt";
            if is_question || tab.closed_alerts >= MAX_ALERTS {
                let default_text = shorten(text(params, "defaultPrompt"));
                tab.dialog = Some(OpenDialog { session: session.to_owned(), kind, message, default_text });
                return None;
            }
            tab.closed_alerts += 1;
            tab.last_alert = Some(message);
            return Some(Reaction::CloseAlert { session: session.to_owned() });
        }
        "Page.javascriptDialogClosed" => tab.dialog = None,
        "Runtime.executionContextCreated" => {
            let context = &params["context"];
            if context["auxData"]["isDefault"] == true {
                let frame = text(&context["auxData"], "frameId");
                tab.add_context(session, frame, context["id"].as_i64().unwrap_or_default());
            }
        }
        "Runtime.executionContextDestroyed" => {
            let id = params["executionContextId"].as_i64();
            tab.contexts.retain(|(own, _), context| own != session || Some(*context) != id);
        }
        "Runtime.executionContextsCleared" => tab.contexts.retain(|(own, _), _| own != session),
        "WebMCP.toolsAdded" => tab.add_tools(&params["tools"]),
        "WebMCP.toolsRemoved" => tab.remove_tools(&params["tools"]),
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::MAX_TABS;
    use super::*;
    use serde_json::json;

    fn event(session: Option<&str>, method: &str, params: Value) -> CdpEvent {
        CdpEvent { session: session.map(str::to_owned), method: method.to_owned(), params }
    }

    fn created(target: &str) -> CdpEvent {
        let info = json!({ "targetId": target, "type": "page", "url": "about:blank", "title": "" });
        event(None, "Target.targetCreated", json!({ "targetInfo": info }))
    }

    #[test]
    fn too_many_windows_are_closed() {
        let mut state = BrowserState::default();
        for number in 0..500 {
            let target = format!("T{number}");
            let reaction = apply_event(&mut state, &created(&target));
            let expected = if number < MAX_TABS {
                Reaction::Attach { target }
            } else {
                Reaction::CloseTarget { target }
            };
            assert_eq!(reaction, Some(expected));
        }
        assert_eq!(state.tabs.len(), MAX_TABS);
        assert_eq!(state.excess_windows, 468);
        apply_event(&mut state, &event(None, "Target.targetDestroyed", json!({ "targetId": "T0" })));
        assert_ne!(state.current.as_deref(), Some("T0"), "another tab is current");
    }

    #[test]
    fn alerts_are_closed_until_there_are_too_many_and_questions_wait() {
        let mut state = BrowserState::default();
        apply_event(&mut state, &created("T"));
        state.tabs[0].session = Some("S".to_owned());
        let open = |kind: &str| {
            event(Some("S"), "Page.javascriptDialogOpening", json!({ "type": kind, "message": "hi" }))
        };
        for _ in 0..MAX_ALERTS {
            let expected = Reaction::CloseAlert { session: "S".to_owned() };
            assert_eq!(apply_event(&mut state, &open("alert")), Some(expected));
        }
        assert_eq!(apply_event(&mut state, &open("alert")), None, "this one stays open");
        assert_eq!(state.tabs[0].dialog.as_ref().unwrap().kind, "alert");
        assert_eq!(apply_event(&mut state, &open("confirm")), None);
        assert_eq!(state.tabs[0].dialog.as_ref().unwrap().message, "hi");
        apply_event(&mut state, &event(Some("S"), "Page.javascriptDialogClosed", json!({})));
        assert!(state.tabs[0].dialog.is_none());
    }

    #[test]
    fn logs_keep_the_newest_entries() {
        let mut state = BrowserState::default();
        for number in 0..2_000 {
            let args = json!([{ "type": "number", "value": number }, { "value": "x".repeat(10_000) }]);
            apply_event(
                &mut state,
                &event(Some("S"), "Runtime.consoleAPICalled", json!({ "type": "log", "args": args })),
            );
        }
        assert_eq!(state.console.iter().count(), 500);
        assert!(state.console.iter().all(|entry| entry.text.len() < 5_000));
        assert!(state.console.iter().last().unwrap().text.starts_with("1999 "));
    }
}
