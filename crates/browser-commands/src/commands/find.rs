//! `find`: an element by what a user sees of it, and an action on it.

use super::{CommandResult, Context, act, pointer};
use crate::arguments::Arguments;
use crate::element::{Element, FindBy, Locator};
use crate::error::CommandError;
use crate::input;
use crate::page::CommandPage;
use crate::reply::Outcome;
use crate::snapshot;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

const ACTIONS: &[&str] =
    &["click", "dblclick", "fill", "type", "check", "uncheck", "select", "hover", "focus", "text"];
const ROLE_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn find(context: &Context, arguments: &Arguments) -> CommandResult {
    let kind = arguments.value(0)?;
    let value = arguments.value(1)?;
    // `nth` has its number in front of the selector.
    let action_at = if kind == "nth" { 3 } else { 2 };
    let action = arguments.values.get(action_at).map_or("click", String::as_str);
    if !ACTIONS.contains(&action) {
        let message = format!("Unknown action '{action}' for find. Valid actions: {}", ACTIONS.join(", "));
        return Err(CommandError::Usage(message));
    }
    let text = arguments.values.get(action_at + 1..).map(|words| words.join(" ")).unwrap_or_default();
    let needs_text = ["fill", "type", "select"].contains(&action);
    if needs_text && arguments.values.len() <= action_at + 1 {
        let usage = format!("find <locator> <value> {action} <text>");
        return Err(CommandError::missing_arguments(&format!("find … {action}"), &usage));
    }
    let page = context.page().await?;
    let element = if kind == "role" {
        find_by_role(&page, value, arguments.flag("--name"), arguments.has("--exact")).await?
    } else {
        Element::find(&page, &locator(kind, value, arguments)?).await?
    };
    act_on(context, &element, action, &text).await
}

fn locator(kind: &str, value: &str, arguments: &Arguments) -> Result<Locator, CommandError> {
    let by = match kind {
        "text" => FindBy::Text,
        "label" => FindBy::Label,
        "placeholder" => FindBy::Placeholder,
        "alt" => FindBy::AltText,
        "title" => FindBy::Title,
        "testid" => FindBy::TestId,
        _ => FindBy::Css,
    };
    let (value, index) = match kind {
        "first" => (value, Some(0)),
        "last" => (value, Some(-1)),
        "nth" => {
            let invalid = |_| CommandError::invalid_value("index", value, "a number from 0");
            (arguments.value(2)?, Some(value.parse::<u32>().map_err(invalid)?.into()))
        }
        _ => (value, None),
    };
    Ok(Locator::Find { by, value: value.to_owned(), index, exact: arguments.has("--exact") })
}

/// The first element of a role whose name contains the words.
async fn find_by_role(
    page: &CommandPage,
    role: &str,
    name: Option<&str>,
    exact: bool,
) -> Result<Element, CommandError> {
    let limit = page.deadline.min(Instant::now() + ROLE_TIMEOUT);
    let described = name.map_or(format!("role={role}"), |name| format!("role={role} name={name}"));
    loop {
        let read = snapshot::read_nodes(page, None).await?;
        let fits = |node: &&snapshot::SnapshotNode| {
            let name_fits = name.is_none_or(|name| {
                if exact {
                    node.name == name
                } else {
                    node.name.to_lowercase().contains(&name.to_lowercase())
                }
            });
            node.role.eq_ignore_ascii_case(role) && name_fits && node.backend_node.is_some()
        };
        if let Some(target) = read.nodes.iter().find(fits).and_then(|node| read.target(page, node)) {
            return Element::from_node(page, &target, described).await;
        }
        if Instant::now() >= limit {
            return Err(no_such_role(&read.nodes, role, &described));
        }
        tokio::time::sleep(POLL_PAUSE).await;
    }
}

fn no_such_role(nodes: &[snapshot::SnapshotNode], role: &str, described: &str) -> CommandError {
    let same = nodes.iter().filter(|node| node.role.eq_ignore_ascii_case(role) && !node.name.is_empty());
    let names: Vec<String> = same.take(10).map(|node| format!("\"{}\"", node.name)).collect();
    let there = if names.is_empty() {
        let mut roles: Vec<&str> = nodes.iter().map(|node| node.role.as_str()).collect();
        roles.sort_unstable();
        roles.dedup();
        format!("Roles in this page: {}", roles.join(", "))
    } else {
        format!("Names of that role: {}", names.join(", "))
    };
    CommandError::failed(format!("No element found: {described}. {there}"))
}

async fn act_on(context: &Context, element: &Element, action: &str, text: &str) -> CommandResult {
    let name = element.name.clone();
    let data = match action {
        "click" => {
            let known = pointer::tab_count(context);
            act::click(element, 1, 0).await?;
            return Ok(pointer::clicked(context, &name, known));
        }
        "dblclick" => {
            act::click(element, 2, 0).await?;
            json!({ "clicked": name })
        }
        "fill" => {
            act::fill(element, text).await?;
            json!({ "filled": name })
        }
        "type" => {
            act::type_into(element, text).await?;
            json!({ "typed": text })
        }
        "check" | "uncheck" => {
            act::set_checked(element, action == "check").await?;
            json!({ format!("{action}ed"): name })
        }
        "select" => json!({ "selected": act::select(element, &[text.to_owned()]).await? }),
        "hover" => {
            let point = element.wait_hoverable().await?;
            input::move_mouse(&element.page, point, false).await?;
            json!({ "hovered": name })
        }
        "focus" => {
            element.focus().await?;
            json!({ "focused": name })
        }
        _ => {
            let text = act::text(element).await?;
            return Ok(Outcome::new(text.clone(), json!({ "text": text })));
        }
    };
    Ok(Outcome { data, ..Outcome::done() })
}
