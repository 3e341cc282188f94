//! `tab` and `close`.

use super::{CommandResult, Context, navigate};
use crate::arguments::Arguments;
use crate::error::CommandError;
use crate::events;
use crate::reply::Outcome;
use crate::state::{BrowserState, Tab};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn tab(context: &Context, arguments: &Arguments) -> CommandResult {
    let word = |at: usize| arguments.values.get(at).map(String::as_str);
    match word(0) {
        None | Some("list") => {
            context.page().await?;
            events::find_tabs(&context.browser).await;
            Ok(list(&context.browser.state()))
        }
        Some("new") => open(context, word(1), arguments.flag("--label")).await,
        Some("close") => close(context, word(1)).await,
        Some("switch") => switch(context, arguments.value(1)?).await,
        Some(name) => switch(context, name).await,
    }
}

fn list(state: &BrowserState) -> Outcome {
    let is_current = |tab: &Tab| state.current.as_deref() == Some(tab.target.as_str());
    let line = |tab: &Tab| {
        let mark = if is_current(tab) { "→" } else { " " };
        let label = tab.label.as_ref().map(|label| format!(" {label}")).unwrap_or_default();
        format!("{mark} [{}]{label} {} - {}", tab.id(), tab.title, tab.url)
    };
    let entry = |tab: &Tab| {
        let mut entry = to_json(tab);
        entry["active"] = json!(is_current(tab));
        entry["type"] = json!("page");
        entry
    };
    let lines: Vec<String> = state.tabs.iter().map(line).collect();
    let entries: Vec<Value> = state.tabs.iter().map(entry).collect();
    Outcome::new(lines.join("\n"), json!({ "tabs": entries }))
}

fn to_json(tab: &Tab) -> Value {
    json!({ "tabId": tab.id(), "label": tab.label, "targetId": tab.target, "title": tab.title, "url": tab.url })
}

async fn open(context: &Context, url: Option<&str>, label: Option<&str>) -> CommandResult {
    let url = url.map(navigate::parse_address).transpose()?;
    if let Some(label) = label
        && (label.is_empty() || label.starts_with('t') && label[1..].parse::<u32>().is_ok())
    {
        return Err(CommandError::invalid_value("label", label, "a name unlike the tab ids t1, t2, …"));
    }
    context.page().await?;
    let browser = &context.browser;
    let created =
        browser.call(None, "Target.createTarget", json!({ "url": "about:blank" }), context.deadline).await?;
    let target = created["targetId"].as_str().unwrap_or_default().to_owned();
    let limit = context.deadline.min(Instant::now() + CLOSE_TIMEOUT);
    let known = browser.wait_for(limit, |state| state.tab(&target).map(|_| ())).await;
    if known.is_none() {
        return Err(CommandError::failed("There are too many tabs; close some with `tab close <tab>`"));
    }
    {
        let mut state = browser.state();
        state.current = Some(target.clone());
        if let Some(tab) = state.tab_mut(&target) {
            tab.label = label.map(str::to_owned);
        }
    }
    let page = context.page().await?;
    if let Some(url) = &url {
        navigate::go_to(&page, url, None).await?;
    }
    let state = browser.state();
    let tab = state.tab(&target).ok_or_else(|| CommandError::failed("The tab was closed"))?;
    let mut data = to_json(tab);
    data["total"] = json!(state.tabs.len());
    Ok(Outcome::new(tab.url.clone(), data))
}

/// The tab of an id (`t1`), a label or a target id.
fn find<'a>(state: &'a BrowserState, name: &str) -> Result<&'a Tab, CommandError> {
    let found = state
        .tabs
        .iter()
        .find(|tab| tab.id() == name || tab.label.as_deref() == Some(name) || tab.target == name);
    found.ok_or_else(|| {
        let there: Vec<String> = state.tabs.iter().map(Tab::id).collect();
        let hint =
            if name.parse::<u32>().is_ok() { format!(" (tab ids look like t{name})") } else { String::new() };
        CommandError::failed(format!("No tab `{name}`{hint}. Open tabs: {}", there.join(", ")))
    })
}

async fn switch(context: &Context, name: &str) -> CommandResult {
    context.page().await?;
    events::find_tabs(&context.browser).await;
    let target = find(&context.browser.state(), name)?.target.clone();
    let params = json!({ "targetId": target });
    context.browser.call(None, "Target.activateTarget", params, context.deadline).await?;
    context.browser.state().current = Some(target);
    let state = context.browser.state();
    let tab = state.current_tab().ok_or_else(|| CommandError::failed("The tab was closed"))?;
    Ok(Outcome::new(format!("✓ {}\n  {}", tab.title, tab.url), to_json(tab)))
}

async fn close(context: &Context, name: Option<&str>) -> CommandResult {
    context.page().await?;
    let (id, target) = {
        let state = context.browser.state();
        let tab = match name {
            Some(name) => find(&state, name)?,
            None => state.current_tab().ok_or_else(|| CommandError::failed("There is no tab"))?,
        };
        (tab.id(), tab.target.clone())
    };
    close_target(context, &target).await?;
    Ok(Outcome::new(
        format!("✓ Tab [{id}] closed"),
        json!({ "closed": true, "tabId": id, "targetId": target }),
    ))
}

async fn close_target(context: &Context, target: &str) -> Result<(), CommandError> {
    let params = json!({ "targetId": target });
    context.browser.call(None, "Target.closeTarget", params, context.deadline).await?;
    let limit = context.deadline.min(Instant::now() + CLOSE_TIMEOUT);
    let gone = context.browser.wait_for(limit, |state| state.tab(target).is_none().then_some(())).await;
    if gone.is_none() {
        // A page that asks before it is left; it is forgotten here in any case.
        context.browser.state().remove_tab(target);
    }
    Ok(())
}

/// Closes all tabs and forgets what was known of them. The session itself goes on with a blank tab, as it ends
/// by its own rules.
pub(super) async fn close_all(context: &Context) -> CommandResult {
    let mut old: Vec<String> = context.browser.state().tabs.iter().map(|tab| tab.target.clone()).collect();
    // One stays until there is another: a browser may end with its last window. Where there are as many tabs as there may
    // be, a new one would be closed at once.
    let last = old.pop();
    join_all(old.iter().map(|target| close_target(context, target)))
        .await
        .into_iter()
        .collect::<Result<(), _>>()?;
    let params = json!({ "url": "about:blank" });
    let created = context.browser.call(None, "Target.createTarget", params, context.deadline).await?;
    let blank = created["targetId"].as_str().unwrap_or_default().to_owned();
    let limit = context.deadline.min(Instant::now() + CLOSE_TIMEOUT);
    context.browser.wait_for(limit, |state| state.tab(&blank).map(|_| ())).await;
    if let Some(last) = last {
        close_target(context, &last).await?;
    }
    let mut state = context.browser.state();
    state.current = Some(blank);
    state.console.clear();
    state.errors.clear();
    state.requests.clear();
    state.refs = crate::state::Refs::default();
    state.settings = crate::state::PageSettings::default();
    Ok(Outcome::new("✓ Browser closed", json!({ "closed": true })))
}
