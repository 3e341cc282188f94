//! What `set` and `network route` have changed; applied to every tab, also to those that open later.

use serde_json::{Value, json};

pub(crate) const MAX_ROUTES: usize = 100;

/// How pages see the browser.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageSettings {
    pub(crate) viewport: Option<Device>,
    pub(crate) geolocation: Option<(f64, f64)>,
    pub(crate) is_offline: bool,
    pub(crate) headers: Option<Value>,
    pub(crate) credentials: Option<(String, String)>,
    pub(crate) color_scheme: Option<String>,
    pub(crate) reduces_motion: bool,
    pub(crate) routes: Vec<Route>,
}

/// What happens to requests for some addresses.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) pattern: String,
    /// The response; `None` blocks the request.
    pub(crate) body: Option<String>,
}

/// A screen, and the user agent of a device.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) scale: f64,
    pub(crate) is_mobile: bool,
    pub(crate) user_agent: Option<&'static str>,
}

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const IPAD: &str = "Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const ANDROID: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

const fn device(name: &'static str, width: u32, height: u32, scale: f64, user_agent: &'static str) -> Device {
    Device { name, width, height, scale, is_mobile: true, user_agent: Some(user_agent) }
}

/// The devices that `set device` knows.
pub(crate) const DEVICES: &[Device] = &[
    device("iPhone 12", 390, 664, 3.0, IPHONE),
    device("iPhone 14", 390, 664, 3.0, IPHONE),
    device("iPhone 15", 393, 659, 3.0, IPHONE),
    device("iPhone 16", 393, 659, 3.0, IPHONE),
    device("iPhone 16 Pro", 402, 681, 3.0, IPHONE),
    device("iPad", 810, 1080, 2.0, IPAD),
    device("iPad Pro", 1024, 1366, 2.0, IPAD),
    device("Pixel 7", 412, 839, 2.625, ANDROID),
    device("Pixel 9", 412, 839, 2.625, ANDROID),
    device("Galaxy S25", 360, 780, 3.0, ANDROID),
];

/// The device of that name, in whatever case; else the names there are.
pub(crate) fn find_device(name: &str) -> Result<Device, String> {
    let wanted = name.trim().to_lowercase();
    let found = DEVICES.iter().find(|device| device.name.to_lowercase() == wanted);
    found.cloned().ok_or_else(|| DEVICES.iter().map(|device| device.name).collect::<Vec<_>>().join(", "))
}

impl PageSettings {
    /// The calls that bring a page into this state.
    pub(crate) fn calls(&self) -> Vec<(&'static str, Value)> {
        let mut calls = Vec::new();
        if let Some(device) = &self.viewport {
            let metrics = json!({
                "width": device.width,
                "height": device.height,
                "deviceScaleFactor": device.scale,
                "mobile": device.is_mobile,
            });
            calls.push(("Emulation.setDeviceMetricsOverride", metrics));
            calls.push(("Emulation.setTouchEmulationEnabled", json!({ "enabled": device.is_mobile })));
            if let Some(user_agent) = device.user_agent {
                calls.push(("Emulation.setUserAgentOverride", json!({ "userAgent": user_agent })));
            }
        }
        if let Some((latitude, longitude)) = self.geolocation {
            let place = json!({ "latitude": latitude, "longitude": longitude, "accuracy": 10 });
            calls.push(("Emulation.setGeolocationOverride", place));
        }
        if self.is_offline {
            calls.push(("Network.emulateNetworkConditions", network_conditions(true)));
        }
        if let Some(headers) = &self.headers {
            calls.push(("Network.setExtraHTTPHeaders", json!({ "headers": headers })));
        }
        if self.color_scheme.is_some() || self.reduces_motion {
            calls.push(("Emulation.setEmulatedMedia", self.media()));
        }
        if let Some(fetch) = self.interception() {
            calls.push(("Fetch.enable", fetch));
        }
        calls
    }

    pub(crate) fn media(&self) -> Value {
        let motion = if self.reduces_motion { "reduce" } else { "" };
        json!({ "features": [
            { "name": "prefers-color-scheme", "value": self.color_scheme.as_deref().unwrap_or_default() },
            { "name": "prefers-reduced-motion", "value": motion },
        ] })
    }

    /// What must be intercepted; `None` when no route and no login is set.
    pub(crate) fn interception(&self) -> Option<Value> {
        if self.routes.is_empty() && self.credentials.is_none() {
            return None;
        }
        Some(json!({ "patterns": [{ "urlPattern": "*" }], "handleAuthRequests": self.credentials.is_some() }))
    }

    /// The route for an address; the newest one wins.
    pub(crate) fn route_for(&self, url: &str) -> Option<&Route> {
        self.routes.iter().rev().find(|route| glob_matches(&route.pattern, url))
    }
}

pub(crate) fn network_conditions(is_offline: bool) -> Value {
    json!({ "offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 })
}

/// Whether an address matches a pattern: `*` and `**` stand for any text, `?` for one character. A pattern
/// without a wildcard matches addresses that contain it.
pub(crate) fn glob_matches(pattern: &str, url: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return url.contains(pattern);
    }
    let (pattern, url): (Vec<char>, Vec<char>) = (pattern.chars().collect(), url.chars().collect());
    // The classic two-pointer match: on a mismatch the last star takes one more character.
    let (mut p, mut u) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while u < url.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, u));
                p += 1;
            }
            Some(expected) if *expected == url[u] || *expected == '?' => {
                p += 1;
                u += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                p = at + 1;
                u = taken + 1;
            }
        }
    }
    pattern[p..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_people_write_them() {
        assert!(glob_matches("**/api/*", "https://a.example/api/x"));
        assert!(glob_matches("**/*.png", "https://a.example/a/b.png"));
        assert!(!glob_matches("**/*.png", "https://a.example/a/b.png?x=1"));
        assert!(glob_matches("about", "https://a.example/about.html"));
        assert!(glob_matches("**", ""));
        assert!(!glob_matches("https://b*", "https://a.example/"));
        let started = std::time::Instant::now();
        assert!(!glob_matches(&"*a".repeat(50), &"a".repeat(20_000).replace('a', "b")));
        assert!(started.elapsed().as_secs() < 2, "no pattern takes long");
    }

    #[test]
    fn devices_are_found_by_name_in_any_case() {
        assert_eq!(find_device("iphone 12").unwrap().width, 390);
        assert!(find_device("Nokia").unwrap_err().contains("iPad Pro"));
    }
}
