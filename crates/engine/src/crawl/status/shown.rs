//! A crawl's request without its secrets: every key of a team can list the crawls of the team, and must not
//! see the credentials that another key sent.

use url::Url;
use wire::SecretText;
use wire::scrape::{ParserInput, ScrapeOptions};

/// Replaces a secret.
pub const REDACTED: &str = "[redacted]";

/// The options without what may be secret: values of headers, texts that are typed, scripts that are run,
/// passwords of files.
pub fn without_secrets(mut options: ScrapeOptions) -> ScrapeOptions {
    let redact = |text: &mut String| REDACTED.clone_into(text);
    options.headers.iter_mut().flat_map(|headers| headers.values_mut()).for_each(redact);
    for action in options.actions.iter_mut().flatten() {
        action.text.iter_mut().chain(&mut action.script).for_each(redact);
    }
    for parser in options.parsers.iter_mut().flatten() {
        if let ParserInput::Object(parser) = parser {
            parser.password.iter_mut().for_each(|SecretText(text)| redact(text));
        }
    }
    options
}

/// Only where a webhook goes: its path and its parameters are often all that protects a receiver.
pub fn receiver(url: &str) -> String {
    Url::parse(url).map_or_else(|_| REDACTED.to_owned(), |url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_stay_and_values_go() {
        let options: ScrapeOptions = serde_json::from_value(json!({
            "formats": ["markdown"],
            "headers": { "Authorization": "Bearer s3cret", "Cookie": "sid=s3cret" },
            "actions": [
                { "type": "write", "text": "s3cret" },
                { "type": "executeJavascript", "script": "login('s3cret')" },
                { "type": "click", "selector": "#go" },
            ],
            "parsers": ["image", { "type": "pdf", "password": "s3cret" }],
            "mobile": true,
        }))
        .unwrap();
        let shown = serde_json::to_value(without_secrets(options)).unwrap();
        assert!(!shown.to_string().contains("s3cret"), "{shown}");
        assert_eq!(shown["headers"], json!({ "Authorization": REDACTED, "Cookie": REDACTED }));
        assert_eq!(shown["actions"][0]["text"], REDACTED);
        assert_eq!(shown["parsers"][1]["password"], REDACTED);
        assert_eq!((&shown["actions"][2]["selector"], &shown["mobile"]), (&json!("#go"), &json!(true)));
    }

    #[test]
    fn a_receiver_is_known_by_its_host() {
        assert_eq!(
            receiver("https://me:s3cret@hooks.example:8443/T0/s3cret?k=s3cret"),
            "https://hooks.example:8443"
        );
        assert_eq!(receiver("s3cret"), REDACTED);
    }
}
