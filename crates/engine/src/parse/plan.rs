//! From what was asked of a file to what is meant: the options of a scrape without those that are about fetching.

use crate::Error;
use wire::parse::ParseRequest;
use wire::scrape::{FormatInput, ScrapeOptions};
use wire::{Issue, Kind, PathPart};

/// Formats that need a browser, a history or an address.
const REFUSED_FORMATS: [&str; 8] = [
    "screenshot",
    "screenshot@fullPage",
    "changeTracking",
    "change_tracking",
    "branding",
    "audio",
    "video",
    "rawBase64",
];

/// The options of a scrape that a request asks for, or which of them a file does not have.
pub fn resolve(asked: &ParseRequest) -> Result<ScrapeOptions, Error> {
    let refused = refused_options(asked);
    if !refused.is_empty() {
        let first = |issue: &Issue| match issue.path.first() {
            Some(PathPart::Key(key)) => key.clone(),
            _ => String::new(),
        };
        let mut names: Vec<String> = refused.iter().map(first).collect();
        names.dedup();
        return Err(Error::because(Kind::ParseUnsupportedOptions, &names.join(", ")).with_issues(&refused));
    }
    // Nothing of a file is taken from the cache or put into it; clients send these all the same.
    Ok(ScrapeOptions { max_age: Some(0), store_in_cache: Some(false), ..asked.options() })
}

/// Every option that has no meaning for a file, unless it says what is the case anyway.
fn refused_options(asked: &ParseRequest) -> Vec<Issue> {
    let nothing_is_fetched = "an uploaded file is not fetched";
    let proxy = asked.proxy.as_deref();
    let fields = [
        (
            "actions",
            asked.actions.as_ref().is_some_and(|actions| !actions.is_empty()),
            "there is no browser page to act on",
        ),
        ("waitFor", asked.wait_for.is_some_and(|wait| wait != 0), "there is no browser page to wait for"),
        ("location", asked.location.is_some(), nothing_is_fetched),
        ("mobile", asked.mobile == Some(true), nothing_is_fetched),
        ("headers", asked.headers.is_some(), nothing_is_fetched),
        ("profile", asked.profile.is_some(), nothing_is_fetched),
        ("minAge", asked.min_age.is_some(), "files are not cached"),
        ("lockdown", asked.lockdown == Some(true), "files are not cached"),
        ("proxy", proxy.is_some_and(|proxy| !["basic", "auto"].contains(&proxy)), "must be basic or auto"),
        (
            "parsers",
            asked.parsers.as_ref().is_some_and(Vec::is_empty),
            "a file that is not to be parsed need not be uploaded",
        ),
    ];
    let fields = fields.into_iter().filter(|(_, refused, _)| *refused);
    let fields = fields.map(|(name, _, why)| Issue::at(name, why, "custom"));
    let formats = asked.formats.iter().flatten().enumerate().filter_map(|(index, format)| {
        let name = match format {
            FormatInput::Plain(name) => name.as_str(),
            FormatInput::Object(object) => object.kind.as_deref()?,
        };
        let path = vec![PathPart::Key("formats".to_owned()), PathPart::Index(index)];
        let why = format!("`{name}` is not a format of an uploaded file");
        REFUSED_FORMATS.contains(&name).then(|| Issue::new(path, &why, "custom"))
    });
    fields.chain(formats).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrape::ScrapePlan;
    use net::CredentialScope;
    use serde_json::{Value, json};

    fn options(asked: &Value) -> Result<ScrapeOptions, Error> {
        resolve(&wire::read::body(asked.to_string().as_bytes()).unwrap())
    }

    #[test]
    fn what_clients_send_by_themselves_is_accepted() {
        let sent = json!({
            "onlyMainContent": true, "mobile": false, "skipTlsVerification": true, "removeBase64Images": true,
            "fastMode": false, "blockAds": true, "waitFor": 0, "actions": [], "proxy": "auto", "lockdown": false,
            "maxAge": 14_400_000, "storeInCache": true, "timeout": 300_000, "origin": "x", "integration": "cli",
            "parsers": [{ "type": "pdf", "mode": "fast", "maxPages": 3, "pages": true, "pageMarkers": true, "blocks": true }],
            "formats": ["markdown", "html", "rawHtml", "links", "images", { "type": "highlights", "query": "x" }],
            "redactPII": true, "zeroDataRetention": true,
        });
        let plan = ScrapePlan::template(&options(&sent).unwrap(), true, CredentialScope::none()).unwrap();
        assert!(plan.redact.is_some() && !plan.cache.store && plan.cache.max_age.is_none());
        assert!(plan.wants_browser().is_none() && plan.formats.links);
    }

    #[test]
    fn each_option_about_fetching_is_refused_by_its_name() {
        for (name, value) in [
            ("actions", json!([{ "type": "scrape" }])),
            ("waitFor", json!(1)),
            ("waitFor", json!(-1)),
            ("location", json!({ "country": "DE" })),
            ("mobile", json!(true)),
            ("headers", json!({ "a": "b" })),
            ("profile", json!({ "name": "p" })),
            ("minAge", json!(0)),
            ("lockdown", json!(true)),
            ("proxy", json!("stealth")),
            ("proxy", json!("enhanced")),
            ("parsers", json!([])),
            ("formats", json!(["markdown", "screenshot"])),
            ("formats", json!([{ "type": "screenshot", "fullPage": true }])),
            ("formats", json!(["markdown", { "type": "changeTracking" }])),
            ("formats", json!(["branding"])),
            ("formats", json!(["audio"])),
            ("formats", json!(["video"])),
            ("formats", json!(["rawBase64"])),
        ] {
            let error = options(&json!({ name: value })).unwrap_err().to_wire();
            assert_eq!((error.status(), error.kind), (400, Kind::ParseUnsupportedOptions), "{name} {value}");
            assert_eq!(error.text(), format!("Parse does not support these options: {name}"));
            assert_eq!(error.details().unwrap()[0]["path"][0], name);
        }
        let asked = json!({ "mobile": true, "formats": ["video", "audio"], "waitFor": 5 });
        let error = options(&asked).unwrap_err();
        assert_eq!(error.text(), "Parse does not support these options: waitFor, mobile, formats");
    }
}
