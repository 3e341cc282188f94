//! Features that need a language model, with a scripted one: what callers get, what the model is sent, and
//! what happens when it fails.

mod clients;
mod command;
mod crawl;
mod failures;
mod formats;
mod safety;
mod setup;

use crate::http::{Http, HttpResponse};
use crate::scrape::{ScrapeFixture, scrape_as};
use serde_json::{Value, json};
use testkit::ModelServer;
use testkit::model_server::MODEL;

/// The key of the model server, which must never be shown.
pub const MODEL_KEY: &str = "sk-model-0123456789";

/// A server with a language model, and a site to scrape.
struct ModelFixture {
    scraping: ScrapeFixture,
    model: ModelServer,
}

impl ModelFixture {
    async fn open(model: ModelServer) -> Self {
        Self::with(model, &[]).await
    }

    async fn with(model: ModelServer, settings: &[(&str, &str)]) -> Self {
        let url = model.url();
        let fixture = ScrapeFixture::with(|config| {
            let config = config.set("model_url", &url).set("model_name", MODEL).set("model_key", MODEL_KEY);
            settings.iter().fold(config, |config, (name, value)| config.set(name, value))
        });
        Self { scraping: fixture.await, model }
    }

    fn http(&self) -> &Http {
        self.scraping.http()
    }

    async fn scrape(&self, path: &str, format: Value) -> HttpResponse {
        self.scraping.scrape(path, json!({ "formats": [format] })).await
    }

    /// A page with this text.
    async fn scrape_text(&self, text: &str, options: Value) -> HttpResponse {
        self.scraping.site.change(200, text);
        let mut options = options;
        options["maxAge"] = 0.into();
        scrape_as(self.http(), &self.scraping.site.url("/changing"), options).await
    }
}

fn schema() -> Value {
    json!({ "type": "object", "properties": {
        "title": { "type": "string" }, "metres": { "type": "integer", "description": "height of the dive" } },
        "required": ["title", "metres"], "additionalProperties": false })
}

fn json_format() -> Value {
    json!({ "type": "json", "schema": schema(), "prompt": "the title, and from how high gannets dive" })
}
