//! What every test stands on: a fresh store with a team, and short ways to make what is stored.

use sqlx::Connection;
use std::sync::Arc;
use std::time::Duration;
use store::keys::{NewKey, NewTeam};
use store::pages::NewPage;
use store::scrapes::NewScrape;
use store::secrets::{SecretKey, SecretKeys};
use store::{Store, StoreOptions};
use testkit::TempDir;
use uuid::Uuid;

pub const HOUR: Duration = Duration::from_hours(1);
pub const NOW: Duration = Duration::ZERO;
/// Two hexadecimal digits, of which the key of every store of a test is made.
pub const KEY: &str = "ab";

pub struct TestStore {
    pub url: String,
    pub store: Arc<dyn Store>,
    pub team: Uuid,
    _folder: Option<TempDir>,
}

impl TestStore {
    pub async fn sqlite() -> Self {
        let folder = TempDir::new();
        let url = format!("sqlite:{}", folder.join("store.db").display());
        Self::new(url, Some(folder)).await
    }

    pub async fn postgres() -> Self {
        Self::new(testkit::postgres::shared_database(), None).await
    }

    /// On a database of the test's own cluster.
    pub async fn at(url: String) -> Self {
        Self::new(url, None).await
    }

    async fn new(url: String, folder: Option<TempDir>) -> Self {
        let store = open(&url).await;
        let team = team(&*store, "free").await;
        Self { url, store, team, _folder: folder }
    }

    /// The same store, seen by another team.
    pub fn with_team(&self, team: Uuid) -> Self {
        Self { url: self.url.clone(), store: self.store.clone(), team, _folder: None }
    }

    /// A second store on the same database, as another process would have. On SQLite that is another
    /// set of connections to the same file.
    pub async fn another(&self) -> Arc<dyn Store> {
        open(&self.url).await
    }

    /// Bytes of a kind of stored things, counted anew: what the running total must be.
    pub async fn counted(&self, kind: &str) -> i64 {
        let sql = match kind {
            "cache" => {
                "SELECT CAST((SELECT coalesce(sum(bytes), 0) FROM pages)
                     + (SELECT coalesce(sum(bytes), 0) FROM scrapes) AS BIGINT)"
            }
            "search" => "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM search_pages",
            _ => "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM snapshots",
        };
        number(&self.url, sql).await
    }
}

pub async fn open(url: &str) -> Arc<dyn Store> {
    store::open(&options(url)).await.expect("the store opens")
}

/// A database with the key of every test, and nothing else set.
pub fn plain_options(url: &str) -> StoreOptions {
    let key = SecretKey::parse(&KEY.repeat(32)).expect("a key");
    StoreOptions::new(url).with_secret_keys(SecretKeys::new(key))
}

pub fn options(url: &str) -> StoreOptions {
    let mut options = plain_options(url);
    options.max_connections = 6;
    // Many races at once on a busy machine: waiting is not failing.
    options.wait = Duration::from_mins(1);
    options
}

/// Changes the database behind the store's back.
pub async fn run_sql(url: &str, sql: &'static str) {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    } else {
        let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    }
}

/// The one number that a query answers with, asked behind the store's back.
pub async fn number(url: &str, sql: &'static str) -> i64 {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    } else {
        let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    }
}

pub async fn team(store: &dyn Store, plan: &str) -> Uuid {
    let team =
        NewTeam { id: Uuid::now_v7(), name: "a team".into(), plan: plan.into(), zero_data_retention: false };
    store.create_team(team).await.expect("a team").id
}

pub fn key(team_id: Uuid, name: &str) -> NewKey {
    let id = Uuid::now_v7();
    let mut hash = [7; 32];
    hash[..16].copy_from_slice(id.as_bytes());
    let scopes = vec!["scrape".into(), "a \"quoted\" one".into()];
    let (name, hint, hosts) = (name.into(), "gn-abc".into(), Vec::new());
    NewKey { id, team_id, name, hint, hash, scopes, expires_at: None, hosts }
}

pub fn scrape(team_id: Uuid) -> NewScrape {
    NewScrape {
        id: Uuid::now_v7(),
        team_id,
        key_id: None,
        endpoint: "scrape".into(),
        url: "http://example.test/".into(),
        ok: true,
        result: None,
        error: None,
        page: None,
        search: None,
        credits: 1,
        reservation: None,
        audit: None,
        took: None,
        keep_for: HOUR,
        private: false,
        claim: None,
    }
}

pub fn page(n: u8, body: &[u8]) -> NewPage {
    NewPage {
        key: [n; 32],
        url: "http://example.test/".into(),
        final_url: "http://example.test/".into(),
        status: 200,
        content_type: "text/html".into(),
        headers: "{}".into(),
        rung: "http".into(),
        body: body.to_vec(),
        keep_for: HOUR,
    }
}

/// Waits until the database's clock has moved on by some milliseconds.
pub async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(15)).await;
}

/// How many cases a random test runs: a few, or many when soaking.
pub fn cases(few: u32, many: u32) -> u32 {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { many } else { few }
}
