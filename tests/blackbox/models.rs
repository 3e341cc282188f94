//! What a language model is needed for, with a scripted one: what callers get, what the model is told, and what happens when it fails.

mod clients;
mod command;
mod crawl;
mod failures;
mod formats;
mod safety;
mod setup;

use crate::http::{Http, Reply};
use crate::scrape::{House, scrape_as};
use serde_json::{Value, json};
use testkit::ModelServer;
use testkit::model_server::MODEL;

/// The key of the model's server, which must never be seen.
pub const MODEL_KEY: &str = "sk-model-0123456789";

/// A server with a language model, and a site to scrape.
struct Study {
    house: House,
    model: ModelServer,
}

impl Study {
    async fn open(model: ModelServer) -> Self {
        Self::with(model, &[]).await
    }

    async fn with(model: ModelServer, settings: &[(&str, &str)]) -> Self {
        let url = model.url();
        let house = House::with(|recipe| {
            let recipe = recipe.set("model_url", &url).set("model_name", MODEL).set("model_key", MODEL_KEY);
            settings.iter().fold(recipe, |recipe, (name, value)| recipe.set(name, value))
        });
        Self { house: house.await, model }
    }

    fn http(&self) -> &Http {
        self.house.http()
    }

    async fn scrape(&self, path: &str, format: Value) -> Reply {
        self.house.scrape(path, json!({ "formats": [format] })).await
    }

    /// A page with this text.
    async fn scrape_text(&self, text: &str, options: Value) -> Reply {
        self.house.site.change(200, text);
        let mut options = options;
        options["maxAge"] = 0.into();
        scrape_as(self.http(), &self.house.site.url("/changing"), options).await
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
