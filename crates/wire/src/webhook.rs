//! Webhooks: the request option, the envelope that is sent, and the team's view of secrets and failed
//! deliveries.

use crate::SecretHeaders;
use crate::scrape::plain_or_object;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

plain_or_object! {
    /// `webhook`: a URL, or an object with options.
    WebhookInput as WebhookAsked { string(String) by visit_str: &str, visit_string: String; WebhookObject }
}

/// A webhook with options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct WebhookObject {
    /// An http or https URL.
    pub url: String,
    /// Sent with every delivery, for instance an authorization header of the receiver.
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub headers: Option<SecretHeaders>,
    /// Returned unchanged in every delivery.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Which events to send, by their short names; all by default.
    pub events: Option<Vec<String>>,
}

/// The body of a webhook delivery. The order of the fields is the order in the JSON.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEnvelope<'a> {
    /// `false` if the event is a failure.
    pub success: bool,
    /// For instance `crawl.page`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// Id of the crawl or batch.
    pub id: Uuid,
    /// Id of the delivery; the same for every attempt.
    pub webhook_id: Uuid,
    #[schema(value_type = Vec<Object>)]
    pub data: Vec<serde_json::Value>,
    pub metadata: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
}

/// The secrets that sign the team's webhooks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSecretView {
    /// The current secret.
    pub secret: String,
    pub created_at: String,
    /// The previous secret, while it is phased out: until then it still makes `X-Firecrawl-Signature`.
    pub previous: Option<PreviousSecret>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviousSecret {
    pub secret: String,
    pub created_at: String,
    /// From then on the current secret signs.
    pub until: String,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct RotateQuery {
    /// How many hours the previous secret continues to sign; 0 if it was leaked.
    #[param(minimum = 0, maximum = 168, default = 24)]
    pub phase_out_hours: Option<u32>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FailedQuery {
    /// Deliveries per page.
    #[param(minimum = 1, maximum = 100, default = 50)]
    pub limit: Option<u32>,
    /// The `cursor` of the previous page.
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
    /// The crawl, batch, run or check of the event.
    pub job_id: Uuid,
    /// The URL it could not be delivered to; `mailto:` and the recipient for mail.
    pub url: String,
    pub attempts: u32,
    /// The error of the last attempt.
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
    struct ExampleRequest {
        webhook: WebhookInput,
    }

    fn asked(webhook: &serde_json::Value) -> Result<WebhookInput, crate::WireError> {
        read::body::<ExampleRequest>(json!({ "webhook": webhook }).to_string().as_bytes())
            .map(|asked| asked.webhook)
    }

    #[test]
    fn reads_both_forms_that_clients_send() {
        assert_eq!(asked(&json!("https://a.test/")).unwrap(), WebhookInput::Plain("https://a.test/".into()));
        let object = json!({
            "url": "https://a.test/", "headers": { "X-A": "1" }, "metadata": { "k": "v" }, "events": ["page"],
        });
        let WebhookInput::Object(object) = asked(&object).unwrap() else { panic!("an object") };
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
