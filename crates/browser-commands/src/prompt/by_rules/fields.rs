//! Steps of forms.

use super::PromptRun;
use super::find::ElementMatch;
use super::look::look_at_page;
use crate::element::{Element, Locator};
use crate::prompt::parse::{Amount, Description, ElementKind, NameList, Reading, is_secret_name};
use crate::prompt::target::{self, Item, Purpose};
use serde_json::json;

/// The text that stands before a field without a name, as a reader takes it for its label.
const NEARBY_LABEL: &str = include_str!("nearby_label.js");
const MAX_UNNAMED: usize = 50;
const HAS_FOCUS: &str = "function() { return this.getRootNode().activeElement === this; }";

/// Why nothing was typed.
pub(super) fn no_value(field: &str) -> String {
    let reason = if is_secret_name(field) {
        "secrets are never made up or looked up"
    } else {
        "say what to put there, in quotes if it is more than a word"
    };
    format!("Nothing was typed: the prompt names \"{field}\" but gives no value for it; {reason}")
}

impl PromptRun<'_> {
    pub(super) async fn fill(&mut self, field: &Description, value: &str) -> Result<(), String> {
        let items = match self.find(field, Purpose::Fill).await {
            // Only fields of the browser take a value as a whole.
            Ok(items) if items.iter().all(|(_, node)| node.role != "slider" || node.is_editable) => items,
            Ok(items) if items.len() != 1 => return Err("Only one slider can be moved at once".to_owned()),
            Ok(items) if self.takes_value(&items[0]).await => items,
            Ok(_) => return self.slide(value).await,
            Err(message) => {
                let is_slider = field
                    .readings
                    .iter()
                    .any(|reading| reading.name.is_empty() && reading.kind == Some(ElementKind::Slider));
                if is_slider {
                    return self.slide(value).await;
                }
                vec![self.find_unnamed(field, Purpose::Fill).await?.ok_or(message)?]
            }
        };
        for (number, node) in &items {
            let reference = format!("@e{number}");
            if target::is_select(node) {
                self.run_quietly(&["select", &reference, value]).await?;
                continue;
            }
            // A field that opens a calendar takes no typing.
            let is_read_only = node.states.iter().any(|state| state == "readonly");
            if let Some(date) = iso_date(value).filter(|_| is_read_only) {
                self.pick_date(&(*number, node.clone()), &date).await?;
                continue;
            }
            let value = match node.role.as_str() {
                "Date" => iso_date(value).unwrap_or_else(|| value.to_owned()),
                "InputTime" => iso_time(value).unwrap_or_else(|| value.to_owned()),
                _ => value.to_owned(),
            };
            self.run_quietly(&["fill", &reference, &value]).await?;
        }
        let names: Vec<String> = items.iter().map(|(_, node)| target::describe(node)).collect();
        self.done.push(format!("Filled {}", names.join(" and ")));
        Ok(())
    }

    /// Whether an element is a field of the browser.
    async fn takes_value(&self, item: &Item) -> bool {
        let Ok(page) = self.page().await else { return false };
        let Ok(element) = Element::find(&page, &Locator::Ref(item.0)).await else { return false };
        element.call("function() { return this.tagName === 'INPUT'; }", &[]).await.is_ok_and(|is| is == true)
    }

    /// A value without a field goes into the one that its noun names, that has the focus, or that is the only one.
    pub(super) async fn type_somewhere(
        &mut self,
        value: &str,
        hint: Option<&Description>,
    ) -> Result<(), String> {
        if let Some(hint) = hint {
            if let ElementMatch::Elements(items) = self.find_now(hint, Purpose::Fill, None).await?
                && items.len() == 1
            {
                return self.fill(hint, value).await;
            }
            if let Some(item) = self.find_unnamed(hint, Purpose::Fill).await? {
                return self.fill_item(&item, value).await;
            }
        }
        let (page, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let is_field = |item: &&Item| {
            matches!(
                item.1.role.as_str(),
                "textbox" | "searchbox" | "combobox" | "spinbutton" | "Date" | "InputTime"
            ) && !item.1.states.iter().any(|state| state == "readonly" || state == "disabled")
                && !target::is_select(&item.1)
        };
        let fields: Vec<&Item> = snapshot.items.iter().filter(is_field).take(MAX_UNNAMED).collect();
        for item in &fields {
            let Ok(element) = Element::find(&page, &Locator::Ref(item.0)).await else { continue };
            if element.call(HAS_FOCUS, &[]).await.is_ok_and(|has| has == true) {
                return self.fill_item(item, value).await;
            }
        }
        match fields.as_slice() {
            [only] => self.fill_item(only, value).await,
            [] => Err("There is no field to type into on this page".to_owned()),
            several => {
                let names: Vec<String> = several.iter().map(|(_, node)| target::describe(node)).collect();
                Err(format!("Say into which field to type: {}", names.join(", ")))
            }
        }
    }

    async fn fill_item(&mut self, item: &Item, value: &str) -> Result<(), String> {
        self.run_quietly(&["fill", &format!("@e{}", item.0), value]).await?;
        self.done.push(format!("Filled {}", target::describe(&item.1)));
        Ok(())
    }

    /// A field or box without a name, by the text that stands where its label would.
    async fn find_unnamed(
        &self,
        description: &Description,
        purpose: Purpose,
    ) -> Result<Option<Item>, String> {
        let names: Vec<&Reading> = description
            .readings
            .iter()
            .filter(|reading| {
                !reading.name.is_empty() && reading.place.is_none() && reading.amount == Amount::One
            })
            .collect();
        let (page, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let any = Reading {
            name: String::new(),
            is_quoted: false,
            kind: Some(if purpose == Purpose::Check { ElementKind::Checkbox } else { ElementKind::Field }),
            amount: Amount::All,
            place: None,
        };
        let unnamed =
            target::candidates(&snapshot, &any, purpose).into_iter().filter(|(_, node)| node.name.is_empty());
        let mut found: Vec<(target::NameFit, Item)> = Vec::new();
        for item in unnamed.take(MAX_UNNAMED) {
            let Ok(element) = Element::find(&page, &Locator::Ref(item.0)).await else { continue };
            let label = element.call(NEARBY_LABEL, &[json!(purpose == Purpose::Check)]).await;
            let label = label.map_err(|error| error.to_string())?;
            let Some(label) = label.as_str().filter(|label| !label.is_empty()) else { continue };
            let fit = names
                .iter()
                .filter_map(|reading| target::compare(&reading.name, reading.is_quoted, label))
                .max();
            if let Some(fit) = fit {
                let mut item = item.clone();
                label.clone_into(&mut item.1.name);
                found.push((fit, item));
            }
        }
        let best = found.iter().map(|(fit, _)| *fit).max();
        found.retain(|(fit, _)| Some(*fit) == best);
        Ok((found.len() == 1).then(|| found.remove(0).1))
    }

    pub(super) async fn select(
        &mut self,
        values: &NameList,
        list: Option<&Description>,
    ) -> Result<(), String> {
        let Some(list) = list else { return self.choose(values).await };
        // "from the list": a list with that name, or the only one.
        match self.find_now(list, Purpose::Select, None).await? {
            ElementMatch::Elements(items) if items.len() == 1 => {
                let reference = format!("@e{}", items[0].0);
                let whole = self.run_quietly(&["select", &reference, &values.whole.phrase]).await;
                if let Err(message) = whole {
                    if values.parts.len() < 2 {
                        return Err(message);
                    }
                    let mut words = vec!["select", &reference];
                    words.extend(values.parts.iter().map(|part| part.phrase.as_str()));
                    self.run_quietly(&words).await?;
                }
                self.done.push(format!(
                    "Selected {} in {}",
                    values.whole.phrase,
                    target::describe(&items[0].1)
                ));
                Ok(())
            }
            ElementMatch::Unclear(message) => Err(message),
            _ => {
                // Lists that the page draws itself are no list to the browser: the option must be there by its name.
                let is_plain_list = list.readings.iter().any(|reading| {
                    reading.name.is_empty()
                        && matches!(reading.kind, Some(ElementKind::List | ElementKind::Option))
                });
                if is_plain_list {
                    return self.choose(values).await;
                }
                let message = match self.find_now(list, Purpose::Select, None).await? {
                    ElementMatch::Missing(message) | ElementMatch::Unclear(message) => message,
                    ElementMatch::Elements(items) => format!("\"{}\" are {} lists", list.phrase, items.len()),
                };
                Err(message)
            }
        }
    }

    /// Chooses by name alone, in whatever list it is.
    async fn choose(&mut self, values: &NameList) -> Result<(), String> {
        let whole = self.find_now(&values.whole, Purpose::Choose, None).await?;
        let names = match whole {
            ElementMatch::Elements(_) => vec![values.whole.clone()],
            _ => values.parts.clone(),
        };
        for name in &names {
            let mut items = match self.find_now(name, Purpose::Choose, None).await? {
                ElementMatch::Elements(items) => items,
                ElementMatch::Unclear(message) => return Err(message),
                ElementMatch::Missing(_) => match self.find_now(name, Purpose::Click, None).await? {
                    ElementMatch::Elements(items) if items.iter().all(|(_, node)| is_drawn_option(node)) => {
                        items
                    }
                    _ => self.find(name, Purpose::Choose).await?,
                },
            };
            let (number, node) = items
                .pop()
                .filter(|_| items.is_empty())
                .ok_or_else(|| format!("\"{}\" are several elements; say which one", name.phrase))?;
            let is_box = ["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]
                .contains(&node.role.as_str());
            self.run_quietly(&[if is_box { "check" } else { "click" }, &format!("@e{number}")]).await?;
            self.done.push(format!("Selected \"{}\"", node.name));
        }
        Ok(())
    }

    pub(super) async fn check(&mut self, boxes: &NameList, wanted: bool) -> Result<(), String> {
        let whole = self.find_now(&boxes.whole, Purpose::Check, self.scope.as_ref()).await?;
        let names = match whole {
            ElementMatch::Elements(_) => vec![boxes.whole.clone()],
            _ => boxes.parts.clone(),
        };
        let scope = self.scope.take();
        for name in &names {
            self.scope.clone_from(&scope);
            let items = match self.find(name, Purpose::Check).await {
                Ok(items) => items,
                Err(message) => vec![self.find_unnamed(name, Purpose::Check).await?.ok_or(message)?],
            };
            for (number, node) in items {
                let command = if wanted { "check" } else { "uncheck" };
                self.run_quietly(&[command, &format!("@e{number}")]).await?;
                let verb = if wanted { "Checked" } else { "Unchecked" };
                self.done.push(format!("{verb} {}", target::describe(&node)));
            }
        }
        self.scope = None;
        Ok(())
    }
}

/// What a page draws as an option: neither a button nor a link nor a field.
fn is_drawn_option(node: &crate::snapshot::SnapshotNode) -> bool {
    node.hints.is_some() || matches!(node.role.as_str(), "button" | "link" | "listitem")
}

/// A date as a date field takes it. With slashes the month comes first, with dots the day.
fn iso_date(text: &str) -> Option<String> {
    let parts = |separator: char| -> Option<[u32; 3]> {
        let parts: Vec<u32> =
            text.split(separator).map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
        parts.try_into().ok()
    };
    let [day, month, year] = match (parts('/'), parts('.')) {
        (Some([month, day, year]), _) => [day, month, year],
        (None, Some(parts)) => parts,
        (None, None) => return None,
    };
    let is_date = (1..=31).contains(&day) && (1..=12).contains(&month) && (1_000..=9_999).contains(&year);
    is_date.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// A time as a time field takes it: "11:05 PM" is "23:05".
fn iso_time(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let (time, is_afternoon) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(time), _) => (time, Some(false)),
        (_, Some(time)) => (time, Some(true)),
        _ => (lower.as_str(), None),
    };
    let (hour, minute) = time.trim().split_once(':').unwrap_or((time.trim(), "0"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match is_afternoon {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(is_afternoon) => hour % 12 + if is_afternoon { 12 } else { 0 },
    };
    (hour < 24 && minute < 60).then(|| format!("{hour:02}:{minute:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_written_as_their_fields_take_them() {
        assert_eq!(iso_date("04/09/2026").as_deref(), Some("2026-04-09"));
        assert_eq!(iso_date("9.4.2026").as_deref(), Some("2026-04-09"));
        assert_eq!(iso_date("13/40/2026"), None);
        assert_eq!(iso_date("2026-04-09"), None, "as it is");
        assert_eq!(iso_time("11:05 PM").as_deref(), Some("23:05"));
        assert_eq!(iso_time("12:00 AM").as_deref(), Some("00:00"));
        assert_eq!(iso_time("9 am").as_deref(), Some("09:00"));
        assert_eq!(iso_time("13:00 PM"), None);
    }
}
