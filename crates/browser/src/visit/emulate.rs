//! Emulation: user agent, language, time zone and window of a visit. Consistent with the headers of the
//! fetcher, so that a page sees the same client whether it is fetched or visited.

use super::storage;
use crate::ads::Ads;
use crate::error::VisitError;
use crate::page::{RequestRules, VisitHeaders};
use crate::session::VisitSession;
use crate::visit_request::Visit;
use net::{Locale, Profile};
use serde_json::{Value, json};

/// The viewport of a desktop, and of a phone.
pub(super) const DESKTOP: (u32, u32) = (1280, 800);
pub(super) const PHONE: (u32, u32) = (412, 915);
const PHONE_DENSITY: f64 = 2.625;

/// Prepares the tab for the visit. All commands are sent at once and then awaited.
pub(super) async fn prepare_tab(session: &VisitSession, visit: &Visit) -> Result<(), VisitError> {
    let tab = &session.tab;
    storage::restore_databases(tab, visit).await?;
    let (user, password) = session.lease.credentials();
    let mut headers = visit.credentials.pairs();
    let own_agent = take_header(&mut headers, "user-agent");
    let own_language = take_header(&mut headers, "accept-language");
    let mut cookies = visit.state.as_ref().map(|state| state.cookies.clone()).unwrap_or_default();
    let named = visit.credentials.covers(&visit.url);
    let mut own_cookies = Vec::new();
    while let Some(header) = take_header(&mut headers, "cookie") {
        if named {
            own_cookies.extend(storage::cookies_from_header(&header, &visit.url));
        }
    }
    let cookie_names = own_cookies.iter().map(|cookie| cookie.name.clone()).collect();
    cookies.append(&mut own_cookies);
    let agent = user_agent_override(visit, own_agent.as_deref(), own_language)?;
    let rules = RequestRules {
        login: (user.to_owned(), password.to_owned()),
        load_images: visit.needs_images(),
        headers: VisitHeaders::new(headers, cookie_names, visit.credentials.clone(), &visit.url),
        bot_identity: session.bot_identity.clone(),
        filter: visit.filter.clone(),
        page_filter: visit.page_filter.clone(),
        ads: visit.block_ads.then(Ads::bundled),
        page: visit.url.clone(),
        frame_commands: frame_commands(visit, &agent),
    };
    let patterns = rules.patterns();
    tab.page.set_rules(rules);

    let mut responses = vec![
        tab.send("Fetch.enable", &patterns),
        tab.send("Emulation.setUserAgentOverride", &agent),
        tab.send("Emulation.setDeviceMetricsOverride", &metrics(viewport(visit.mobile), visit.mobile)),
    ];
    if visit.mobile {
        responses.push(tab.send("Emulation.setTouchEmulationEnabled", &json!({ "enabled": true })));
    }
    if ignores_certificates(visit) {
        responses.push(tab.send("Security.setIgnoreCertificateErrors", &json!({ "ignore": true })));
    }
    if let Some(cookies) = storage::cookies_command(tab, &cookies) {
        responses.push(tab.send_to_browser("Storage.setCookies", &cookies));
    }
    if let Some(script) = visit.state.as_ref().and_then(storage::storage_script) {
        let wanted = json!({ "source": script, "worldName": "gannet" });
        responses.push(tab.send("Page.addScriptToEvaluateOnNewDocument", &wanted));
    }
    if let Some(timezone) = &visit.timezone {
        let result = tab.execute("Emulation.setTimezoneOverride", &json!({ "timezoneId": timezone })).await;
        result.map_err(|error| match error {
            VisitError::Protocol(_) => VisitError::Invalid(format!("{timezone:?} is not a time zone")),
            error => error,
        })?;
    }
    for response in responses {
        tab.wait_for(response).await?;
    }
    Ok(())
}

/// Commands that let a page of a session claim the device, the languages and the time zone of a visit. The browser of a
/// session claims a desktop and American English by itself.
pub fn emulation_commands(visit: &Visit) -> Result<Vec<(&'static str, Value)>, VisitError> {
    let mut commands = Vec::new();
    if visit.mobile || !visit.languages.is_empty() {
        commands.push(("Emulation.setUserAgentOverride", user_agent_override(visit, None, None)?));
    }
    if let Some(language) = visit.languages.first() {
        commands.push(("Emulation.setLocaleOverride", json!({ "locale": language })));
    }
    if visit.mobile {
        commands.push(("Emulation.setDeviceMetricsOverride", metrics(viewport(true), true)));
        commands.push(("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })));
    }
    if let Some(timezone) = &visit.timezone {
        commands.push(("Emulation.setTimezoneOverride", json!({ "timezoneId": timezone })));
    }
    Ok(commands)
}

/// Commands that give a frame of another site, which has a process and session of its own, the same emulation
/// as its page.
fn frame_commands(visit: &Visit, agent: &Value) -> Vec<(&'static str, Value)> {
    let mut commands = vec![("Emulation.setUserAgentOverride", agent.clone())];
    if visit.mobile {
        commands.push(("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })));
    }
    if ignores_certificates(visit) {
        commands.push(("Security.setIgnoreCertificateErrors", json!({ "ignore": true })));
    }
    if let Some(timezone) = &visit.timezone {
        commands.push(("Emulation.setTimezoneOverride", json!({ "timezoneId": timezone })));
    }
    if let Some(script) = visit.state.as_ref().and_then(storage::storage_script) {
        commands.push(("Page.enable", json!({})));
        let wanted = json!({ "source": script, "worldName": "gannet" });
        commands.push(("Page.addScriptToEvaluateOnNewDocument", wanted));
    }
    commands
}

fn ignores_certificates(visit: &Visit) -> bool {
    !visit.check_certificate && !visit.credentials.need_checked_certificate()
}

/// Removes a header that the browser sends in another way.
fn take_header(headers: &mut Vec<(String, String)>, wanted: &str) -> Option<String> {
    let place = headers.iter().position(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
    Some(headers.remove(place).1)
}

pub(super) fn viewport(mobile: bool) -> (u32, u32) {
    if mobile { PHONE } else { DESKTOP }
}

pub(super) fn metrics((width, height): (u32, u32), mobile: bool) -> Value {
    let density = if mobile { PHONE_DENSITY } else { 1.0 };
    json!({ "width": width, "height": height, "deviceScaleFactor": density, "mobile": mobile })
}

fn user_agent_override(
    visit: &Visit,
    own_agent: Option<&str>,
    own_language: Option<String>,
) -> Result<Value, VisitError> {
    let profile = if visit.mobile { Profile::Mobile } else { Profile::Desktop };
    let tags = visit.languages.iter().map(String::as_str);
    let locale = Locale::from_languages(tags).map_err(|error| VisitError::Invalid(error.to_string()))?;
    let header = locale.as_header().to_str().unwrap_or_default();
    // The browser adds the weights itself: it expects the plain tags.
    let bare: Vec<&str> = header.split(',').map(|tag| tag.split(';').next().unwrap_or(tag)).collect();
    let language = own_language.unwrap_or_else(|| bare.join(","));
    let platform = if visit.mobile { "Linux armv81" } else { "Linux x86_64" };
    let mut wanted = json!({ "acceptLanguage": language, "platform": platform });
    // A caller who sets a user agent must not be contradicted by our client hints.
    if own_agent.is_none() {
        wanted["userAgentMetadata"] = client_hints(profile);
    }
    wanted["userAgent"] = json!(own_agent.unwrap_or(profile.user_agent()));
    Ok(wanted)
}

/// Client hints that match the user agent.
fn client_hints(profile: Profile) -> Value {
    let agent = profile.user_agent();
    let version = agent.split("Chrome/").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or("0.0.0.0");
    let major = version.split('.').next().unwrap_or("0");
    let mobile = profile == Profile::Mobile;
    let (platform, platform_version, architecture, bitness, model) =
        if mobile { ("Android", "10.0.0", "", "", "K") } else { ("Linux", "", "x86", "64", "") };
    json!({
        "brands": [{ "brand": "Chromium", "version": major }, { "brand": "Not_A Brand", "version": "99" }],
        "fullVersionList": [
            { "brand": "Chromium", "version": version }, { "brand": "Not_A Brand", "version": "99.0.0.0" },
        ],
        "platform": platform,
        "platformVersion": platform_version,
        "architecture": architecture,
        "bitness": bitness,
        "model": model,
        "mobile": mobile,
        "wow64": false,
    })
}
