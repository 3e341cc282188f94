//! The mouse: clicking where an element really is, and scrolling.

use super::{Failed, LOOK, quoted};
use crate::error::VisitError;
use crate::tab::Tab;
use crate::visit::evaluate;
use net::Deadline;
use serde_json::json;
use tokio::time::sleep;

/// Elements that one action may click.
const MOST_CLICKS: usize = 100;

/// Clicks the first element of a selector, or all of them, with events as a mouse makes them.
pub(super) async fn click(tab: &Tab, selector: &str, all: bool, appears: Deadline) -> Result<(), Failed> {
    let count = format!("document.querySelectorAll({}).length", quoted(selector));
    let mut found: usize = evaluate(tab, &count).await?;
    while found == 0 && !appears.has_passed() {
        sleep(LOOK).await;
        found = evaluate(tab, &count).await?;
    }
    if found == 0 {
        return Err(Failed::Step("no element matches the selector".into()));
    }
    let clicks = if all { found.min(MOST_CLICKS) } else { 1 };
    let document = tab.page.book().document.clone();
    let mut clicked = 0;
    for place in 0..clicks {
        // A click may lead away; what else matched is gone then.
        if clicked > 0 && tab.page.book().document != document {
            break;
        }
        match find(tab, selector, place).await? {
            Some(point) => {
                click_at(tab, point).await?;
                clicked += 1;
            }
            // Of many, some may be hidden; the only one may not.
            None if all => {}
            None => return Err(Failed::Step("the element cannot be seen, so it cannot be clicked".into())),
        }
    }
    if clicked == 0 {
        return Err(Failed::Step("none of the elements can be seen".into()));
    }
    Ok(())
}

/// Scrolls to an element and returns its middle; `None` if it takes up no room.
async fn find(tab: &Tab, selector: &str, place: usize) -> Result<Option<(f64, f64)>, VisitError> {
    let expression = format!(
        "(() => {{ const found = document.querySelectorAll({})[{place}]; if (!found) return null; \
         found.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }}); \
         const box = [...found.getClientRects()].find(box => box.width > 0 && box.height > 0); \
         return box ? [box.x + box.width / 2, box.y + box.height / 2] : null; }})()",
        quoted(selector)
    );
    evaluate(tab, &expression).await
}

async fn click_at(tab: &Tab, (x, y): (f64, f64)) -> Result<(), VisitError> {
    let event = |kind: &str, buttons: u8| {
        let (button, count) = if kind == "mouseMoved" { ("none", 0) } else { ("left", 1) };
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count,
        });
        tab.send("Input.dispatchMouseEvent", &event)
    };
    // Sent together: a page that moves on at the first must not keep us from the others.
    for reply in [event("mouseMoved", 0), event("mousePressed", 1), event("mouseReleased", 0)] {
        tab.answer(reply).await?;
    }
    Ok(())
}

/// Scrolls the page by a window, or an element by its height.
pub(super) async fn scroll(tab: &Tab, up: bool, selector: Option<&str>) -> Result<(), Failed> {
    let sign = if up { "-" } else { "" };
    let expression = match selector {
        None => format!(
            "(() => {{ scrollBy({{ top: {sign}innerHeight, behavior: 'instant' }}); return true; }})()"
        ),
        Some(selector) => format!(
            "(() => {{ const found = document.querySelector({}); if (!found) return false; \
             found.scrollBy({{ top: {sign}found.clientHeight, behavior: 'instant' }}); return true; }})()",
            quoted(selector)
        ),
    };
    if evaluate::<bool>(tab, &expression).await? {
        Ok(())
    } else {
        Err(Failed::Step("no element matches the selector".into()))
    }
}
