//! Elements of a page: found by ref, selector or words, read, and brought into a state in which a user could
//! act on them.

mod locator;
mod point;

pub(crate) use locator::{FindBy, Locator};
pub(crate) use point::Point;

use crate::error::CommandError;
use crate::page::{CommandPage, is_context_gone};
use crate::state::RefTarget;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// How long a command waits for an element that is not there yet.
const MISSING_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_PAUSE: Duration = Duration::from_millis(50);

/// An element of the page.
#[derive(Clone)]
pub(crate) struct Element {
    pub(crate) page: CommandPage,
    pub(crate) session: String,
    pub(crate) frame: String,
    pub(crate) object: String,
    /// As it was named by the caller, for messages.
    pub(crate) name: String,
}

impl Element {
    /// Finds an element; waits for a moment when it is not there yet.
    pub(crate) async fn find(page: &CommandPage, locator: &Locator) -> Result<Self, CommandError> {
        let limit = page.deadline.min(Instant::now() + MISSING_TIMEOUT);
        loop {
            let found = Self::find_now(page, locator).await;
            let retry = match &found {
                Ok(Some(_)) => false,
                Ok(None) => true,
                Err(error) => is_context_gone(error) && locator.ref_number().is_none(),
            };
            if !retry || Instant::now() >= limit {
                return found?.ok_or_else(|| locator.not_found());
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
    }

    /// The element if it is there now.
    pub(crate) async fn find_now(
        page: &CommandPage,
        locator: &Locator,
    ) -> Result<Option<Self>, CommandError> {
        page.check_alive()?;
        if let Some(number) = locator.ref_number() {
            return Self::from_ref(page, number).await.map(Some);
        }
        // Words are looked for in all frames, selectors only in the frame that was chosen.
        let mut frames = vec![page.frame()];
        if !matches!(locator, Locator::Find { by: FindBy::Css | FindBy::XPath, .. }) {
            let mut others = page.frames().await?;
            others.retain(|frame| *frame != frames[0]);
            frames.append(&mut others);
        }
        let mut last = Ok(None);
        for frame in frames {
            let found = Self::find_in_frame(page, locator, &frame).await;
            if !matches!(found, Ok(None)) {
                last = found;
                if matches!(last, Ok(Some(_))) {
                    break;
                }
            }
        }
        last
    }

    async fn find_in_frame(
        page: &CommandPage,
        locator: &Locator,
        frame: &str,
    ) -> Result<Option<Self>, CommandError> {
        let world = page.world(frame).await?;
        let found = page.evaluate_object(&world, &locator.script(false)).await;
        let object = found.map_err(|error| locator.explain(error))?;
        Ok(object.map(|object| Self {
            page: page.clone(),
            session: world.session,
            frame: frame.to_owned(),
            object,
            name: locator.to_string(),
        }))
    }

    async fn from_ref(page: &CommandPage, number: u32) -> Result<Self, CommandError> {
        let name = format!("@e{number}");
        let (known, document) = {
            let state = page.browser.state();
            let document = state.tab(&page.target).map_or(0, |tab| tab.document);
            (state.refs.get(number).cloned(), document)
        };
        let Some(known) = known else {
            return Err(CommandError::failed(format!(
                "Unknown ref: {name}. Refs come from the last snapshot; run `snapshot` to get new ones"
            )));
        };
        if known.tab != page.target {
            return Err(CommandError::failed(format!(
                "{name} is in another tab; run `snapshot` in this one"
            )));
        }
        if known.document != document {
            return Err(stale(&name, &known));
        }
        Self::from_node(page, &known, name).await
    }

    /// The element of a node that a snapshot has named.
    pub(crate) async fn from_node(
        page: &CommandPage,
        known: &RefTarget,
        name: String,
    ) -> Result<Self, CommandError> {
        let params = json!({ "frameId": known.frame, "worldName": "gannet" });
        let world = page.call_in(&known.session, "Page.createIsolatedWorld", params).await;
        let context = world.map_err(|_| stale(&name, known))?["executionContextId"].take();
        let params = json!({ "backendNodeId": known.backend_node, "executionContextId": context });
        let resolved = page.call_in(&known.session, "DOM.resolveNode", params).await;
        let resolved =
            resolved.map_err(|error| if is_context_gone(&error) { stale(&name, known) } else { error })?;
        let object = resolved["object"]["objectId"].as_str().unwrap_or_default().to_owned();
        Ok(Self {
            page: page.clone(),
            session: known.session.clone(),
            frame: known.frame.clone(),
            object,
            name,
        })
    }

    /// Calls a function with the element as its `this`.
    pub(crate) async fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, CommandError> {
        self.page.call_function(&self.session, &self.object, function, arguments).await
    }

    /// A call of the DOM domain about this element.
    pub(crate) async fn call_dom(&self, method: &str, mut params: Value) -> Result<Value, CommandError> {
        params["objectId"] = json!(self.object);
        self.page.call_in(&self.session, method, params).await
    }

    /// Gives it the keyboard focus.
    pub(crate) async fn focus(&self) -> Result<(), CommandError> {
        let focused = self
            .call(
                "function() { const e = this.nodeType === 1 ? this : this.parentElement; e.focus(); \
                 return e.getRootNode().activeElement === e || e.isContentEditable; }",
                &[],
            )
            .await?;
        if focused == true {
            return Ok(());
        }
        Err(CommandError::failed(format!("Element '{}' cannot have the focus", self.name)))
    }
}

fn stale(name: &str, known: &RefTarget) -> CommandError {
    CommandError::failed(format!(
        "{name} ({} \"{}\") is no longer in the page; run `snapshot` to get new refs",
        known.role, known.name
    ))
}
