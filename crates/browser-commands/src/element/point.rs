//! Waiting until a user could act on an element, and where on the screen that is.

use super::Element;
use crate::error::CommandError;
use crate::page::is_context_gone;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const ACTIONABLE_SCRIPT: &str = include_str!("actionable.js");
const WATCH_PRESS_SCRIPT: &str = include_str!("watch_press.js");
const END_WATCH_SCRIPT: &str =
    "function() { const press = globalThis.watched_press; press?.end(); return press?.hit ?? null; }";
/// How long a command waits until an element is visible, at rest, enabled and not covered.
const ACTIONABLE_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_PAUSE: Duration = Duration::from_millis(80);
/// Frames within frames that are followed.
const MAX_FRAME_DEPTH: usize = 20;

/// A point in the viewport of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Element {
    /// Waits until the element can be clicked; returns where.
    pub(crate) async fn wait_clickable(&self) -> Result<Point, CommandError> {
        self.wait_actionable(true, true).await
    }

    /// Waits until the mouse can be moved over the element.
    pub(crate) async fn wait_hoverable(&self) -> Result<Point, CommandError> {
        self.wait_actionable(false, true).await
    }

    /// Waits until text can be put into the element.
    pub(crate) async fn wait_editable(&self) -> Result<Point, CommandError> {
        self.wait_actionable(true, false).await
    }

    /// From now on a click that does not hit this element is kept from the page.
    pub(crate) async fn watch_press(&self) -> Result<(), CommandError> {
        self.call(WATCH_PRESS_SCRIPT, &[]).await.map(|_| ())
    }

    /// Ends that; whether a click has missed the element. A page that is gone or shows a dialog was hit.
    pub(crate) async fn has_press_missed(&self) -> bool {
        self.page.dialog().is_none()
            && matches!(self.call(END_WATCH_SCRIPT, &[]).await, Ok(Value::Bool(false)))
    }

    async fn wait_actionable(&self, needs_enabled: bool, needs_hit: bool) -> Result<Point, CommandError> {
        let limit = self.page.deadline.min(Instant::now() + ACTIONABLE_TIMEOUT);
        loop {
            let state = self.call(ACTIONABLE_SCRIPT, &[json!(needs_enabled), json!(needs_hit)]).await;
            let state = state.map_err(|error| {
                if is_context_gone(&error) {
                    CommandError::failed(format!("Element '{}' is no longer in the page", self.name))
                } else {
                    error
                }
            })?;
            let Some(problem) = state["problem"].as_str() else { return self.to_page(&state).await };
            if Instant::now() >= limit || problem.contains("no longer") {
                let waited = if problem.contains("no longer") {
                    String::new()
                } else {
                    format!(" (waited {} s)", ACTIONABLE_TIMEOUT.as_secs())
                };
                return Err(CommandError::failed(format!("Element '{}' {problem}{waited}", self.name)));
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
    }

    /// From the coordinates of the element's frame to those of the page.
    async fn to_page(&self, found: &Value) -> Result<Point, CommandError> {
        let number = |name: &str| found[name].as_f64().unwrap_or_default();
        let mut point = Point { x: number("x"), y: number("y") };
        if self.frame == self.page.target {
            return Ok(point);
        }
        let quads = self.call_dom("DOM.getContentQuads", json!({})).await?;
        if let Some((left, top)) = corner(&quads["quads"]) {
            point.x += left - number("left");
            point.y += top - number("top");
        }
        let offset = self.frame_offset().await?;
        Ok(Point { x: point.x + offset.x, y: point.y + offset.y })
    }

    /// Where the element's process draws its frame in the page: frames of other sites have coordinates of
    /// their own.
    async fn frame_offset(&self) -> Result<Point, CommandError> {
        let page = &self.page;
        let mut offset = Point { x: 0.0, y: 0.0 };
        let mut session = self.session.clone();
        for _ in 0..MAX_FRAME_DEPTH {
            if session == page.session {
                break;
            }
            let sessions = {
                let state = page.browser.state();
                state.tab(&page.target).map(|tab| tab.frame_sessions.clone()).unwrap_or_default()
            };
            let Some(frame) =
                sessions.iter().find(|(_, own)| **own == session).map(|(frame, _)| frame.clone())
            else {
                break;
            };
            let mut parent = page.session.clone();
            let mut owner = page.call_in(&parent, "DOM.getFrameOwner", json!({ "frameId": frame })).await;
            for other in sessions.values().filter(|other| **other != session) {
                if owner.is_ok() {
                    break;
                }
                parent.clone_from(other);
                owner = page.call_in(&parent, "DOM.getFrameOwner", json!({ "frameId": frame })).await;
            }
            let node = owner?["backendNodeId"].take();
            let boxes = page.call_in(&parent, "DOM.getBoxModel", json!({ "backendNodeId": node })).await?;
            if let Some((left, top)) = corner(&json!([boxes["model"]["content"]])) {
                offset.x += left;
                offset.y += top;
            }
            session = parent;
        }
        Ok(offset)
    }
}

/// The upper left corner of quads.
fn corner(quads: &Value) -> Option<(f64, f64)> {
    let points: Vec<f64> = quads
        .as_array()?
        .iter()
        .flat_map(|quad| quad.as_array().into_iter().flatten())
        .filter_map(Value::as_f64)
        .collect();
    let least = |values: Box<dyn Iterator<Item = f64> + '_>| values.fold(f64::INFINITY, f64::min);
    let left = least(Box::new(points.iter().step_by(2).copied()));
    let top = least(Box::new(points.iter().skip(1).step_by(2).copied()));
    (left.is_finite() && top.is_finite()).then_some((left, top))
}
