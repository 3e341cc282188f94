//! Forms and keys: `fill`, `type`, `press`, `keyboard`, `focus`, `check`, `uncheck`, `select`, `upload`.

use super::{CommandResult, Context, act};
use crate::arguments::Arguments;
use crate::error::CommandError;
use crate::input;
use crate::reply::Outcome;
use serde_json::json;

pub(super) async fn fill(context: &Context, arguments: &Arguments) -> CommandResult {
    let typed = arguments.value(0)?;
    let text = arguments.text_from(1)?;
    act::fill(&context.element(typed).await?, &text).await?;
    Ok(Outcome { data: json!({ "filled": typed }), ..Outcome::done() })
}

pub(super) async fn type_into(context: &Context, arguments: &Arguments) -> CommandResult {
    let text = arguments.text_from(1)?;
    act::type_into(&context.element(arguments.value(0)?).await?, &text).await?;
    Ok(Outcome { data: json!({ "typed": text }), ..Outcome::done() })
}

pub(super) async fn press(context: &Context, arguments: &Arguments) -> CommandResult {
    let key = arguments.value(0)?;
    let page = context.page().await?;
    let before = input::navigation_mark(&page);
    input::press(&page, key).await?;
    input::wait_after_input(&page, before).await;
    Ok(Outcome { data: json!({ "pressed": key }), ..Outcome::done() })
}

pub(super) async fn keyboard(context: &Context, arguments: &Arguments) -> CommandResult {
    let text = arguments.text_from(1)?;
    let page = context.page().await?;
    let before = input::navigation_mark(&page);
    if arguments.value(0)? == "type" {
        input::type_text(&page, &text).await?;
    } else {
        input::insert_text(&page, &text).await?;
    }
    if text.contains('\n') {
        input::wait_after_input(&page, before).await;
    }
    Ok(Outcome { data: json!({ "typed": text }), ..Outcome::done() })
}

pub(super) async fn focus(context: &Context, arguments: &Arguments) -> CommandResult {
    let typed = arguments.value(0)?;
    context.element(typed).await?.focus().await?;
    Ok(Outcome { data: json!({ "focused": typed }), ..Outcome::done() })
}

pub(super) async fn check(context: &Context, arguments: &Arguments, wanted: bool) -> CommandResult {
    let typed = arguments.value(0)?;
    act::set_checked(&context.element(typed).await?, wanted).await?;
    let word = if wanted { "checked" } else { "unchecked" };
    Ok(Outcome { data: json!({ word: typed }), ..Outcome::done() })
}

pub(super) async fn select(context: &Context, arguments: &Arguments) -> CommandResult {
    let element = context.element(arguments.value(0)?).await?;
    let selected = act::select(&element, &arguments.values[1..]).await?;
    Ok(Outcome { data: json!({ "selected": selected }), ..Outcome::done() })
}

pub(super) async fn upload(context: &Context, arguments: &Arguments) -> CommandResult {
    let typed = arguments.value(0)?;
    let files = context.files()?;
    let paths =
        arguments.values[1..].iter().map(|path| files.existing(path)).collect::<Result<Vec<_>, _>>()?;
    let element = context.element(typed).await?;
    let kind = "function() { return this.tagName === 'INPUT' && this.type === 'file' ? (this.multiple ? 2 : 1) : 0; }";
    match element.call(kind, &[]).await?.as_i64() {
        Some(2) => {}
        Some(1) if paths.len() == 1 => {}
        Some(1) => return Err(CommandError::failed(format!("Element '{typed}' takes only one file"))),
        _ => return Err(CommandError::failed(format!("Element '{typed}' is no file input"))),
    }
    element.call_dom("DOM.setFileInputFiles", json!({ "files": paths })).await?;
    Ok(Outcome { data: json!({ "uploaded": paths, "selector": typed }), ..Outcome::done() })
}
