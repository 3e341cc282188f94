//! How the pages of a target are read, and what of them is compared.

use crate::Error;
use serde_json::json;
use wire::scrape::{FormatInput, FormatObject, ScrapeOptions, ScrapeRequest};

/// What of a page is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    pub text: bool,
    pub data: bool,
    /// Where links lead and pictures lie, not only their texts.
    pub links: bool,
}

/// The options of a target as its pages are read with them: markdown always, and data where changes of data
/// are tracked. The comparison is ours, so the format `changeTracking` itself is left out, and no page comes
/// from the cache.
pub fn page_options(options: &ScrapeOptions) -> ScrapeOptions {
    let mut options = options.clone();
    let asked = options.formats.take().unwrap_or_default();
    let tracked = asked.iter().find_map(tracked_data);
    let mut formats = Vec::new();
    for format in asked {
        match name(&format) {
            Some("changeTracking" | "markdown") => {}
            Some("json") if tracked.is_some() => {}
            _ => formats.push(format),
        }
    }
    formats.extend(tracked);
    formats.push(FormatInput::Plain("markdown".to_owned()));
    options.formats = Some(formats);
    (options.max_age, options.min_age) = (Some(0), None);
    options
}

pub fn page_request(url: &str, options: &ScrapeOptions) -> Result<ScrapeRequest, Error> {
    let mut request = serde_json::to_value(page_options(options)).map_err(Error::internal)?;
    request["url"] = json!(url);
    serde_json::from_value(request).map_err(Error::internal)
}

/// What is compared: text, unless the formats ask for data alone.
pub fn compared(options: &ScrapeOptions) -> Compared {
    let formats = options.formats.as_deref().unwrap_or_default();
    let tracking = formats.iter().find_map(|format| match format {
        FormatInput::Object(object) if name(format) == Some("changeTracking") => Some(object),
        _ => None,
    });
    let has = |wanted: &str| formats.iter().any(|format| name(format) == Some(wanted));
    let links = has("links") || has("images");
    match tracking {
        Some(tracking) => {
            let has_mode = |wanted: &str| tracking.modes.iter().flatten().any(|mode| mode == wanted);
            Compared { text: has_mode("git-diff") || !has_mode("json"), data: has_mode("json"), links }
        }
        None if has("json") => Compared { text: has("markdown") || has("changeTracking"), data: true, links },
        None => Compared { text: true, data: false, links },
    }
}

fn name(format: &FormatInput) -> Option<&str> {
    match format {
        FormatInput::Plain(name) => Some(name),
        FormatInput::Object(object) => object.kind.as_deref(),
    }
}

/// The data whose changes are tracked, as a format of its own.
fn tracked_data(format: &FormatInput) -> Option<FormatInput> {
    let FormatInput::Object(object) = format else { return None };
    let is_tracked =
        name(format) == Some("changeTracking") && object.modes.iter().flatten().any(|mode| mode == "json");
    is_tracked.then(|| {
        FormatInput::Object(Box::new(FormatObject {
            kind: Some("json".to_owned()),
            schema: object.schema.clone(),
            prompt: object.prompt.clone(),
            ..FormatObject::default()
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn options(formats: &Value) -> ScrapeOptions {
        serde_json::from_value(json!({ "formats": formats, "maxAge": 1000, "mobile": true })).unwrap()
    }

    #[test]
    fn what_is_compared_follows_the_formats() {
        let compared = |formats: Value| compared(&options(&formats));
        assert_eq!(compared(json!(["markdown"])), Compared { text: true, data: false, links: false });
        assert_eq!(compared(json!([])), Compared { text: true, data: false, links: false });
        let tracking = |modes: Value| json!(["markdown", { "type": "changeTracking", "modes": modes }]);
        assert_eq!(
            compared(tracking(json!(["git-diff"]))),
            Compared { text: true, data: false, links: false }
        );
        assert_eq!(compared(tracking(json!(["json"]))), Compared { text: false, data: true, links: false });
        assert_eq!(
            compared(tracking(json!(["git-diff", "json"]))),
            Compared { text: true, data: true, links: false }
        );
        let with_links = Compared { text: true, data: false, links: true };
        assert_eq!(compared(json!(["markdown", "links"])), with_links);
        assert_eq!(compared(json!(["images"])), with_links);
        let json = json!({ "type": "json", "schema": {} });
        assert_eq!(compared(json!([json])), Compared { text: false, data: true, links: false });
        assert_eq!(compared(json!([json, "markdown"])), Compared { text: true, data: true, links: false });
    }

    #[test]
    fn pages_are_read_fresh_with_what_is_compared() {
        let schema = json!({ "type": "object", "properties": { "price": { "type": "number" } } });
        let asked = options(
            &json!(["markdown", "links", { "type": "changeTracking", "modes": ["json"], "schema": schema }]),
        );
        let read = serde_json::to_value(page_options(&asked)).unwrap();
        let formats = read["formats"].as_array().unwrap();
        assert_eq!(formats[0], "links");
        assert_eq!((&formats[1]["type"], &formats[1]["schema"]), (&json!("json"), &schema));
        assert_eq!((formats[2].as_str(), formats.len()), (Some("markdown"), 3));
        assert_eq!((&read["maxAge"], &read["mobile"]), (&json!(0), &json!(true)));
        assert_eq!(page_request("https://a.test/", &asked).unwrap().url.as_deref(), Some("https://a.test/"));
    }
}
