//! Going to pages: `open`, `back`, `forward`, `reload`.

use super::{CommandResult, Context};
use crate::arguments::Arguments;
use crate::error::CommandError;
use crate::page::{CommandPage, dialog_error};
use crate::reply::Outcome;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

/// How long a server may take to answer.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(25);
/// How long the parts of a page may take once its text is there.
const LOAD_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn open(context: &Context, arguments: &Arguments) -> CommandResult {
    let url = parse_address(arguments.value(0)?)?;
    let page = context.page().await?;
    go_to(&page, &url, arguments.timeout()?).await?;
    describe(&page).await
}

/// Goes to an address that was checked, and waits until the page has loaded.
pub(super) async fn go_to(
    page: &CommandPage,
    url: &str,
    timeout: Option<Duration>,
) -> Result<(), CommandError> {
    let limit = page.deadline.min(Instant::now() + timeout.unwrap_or(RESPONSE_TIMEOUT));
    if let Some(tab) = page.browser.state().tab_mut(&page.target) {
        // The new page has a process of its own.
        tab.has_crashed = false;
    }
    let params = json!({ "url": url });
    let call = page.browser.cdp.call(Some(&page.session), "Page.navigate", params);
    let opened = tokio::select! {
        opened = timeout_at(limit, call) => opened,
        dialog = wait_dialog(page) => return Err(dialog),
    };
    let Ok(opened) = opened else {
        let _ = page.call("Page.stopLoading", json!({})).await;
        return Err(CommandError::failed(format!("Navigation timed out: {url} did not answer")));
    };
    let opened = opened?;
    if let Some(error) = opened["errorText"].as_str().filter(|error| !error.is_empty()) {
        return Err(CommandError::failed(format!("Navigation failed: {error}")));
    }
    // Without a loader the navigation was within the document, to a fragment.
    if let Some(loader) = opened["loaderId"].as_str() {
        // The response may be here before the events that describe the new document were handled.
        let is_there = |state: &crate::state::BrowserState| {
            state.tab(&page.target).is_none_or(|tab| tab.loader == loader).then_some(())
        };
        page.browser.wait_for(limit, is_there).await;
        wait_loaded(page, limit).await?;
    }
    Ok(())
}

async fn wait_dialog(page: &CommandPage) -> CommandError {
    let opened = page.browser.wait_for(page.deadline, |state| state.tab(&page.target)?.dialog.clone());
    match opened.await {
        Some(dialog) => dialog_error(&dialog),
        None => std::future::pending().await,
    }
}

/// Waits until the text of the page is there, and for a while for the rest of it.
async fn wait_loaded(page: &CommandPage, limit: Instant) -> Result<(), CommandError> {
    let state_of = |name: &'static str| {
        move |state: &crate::state::BrowserState| {
            let Some(tab) = state.tab(&page.target) else { return Some(()) };
            (tab.lifecycle.contains(name) || tab.dialog.is_some() || tab.has_crashed).then_some(())
        }
    };
    if page.browser.wait_for(limit, state_of("DOMContentLoaded")).await.is_none() {
        return Err(CommandError::failed(format!("Navigation timed out: {} is still loading", page.url())));
    }
    let load_limit = limit.min(Instant::now() + LOAD_TIMEOUT);
    page.browser.wait_for(load_limit, state_of("load")).await;
    page.check_alive()
}

/// The usual reply of a navigation: title and address.
pub(super) async fn describe(page: &CommandPage) -> CommandResult {
    let title = read_title(page).await;
    let url = page.url();
    let data = json!({ "title": title, "url": url, "targetId": page.target });
    Ok(Outcome::new(format!("✓ {title}\n  {url}"), data))
}

async fn read_title(page: &CommandPage) -> String {
    let Ok(world) = page.world(&page.target).await else { return String::new() };
    let title = page.evaluate(&world, "document.title").await.unwrap_or_default();
    title.as_str().unwrap_or_default().to_owned()
}

pub(super) async fn go(context: &Context, step: i64) -> CommandResult {
    let page = context.page().await?;
    let history = page.call("Page.getNavigationHistory", json!({})).await?;
    let wanted = history["currentIndex"].as_i64().unwrap_or_default() + step;
    let entry = usize::try_from(wanted).ok().and_then(|at| history["entries"].get(at));
    let Some(entry) = entry else {
        let side = if step < 0 { "back" } else { "forward" };
        return Err(CommandError::failed(format!("There is no page to go {side} to")));
    };
    parse_address(entry["url"].as_str().unwrap_or_default())?;
    let params = json!({ "entryId": entry["id"] });
    navigate_with(&page, "Page.navigateToHistoryEntry", params, entry["url"].as_str()).await
}

pub(super) async fn reload(context: &Context) -> CommandResult {
    let page = context.page().await?;
    navigate_with(&page, "Page.reload", json!({}), None).await
}

async fn navigate_with(page: &CommandPage, method: &str, params: Value, url: Option<&str>) -> CommandResult {
    let before = page.browser.state().tab(&page.target).map_or(0, |tab| tab.document);
    page.call(method, params).await?;
    let limit = page.deadline.min(Instant::now() + RESPONSE_TIMEOUT);
    let moved = page.browser.wait_for(limit, |state| {
        let Some(tab) = state.tab(&page.target) else { return Some(false) };
        // A page from the browser's own cache, or a place in the same document, does not load again.
        let is_there = url.is_some_and(|url| tab.url == url) && !tab.is_loading;
        let is_over = tab.document != before && (!tab.is_loading || tab.lifecycle.contains("load"));
        (is_there || is_over || tab.dialog.is_some()).then_some(true)
    });
    if moved.await.is_none() {
        return Err(CommandError::failed("Navigation timed out"));
    }
    let url = page.url();
    Ok(Outcome::new(url.clone(), json!({ "url": url })))
}

/// The address to open: http, https or about:blank, with the scheme filled in.
pub(super) fn parse_address(typed: &str) -> Result<String, CommandError> {
    let typed = typed.trim();
    if typed == "about:blank" {
        return Ok(typed.to_owned());
    }
    if let Ok(url) = Url::parse(typed)
        && matches!(url.scheme(), "http" | "https")
        && url.has_host()
    {
        return Ok(url.into());
    }
    let refused = || {
        CommandError::failed(format!(
            "Cannot open {typed}: only http and https addresses and about:blank can be opened"
        ))
    };
    // Without a scheme it must begin with a host, perhaps with a port; `file:` and `javascript:` do not.
    let host = typed.split(['/', '?', '#']).next().unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port);
    if host.is_empty() || typed.contains("://") || port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(refused());
    }
    let url = Url::parse(&format!("https://{typed}")).map_err(|_| refused())?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) if name == "localhost" || name.ends_with(".localhost") => true,
        Some(Host::Domain(name)) if name.contains('.') => false,
        Some(Host::Domain(_)) | None => return Err(refused()),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
    };
    let scheme = if is_local { "http" } else { "https" };
    Ok(Url::parse(&format!("{scheme}://{typed}")).map_err(|_| refused())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_opened() {
        let parse = |typed: &str| parse_address(typed).unwrap();
        assert_eq!(parse("example.com/a"), "https://example.com/a");
        assert_eq!(parse("localhost:3000"), "http://localhost:3000/");
        assert_eq!(parse("127.0.0.1:80/x"), "http://127.0.0.1/x");
        assert_eq!(parse("HTTP://Example.com"), "http://example.com/");
        assert_eq!(parse("about:blank"), "about:blank");
        for bad in [
            "file:///etc/passwd",
            "FILE:/etc/passwd",
            "chrome://version",
            "javascript:alert(1)",
            "data:text/html,x",
            "view-source:http://a.example",
            "devtools://x",
            "about:version",
            "blob:http://a.example/x",
            "ftp://a.example",
            "",
            "nonsense",
            "http://",
            "chrome-extension://x/y",
            "filesystem:http://a.example/x",
        ] {
            assert!(parse_address(bad).is_err(), "{bad}");
        }
    }
}
