//! Actions on one element, used by the commands and by `find … <action>`.

use crate::element::Element;
use crate::error::CommandError;
use crate::input;
use serde_json::{Value, json};

pub(super) const CONTROL_KEY: u32 = 2;
/// Clicks that may miss an element which moves.
const MAX_MISSED_CLICKS: u32 = 10;

/// Clicks an element as a user does. Options of a list are chosen instead: the list draws them outside of the page.
pub(super) async fn click(element: &Element, clicks: u32, modifiers: u32) -> Result<(), CommandError> {
    let is_option = element.call("function() { return this.tagName === 'OPTION'; }", &[]).await?;
    if is_option == true {
        element.call(CHOOSE_OPTION, &[]).await?;
        return Ok(());
    }
    for _ in 0..MAX_MISSED_CLICKS {
        let point = element.wait_clickable().await?;
        let before = input::navigation_mark(&element.page);
        element.watch_press().await?;
        input::click(&element.page, point, clicks, modifiers).await?;
        if !element.has_press_missed().await {
            input::wait_after_input(&element.page, before).await;
            return Ok(());
        }
    }
    Err(CommandError::failed(format!("Element '{}' moves away before it can be clicked", element.name)))
}

const CHOOSE_OPTION: &str = "function() { const list = this.closest('select'); if (!list || this.disabled) return; \
    if (!list.multiple) list.value = this.value; this.selected = true; \
    list.dispatchEvent(new Event('input', { bubbles: true })); list.dispatchEvent(new Event('change', { bubbles: true })); }";

/// Selects what is in a text field, or tells what else the element is.
const PREPARE_FILL: &str = "function(text) { \
    const set = (value) => { const proto = Object.getPrototypeOf(this); \
      Object.getOwnPropertyDescriptor(proto, 'value').set.call(this, value); \
      this.dispatchEvent(new Event('input', { bubbles: true })); this.dispatchEvent(new Event('change', { bubbles: true })); }; \
    if (this.readOnly) return 'readonly'; \
    if (this.tagName === 'INPUT') { \
      if (/^(checkbox|radio|file|submit|button|reset|image|hidden)$/.test(this.type)) return 'wrong:' + this.type; \
      if (/^(color|date|datetime-local|month|range|time|week)$/.test(this.type)) { \
        set(text); return this.value === text || this.type === 'range' || this.type === 'color' ? 'done' : 'malformed'; } \
      if (this.type === 'number' && text !== '' && Number.isNaN(Number(text))) return 'malformed'; \
      this.focus(); this.select(); return 'selected'; } \
    if (this.tagName === 'TEXTAREA') { this.focus(); this.select(); return 'selected'; } \
    if (this.isContentEditable) { this.focus(); const range = document.createRange(); range.selectNodeContents(this); \
      const selection = getSelection(); selection.removeAllRanges(); selection.addRange(range); return 'selected'; } \
    return 'wrong:' + this.tagName.toLowerCase(); }";

/// Replaces what is in a field.
pub(super) async fn fill(element: &Element, text: &str) -> Result<(), CommandError> {
    element.wait_editable().await?;
    let name = &element.name;
    let prepared = element.call(PREPARE_FILL, &[json!(text)]).await?;
    match prepared.as_str().unwrap_or_default() {
        "done" => Ok(()),
        "selected" if text.is_empty() => input::press(&element.page, "Delete").await,
        "selected" => input::insert_text(&element.page, text).await,
        "malformed" => Err(CommandError::failed(format!("'{text}' is not a valid value for {name}"))),
        "readonly" => Err(CommandError::failed(format!("Element '{name}' is read-only"))),
        other => {
            let kind = other.strip_prefix("wrong:").unwrap_or(other);
            Err(CommandError::failed(format!("Element '{name}' is no text field but a {kind}")))
        }
    }
}

/// Types into an element, after what is there.
pub(super) async fn type_into(element: &Element, text: &str) -> Result<(), CommandError> {
    element.wait_editable().await?;
    element.focus().await?;
    let to_end = "function() { if (this.setSelectionRange && this.value) { try { const end = this.value.length; \
        this.setSelectionRange(end, end); } catch {} } }";
    element.call(to_end, &[]).await?;
    let before = input::navigation_mark(&element.page);
    input::type_text(&element.page, text).await?;
    if text.contains('\n') {
        input::wait_after_input(&element.page, before).await;
    }
    Ok(())
}

const IS_CHECKED: &str = "function() { let e = this; if (e.tagName === 'LABEL' && e.control) e = e.control; \
    if (e.type === 'checkbox' || e.type === 'radio') return e.checked; \
    const state = e.getAttribute('aria-checked') ?? e.getAttribute('aria-pressed'); \
    return state === null ? null : state === 'true'; }";

/// Whether a checkbox is checked; `None` for an element that cannot be.
pub(super) async fn is_checked(element: &Element) -> Result<Option<bool>, CommandError> {
    Ok(element.call(IS_CHECKED, &[]).await?.as_bool())
}

/// Brings a checkbox into a state.
pub(super) async fn set_checked(element: &Element, wanted: bool) -> Result<(), CommandError> {
    let name = &element.name;
    match is_checked(element).await? {
        None => {
            return Err(CommandError::failed(format!(
                "Element '{name}' is no checkbox, radio button or switch"
            )));
        }
        Some(state) if state == wanted => return Ok(()),
        Some(_) => {}
    }
    // Many pages hide the box itself and draw its label.
    let label = "function() { const box = this.getBoundingClientRect(); const shown = box.width > 0 && box.height > 0 && \
        this.checkVisibility({ visibilityProperty: true, opacityProperty: true }); \
        return shown || !this.labels ? null : this.labels[0] ?? null; }";
    let params = json!({ "objectId": element.object, "functionDeclaration": label });
    let found = element.page.call_in(&element.session, "Runtime.callFunctionOn", params).await?;
    let clicked = match found["result"]["objectId"].as_str() {
        Some(object) => Element { object: object.to_owned(), ..element.clone() },
        None => element.clone(),
    };
    click(&clicked, 1, 0).await?;
    if element.page.dialog().is_some() {
        return Ok(());
    }
    match is_checked(element).await {
        Ok(Some(state)) if state != wanted => {
            let word = if wanted { "checked" } else { "unchecked" };
            Err(CommandError::failed(format!("Element '{name}' was clicked but is not {word}")))
        }
        // The page may have gone on to another one.
        _ => Ok(()),
    }
}

const SELECT: &str = "function(wanted) { \
    if (this.tagName !== 'SELECT') return { problem: 'is no select list' }; \
    const clean = (text) => text.replace(/\\s+/g, ' ').trim(); const options = [...this.options]; \
    const chosen = wanted.map((value) => options.find((o) => o.value === value) ?? options.find((o) => clean(o.label) === clean(value)) \
      ?? options.find((o) => clean(o.label).toLowerCase() === clean(value).toLowerCase())); \
    const missing = wanted.filter((_, at) => !chosen[at]); \
    if (missing.length) return { problem: 'has no option ' + missing.join(', ') + '. Options: ' + options.slice(0, 50).map((o) => clean(o.label)).join(', ') }; \
    if (chosen.some((o) => o.disabled)) return { problem: 'has that option disabled' }; \
    if (chosen.length > 1 && !this.multiple) return { problem: 'takes only one option' }; \
    for (const option of options) option.selected = chosen.includes(option); \
    this.dispatchEvent(new Event('input', { bubbles: true })); this.dispatchEvent(new Event('change', { bubbles: true })); \
    return { values: chosen.map((o) => o.value) }; }";

/// Chooses options by value or label; returns the values.
pub(super) async fn select(element: &Element, wanted: &[String]) -> Result<Value, CommandError> {
    element.wait_editable().await?;
    let before = input::navigation_mark(&element.page);
    let mut chosen = element.call(SELECT, &[json!(wanted)]).await?;
    if let Some(problem) = chosen["problem"].as_str() {
        return Err(CommandError::failed(format!("Element '{}' {problem}", element.name)));
    }
    input::wait_after_input(&element.page, before).await;
    Ok(chosen["values"].take())
}

/// The text that a user sees in an element.
pub(super) async fn text(element: &Element) -> Result<String, CommandError> {
    let script = "function() { const e = this.nodeType === 1 ? this : this.parentElement; \
        const text = e.innerText ?? e.textContent ?? ''; return text.slice(0, 2000000).trim(); }";
    Ok(element.call(script, &[]).await?.as_str().unwrap_or_default().to_owned())
}
