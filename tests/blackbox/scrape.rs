//! Scraping, as a caller sees it: a server, a small web beside it, and what comes back.

mod command;
mod documents;
mod errors;
mod formats;
mod honesty;
mod limits;
mod options;
mod privacy;
mod records;
mod refusals;
mod tracking;

use crate::http::{Http, Reply};
use crate::server::{Recipe, Server};
use crate::site::Site;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::TempDir;

/// A server that may scrape loopback, and a site to scrape.
pub struct House {
    pub dir: TempDir,
    pub server: Server,
    pub site: Site,
}

/// A file as it was downloaded.
pub struct Download {
    pub status: u16,
    pub mime: String,
    pub bytes: Vec<u8>,
}

/// Settings of a server that may scrape loopback.
pub fn recipe(dir: &TempDir) -> Recipe {
    Recipe::at(dir.path()).set("egress_allow", "scrape=127.0.0.0/8,::1/128")
}

impl House {
    pub async fn open() -> Self {
        Self::with(|recipe| recipe).await
    }

    pub async fn with(change: impl FnOnce(Recipe) -> Recipe) -> Self {
        let dir = TempDir::new();
        let server = change(recipe(&dir)).start().await;
        Self { dir, server, site: Site::start() }
    }

    pub fn http(&self) -> &Http {
        &self.server.http
    }

    /// Scrapes a page of the site.
    pub async fn scrape(&self, path: &str, options: Value) -> Reply {
        scrape_as(self.http(), &self.site.url(path), options).await
    }

    /// Scrapes a page of the site, which must work.
    #[track_caller]
    pub fn document(&self, path: &str, options: Value) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let reply = self.scrape(path, options).await;
            assert_eq!(
                (reply.status, &reply.json["success"]),
                (200, &json!(true)),
                "{caller}: {}",
                reply.text
            );
            reply.json["data"].clone()
        }
    }

    /// A file that an answer points to.
    pub async fn download(&self, url: &Value) -> Download {
        let url = url.as_str().expect("an address");
        let path =
            url.strip_prefix(&self.http().base).unwrap_or_else(|| panic!("{url} is not of this server"));
        // Whoever has the address may have the file: no key.
        let answer = self.http().with_key(None).request(Method::GET, path).send().await.unwrap();
        let mime = answer.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        Download {
            status: answer.status().as_u16(),
            mime: mime.unwrap_or_default(),
            bytes: answer.bytes().await.unwrap().to_vec(),
        }
    }

    /// A key of a second team.
    pub async fn stranger(&self) -> Http {
        stranger(&self.dir, self.http()).await
    }

    pub async fn credits_used(&self) -> u64 {
        let usage = self.http().get("/v2/team/credit-usage/historical").await.unwrap();
        usage.is_success()["periods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["creditsUsed"].as_u64().unwrap())
            .sum()
    }
}

/// The same server, asked by a second team.
pub async fn stranger(dir: &TempDir, http: &Http) -> Http {
    http.with_key(Some(&stranger_key(dir).await))
}

/// A key of a second team of a server on SQLite.
pub async fn stranger_key(dir: &TempDir) -> String {
    let url = format!("sqlite:{}", dir.join("data/gannet.db").display());
    let store = store::open(&store::StoreOptions::new(url)).await.unwrap();
    let team = store::keys::NewTeam {
        id: uuid::Uuid::now_v7(),
        name: "strangers".to_owned(),
        plan: "unlimited".to_owned(),
        zero_data_retention: false,
    };
    let team = store.create_team(team).await.unwrap().id;
    let secret = engine::keys::Secret::random().unwrap();
    engine::keys::create(store.as_ref(), team, "s", wire::Scope::ALL, None, &secret).await.unwrap();
    store.shut_down().await;
    secret.reveal().to_owned()
}

pub async fn scrape_as(http: &Http, url: &str, options: Value) -> Reply {
    let mut body = options;
    body["url"] = url.into();
    http.post("/v2/scrape", &body).await.unwrap()
}

/// The reply is an error with this status and code; its details.
#[track_caller]
pub fn failed<'a>(reply: &'a Reply, status: u16, code: &str) -> &'a Value {
    assert_eq!(
        (reply.status, reply.json["code"].as_str().unwrap_or_default()),
        (status, code),
        "{}",
        reply.text
    );
    assert_eq!(reply.json["success"], false, "{}", reply.text);
    assert!(!reply.json["error"].as_str().unwrap_or_default().is_empty(), "{}", reply.text);
    &reply.json["details"]
}

/// A value of the document is a text that has all these parts.
#[track_caller]
pub fn has(value: &Value, parts: &[&str]) {
    let text = value.as_str().unwrap_or_else(|| panic!("not a text: {value}"));
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

/// A value of the document is a text that has none of these parts.
#[track_caller]
pub fn lacks(value: &Value, parts: &[&str]) {
    let text = value.as_str().unwrap_or_else(|| panic!("not a text: {value}"));
    for part in parts {
        assert!(!text.contains(part), "{part:?} is in:\n{text}");
    }
}
