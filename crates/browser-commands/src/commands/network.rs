//! `network`: the requests of pages, and routes that block or answer them.

use super::{CommandResult, Context, settings};
use crate::arguments::Arguments;
use crate::error::CommandError;
use crate::reply::Outcome;
use crate::state::{MAX_ROUTES, RequestEntry, Route, glob_matches};
use serde_json::{Value, json};

pub(super) async fn network(context: &Context, arguments: &Arguments) -> CommandResult {
    context.page().await?;
    let pattern = arguments.values.get(1).map(String::as_str);
    match arguments.value(0)? {
        "route" => {
            let usage = "network route <pattern> [--abort | --body <text>]";
            let pattern = pattern.ok_or_else(|| CommandError::missing_arguments("network route", usage))?;
            let body = arguments.flag("--body").filter(|_| !arguments.has("--abort")).map(str::to_owned);
            if body.is_none() && !arguments.has("--abort") {
                return Err(CommandError::missing_arguments("network route", usage));
            }
            add_route(context, Route { pattern: pattern.to_owned(), body })?;
            settings::apply_interception(context).await;
            Ok(Outcome { data: json!({ "routed": pattern }), ..Outcome::done() })
        }
        "unroute" => {
            match pattern {
                Some(pattern) => {
                    context.browser.state().settings.routes.retain(|route| route.pattern != pattern);
                }
                None => context.browser.state().settings.routes.clear(),
            }
            settings::apply_interception(context).await;
            Ok(Outcome { data: json!({ "unrouted": pattern.unwrap_or("all") }), ..Outcome::done() })
        }
        _ => requests(context, arguments),
    }
}

fn add_route(context: &Context, route: Route) -> Result<(), CommandError> {
    let mut state = context.browser.state();
    let routes = &mut state.settings.routes;
    routes.retain(|known| known.pattern != route.pattern);
    if routes.len() >= MAX_ROUTES {
        return Err(CommandError::failed(format!(
            "There are {MAX_ROUTES} routes; remove some with `network unroute`"
        )));
    }
    routes.push(route);
    Ok(())
}

fn requests(context: &Context, arguments: &Arguments) -> CommandResult {
    if arguments.has("--clear") {
        context.browser.state().requests.clear();
        return Ok(Outcome::new("✓ Request log cleared", json!({ "cleared": true })));
    }
    if let Some(status) = arguments.flag("--status")
        && parse_status(status).is_none()
    {
        return Err(CommandError::invalid_value("--status", status, "200, 2xx or 400-499"));
    }
    let state = context.browser.state();
    let shown: Vec<&RequestEntry> =
        state.requests.iter().filter(|entry| is_wanted(entry, arguments)).collect();
    let lines: Vec<String> = shown.iter().map(|entry| entry.to_line()).collect();
    let entries: Vec<Value> = shown.iter().map(|entry| entry.to_json()).collect();
    Ok(Outcome::new(lines.join("\n"), json!({ "requests": entries })))
}

fn is_wanted(entry: &RequestEntry, arguments: &Arguments) -> bool {
    let fits = |flag: &str, fits: &dyn Fn(&str) -> bool| arguments.flag(flag).is_none_or(fits);
    let in_range = |status: &str| {
        let Some((low, high)) = parse_status(status) else { return false };
        entry.status.is_some_and(|status| (low..=high).contains(&status))
    };
    fits("--filter", &|pattern| glob_matches(pattern, &entry.url))
        && fits("--type", &|types| types.split(',').any(|kind| kind.trim().eq_ignore_ascii_case(&entry.kind)))
        && fits("--method", &|method| method.eq_ignore_ascii_case(&entry.method))
        && fits("--status", &in_range)
}

/// `200`, `2xx` or `400-499` as a range.
fn parse_status(typed: &str) -> Option<(i64, i64)> {
    if let Some(hundreds) = typed.strip_suffix("xx") {
        let first = hundreds.parse::<i64>().ok()? * 100;
        return Some((first, first + 99));
    }
    let (low, high) = typed.split_once('-').unwrap_or((typed, typed));
    Some((low.parse().ok()?, high.parse().ok()?))
}
