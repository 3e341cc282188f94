//! `set`: how the browser presents itself to pages.

use super::{CommandResult, Context};
use crate::arguments::{Arguments, parse_number};
use crate::error::CommandError;
use crate::reply::Outcome;
use crate::state::{Device, PageSettings, find_device, network_conditions};
use serde_json::{Value, json};

const MAX_SIDE: f64 = 10_000.0;

pub(super) async fn set(context: &Context, arguments: &Arguments) -> CommandResult {
    context.page().await?;
    let word = |at: usize| arguments.values.get(at).map(String::as_str);
    let missing =
        |usage: &str| CommandError::missing_arguments(&format!("set {}", word(0).unwrap_or("")), usage);
    match word(0).unwrap_or_default() {
        "viewport" => {
            let usage = "set viewport <width> <height> [scale]";
            let side = |at: usize| {
                let side = parse_number(word(at).ok_or_else(|| missing(usage))?, "size")?;
                if (1.0..=MAX_SIDE).contains(&side) {
                    Ok(side)
                } else {
                    Err(CommandError::invalid_value("size", side, "1 to 10000"))
                }
            };
            let scale = word(3).map_or(Ok(1.0), |typed| parse_number(typed, "scale"))?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked to be 1 to 10000"
            )]
            let (width, height) = (side(1)? as u32, side(2)? as u32);
            let screen = Device {
                name: "viewport",
                width,
                height,
                scale: scale.clamp(0.1, 5.0),
                is_mobile: false,
                user_agent: None,
            };
            use_screen(context, screen).await
        }
        "device" => {
            let name = arguments.values[1..].join(" ");
            if name.is_empty() {
                return Err(missing("set device <name>"));
            }
            let found = find_device(&name);
            let screen = found
                .map_err(|known| CommandError::failed(format!("Unknown device: {name}. Known: {known}")))?;
            use_screen(context, screen).await
        }
        "geo" | "geolocation" => {
            let usage = "set geo <latitude> <longitude>";
            let latitude = parse_number(word(1).ok_or_else(|| missing(usage))?, "latitude")?;
            let longitude = parse_number(word(2).ok_or_else(|| missing(usage))?, "longitude")?;
            if latitude.abs() > 90.0 || longitude.abs() > 180.0 {
                return Err(CommandError::Usage("Latitude is -90 to 90, longitude -180 to 180".to_owned()));
            }
            let permission = json!({ "permissions": ["geolocation"] });
            // Where permissions are not ours to give, the page asks as usual.
            let _ =
                context.browser.call(None, "Browser.grantPermissions", permission, context.deadline).await;
            let data = json!({ "latitude": latitude, "longitude": longitude });
            let place = json!({ "latitude": latitude, "longitude": longitude, "accuracy": 10 });
            change(context, |settings| settings.geolocation = Some((latitude, longitude)));
            call_all(context, "Emulation.setGeolocationOverride", &place).await;
            Ok(Outcome { data, ..Outcome::done() })
        }
        "offline" => {
            let is_offline = match word(1).unwrap_or("on") {
                "on" | "true" => true,
                "off" | "false" => false,
                other => return Err(CommandError::invalid_value("value", other, "on or off")),
            };
            change(context, |settings| settings.is_offline = is_offline);
            call_all(context, "Network.emulateNetworkConditions", &network_conditions(is_offline)).await;
            Ok(Outcome { data: json!({ "offline": is_offline }), ..Outcome::done() })
        }
        "headers" => set_headers(context, word(1).ok_or_else(|| missing("set headers <json>"))?).await,
        "credentials" | "auth" => {
            let usage = "set credentials <user> <password>";
            let user = word(1).ok_or_else(|| missing(usage))?.to_owned();
            let password = word(2).ok_or_else(|| missing(usage))?.to_owned();
            change(context, |settings| settings.credentials = Some((user, password)));
            apply_interception(context).await;
            Ok(Outcome { data: json!({ "set": true }), ..Outcome::done() })
        }
        _ => set_media(context, &arguments.values[1..]).await,
    }
}

async fn use_screen(context: &Context, screen: Device) -> CommandResult {
    let data = json!({
        "width": screen.width,
        "height": screen.height,
        "deviceScaleFactor": screen.scale,
        "mobile": screen.is_mobile,
    });
    let changed = PageSettings { viewport: Some(screen.clone()), ..PageSettings::default() };
    change(context, |settings| settings.viewport = Some(screen));
    for (method, params) in changed.calls() {
        call_all(context, method, &params).await;
    }
    Ok(Outcome { data, ..Outcome::done() })
}

async fn set_headers(context: &Context, typed: &str) -> CommandResult {
    let headers: Value = serde_json::from_str(typed).unwrap_or_default();
    let valid =
        headers.as_object().filter(|headers| headers.len() <= 100 && headers.values().all(Value::is_string));
    if valid.is_none() {
        return Err(CommandError::invalid_value(
            "headers",
            typed,
            "a JSON object of texts, such as {\"X-A\": \"b\"}",
        ));
    }
    change(context, |settings| settings.headers = Some(headers.clone()));
    call_all(context, "Network.setExtraHTTPHeaders", &json!({ "headers": headers })).await;
    Ok(Outcome { data: json!({ "set": true }), ..Outcome::done() })
}

async fn set_media(context: &Context, words: &[String]) -> CommandResult {
    for word in words {
        match word.as_str() {
            "dark" | "light" | "no-preference" => {
                change(context, |settings| settings.color_scheme = Some(word.clone()));
            }
            "reduced-motion" => change(context, |settings| settings.reduces_motion = true),
            other => {
                return Err(CommandError::invalid_value("media", other, "dark, light or reduced-motion"));
            }
        }
    }
    if words.is_empty() {
        return Err(CommandError::missing_arguments("set media", "set media [dark|light] [reduced-motion]"));
    }
    let media = context.browser.state().settings.media();
    call_all(context, "Emulation.setEmulatedMedia", &media).await;
    Ok(Outcome { data: json!({ "set": true }), ..Outcome::done() })
}

fn change(context: &Context, change: impl FnOnce(&mut PageSettings)) {
    change(&mut context.browser.state().settings);
}

/// Makes all tabs intercept requests, or none, as routes and logins need it.
pub(super) async fn apply_interception(context: &Context) {
    let interception = context.browser.state().settings.interception();
    match interception {
        Some(params) => call_all(context, "Fetch.enable", &params).await,
        None => call_all(context, "Fetch.disable", &json!({})).await,
    }
}

/// Calls a method in every tab and in its frames. A tab that does not answer does not hold up the others.
pub(super) async fn call_all(context: &Context, method: &str, params: &Value) {
    let sessions: Vec<String> = {
        let state = context.browser.state();
        let all = state.tabs.iter().flat_map(|tab| tab.session.iter().chain(tab.frame_sessions.values()));
        all.cloned().collect()
    };
    let calls = sessions
        .iter()
        .map(|session| context.browser.call(Some(session), method, params.clone(), context.deadline));
    futures_util::future::join_all(calls).await;
}
