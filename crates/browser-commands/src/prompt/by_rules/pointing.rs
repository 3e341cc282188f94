//! Steps of the mouse, dialogs, and reading and uploading.

use super::find::ElementMatch;
use super::look::look_at_page;
use super::{PromptRun, told_times};
use crate::element::Element;
use crate::prompt::parse::{Description, ElementKind, PointerAction};
use crate::prompt::target::{self, Item, Purpose};
use serde_json::json;

const DIALOG_ROLES: &[&str] = &["dialog", "alertdialog"];
/// Buttons of a dialog that the page draws.
const ACCEPTING: &[&str] = &["ok", "okay", "accept", "yes", "confirm", "agree", "continue"];
const DISMISSING: &[&str] = &["cancel", "dismiss", "no", "close", "x", "not now"];
const READ_ELEMENT: &str = "function() { const e = this.nodeType === 1 ? this : this.parentElement; \
    return String(e.value ?? e.innerText ?? e.textContent ?? '').slice(0, 100000); }";

const SELECT_TEXT: &str = "function() { const e = this.nodeType === 1 ? this : this.parentElement; \
    e.scrollIntoView({ block: 'nearest' }); if (e.select) { e.focus(); e.select(); return; } \
    const range = document.createRange(); range.selectNodeContents(e); \
    const selection = getSelection(); selection.removeAllRanges(); selection.addRange(range); }";

/// The command of an action, and how it is told.
fn words(how: PointerAction) -> (&'static str, &'static str) {
    match how {
        PointerAction::Click => ("click", "Clicked"),
        PointerAction::DoubleClick => ("dblclick", "Double-clicked"),
        PointerAction::Hover => ("hover", "Hovered over"),
        PointerAction::Focus => ("click", "Focused"),
    }
}

impl PromptRun<'_> {
    pub(super) async fn point(
        &mut self,
        how: PointerAction,
        target: &Description,
        times: u32,
    ) -> Result<(), String> {
        let target = self.resolve_pronoun(target)?;
        let scope = self.scope.clone();
        let purpose = if how == PointerAction::Hover { Purpose::Any } else { Purpose::Click };
        let mut names = Vec::new();
        for round in 0..times {
            self.scope.clone_from(&scope);
            // Found anew each time: what a click changes may be this element.
            let items = self.find(&target, purpose).await.map_err(|message| match round {
                0 => message,
                round => format!("{message}\nThis was done {round} of {times} times"),
            })?;
            names.clear();
            for (number, node) in &items {
                self.run_quietly(&[words(how).0, &format!("@e{number}")]).await?;
                names.push(target::describe(node));
            }
        }
        self.exploration = None;
        self.named = Some(target);
        self.done.push(format!("{} {}{}", words(how).1, names.join(" and "), told_times(times)));
        Ok(())
    }

    pub(super) async fn drag(&mut self, from: &Description, to: &Description) -> Result<(), String> {
        let (from, from_node) = self.find_one(from, Purpose::Any).await?;
        let (to, to_node) = self.find_one(to, Purpose::Any).await?;
        // The second look has given the elements new refs; both names are looked up in it.
        let _ = (from, to);
        let (_, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let number = |node: &crate::snapshot::SnapshotNode| {
            let found = snapshot.items.iter().find(|(_, other)| other.backend_node == node.backend_node);
            found.map(|(number, _)| format!("@e{number}")).ok_or_else(|| "The element is gone".to_owned())
        };
        let (start, end) = (number(&from_node)?, number(&to_node)?);
        self.run_quietly(&["drag", &start, &end]).await?;
        self.done.push(format!("Dragged {} to {}", target::describe(&from_node), target::describe(&to_node)));
        Ok(())
    }

    pub(super) async fn copy(&mut self, what: &Description) -> Result<(), String> {
        let (number, node) = self.find_one(what, Purpose::Any).await?;
        let page = self.page().await?;
        let locator = crate::element::Locator::Ref(number);
        let element = Element::find(&page, &locator).await.map_err(|error| error.to_string())?;
        let text = element.call(READ_ELEMENT, &[]).await.map_err(|error| error.to_string())?;
        self.copied = text.as_str().map(str::to_owned);
        self.done.push(format!("Copied the text of {}", target::describe(&node)));
        Ok(())
    }

    pub(super) async fn highlight(&mut self, what: &Description) -> Result<(), String> {
        let (number, node) = self.find_one(what, Purpose::Any).await?;
        let page = self.page().await?;
        let locator = crate::element::Locator::Ref(number);
        let element = Element::find(&page, &locator).await.map_err(|error| error.to_string())?;
        element.call(SELECT_TEXT, &[]).await.map_err(|error| error.to_string())?;
        self.done.push(format!("Selected the text of {}", target::describe(&node)));
        Ok(())
    }

    /// The kind and text of a JavaScript dialog that waits for an answer.
    pub(super) async fn open_dialog(&self) -> Option<String> {
        let dialog = self.commander.page(self.deadline).await.ok()?.dialog()?;
        Some(format!("JavaScript {} dialog (\"{}\")", dialog.kind, dialog.message))
    }

    pub(super) async fn answer_dialog(&mut self, accepts: bool, text: Option<&str>) -> Result<(), String> {
        let (verb, past) = if accepts { ("accept", "Accepted") } else { ("dismiss", "Dismissed") };
        if let Some(dialog) = self.open_dialog().await {
            let mut words = vec!["dialog", verb];
            words.extend(text);
            self.run_quietly(&words).await?;
            self.done.push(format!("{past} the {dialog}"));
            return Ok(());
        }
        if let Some(alert) = self.closed_alert().await {
            self.done.push(format!("The alert \"{alert}\" was closed"));
            return Ok(());
        }
        let (_, snapshot) = super::look::look_at_all(self.commander, self.deadline).await?;
        let inside = target::inside(&snapshot, DIALOG_ROLES);
        let names = if accepts { ACCEPTING } else { DISMISSING };
        let is_meant = |item: &&&Item| {
            item.1.role == "button" && names.iter().any(|name| item.1.name.eq_ignore_ascii_case(name))
        };
        let found: Vec<&&Item> = inside.iter().filter(is_meant).collect();
        let [button] = found.as_slice() else {
            return Err(format!("No dialog is open that could be {verb}ed"));
        };
        if text.is_some() {
            return Err("The dialog of this page takes no text; fill its field instead".to_owned());
        }
        let (number, described) = (button.0, target::describe(&button.1));
        self.run_quietly(&["click", &format!("@e{number}")]).await?;
        self.done.push(format!("Clicked {described}"));
        Ok(())
    }

    /// Alerts are closed for the page; the last one of the current page.
    async fn closed_alert(&self) -> Option<String> {
        let page = self.commander.page(self.deadline).await.ok()?;
        page.browser.state().tab(&page.target)?.last_alert.clone()
    }

    /// The button that sends the form: named so, or the only one of its type.
    pub(super) async fn submit(&mut self) -> Result<(), String> {
        let (_, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let buttons: Vec<&Item> = snapshot.items.iter().filter(|(_, node)| node.role == "button").collect();
        let named: Vec<&&Item> =
            buttons.iter().filter(|(_, node)| node.name.to_lowercase().starts_with("submit")).collect();
        let (number, described) = match (named.as_slice(), buttons.as_slice()) {
            ([one], _) => (one.0, target::describe(&one.1)),
            ([], [one]) => (one.0, target::describe(&one.1)),
            _ => return Err(format!("It is not clear which button submits: there are {}", buttons.len())),
        };
        self.run_quietly(&["click", &format!("@e{number}")]).await?;
        self.done.push(format!("Clicked {described}"));
        Ok(())
    }

    pub(super) async fn upload(&mut self, file: &str, field: Option<&Description>) -> Result<(), String> {
        let page = self.page().await?;
        let count = "(() => document.querySelectorAll('input[type=file]').length)()";
        let world = page.world(&page.frame()).await.map_err(|error| error.to_string())?;
        let fields = page.evaluate(&world, count).await.map_err(|error| error.to_string())?;
        let is_only = |reading: &crate::prompt::parse::Reading| {
            reading.name.is_empty() && matches!(reading.kind, Some(ElementKind::File | ElementKind::Field))
        };
        let selector = match field {
            Some(field) if !field.readings.iter().any(is_only) => {
                format!("@e{}", self.find_one(field, Purpose::Any).await?.0)
            }
            _ if fields == json!(1) => "input[type=file]".to_owned(),
            _ => return Err(format!("This page has {fields} fields for files; say which")),
        };
        self.run_quietly(&["upload", &selector, file]).await?;
        self.done.push(format!("Uploaded {file}"));
        Ok(())
    }

    /// Chooses the entries of a menu one after the other; all but the last are only pointed at.
    pub(super) async fn select_path(&mut self, path: &[String]) -> Result<(), String> {
        for (at, name) in path.iter().enumerate() {
            let description = Description::of_name(name);
            let purpose = Purpose::Choose;
            let found = match self.find_now(&description, purpose, None).await? {
                ElementMatch::Missing(_) => self.find(&description, Purpose::Click).await?,
                ElementMatch::Elements(items) => items,
                ElementMatch::Unclear(message) => return Err(message),
            };
            let [(number, _)] = found.as_slice() else {
                return Err(format!("\"{name}\" is not clear"));
            };
            let number = format!("@e{number}");
            if at + 1 < path.len() {
                self.run_quietly(&["hover", &number]).await?;
            } else {
                self.run_quietly(&["click", &number]).await?;
            }
        }
        self.done.push(format!("Selected {}", path.join(" > ")));
        Ok(())
    }
}
