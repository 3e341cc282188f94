//! Webhooks: what callers ask for, the envelope that is sent, and the team's own view of secrets and failures.

use crate::SecretHeaders;
use crate::scrape::plain_or_object;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

plain_or_object! {
    /// `webhook`: an address, or an object with options.
    WebhookAsked { string(String) by visit_str: &str, visit_string: String; WebhookObject }
}

/// A webhook with options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct WebhookObject {
    /// Where to: an http or https address.
    pub url: String,
    /// Sent with every delivery, for instance a login of the receiver.
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub headers: Option<SecretHeaders>,
    /// Sent back as it is, in every delivery.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Which events to tell of, by their short names; all without it.
    pub events: Option<Vec<String>>,
}

/// What is posted to a receiver. The order of the fields is the order on the wire.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEnvelope<'a> {
    /// `false` when what it tells of failed.
    pub success: bool,
    /// For instance `crawl.page`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// Of the crawl or batch.
    pub id: Uuid,
    /// Of the delivery; the same on every attempt.
    pub webhook_id: Uuid,
    #[schema(value_type = Vec<Object>)]
    pub data: Vec<serde_json::Value>,
    pub metadata: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
}

/// What the team's webhooks are signed with.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSecretView {
    /// The current one.
    pub secret: String,
    pub created_at: String,
    /// The one before, while it is phased out: until then it still makes `X-Firecrawl-Signature`.
    pub previous: Option<PreviousSecret>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviousSecret {
    pub secret: String,
    pub created_at: String,
    /// From then on the current one signs.
    pub until: String,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct RotateQuery {
    /// How long the secret before goes on to sign; 0 when it was leaked.
    #[param(minimum = 0, maximum = 168, default = 24)]
    pub phase_out_hours: Option<u32>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FailedQuery {
    /// Deliveries per page.
    #[param(minimum = 1, maximum = 100, default = 50)]
    pub limit: Option<u32>,
    /// The `cursor` of the page before.
    pub cursor: Option<Uuid>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedPage {
    pub success: bool,
    pub data: Vec<FailedDelivery>,
    /// Pass it as `cursor` for the next page; null on the last one.
    pub cursor: Option<Uuid>,
}

/// A delivery that was given up.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedDelivery {
    /// The `webhookId` of its envelope.
    pub id: Uuid,
    /// For instance `crawl.page`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The crawl or batch it tells of.
    pub job_id: Uuid,
    /// Where it could not be delivered.
    pub url: String,
    pub attempts: u32,
    /// How the last attempt ended.
    pub error: Option<String>,
    pub created_at: String,
    pub failed_at: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, read};
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    struct Asked {
        webhook: WebhookAsked,
    }

    fn asked(webhook: &serde_json::Value) -> Result<WebhookAsked, crate::WireError> {
        read::body::<Asked>(json!({ "webhook": webhook }).to_string().as_bytes()).map(|asked| asked.webhook)
    }

    #[test]
    fn reads_both_forms_that_clients_send() {
        assert_eq!(asked(&json!("https://a.test/")).unwrap(), WebhookAsked::Plain("https://a.test/".into()));
        let object = json!({
            "url": "https://a.test/", "headers": { "X-A": "1" }, "metadata": { "k": "v" }, "events": ["page"],
        });
        let WebhookAsked::Object(object) = asked(&object).unwrap() else { panic!("an object") };
        assert_eq!(object.headers.unwrap()["X-A"], "1");
        assert_eq!((object.metadata.unwrap()["k"].as_str(), object.events.unwrap().len()), ("v", 1));
        assert!(asked(&json!({ "url": "https://a.test/", "headers": null, "events": null })).is_ok());
    }

    #[test]
    fn refuses_what_it_does_not_know_and_says_where() {
        let unknown = asked(&json!({ "url": "https://a.test/", "event": ["page"] })).unwrap_err();
        assert_eq!(unknown.kind, Kind::UnknownKeys);
        assert_eq!(unknown.details().unwrap()[0]["path"], json!(["webhook", "event"]));
        let wrong = asked(&json!({ "url": "https://a.test/", "metadata": { "k": 1 } })).unwrap_err();
        assert_eq!(wrong.details().unwrap()[0]["path"], json!(["webhook", "metadata", "k"]));
        for none in [json!({}), json!(3), json!(["https://a.test/"])] {
            assert_eq!(asked(&none).unwrap_err().kind, Kind::BadRequest, "{none}");
        }
    }

    #[test]
    fn an_envelope_reads_as_the_contract_says() {
        let metadata = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
        let envelope = WebhookEnvelope {
            success: true,
            kind: "crawl.page",
            id: Uuid::nil(),
            webhook_id: Uuid::nil(),
            data: Vec::new(),
            metadata: &metadata,
            error: None,
        };
        let nil = Uuid::nil();
        assert_eq!(
            serde_json::to_string(&envelope).unwrap(),
            format!(
                r#"{{"success":true,"type":"crawl.page","id":"{nil}","webhookId":"{nil}","data":[],"metadata":{{"k":"v"}}}}"#
            )
        );
    }
}
