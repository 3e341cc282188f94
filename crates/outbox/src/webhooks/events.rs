//! What a crawl, a batch or a run tells of, as deliveries for the outbox: each asks whether its event was
//! wanted.

use super::post::Target;
use super::resolve::Webhook;
use serde_json::{Value, json};
use store::webhooks::NewDelivery;
use stored_data::stored_json;
use uuid::Uuid;
use wire::webhook::WebhookEnvelope;

/// The events of one job.
#[derive(Debug, Clone, Copy)]
pub struct Events<'a> {
    hook: &'a Webhook,
    job: Uuid,
    team: Uuid,
    /// `crawl`, `batch_scrape`, `agent` or `extract`.
    prefix: &'a str,
}

impl<'a> Events<'a> {
    pub fn new(hook: &'a Webhook, job: Uuid, team: Uuid, prefix: &'a str) -> Self {
        Self { hook, job, team, prefix }
    }

    pub fn started(&self) -> Option<NewDelivery> {
        self.tell("started", Vec::new(), None)
    }

    /// The document itself is put in when the delivery is sent.
    pub fn page(&self, document: u64) -> Option<NewDelivery> {
        let delivery = self.tell("page", Vec::new(), None)?;
        Some(NewDelivery { document: Some(document), ..delivery })
    }

    /// A page that came to no document: what is known of it, in the shape of one.
    pub fn page_failed(&self, error: &str, url: &str) -> Option<NewDelivery> {
        let page = json!({ "metadata": { "sourceURL": url, "url": url, "error": error } });
        self.tell("page", vec![page], Some(error))
    }

    pub fn completed(&self) -> Option<NewDelivery> {
        self.tell("completed", Vec::new(), None)
    }

    pub fn failed(&self, error: &str) -> Option<NewDelivery> {
        self.tell("failed", Vec::new(), Some(error))
    }

    /// An event by its short name, with what it carries.
    pub fn tell(&self, event: &str, data: Vec<Value>, error: Option<&str>) -> Option<NewDelivery> {
        if !self.hook.events.iter().any(|wanted| wanted == event) {
            return None;
        }
        let id = Uuid::now_v7();
        let kind = format!("{}.{event}", self.prefix);
        let envelope = WebhookEnvelope {
            success: error.is_none(),
            kind: &kind,
            id: self.job,
            webhook_id: id,
            data,
            metadata: &self.hook.metadata,
            error,
        };
        // Plain data of ours with text for keys always serialises. A webhook that could not be written is not sent.
        let body = stored_json::or_log(stored_json::to_text("a webhook", &envelope))?.into_bytes();
        let Webhook { url, headers, traceparent, .. } = self.hook.clone();
        let target = Target { url, headers, traceparent };
        Some(NewDelivery {
            id,
            team_id: self.team,
            subject: self.job,
            event: kind,
            target: stored_json::or_log(target.to_json())?,
            body,
            document: None,
            not_before: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn hook(events: &[&str]) -> Webhook {
        Webhook {
            url: "https://a.test/".into(),
            headers: BTreeMap::from([("X-Login".to_owned(), "me".to_owned())]).into(),
            metadata: BTreeMap::from([("run".to_owned(), "7".to_owned())]),
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            traceparent: None,
        }
    }

    fn body(delivery: &NewDelivery) -> Value {
        serde_json::from_slice(&delivery.body).unwrap()
    }

    #[test]
    fn each_event_reads_as_the_contract_says() {
        let hook = hook(&["started", "page", "completed", "failed"]);
        let (job, team) = (Uuid::now_v7(), Uuid::now_v7());
        let events = Events::new(&hook, job, team, "batch_scrape");
        let started = events.started().unwrap();
        assert_eq!(
            body(&started),
            json!({
                "success": true, "type": "batch_scrape.started", "id": job, "webhookId": started.id,
                "data": [], "metadata": { "run": "7" },
            })
        );
        assert_eq!((started.subject, started.team_id, started.document), (job, team, None));
        assert!(started.target.contains("X-Login"));
        let page = events.page(3).unwrap();
        assert_eq!((page.document, body(&page)["data"].clone()), (Some(3), json!([])));
        let failed = body(&events.page_failed("no answer", "https://b.test/").unwrap());
        assert_eq!((&failed["success"], &failed["error"]), (&json!(false), &json!("no answer")));
        assert_eq!(failed["type"], "batch_scrape.page");
        assert_eq!(failed["data"][0]["metadata"]["sourceURL"], "https://b.test/");
        assert_eq!(body(&events.completed().unwrap())["type"], "batch_scrape.completed");
        let failed = body(&events.failed("overdue").unwrap());
        assert_eq!((&failed["type"], &failed["error"]), (&json!("batch_scrape.failed"), &json!("overdue")));
        assert_ne!(events.started().unwrap().id, started.id, "each delivery has an id of its own");
    }

    #[test]
    fn only_what_was_asked_for_is_told() {
        let hook = hook(&["completed"]);
        let events = Events::new(&hook, Uuid::now_v7(), Uuid::now_v7(), "crawl");
        assert!(events.started().is_none() && events.page(1).is_none());
        assert!(events.page_failed("e", "u").is_none() && events.failed("e").is_none());
        assert!(events.completed().is_some());
    }
}
