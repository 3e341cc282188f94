//! Real input: mouse and keyboard events as the browser gets them from a user.

mod keys;

use crate::element::{Element, Point};
use crate::error::CommandError;
use crate::page::CommandPage;
use keys::{Combination, Key};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// The longest text that is typed key by key.
const MAX_TYPED_CHARACTERS: usize = 20_000;
const DRAG_STEPS: u32 = 8;
/// How soon after an input a navigation begins that it causes.
const NAVIGATION_STARTS_WITHIN: Duration = Duration::from_millis(40);
/// How soon a navigation that the page asked for is under way.
const REQUESTED_STARTS_WITHIN: Duration = Duration::from_millis(500);
/// How long a command waits for a page that its input has opened.
const NAVIGATION_TIMEOUT: Duration = Duration::from_secs(10);

async fn mouse(page: &CommandPage, kind: &str, point: Point, more: Value) -> Result<(), CommandError> {
    let mut params = json!({ "type": kind, "x": point.x, "y": point.y });
    if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
        params.extend(more);
    }
    page.call_input("Input.dispatchMouseEvent", params).await
}

pub(crate) async fn move_mouse(
    page: &CommandPage,
    point: Point,
    is_pressed: bool,
) -> Result<(), CommandError> {
    let buttons =
        json!({ "button": if is_pressed { "left" } else { "none" }, "buttons": i32::from(is_pressed) });
    mouse(page, "mouseMoved", point, buttons).await
}

/// Presses or releases a button. `clicks` counts the clicks in a row, so that the page sees a double click.
pub(crate) async fn press_button(
    page: &CommandPage,
    point: Point,
    button: &str,
    is_down: bool,
    clicks: u32,
) -> Result<(), CommandError> {
    let kind = if is_down { "mousePressed" } else { "mouseReleased" };
    mouse(page, kind, point, json!({ "button": button, "clickCount": clicks })).await
}

/// Clicks at a point, once or twice.
pub(crate) async fn click(
    page: &CommandPage,
    point: Point,
    clicks: u32,
    modifiers: u32,
) -> Result<(), CommandError> {
    move_mouse(page, point, false).await?;
    for count in 1..=clicks {
        for kind in ["mousePressed", "mouseReleased"] {
            if page.dialog().is_some() {
                // The first click opened it; the rest would wait for it.
                return Ok(());
            }
            let more = json!({ "button": "left", "clickCount": count, "modifiers": modifiers });
            mouse(page, kind, point, more).await?;
        }
    }
    Ok(())
}

pub(crate) async fn turn_wheel(
    page: &CommandPage,
    point: Point,
    dx: f64,
    dy: f64,
) -> Result<(), CommandError> {
    mouse(page, "mouseWheel", point, json!({ "deltaX": dx, "deltaY": dy })).await
}

/// Drags from one element to another, with the moves in between that pages look for.
pub(crate) async fn drag(page: &CommandPage, from: &Element, to: &Element) -> Result<(), CommandError> {
    let start = from.wait_clickable().await?;
    move_mouse(page, start, false).await?;
    press_button(page, start, "left", true, 1).await?;
    let end = to.wait_hoverable().await?;
    for step in 1..=DRAG_STEPS {
        let part = f64::from(step) / f64::from(DRAG_STEPS);
        let point = Point { x: start.x + (end.x - start.x) * part, y: start.y + (end.y - start.y) * part };
        move_mouse(page, point, true).await?;
    }
    press_button(page, end, "left", false, 1).await
}

/// Presses a key or a combination, such as `Enter` or `Control+a`.
pub(crate) async fn press(page: &CommandPage, typed: &str) -> Result<(), CommandError> {
    let combination = Combination::parse(typed).map_err(CommandError::Usage)?;
    let mut held = 0;
    for modifier in &combination.modifiers {
        held |= modifier.modifier_bit();
        key_event(page, "rawKeyDown", modifier, held, false).await?;
    }
    let has_text = held & !keys::SHIFT == 0;
    press_key(page, &combination.key, held, has_text).await?;
    for modifier in combination.modifiers.iter().rev() {
        held &= !modifier.modifier_bit();
        key_event(page, "keyUp", modifier, held, false).await?;
    }
    Ok(())
}

async fn press_key(
    page: &CommandPage,
    key: &Key,
    modifiers: u32,
    has_text: bool,
) -> Result<(), CommandError> {
    let kind = if has_text && key.text.is_some() { "keyDown" } else { "rawKeyDown" };
    key_event(page, kind, key, modifiers, has_text).await?;
    if page.dialog().is_some() {
        return Ok(());
    }
    key_event(page, "keyUp", key, modifiers, false).await
}

async fn key_event(
    page: &CommandPage,
    kind: &str,
    key: &Key,
    modifiers: u32,
    has_text: bool,
) -> Result<(), CommandError> {
    let mut params = json!({
        "type": kind,
        "key": key.name,
        "code": key.code,
        "windowsVirtualKeyCode": key.number,
        "nativeVirtualKeyCode": key.number,
        "modifiers": modifiers,
    });
    if let Some(text) = key.text.as_ref().filter(|_| has_text) {
        params["text"] = json!(text);
        params["unmodifiedText"] = json!(text);
    }
    page.call_input("Input.dispatchKeyEvent", params).await
}

/// Types a text key by key into what has the focus.
pub(crate) async fn type_text(page: &CommandPage, text: &str) -> Result<(), CommandError> {
    if text.chars().count() > MAX_TYPED_CHARACTERS {
        let message =
            format!("At most {MAX_TYPED_CHARACTERS} characters can be typed; `fill` takes longer texts");
        return Err(CommandError::failed(message));
    }
    for character in text.chars() {
        match Key::from_character(character) {
            Some(key) => press_key(page, &key, 0, true).await?,
            None => insert_text(page, &character.to_string()).await?,
        }
    }
    Ok(())
}

/// Puts a text into what has the focus, as pasting does.
pub(crate) async fn insert_text(page: &CommandPage, text: &str) -> Result<(), CommandError> {
    page.call_input("Input.insertText", json!({ "text": text })).await
}

/// How often the page had asked for a navigation and which document it had, before an input.
pub(crate) fn navigation_mark(page: &CommandPage) -> (u64, u64) {
    let state = page.browser.state();
    state.tab(&page.target).map_or((0, 0), |tab| (tab.requested_navigations, tab.document))
}

/// After an input: when it makes the page navigate, waits until the new page has loaded, so that the next
/// command acts on it. A page that takes too long is left loading.
pub(crate) async fn wait_after_input(page: &CommandPage, before: (u64, u64)) {
    let begins = |state: &crate::state::BrowserState| {
        let tab = state.tab(&page.target)?;
        let moved = (tab.requested_navigations, tab.document) != before || tab.is_loading;
        (moved || tab.dialog.is_some()).then_some(())
    };
    let soon = page.deadline.min(Instant::now() + NAVIGATION_STARTS_WITHIN);
    if page.browser.wait_for(soon, begins).await.is_none() {
        return;
    }
    let started = |state: &crate::state::BrowserState| {
        let tab = state.tab(&page.target)?;
        (tab.is_loading || tab.document != before.1 || tab.dialog.is_some()).then_some(())
    };
    let soon = page.deadline.min(Instant::now() + REQUESTED_STARTS_WITHIN);
    page.browser.wait_for(soon, started).await;
    let ended = |state: &crate::state::BrowserState| match state.tab(&page.target) {
        Some(tab) if tab.is_loading && tab.dialog.is_none() => None,
        _ => Some(()),
    };
    let limit = page.deadline.min(Instant::now() + NAVIGATION_TIMEOUT);
    page.browser.wait_for(limit, ended).await;
}
