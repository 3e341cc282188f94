//! What a request for a run means: every default filled in, what a turn takes over from the one before, every
//! conflict refused.

use super::DEFAULT_CREDITS;
use super::order::Order;
use crate::Error;
use crate::scrape::ScrapePlan;
use crate::scrape::plan::{NamedLogins, NamedPage};
use agent::{Effort, Task, TaskMode};
use net::{CredentialScope, EgressAllow, Purpose};
use outbox::webhooks;
use wire::agent::{AgentRequest, ExchangeInput, MODELS_ACCEPTED};
use wire::scrape::ScrapeOptions;
use wire::{Issue, Issues, Kind, PathPart};

const MAX_PROMPT_CHARS: usize = 10_000;
const MAX_URLS: usize = 100;
const MAX_CREDITS: i64 = 1_000_000_000;
const MAX_TOOLKITS: usize = 5;
/// What clients call themselves.
const MAX_ORIGIN_CHARS: usize = 256;

/// A run to start.
#[derive(Debug, Clone)]
pub struct RunPlan {
    pub order: Order,
    /// The caller named a number.
    pub credits_asked: bool,
    pub audit: Option<String>,
}

/// Resolves a request; `last` is the turn before in the same thread.
pub fn resolve(asked: &AgentRequest, last: Option<&Order>, allow: &EgressAllow) -> Result<RunPlan, Error> {
    let mut issues = Issues::default();
    let before = last.map(|order| &order.task);
    let prompt = asked.prompt.clone().unwrap_or_default();
    issues.length("prompt", prompt.trim(), &(1..=MAX_PROMPT_CHARS));
    if asked.model.as_deref().is_some_and(|name| !MODELS_ACCEPTED.contains(&name)) {
        issues.add("model", "must be spark-1-pro, spark-1-mini or spark-2", "invalid_value");
    }
    let effort = effort(asked.effort.as_deref(), &mut issues).or(before.and_then(|task| task.effort));
    let mode = match asked.mode.as_deref() {
        Some("extract") => TaskMode::Extract,
        Some("chat") => TaskMode::Chat,
        None => before.map(|task| task.mode).unwrap_or_default(),
        Some(_) => {
            issues.add("mode", "must be extract or chat", "invalid_value");
            TaskMode::Extract
        }
    };
    if let Some(credits) = asked.max_credits {
        issues.range("maxCredits", credits, &(1..=MAX_CREDITS));
    }
    let max_credits = asked.max_credits.and_then(|credits| u64::try_from(credits).ok());
    let max_credits = max_credits.or(before.map(|task| task.max_credits)).unwrap_or(DEFAULT_CREDITS);
    if asked.zero_data_retention == Some(true) {
        issues.add(
            "zeroDataRetention",
            "is not possible: the steps and the result of a run are stored until they are fetched",
            "custom",
        );
    }
    check_exchange(asked.exchange.as_ref(), &mut issues);
    for (field, value) in [("origin", &asked.origin), ("integration", &asked.integration)] {
        issues.length(field, value.as_deref().unwrap_or_default(), &(0..=MAX_ORIGIN_CHARS));
    }
    let (urls, logins) = match &asked.urls {
        Some(urls) => checked_urls(urls, allow, &mut issues)?,
        None => last.map(|last| (last.task.urls.clone(), last.logins.clone())).unwrap_or_default(),
    };
    let strict = asked.strict_constrain_to_urls.unwrap_or_else(|| before.is_some_and(|task| task.strict));
    if strict && urls.is_empty() {
        issues.add("strictConstrainToURLs", "there are no urls to constrain it to", "custom");
    }
    issues.finish()?;
    let schema = match &asked.schema {
        Some(schema) => {
            Some(extract::Schema::parse(schema).map_err(|error| invalid_schema(&error))?.value().clone())
        }
        None => before.and_then(|task| task.schema.clone()),
    };
    let (scrape, audit) = scrape_options(asked, last)?;
    let webhook = asked.webhook.as_ref();
    let webhook = webhook.map(|hook| webhooks::resolve(hook, &webhooks::AGENT_EVENTS, allow)).transpose()?;
    let task = Task { prompt, urls, strict, schema, effort, mode, max_credits, earlier: Vec::new() };
    let order = Order {
        task,
        logins,
        scrape,
        webhook,
        origin: asked.origin.clone().unwrap_or_else(|| "api".to_owned()),
        integration: asked.integration.clone(),
        sources: false,
        // Known when it is accepted.
        results_when_paid: false,
        traceparent: None,
    };
    Ok(RunPlan { order, credits_asked: asked.max_credits.is_some(), audit })
}

fn invalid_schema(error: &extract::SchemaError) -> Error {
    Error::because(Kind::InvalidAgentSchema, &error.to_string())
}

fn effort(asked: Option<&str>, issues: &mut Issues) -> Option<Effort> {
    match asked? {
        "low" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "high" => Some(Effort::High),
        _ => {
            issues.add("effort", "must be low, medium or high", "invalid_value");
            None
        }
    }
}

/// The addresses as they are fetched, and apart from them their logins. One that is none is refused as a
/// scrape would refuse it.
fn checked_urls(
    urls: &[String],
    allow: &EgressAllow,
    issues: &mut Issues,
) -> Result<(Vec<String>, NamedLogins), Error> {
    let (mut checked, mut logins) = (Vec::new(), NamedLogins::default());
    if urls.len() > MAX_URLS {
        issues.add("urls", &format!("must have at most {MAX_URLS} entries"), "too_big");
        return Ok((checked, logins));
    }
    let names_host = |host: &str| allow.names_host(Purpose::Scrape, host);
    for (place, written) in urls.iter().enumerate() {
        let page = NamedPage::parse(written, &names_host).map_err(|error| at_place(&error, place))?;
        if !logins.add(&page) {
            issues.add("urls", "has one address with two logins", "invalid_value");
        }
        checked.push(page.url.into());
    }
    Ok((checked, logins))
}

/// The same error, with its place in the request.
fn at_place(error: &Error, place: usize) -> Error {
    let why = error.first_issue().map_or("invalid", |issue| &issue.message);
    let path = vec![PathPart::Key("urls".to_owned()), PathPart::Index(place)];
    Error::from(Kind::InvalidUrl).with_issues(&[Issue::new(path, why, "invalid_value")])
}

/// How pages are fetched, and the audit note of the request. What a scrape would refuse is refused here.
fn scrape_options(
    asked: &AgentRequest,
    last: Option<&Order>,
) -> Result<(ScrapeOptions, Option<String>), Error> {
    let before = last.map(|order| &order.scrape);
    let options = ScrapeOptions {
        location: asked.location.clone().or_else(|| before.and_then(|old| old.location.clone())),
        threat_protection: asked
            .threat_protection
            .clone()
            .or_else(|| before.and_then(|old| old.threat_protection.clone())),
        audit_metadata: asked.audit_metadata.clone(),
        ..ScrapeOptions::default()
    };
    let plan = ScrapePlan::template(&options, false, CredentialScope::none())?;
    Ok((ScrapeOptions { audit_metadata: None, ..options }, plan.audit))
}

fn check_exchange(asked: Option<&ExchangeInput>, issues: &mut Issues) {
    let Some(asked) = asked else { return };
    let none_here = "there is no catalogue of tools here";
    if asked.enabled == Some(true) {
        issues.add("exchange.enabled", none_here, "invalid_value");
    }
    if asked.approve.is_some() {
        issues.add("exchange.approve", none_here, "invalid_value");
    }
    if asked.decline.is_some() {
        issues.add("exchange.decline", none_here, "invalid_value");
    }
    if asked.toolkits.as_ref().is_some_and(|kits| kits.len() > MAX_TOOLKITS) {
        issues.add("exchange.toolkits", &format!("must have at most {MAX_TOOLKITS} entries"), "too_big");
    }
    if let Some(calls) = asked.max_calls {
        issues.range("exchange.maxCalls", calls, &(1..=30));
    }
    if asked.on_terms_required.as_deref().is_some_and(|what| !["skip", "ask"].contains(&what)) {
        issues.add("exchange.onTermsRequired", "must be skip or ask", "invalid_value");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn resolved(body: &Value, last: Option<&Order>) -> Result<RunPlan, wire::WireError> {
        let asked: AgentRequest = wire::read::body(body.to_string().as_bytes())?;
        Ok(resolve(&asked, last, &EgressAllow::parse("scrape=intranet").unwrap())?)
    }

    #[test]
    fn defaults_are_filled_in() {
        let plan =
            resolved(&json!({ "prompt": "Find it", "urls": ["example.com", "http://intranet/a b"] }), None)
                .unwrap();
        let task = &plan.order.task;
        assert_eq!(task.urls, ["http://example.com/", "http://intranet/a%20b"]);
        assert_eq!((task.max_credits, task.mode, task.strict), (2_500, TaskMode::Extract, false));
        assert!(!plan.credits_asked && plan.order.origin == "api");
        assert_eq!(plan.order.target(), "http://example.com/");
    }

    #[test]
    fn a_turn_takes_over_what_it_does_not_say() {
        let first = resolved(
            &json!({
                "prompt": "a", "urls": ["https://a.test/"], "strictConstrainToURLs": true, "effort": "low",
                "schema": { "type": "object", "properties": { "x": { "type": "string" } } }, "maxCredits": 7,
                "mode": "chat", "threatProtection": { "blacklist": ["b.test"] }, "webhook": "https://c.test/",
            }),
            None,
        )
        .unwrap();
        let next = resolved(&json!({ "prompt": "b" }), Some(&first.order)).unwrap().order;
        assert_eq!(next.task, Task { prompt: "b".into(), ..first.order.task.clone() });
        assert_eq!(next.scrape.threat_protection, first.order.scrape.threat_protection);
        assert!(next.webhook.is_none(), "whom to tell is said anew");
        let other =
            resolved(&json!({ "prompt": "b", "urls": [], "strictConstrainToURLs": false }), Some(&next));
        assert!(other.unwrap().order.task.urls.is_empty());
    }

    #[test]
    fn mistakes_are_named_where_they_stand() {
        for (body, kind, words) in [
            (json!({}), Kind::BadRequest, "prompt"),
            (json!({ "prompt": "  " }), Kind::BadRequest, "prompt"),
            (json!({ "prompt": "x".repeat(10_001) }), Kind::BadRequest, "at most 10000"),
            (json!({ "prompt": "x", "maxCredits": 0 }), Kind::BadRequest, "maxCredits"),
            (json!({ "prompt": "x", "maxCredits": -1 }), Kind::BadRequest, "at least 1"),
            (json!({ "prompt": "x", "model": "gpt" }), Kind::BadRequest, "spark-2"),
            (json!({ "prompt": "x", "effort": "most" }), Kind::BadRequest, "medium"),
            (json!({ "prompt": "x", "mode": "talk" }), Kind::BadRequest, "chat"),
            (json!({ "prompt": "x", "strictConstrainToURLs": true }), Kind::BadRequest, "urls"),
            (json!({ "prompt": "x", "zeroDataRetention": true }), Kind::BadRequest, "zeroDataRetention"),
            (json!({ "prompt": "x", "exchange": { "enabled": true } }), Kind::BadRequest, "catalogue"),
            (json!({ "prompt": "x", "exchange": { "maxCalls": 31 } }), Kind::BadRequest, "maxCalls"),
            (json!({ "prompt": "x", "urls": ["ftp://a.test/"] }), Kind::InvalidUrl, "Invalid URL"),
            (json!({ "prompt": "x", "urls": ["http://a.test/", ""] }), Kind::InvalidUrl, "Invalid URL"),
            (
                json!({ "prompt": "x", "schema": { "type": "wrong" } }),
                Kind::InvalidAgentSchema,
                "Invalid JSON schema: ",
            ),
            (json!({ "prompt": "x", "location": { "country": "Nowhere" } }), Kind::BadRequest, "location"),
            (json!({ "prompt": "x", "webhook": "ftp://a.test/" }), Kind::BadRequest, "webhook.url"),
            (
                json!({ "prompt": "x", "webhook": { "url": "https://a.test/", "events": ["page"] } }),
                Kind::BadRequest,
                "webhook.events",
            ),
        ] {
            let error = resolved(&body, None).expect_err(&body.to_string());
            let told = format!("{} {:?}", error.text(), error.details());
            assert!(error.kind == kind && told.contains(words), "{body}: {told}");
        }
        let error = resolved(&json!({ "prompt": "x", "urls": ["http://a.test/", "x y"] }), None).unwrap_err();
        assert_eq!(error.details().unwrap()[0]["path"], json!(["urls", 1]));
    }

    #[test]
    fn a_prompt_of_ten_thousand_characters_is_read() {
        assert!(resolved(&json!({ "prompt": "ä".repeat(10_000) }), None).is_ok());
    }
}
