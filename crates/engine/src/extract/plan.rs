//! What a request for an extraction means: every default filled in, every conflict refused.

use crate::Error;
use crate::agent::{DEFAULT_CREDITS, Order};
use crate::scrape::ScrapePlan;
use crate::scrape::plan::{NamedLogins, NamedPage, require_page_for_credentials};
use ::extract::Schema;
use agent::{Effort, Task, TaskMode};
use net::{CredentialScope, EgressAllow, Purpose};
use outbox::webhooks;
use wire::extract::ExtractRequest;
use wire::scrape::ScrapeOptions;
use wire::{Issue, Issues, Kind, PathPart};

/// What an extraction can tell of.
pub const EXTRACT_EVENTS: [&str; 4] = ["started", "completed", "failed", "cancelled"];

const MAX_URLS: usize = 10;
const MAX_PROMPT_CHARS: usize = 10_000;
const AGENTS: [&str; 3] = ["FIRE-1", "fire-1", "v3-beta"];
/// What is asked for where the request has a schema and no words.
const DEFAULT_PROMPT: &str = "What the schema describes, from these pages.";

/// An extraction to start.
#[derive(Debug, Clone)]
pub struct ExtractPlan {
    pub order: Order,
    /// What was left out because it is no address.
    pub invalid: Option<Vec<String>>,
    pub audit: Option<String>,
}

pub(super) fn resolve(asked: &ExtractRequest, allow: &EgressAllow) -> Result<ExtractPlan, Error> {
    let mut issues = Issues::default();
    let prompt = asked.prompt.clone().unwrap_or_default();
    let system = asked.system_prompt.clone().unwrap_or_default();
    issues.length("prompt", &prompt, &(0..=MAX_PROMPT_CHARS));
    issues.length("systemPrompt", &system, &(0..=MAX_PROMPT_CHARS));
    let written = asked.urls.clone().unwrap_or_default();
    if written.len() > MAX_URLS {
        issues.add("urls", &format!("must have at most {MAX_URLS} entries"), "too_big");
    }
    if written.is_empty() && prompt.trim().is_empty() {
        issues.add("urls", "urls or a prompt are needed", "custom");
    }
    let agent = asked.agent.as_ref().and_then(|agent| agent.model.as_deref());
    if agent.is_some_and(|model| !AGENTS.contains(&model)) {
        issues.add("agent.model", "must be FIRE-1 or v3-beta", "invalid_value");
    }
    issues.finish()?;
    let leave_out = asked.ignore_invalid_urls != Some(false);
    let SortedUrls { urls, logins, invalid } = addresses(&written, leave_out, allow)?;
    let schema = asked.schema.as_ref().map(Schema::parse).transpose();
    let schema = schema.map_err(|error| Error::because(Kind::InvalidAgentSchema, &error.to_string()))?;
    let (scrape, audit) = scrape_options(asked, urls.is_empty())?;
    let webhook = asked.webhook.as_ref();
    let webhook = webhook.map(|hook| webhooks::resolve(hook, &EXTRACT_EVENTS, allow)).transpose()?;
    let searches = asked.enable_web_search == Some(true);
    let task = Task {
        prompt: whole_prompt(&prompt, &system),
        // Nothing but the given pages, unless the request opens more.
        strict: !urls.is_empty() && !searches && asked.allow_external_links != Some(true),
        urls,
        schema: schema.map(|schema| schema.value().clone()),
        // A search beside given pages is the last thing tried, and only where much effort is wanted.
        effort: searches.then_some(Effort::High),
        mode: TaskMode::Extract,
        max_credits: DEFAULT_CREDITS,
        earlier: Vec::new(),
    };
    let (origin, sources) = ("api".to_owned(), asked.show_sources == Some(true));
    let order = Order {
        task,
        logins,
        scrape,
        webhook,
        origin,
        integration: None,
        sources,
        // Known when it is accepted.
        results_when_paid: false,
        traceparent: None,
    };
    Ok(ExtractPlan { order, invalid, audit })
}

fn whole_prompt(prompt: &str, system: &str) -> String {
    match (prompt.trim(), system.trim()) {
        ("", "") => DEFAULT_PROMPT.to_owned(),
        ("", only) | (only, "") => only.to_owned(),
        (prompt, system) => format!("{prompt}\n\n{system}"),
    }
}

/// Addresses as they are fetched, apart from them their logins, and those that are none.
#[derive(Debug, Default)]
struct SortedUrls {
    urls: Vec<String>,
    logins: NamedLogins,
    invalid: Option<Vec<String>>,
}

fn addresses(written: &[String], leave_out: bool, allow: &EgressAllow) -> Result<SortedUrls, Error> {
    let names_host = |host: &str| allow.names_host(Purpose::Scrape, host);
    let (mut urls, mut logins, mut invalid) = (Vec::new(), NamedLogins::default(), Vec::new());
    for (place, one) in written.iter().enumerate() {
        let part = one.trim().strip_suffix("/*");
        let page = part.map_or_else(|| one.clone(), |part| format!("{part}/"));
        match NamedPage::parse(&page, &names_host) {
            Ok(page) if !logins.add(&page) => {
                let why = "has one address with two logins";
                return Err(Error::invalid(&[Issue::at("urls", why, "invalid_value")]));
            }
            Ok(page) => urls.push(if part.is_some() { format!("{}*", page.url) } else { page.url.into() }),
            Err(_) if leave_out => invalid.push(one.clone()),
            Err(error) => {
                let why = error.first_issue().map_or("invalid", |issue| &issue.message);
                let path = vec![PathPart::Key("urls".to_owned()), PathPart::Index(place)];
                return Err(Error::from(Kind::InvalidUrl).with_issues(&[Issue::new(
                    path,
                    why,
                    "invalid_value",
                )]));
            }
        }
    }
    if urls.is_empty() && !invalid.is_empty() {
        return Err(Error::invalid(&[Issue::at(
            "urls",
            "none of them is an address of a page",
            "invalid_value",
        )]));
    }
    Ok(SortedUrls { urls, logins, invalid: leave_out.then_some(invalid) })
}

/// How pages are read, and who stands behind it. What a scrape would refuse is refused here.
fn scrape_options(
    asked: &ExtractRequest,
    names_no_page: bool,
) -> Result<(ScrapeOptions, Option<String>), Error> {
    let given = asked.scrape_options.clone().unwrap_or_default();
    let options = ScrapeOptions {
        threat_protection: asked.threat_protection.clone().or_else(|| given.threat_protection.clone()),
        // A run reads pages as it needs them.
        formats: None,
        ..given
    };
    let plan = ScrapePlan::template(&options, false, CredentialScope::none())?;
    if names_no_page {
        require_page_for_credentials(&plan.access.credentials, "scrapeOptions.headers")?;
    }
    Ok((ScrapeOptions { audit_metadata: None, ..options }, plan.audit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use url::Url;

    fn resolved(body: &Value) -> Result<ExtractPlan, wire::WireError> {
        let asked: ExtractRequest = wire::read::body(body.to_string().as_bytes())?;
        Ok(resolve(&asked, &EgressAllow::parse("scrape=intranet").unwrap())?)
    }

    #[test]
    fn defaults_are_filled_in() {
        let plan =
            resolved(&json!({ "urls": ["example.com", "https://a.test/docs/*", "not an address"] })).unwrap();
        let task = plan.order.task;
        assert_eq!(task.urls, ["http://example.com/", "https://a.test/docs/*"]);
        let login = resolved(&json!({ "urls": ["https://me:secret@a.test/docs/*"] })).unwrap().order;
        assert_eq!(login.task.urls, ["https://a.test/docs/*"]);
        let page = Url::parse("https://a.test/docs/1").unwrap();
        assert!(login.scope().covers(&page) && login.logins.for_origin(&page).is_some());
        assert_eq!(plan.invalid, Some(vec!["not an address".to_owned()]));
        assert!(task.strict && task.prompt == DEFAULT_PROMPT && task.effort.is_none());
        let open = resolved(&json!({ "prompt": "find it", "systemPrompt": "be brief" })).unwrap();
        assert_eq!((open.order.task.prompt.as_str(), open.order.task.strict), ("find it\n\nbe brief", false));
    }

    #[test]
    fn a_request_may_open_more_than_its_pages() {
        let searching = json!({ "urls": ["https://a.test/"], "enableWebSearch": true, "showSources": true });
        let order = resolved(&searching).unwrap().order;
        assert!(!order.task.strict && order.sources && order.task.effort == Some(Effort::High));
        let order =
            resolved(&json!({ "urls": ["https://a.test/"], "allowExternalLinks": true })).unwrap().order;
        assert!(!order.task.strict && !order.sources);
    }

    #[test]
    fn mistakes_are_named_where_they_stand() {
        let many = vec!["https://a.test/"; 11];
        for (body, kind, words) in [
            (json!({}), Kind::BadRequest, "urls"),
            (json!({ "urls": [], "prompt": " " }), Kind::BadRequest, "needed"),
            (json!({ "urls": many }), Kind::BadRequest, "at most 10"),
            (json!({ "urls": ["x y"] }), Kind::BadRequest, "none of them"),
            (json!({ "urls": ["x y"], "ignoreInvalidURLs": false }), Kind::InvalidUrl, "Invalid URL"),
            (json!({ "prompt": "x".repeat(10_001) }), Kind::BadRequest, "prompt"),
            (json!({ "prompt": "x", "agent": { "model": "gpt" } }), Kind::BadRequest, "agent.model"),
            (
                json!({ "prompt": "x", "schema": { "type": "wrong" } }),
                Kind::InvalidAgentSchema,
                "Invalid JSON schema: ",
            ),
            (json!({ "prompt": "x", "scrapeOptions": { "waitFor": -1 } }), Kind::BadRequest, "waitFor"),
            (
                json!({ "prompt": "x", "scrapeOptions": { "headers": { "X-Key": "k" } } }),
                Kind::BadRequest,
                "scrapeOptions.headers",
            ),
            (json!({ "urls": ["http://a:1@b.test/", "http://a:2@b.test/"] }), Kind::BadRequest, "two logins"),
            (
                json!({ "prompt": "x", "webhook": { "url": "https://a.test/", "events": ["page"] } }),
                Kind::BadRequest,
                "webhook.events",
            ),
        ] {
            let error = resolved(&body).expect_err(&body.to_string());
            let told = format!("{} {:?}", error.text(), error.details());
            assert!(error.kind == kind && told.contains(words), "{body}: {told}");
        }
    }
}
