//! `frame`: commands act inside an iframe, or in the page again.

use super::{CommandResult, Context};
use crate::arguments::Arguments;
use crate::element::{Element, Locator};
use crate::error::CommandError;
use crate::page::CommandPage;
use crate::reply::Outcome;
use serde_json::json;

pub(super) async fn frame(context: &Context, arguments: &Arguments) -> CommandResult {
    let typed = arguments.value(0)?;
    let page = context.page().await?;
    let chosen = if typed == "main" { None } else { Some(find(&page, typed).await?) };
    if let Some(tab) = context.browser.state().tab_mut(&page.target) {
        tab.frame = chosen;
    }
    Ok(Outcome { data: json!({ "frame": typed }), ..Outcome::done() })
}

/// The frame of an iframe element, or of that name.
async fn find(page: &CommandPage, typed: &str) -> Result<String, CommandError> {
    let named =
        Locator::parse(&format!("iframe[name={0}], frame[name={0}], iframe[title={0}]", json!(typed)));
    let mut element = Element::find_now(page, &Locator::parse(typed)).await.ok().flatten();
    if element.is_none() {
        element = Element::find_now(page, &named).await.ok().flatten();
    }
    let Some(element) = element else {
        return Err(CommandError::failed(format!("Frame not found: {typed}")));
    };
    let described = element.call_dom("DOM.describeNode", json!({})).await?;
    let frame = described["node"]["frameId"].as_str().map(str::to_owned);
    frame.ok_or_else(|| CommandError::failed(format!("Element '{typed}' is no iframe")))
}
