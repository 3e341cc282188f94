//! `cookies` and `storage`.

use super::{CommandResult, Context};
use crate::arguments::{Arguments, parse_number};
use crate::error::CommandError;
use crate::page::CommandPage;
use crate::reply::Outcome;
use serde_json::{Value, json};

const SAME_SITE: &[&str] = &["Strict", "Lax", "None"];

pub(super) async fn cookies(context: &Context, arguments: &Arguments) -> CommandResult {
    let page = context.page().await?;
    match arguments.values.first().map_or("get", String::as_str) {
        "set" => set_cookie(&page, arguments).await,
        "clear" => {
            page.call("Network.clearBrowserCookies", json!({})).await?;
            Ok(Outcome::new("✓ Cookies cleared", json!({ "cleared": true })))
        }
        _ => {
            let mut found = page.call("Network.getAllCookies", json!({})).await?;
            let text = |cookie: &Value, name: &str| cookie[name].as_str().unwrap_or_default().to_owned();
            let cookies = found["cookies"].as_array().into_iter().flatten();
            let lines: Vec<String> =
                cookies.map(|cookie| format!("{}={}", text(cookie, "name"), text(cookie, "value"))).collect();
            Ok(Outcome::new(lines.join("\n"), json!({ "cookies": found["cookies"].take() })))
        }
    }
}

async fn set_cookie(page: &CommandPage, arguments: &Arguments) -> CommandResult {
    let usage =
        || CommandError::missing_arguments("cookies set", "cookies set <name> <value> [--url <url>] …");
    let name = arguments.values.get(1).ok_or_else(usage)?;
    let value = arguments.values.get(2).ok_or_else(usage)?;
    let mut cookie = json!({ "name": name, "value": value });
    for (flag, field) in [("--url", "url"), ("--domain", "domain"), ("--path", "path")] {
        if let Some(typed) = arguments.flag(flag) {
            cookie[field] = json!(typed);
        }
    }
    if arguments.flag("--url").is_none() && arguments.flag("--domain").is_none() {
        cookie["url"] = json!(page.url());
    }
    if let Some(typed) = arguments.flag("--same-site") {
        let known = SAME_SITE.iter().find(|known| known.eq_ignore_ascii_case(typed));
        cookie["sameSite"] = json!(known.ok_or_else(|| CommandError::invalid_value(
            "--same-site",
            typed,
            "Strict, Lax or None"
        ))?);
    }
    if let Some(typed) = arguments.flag("--expires") {
        cookie["expires"] = json!(parse_number(typed, "--expires")?);
    }
    cookie["httpOnly"] = json!(arguments.has("--http-only"));
    cookie["secure"] = json!(arguments.has("--secure"));
    let refused =
        || CommandError::failed(format!("The browser does not accept the cookie {name} for {}", page.url()));
    let set = page.call("Network.setCookie", cookie).await.map_err(|_| refused())?;
    if set["success"] == false {
        return Err(refused());
    }
    Ok(Outcome { data: json!({ "set": true }), ..Outcome::done() })
}

pub(super) async fn web_storage(context: &Context, arguments: &Arguments) -> CommandResult {
    let page = context.page().await?;
    let kind = arguments.value(0)?;
    let key = arguments.values.get(2);
    let word = arguments.values.get(1).map_or("get", String::as_str);
    let ("get" | "set" | "clear") = word else {
        // `storage local theme` reads one key.
        return read_storage(&page, kind, arguments.values.get(1)).await;
    };
    match (word, key, arguments.values.get(3)) {
        ("get", key, _) => read_storage(&page, kind, key).await,
        ("set", Some(key), Some(value)) => {
            run(&page, kind, &format!("s.setItem({}, {})", json!(key), json!(value))).await?;
            Ok(Outcome { data: json!({ "set": true }), ..Outcome::done() })
        }
        ("set", ..) => {
            Err(CommandError::missing_arguments("storage set", "storage <local|session> set <key> <value>"))
        }
        _ => {
            run(&page, kind, "s.clear()").await?;
            Ok(Outcome { data: json!({ "cleared": true }), ..Outcome::done() })
        }
    }
}

async fn read_storage(page: &CommandPage, kind: &str, key: Option<&String>) -> CommandResult {
    if let Some(key) = key {
        let value = run(page, kind, &format!("s.getItem({})", json!(key))).await?;
        let text = value.as_str().map(|value| format!("{key}: {value}")).unwrap_or_default();
        return Ok(Outcome::new(text, json!({ "key": key, "value": value })));
    }
    let all = run(page, kind, "Object.fromEntries(Object.entries(s).slice(0, 5000))").await?;
    let lines = all.as_object().into_iter().flatten();
    let lines: Vec<String> =
        lines.map(|(key, value)| format!("{key}: {}", value.as_str().unwrap_or_default())).collect();
    Ok(Outcome::new(lines.join("\n"), json!({ "data": all })))
}

async fn run(page: &CommandPage, kind: &str, expression: &str) -> Result<Value, CommandError> {
    let world = page.world(&page.frame()).await?;
    let script = format!("(() => {{ const s = {kind}Storage; return {expression}; }})()");
    let unavailable = |error: CommandError| match error {
        CommandError::Failed(message) if message.contains("SecurityError") => {
            CommandError::failed(format!("This page has no {kind} storage"))
        }
        other => other,
    };
    page.evaluate(&world, &script).await.map_err(unavailable)
}
