//! Reading a page: `snapshot`, `get`, `is`, `eval`.

use super::{CommandResult, Context, act, wait};
use crate::arguments::Arguments;
use crate::element::Locator;
use crate::error::CommandError;
use crate::page::{CommandPage, check_exception};
use crate::reply::Outcome;
use crate::snapshot::{self, SnapshotOptions};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

pub(super) async fn snapshot(context: &Context, arguments: &Arguments) -> CommandResult {
    let depth = match arguments.flag("--depth") {
        Some(typed) => {
            let invalid = |_| CommandError::invalid_value("--depth", typed, "a number");
            Some(typed.parse::<usize>().map_err(invalid)?)
        }
        None => None,
    };
    let options = SnapshotOptions {
        interactive: arguments.has("--interactive"),
        compact: arguments.has("--compact"),
        urls: arguments.has("--urls"),
        depth,
        selector: arguments.flag("--selector").map(str::to_owned),
        keeps_nodes: false,
    };
    let taken = snapshot::take_snapshot(&context.page().await?, &options).await?;
    let data = taken.to_json();
    Ok(Outcome::new(taken.text, data))
}

pub(super) async fn get(context: &Context, arguments: &Arguments) -> CommandResult {
    let page = context.page().await?;
    let what = arguments.value(0)?;
    let (usage, needed) = match what {
        "title" | "url" => ("", 0),
        "attr" => ("get attr <selector> <attribute>", 2),
        "count" => ("get count <selector>", 1),
        _ => ("get <text|html|value|box|styles> <selector>", 1),
    };
    if arguments.values.len() - 1 < needed {
        return Err(CommandError::missing_arguments(&format!("get {what}"), usage));
    }
    match what {
        "title" => {
            let world = page.world(&page.target).await?;
            let title = page.evaluate(&world, "document.title").await?;
            Ok(Outcome::new(title.as_str().unwrap_or_default(), json!({ "title": title })))
        }
        "url" => {
            let url = read_address(&page).await.unwrap_or_else(|| page.url());
            Ok(Outcome::new(url.clone(), json!({ "url": url })))
        }
        "count" => count(&page, arguments.value(1)?).await,
        _ => get_from_element(context, &page, arguments, what).await,
    }
}

/// The address from the page itself, which may be ahead of the events.
async fn read_address(page: &CommandPage) -> Option<String> {
    let world = page.world(&page.target).await.ok()?;
    page.evaluate(&world, "location.href").await.ok()?.as_str().map(str::to_owned)
}

async fn count(page: &CommandPage, selector: &str) -> CommandResult {
    let locator = Locator::parse(selector);
    let count = match &locator {
        Locator::Ref(_) => u64::from(crate::element::Element::find_now(page, &locator).await?.is_some()),
        Locator::Find { .. } => {
            let world = page.world(&page.frame()).await?;
            let counted = page.evaluate(&world, &locator.script(true)).await;
            counted.map_err(|error| locator.explain(error))?.as_u64().unwrap_or_default()
        }
    };
    Ok(Outcome::new(count.to_string(), json!({ "count": count, "selector": selector })))
}

async fn get_from_element(
    context: &Context,
    page: &CommandPage,
    arguments: &Arguments,
    what: &str,
) -> CommandResult {
    let element = context.element(arguments.value(1)?).await?;
    let origin = page.url();
    match what {
        "text" => {
            let text = act::text(&element).await?;
            Ok(Outcome::new(text.clone(), json!({ "origin": origin, "text": text })))
        }
        "html" => {
            let html = element.call("function() { return this.innerHTML.slice(0, 3000000); }", &[]).await?;
            Ok(Outcome::new(html.as_str().unwrap_or_default(), json!({ "html": html })))
        }
        "value" => {
            let value = element.call("function() { return this.value ?? null; }", &[]).await?;
            Ok(Outcome::new(value.as_str().unwrap_or_default(), json!({ "value": value })))
        }
        "attr" => {
            let name = arguments.value(2)?;
            let value =
                element.call("function(name) { return this.getAttribute(name); }", &[json!(name)]).await?;
            Ok(Outcome::new(value.as_str().unwrap_or_default(), json!({ "origin": origin, "value": value })))
        }
        "box" => {
            let script = "function() { const r = this.getBoundingClientRect(); \
                return { x: r.x, y: r.y, width: r.width, height: r.height }; }";
            let found = element.call(script, &[]).await?;
            let text =
                ["x", "y", "width", "height"].map(|name| format!("{:<8}{}", format!("{name}:"), found[name]));
            Ok(Outcome::new(text.join("\n"), found))
        }
        _ => {
            let script = "function() { const styles = getComputedStyle(this); \
                return Object.fromEntries([...styles].sort().map((name) => [name, styles.getPropertyValue(name)])); }";
            let styles = element.call(script, &[]).await?;
            let lines = styles.as_object().into_iter().flatten();
            let lines: Vec<String> = lines
                .map(|(name, value)| format!("{name}: {}", value.as_str().unwrap_or_default()))
                .collect();
            Ok(Outcome::new(lines.join("\n"), json!({ "styles": styles })))
        }
    }
}

pub(super) async fn is(context: &Context, arguments: &Arguments) -> CommandResult {
    let element = context.element(arguments.value(1)?).await?;
    let what = arguments.value(0)?;
    let state = match what {
        "visible" => wait::is_visible(&element).await?,
        "enabled" => {
            let script =
                "function() { return !this.matches(':disabled') && !this.closest('[aria-disabled=true]'); }";
            element.call(script, &[]).await? == true
        }
        _ => act::is_checked(&element).await?.unwrap_or(false),
    };
    let data = json!({ what: state, "origin": element.page.url() });
    Ok(Outcome::new(state.to_string(), data))
}

pub(super) async fn evaluate(context: &Context, arguments: &Arguments) -> CommandResult {
    let mut expression = arguments.text_from(0)?;
    if arguments.has("--base64") {
        let decoded = BASE64.decode(expression.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        expression =
            decoded.ok_or_else(|| CommandError::Usage("The script is not valid base64".to_owned()))?;
    }
    let page = context.page().await?;
    let result = evaluate_in_page(&page, &expression).await?;
    let text = serde_json::to_string_pretty(&result).unwrap_or_default();
    Ok(Outcome::new(text, json!({ "origin": page.url(), "result": result })))
}

/// Evaluates a script among those of the page, in the frame that commands act on.
pub(super) async fn evaluate_in_page(page: &CommandPage, expression: &str) -> Result<Value, CommandError> {
    let frame = page.frame();
    let mut session = page.session.clone();
    // The mode of a console allows `await` outside of functions and names that exist already, but does not wait for a
    // promise that is the value itself.
    let is_console = ["await", "let ", "const ", "class "].iter().any(|word| expression.contains(word));
    let mut params = json!({
        "expression": expression,
        "returnByValue": true,
        "awaitPromise": true,
        "replMode": is_console,
        "userGesture": true,
    });
    if frame != page.target {
        session = page.session_of_frame(&frame).await?;
        let context = {
            let state = page.browser.state();
            let key = (session.clone(), frame);
            state.tab(&page.target).and_then(|tab| tab.contexts.get(&key).copied())
        };
        let context = context.ok_or_else(|| CommandError::failed("The frame has no scripts running"))?;
        params["contextId"] = json!(context);
    }
    let result = check_exception(page.call_in(&session, "Runtime.evaluate", params).await?)?;
    // Numbers such as NaN have no JSON.
    let special = result.get("unserializableValue").cloned();
    Ok(result.get("value").cloned().or(special).unwrap_or_default())
}
