//! Search finds every page that the server read and may show to others of the team, whatever read it.

use super::search_urls;
use crate::crawl::{started_id, wait_for_end};
use crate::http::Http;
use crate::scrape::{config, scrape_as};
use crate::search::search_engine::SearchEngine;
use crate::server::Server;
use crate::site_server::SiteServer;
use crate::wait::eventually;
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::fmt::Write as _;
use testkit::TempDir;

/// A part of the site: its pages have a word that is on no other page.
type Part = (&'static str, usize);

const SCRAPED: Part = ("scraped", 10);
/// Scraped without a format from which text is made.
const LINKS_ONLY: Part = ("linksonly", 10);
const BATCH: Part = ("batched", 40);
const CRAWLED: Part = ("crawled", 42);
/// Scraped because a search found them.
const SEARCHED: Part = ("searched", 10);
const AGENT: Part = ("agentread", 10);
const EXTRACT: Part = ("extracted", 10);
const CHECKED: Part = ("checked", 8);
/// Found and read by the crawl of a check.
const CHECKED_SITE: Part = ("sitechecked", 10);
/// Read while the server indexed nothing; taken from the cache by scrapes, and by a crawl, later.
const CACHED: Part = ("cachedscrape", 10);
const CACHED_CRAWL: Part = ("cachedcrawl", 40);

const FOUND: [Part; 11] = [
    SCRAPED,
    LINKS_ONLY,
    BATCH,
    CRAWLED,
    SEARCHED,
    AGENT,
    EXTRACT,
    CHECKED,
    CHECKED_SITE,
    CACHED,
    CACHED_CRAWL,
];
const PAGES: usize = 200;

/// Read by requests whose pages are for themselves alone.
const PRIVATE: [Part; 2] = [("notcached", 1), ("withcookie", 1)];

/// A site of parts: `/NAME/` links to its pages, `/NAME/0` and so on.
fn start_site() -> SiteServer {
    let page = |title: &str, body: &str| {
        Html(format!(
            "<!doctype html><html lang=en><title>{title}</title><main><h1>{title}</h1>{body}\
             <p>Northern gannets breed in colonies on cliffs and dive from thirty metres for fish.</p></main>"
        ))
    };
    let start = move |Path(name): Path<String>| async move {
        let part = FOUND.into_iter().find(|part| part.0 == name).ok_or(StatusCode::NOT_FOUND)?;
        let links = urls_of("", part).iter().fold(String::new(), |mut links, url| {
            let _ = write!(links, "<li><a href={url}>A page</a>");
            links
        });
        Ok::<_, StatusCode>(page("Contents", &format!("<ul>{links}</ul>")))
    };
    let one = move |Path((name, number)): Path<(String, usize)>| async move {
        page(
            &format!("Colony {number}"),
            &format!(
                "<p>The {name}word is here, and own{number}{name} too.</p><dl><dt>Nests<dd>{number}</dl>"
            ),
        )
    };
    SiteServer::start(Router::new().route("/{name}/", get(start)).route("/{name}/{number}", get(one)))
}

/// The pages of a part, without its start page.
fn urls_of(base: &str, (name, pages): Part) -> Vec<String> {
    (0..pages).map(|number| format!("{base}/{name}/{number}")).collect()
}

struct Reader {
    server: Server,
    engine: SearchEngine,
    site: SiteServer,
}

impl Reader {
    fn http(&self) -> &Http {
        &self.server.http
    }

    fn urls(&self, part: Part) -> Vec<String> {
        urls_of(&self.site.base, part)
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.http().post(path, &body).await.unwrap().expect_success().clone()
    }

    async fn scrape(&self, part: Part, options: Value) {
        for url in self.urls(part) {
            scrape_as(self.http(), &url, options.clone()).await.expect_success();
        }
    }

    async fn batch(&self, parts: &[Part]) {
        let urls: Vec<String> = parts.iter().flat_map(|part| self.urls(*part)).collect();
        let response = self.http().post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap();
        let done = wait_for_end(self.http(), &format!("/v2/batch/scrape/{}", started_id(&response))).await;
        assert_eq!(done["completed"], urls.len(), "{done}");
    }

    async fn crawl(&self, part: Part) -> Value {
        let url = self.site.url(&format!("/{}/", part.0));
        let response = self.http().post("/v2/crawl", &json!({ "url": url })).await.unwrap();
        let done = wait_for_end(self.http(), &format!("/v2/crawl/{}", started_id(&response))).await;
        assert_eq!(done["completed"], part.1 + 1, "{done}");
        done
    }

    async fn run_agent(&self, part: Part) {
        let schema = json!({ "type": "object", "properties": { "nests": { "type": "number" } } });
        let body = json!({ "urls": self.urls(part), "prompt": "How many nests?", "schema": schema,
            "strictConstrainToURLs": true });
        self.run("/v2/agent", body).await;
    }

    async fn extract(&self, part: Part, options: Value) {
        let body = json!({ "urls": self.urls(part), "prompt": "How many nests?", "scrapeOptions": options });
        self.run("/v2/extract", body).await;
    }

    async fn run(&self, path: &str, body: Value) {
        let started = self.post(path, body).await;
        self.wait_until_ended(&format!("{path}/{}", started["id"].as_str().unwrap())).await;
    }

    /// Starts the first check of a monitor with these targets.
    async fn start_check(&self, targets: Value) -> String {
        let body = json!({ "name": "Colonies", "schedule": { "cron": "17 3 1 1 *" }, "targets": targets });
        let monitor = self.post("/v2/monitor", body).await["data"]["id"].as_str().unwrap().to_owned();
        let check = self.post(&format!("/v2/monitor/{monitor}/run"), json!({})).await;
        format!("/v2/monitor/{monitor}/checks/{}", check["id"].as_str().unwrap())
    }

    /// Waits for the end of a run, an extraction or a check.
    async fn wait_until_ended(&self, path: &str) {
        eventually("the work ends", async || {
            let json = self.http().get(path).await.unwrap().expect_success().clone();
            let status = json["data"]["status"].as_str().or(json["status"].as_str()).unwrap();
            !["queued", "running", "processing"].contains(&status)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_finds_every_page_that_any_capability_read() {
    assert_eq!(FOUND.iter().map(|part| part.1).sum::<usize>(), PAGES);
    let (dir, engine) = (TempDir::new(), SearchEngine::start());
    let providers = format!("searxng={},local", engine.base);
    let settings = || config(&dir).set("browser", "off").set("search_providers", &providers);
    let server = settings().set("search_pages", "off").start().await;
    let reader = Reader { server, engine, site: start_site() };
    reader.batch(&[CACHED, CACHED_CRAWL]).await;
    let Reader { server, engine, site } = reader;
    drop(server);
    let reader = Reader { server: settings().start().await, engine, site };

    let checked = reader.urls(CHECKED);
    let site = reader.site.url(&format!("/{}/", CHECKED_SITE.0));
    let check = reader
        .start_check(json!([{ "type": "scrape", "urls": checked }, { "type": "crawl", "url": site }]))
        .await;
    reader.scrape(SCRAPED, json!({})).await;
    reader.scrape(LINKS_ONLY, json!({ "formats": ["links"] })).await;
    reader.batch(&[BATCH]).await;
    reader.crawl(CRAWLED).await;
    reader.engine.set_results(&reader.urls(SEARCHED));
    let asked = json!({ "query": "colonies", "scrapeOptions": { "formats": ["markdown"] } });
    let searched = reader.post("/v2/search", asked).await;
    assert!(searched["data"]["web"][9]["markdown"].is_string(), "{searched}");
    reader.engine.set_results(&[]);
    reader.extract(PRIVATE[0], json!({ "storeInCache": false })).await;
    reader.extract(PRIVATE[1], json!({ "headers": { "Cookie": "a=b" } })).await;
    reader.run_agent(AGENT).await;
    reader.extract(EXTRACT, json!({})).await;
    reader.scrape(CACHED, json!({})).await;
    let crawled = reader.crawl(CACHED_CRAWL).await;
    assert!(crawled.to_string().contains(r#""cacheState":"hit""#), "from the cache");
    reader.wait_until_ended(&check).await;

    for part in FOUND {
        let (word, mut wanted) = (format!("{}word", part.0), reader.urls(part));
        wanted.sort();
        let mut found = Vec::new();
        eventually(&format!("every page with {word} is found"), async || {
            found = search_urls(reader.http(), &word).await;
            found.sort();
            found == wanted
        })
        .await;
        let last = part.1 - 1;
        let own = search_urls(reader.http(), &format!("own{last}{}", part.0)).await;
        assert_eq!(own, reader.urls(part)[last..]);
    }
    // Whatever was read before these was found.
    for (name, _) in PRIVATE {
        assert!(search_urls(reader.http(), &format!("{name}word")).await.is_empty(), "{name}");
    }
}
