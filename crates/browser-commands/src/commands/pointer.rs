//! The mouse: `click`, `dblclick`, `hover`, `drag`, `scroll`, `scrollintoview`, `mouse`.

use super::{CommandResult, Context, act};
use crate::arguments::{Arguments, parse_number};
use crate::element::Point;
use crate::error::CommandError;
use crate::input;
use crate::page::CommandPage;
use crate::reply::Outcome;
use serde_json::{Value, json};

const DEFAULT_SCROLL_PIXELS: f64 = 300.0;

pub(super) async fn click(context: &Context, arguments: &Arguments) -> CommandResult {
    let typed = arguments.value(0)?;
    let element = context.element(typed).await?;
    let known = tab_count(context);
    let modifiers = if arguments.has("--new-tab") { act::CONTROL_KEY } else { 0 };
    act::click(&element, 1, modifiers).await?;
    Ok(clicked(context, typed, known))
}

pub(super) async fn double_click(context: &Context, arguments: &Arguments) -> CommandResult {
    let typed = arguments.value(0)?;
    act::click(&context.element(typed).await?, 2, 0).await?;
    Ok(Outcome { data: json!({ "clicked": typed }), ..Outcome::done() })
}

pub(super) fn tab_count(context: &Context) -> usize {
    context.browser.state().tabs.len()
}

/// The reply to a click, which tells of windows that it has opened.
pub(super) fn clicked(context: &Context, typed: &str, known_tabs: usize) -> Outcome {
    let mut outcome = Outcome { data: json!({ "clicked": typed }), ..Outcome::done() };
    let state = context.browser.state();
    let opened: Vec<_> = state.tabs.iter().skip(known_tabs).take(5).collect();
    for tab in &opened {
        let note = format!("\n  New tab [{0}] {1} (switch with `tab {0}`)", tab.id(), tab.url);
        outcome.text.push_str(&note);
    }
    if !opened.is_empty() {
        outcome.data["newTabs"] = opened.iter().map(|tab| json!(tab.id())).collect::<Vec<Value>>().into();
    }
    outcome
}

pub(super) async fn hover(context: &Context, arguments: &Arguments) -> CommandResult {
    let typed = arguments.value(0)?;
    let element = context.element(typed).await?;
    let point = element.wait_hoverable().await?;
    input::move_mouse(&element.page, point, false).await?;
    Ok(Outcome { data: json!({ "hovered": typed }), ..Outcome::done() })
}

pub(super) async fn drag(context: &Context, arguments: &Arguments) -> CommandResult {
    let (from, to) = (arguments.value(0)?, arguments.value(1)?);
    let (source, target) = (context.element(from).await?, context.element(to).await?);
    let before = input::navigation_mark(&source.page);
    input::drag(&source.page, &source, &target).await?;
    input::wait_after_input(&source.page, before).await;
    Ok(Outcome { data: json!({ "dragged": from, "target": to }), ..Outcome::done() })
}

pub(super) async fn scroll(context: &Context, arguments: &Arguments) -> CommandResult {
    let pixels = match arguments.values.get(1) {
        Some(typed) => parse_number(typed, "number of pixels")?,
        None => DEFAULT_SCROLL_PIXELS,
    };
    let (dx, dy) = match arguments.values.first().map_or("down", String::as_str) {
        "up" => (0.0, -pixels),
        "left" => (-pixels, 0.0),
        "right" => (pixels, 0.0),
        _ => (0.0, pixels),
    };
    let script = "function(dx, dy) { const e = this.nodeType === 9 ? window : this; e.scrollBy({ left: dx, top: dy, behavior: 'instant' }); }";
    let by = [json!(dx), json!(dy)];
    if let Some(selector) = arguments.flag("--selector") {
        context.element(selector).await?.call(script, &by).await?;
    } else {
        let page = context.page().await?;
        let world = page.world(&page.frame()).await?;
        let document = page.evaluate_object(&world, "document").await?.unwrap_or_default();
        page.call_function(&world.session, &document, script, &by).await?;
    }
    Ok(Outcome { data: json!({ "scrolled": true }), ..Outcome::done() })
}

pub(super) async fn scroll_into_view(context: &Context, arguments: &Arguments) -> CommandResult {
    let typed = arguments.value(0)?;
    let element = context.element(typed).await?;
    let script = "function() { (this.nodeType === 1 ? this : this.parentElement).scrollIntoView({ block: 'center', behavior: 'instant' }); }";
    element.call(script, &[]).await?;
    Ok(Outcome { data: json!({ "scrolled": typed }), ..Outcome::done() })
}

pub(super) async fn mouse(context: &Context, arguments: &Arguments) -> CommandResult {
    let page = context.page().await?;
    let data = match arguments.value(0)? {
        "move" => {
            let point = Point { x: arguments.number(1, "x")?, y: arguments.number(2, "y")? };
            input::move_mouse(&page, point, false).await?;
            context.browser.state().mouse = (point.x, point.y);
            json!({ "moved": true, "x": point.x, "y": point.y })
        }
        "wheel" => {
            let dy = arguments.number(1, "wheel step")?;
            let dx = arguments.values.get(2).map_or(Ok(0.0), |typed| parse_number(typed, "wheel step"))?;
            input::turn_wheel(&page, mouse_place(context), dx, dy).await?;
            json!({ "scrolled": true, "deltaX": dx, "deltaY": dy })
        }
        direction => {
            let button = arguments.values.get(1).map_or("left", String::as_str);
            if !["left", "right", "middle"].contains(&button) {
                return Err(CommandError::invalid_value("button", button, "left, right or middle"));
            }
            press_mouse(context, &page, button, direction == "down").await?
        }
    };
    Ok(Outcome { data, ..Outcome::done() })
}

async fn press_mouse(
    context: &Context,
    page: &CommandPage,
    button: &str,
    is_down: bool,
) -> Result<Value, CommandError> {
    let before = input::navigation_mark(page);
    input::press_button(page, mouse_place(context), button, is_down, 1).await?;
    if !is_down {
        input::wait_after_input(page, before).await;
    }
    Ok(if is_down { json!({ "pressed": true }) } else { json!({ "released": true }) })
}

fn mouse_place(context: &Context) -> Point {
    let (x, y) = context.browser.state().mouse;
    Point { x, y }
}
