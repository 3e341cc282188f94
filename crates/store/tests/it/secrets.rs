//! Secrets at rest: encrypted in the database, bound to their rows, readable with the right keys only.

use crate::agents_ground::new_run;
use crate::crawls_ground::{crawl, delivery, pages};
use crate::ground::{HOUR, KEY, TestStore, number, options, run_sql};
use crate::monitors::new_monitor;
use sqlx::{AssertSqlSafe, Connection};
use std::sync::Arc;
use store::audit_log::Actor;
use store::monitors::NewMonitor;
use store::secrets::{Resealed, SecretKey, SecretKeys};
use store::{Store, StoreError, StoreOptions};
use uuid::Uuid;

on_both!(
    nothing_secret_is_in_the_database_in_clear,
    a_value_that_was_moved_to_another_row_is_not_read,
    another_key_is_refused_at_the_start,
    rows_from_before_are_read_and_encrypted_at_the_next_start,
    a_key_is_changed_without_losing_anything,
    a_lost_key_costs_what_it_encrypted_and_nothing_else,
    without_a_key_nothing_secret_is_written_or_read,
);

/// Stands in every value that must not be found.
const MARK: &str = "t0p-s3cret";
/// The columns that hold secrets, and whether they are text.
const COLUMNS: [(&str, &str, bool); 7] = [
    ("crawl_payloads", "request", true),
    ("run_payloads", "request", true),
    ("monitors", "request", true),
    ("deliveries", "target", true),
    ("webhook_secrets", "secret", true),
    ("profiles", "state", false),
    ("secrets", "secret", false),
];

/// One of everything that is secret.
struct Planted {
    crawl: Uuid,
    run: Uuid,
    monitor: Uuid,
    server_secret: [u8; 32],
}

async fn plant(ground: &TestStore) -> Planted {
    let store = &*ground.store;
    let (mut new, mut run) = (crawl(ground.team), new_run(ground.team));
    new.request = format!(r#"{{"headers":{{"Authorization":"{MARK}"}}}}"#);
    new.deliveries = vec![delivery(ground.team, new.id, "crawl.started")];
    new.deliveries[0].target = format!(r#"{{"url":"http://hook.test/","headers":{{"X-Login":"{MARK}"}}}}"#);
    run.request = format!(r#"{{"headers":{{"Cookie":"{MARK}"}}}}"#);
    let (crawl, run_id) = (new.id, run.id);
    let monitor = NewMonitor { request: format!(r#"{{"webhook":"{MARK}"}}"#), ..new_monitor(ground.team) };
    let monitor_id = monitor.id;
    store.create_monitor(monitor).await.unwrap();
    store.start_crawl(new, pages([1])).await.unwrap();
    ground.start_run(run).await;
    store.first_webhook_secret(ground.team, MARK).await.unwrap();
    let lease = store.acquire_profile(ground.team, "shop", HOUR).await.unwrap().unwrap();
    assert!(store.save_profile(&lease, MARK.into()).await.unwrap());
    let server_secret = store.server_secret("files").await.unwrap();
    Planted { crawl, run: run_id, monitor: monitor_id, server_secret }
}

async fn everything_is_read(store: &dyn Store, team: Uuid, planted: &Planted) {
    let crawl = store.crawl(team, planted.crawl).await.unwrap().unwrap();
    assert!(crawl.request.contains(MARK), "{}", crawl.request);
    assert_eq!(store.crawl_for_work(planted.crawl).await.unwrap().unwrap().request, crawl.request);
    let run = store.run(team, planted.run).await.unwrap().unwrap();
    assert!(run.request.contains(MARK), "{}", run.request);
    let monitor = store.monitor(team, planted.monitor).await.unwrap().unwrap();
    assert!(monitor.request.contains(MARK), "{}", monitor.request);
    assert_eq!(store.webhook_secrets(team).await.unwrap()[0].secret, MARK);
    assert_eq!(store.profile(team, "shop").await.unwrap().as_deref(), Some(MARK.as_bytes()));
    assert_eq!(store.server_secret("files").await.unwrap(), planted.server_secret);
    let mut claimed = store.claim_deliveries(10, HOUR).await.unwrap();
    let (lease, delivery) = claimed.pop().expect("the delivery is due");
    assert!(delivery.target.contains(MARK), "{}", delivery.target);
    let back = store::webhooks::DeliveryEnd::HandBack { delay: std::time::Duration::ZERO };
    assert!(store.end_delivery(lease, back).await.unwrap());
}

/// All values of the secret columns, as they are stored.
async fn stored(url: &str) -> Vec<Vec<u8>> {
    let mut values: Vec<Vec<u8>> = Vec::new();
    for (table, column, is_text) in COLUMNS {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
            let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
            let sql = AssertSqlSafe(format!("SELECT CAST({column} AS BLOB) FROM {table}"));
            values.extend(sqlx::query_scalar::<_, Vec<u8>>(sql).fetch_all(&mut connection).await.unwrap());
        } else {
            let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
            let bytes = if is_text { format!("convert_to({column}, 'UTF8')") } else { column.to_owned() };
            let sql = AssertSqlSafe(format!("SELECT {bytes} FROM {table}"));
            values.extend(sqlx::query_scalar::<_, Vec<u8>>(sql).fetch_all(&mut connection).await.unwrap());
        }
    }
    values
}

fn contains(values: &[Vec<u8>], text: &str) -> bool {
    values.iter().any(|value| memchr::memmem::find(value, text.as_bytes()).is_some())
}

fn key(digits: &str) -> SecretKey {
    SecretKey::parse(&digits.repeat(32)).unwrap()
}

fn with(url: &str, current: &str, previous: &[&str]) -> StoreOptions {
    let previous = previous.iter().map(|digits| key(digits)).collect();
    options(url).with_secret_keys(SecretKeys { current: key(current), previous })
}

async fn refusal(options: &StoreOptions) -> String {
    let error = store::open(options).await.err().expect("not opened");
    assert!(matches!(error, StoreError::Schema(_)) && !error.is_retryable(), "{error}");
    error.to_string()
}

async fn nothing_secret_is_in_the_database_in_clear(ground: TestStore) {
    let planted = plant(&ground).await;
    let values = stored(&ground.url).await;
    assert_eq!(values.len(), COLUMNS.len(), "one of each");
    assert!(!contains(&values, MARK), "a secret is readable in the database");
    assert!(values.iter().all(|value| memchr::memmem::find(value, b"sealed").is_some()));
    assert!(!values.iter().any(|value| memchr::memmem::find(value, &planted.server_secret).is_some()));
    everything_is_read(&*ground.store, ground.team, &planted).await;
    everything_is_read(&*ground.another().await, ground.team, &planted).await;
}

async fn a_value_that_was_moved_to_another_row_is_not_read(ground: TestStore) {
    let (first, second) = (crawl(ground.team), crawl(ground.team));
    let (one, two) = (first.id, second.id);
    ground.store.start_crawl(first, pages([1])).await.unwrap();
    ground.store.start_crawl(second, pages([1])).await.unwrap();
    run_sql(&ground.url, "UPDATE crawl_payloads SET request = (SELECT min(request) FROM crawl_payloads)")
        .await;
    let mut requests = Vec::new();
    for id in [one, two] {
        requests.push(ground.store.crawl(ground.team, id).await.unwrap().unwrap().request);
    }
    requests.sort();
    assert_eq!(requests[0], "", "the one that was overwritten with the other's");
    assert!(requests[1].starts_with('{'));
    assert_eq!(
        ground.store.active_crawls(ground.team, store::crawls::CrawlKind::Crawl, 10).await.unwrap().len(),
        2
    );
}

async fn another_key_is_refused_at_the_start(ground: TestStore) {
    let planted = plant(&ground).await;
    let [own, other] = [KEY, "cd"].map(|digits| key(digits).id().to_string());
    let text = refusal(&with(&ground.url, "cd", &[])).await;
    assert!(text.contains(&own) && text.contains(&other) && text.contains("secret_key"), "{text}");
    let known = store::secret_key_ids(&options(&ground.url)).await.unwrap();
    assert_eq!(known, [key(KEY).id()], "the refused key left nothing behind");
    everything_is_read(&*ground.another().await, ground.team, &planted).await;
}

async fn rows_from_before_are_read_and_encrypted_at_the_next_start(ground: TestStore) {
    let mut planted = plant(&ground).await;
    // As a version without encryption left it.
    run_sql(&ground.url, "DELETE FROM secret_keys").await;
    run_sql(&ground.url, "UPDATE crawl_payloads SET request = '{\"a\":\"t0p-s3cret\"}'").await;
    run_sql(&ground.url, "UPDATE run_payloads SET request = '{\"b\":\"t0p-s3cret\"}'").await;
    run_sql(&ground.url, "UPDATE monitors SET request = '{\"d\":\"t0p-s3cret\"}'").await;
    run_sql(&ground.url, "UPDATE deliveries SET target = '{\"c\":\"t0p-s3cret\"}'").await;
    run_sql(&ground.url, "UPDATE webhook_secrets SET secret = 't0p-s3cret'").await;
    let bytes = if ground.store.backend() == "sqlite" {
        ["UPDATE profiles SET state = CAST('t0p-s3cret' AS BLOB)", "UPDATE secrets SET secret = zeroblob(32)"]
    } else {
        [
            "UPDATE profiles SET state = convert_to('t0p-s3cret', 'UTF8')",
            "UPDATE secrets SET secret = decode(repeat('00', 32), 'hex')",
        ]
    };
    for statement in bytes {
        run_sql(&ground.url, statement).await;
    }
    planted.server_secret = [0; 32];
    // A store that was open already reads them too.
    everything_is_read(&*ground.store, ground.team, &planted).await;
    assert!(contains(&stored(&ground.url).await, MARK));
    let again = ground.another().await;
    assert!(!contains(&stored(&ground.url).await, MARK), "everything is encrypted when the store is open");
    everything_is_read(&*again, ground.team, &planted).await;
    let counted = number(
        &ground.url,
        "SELECT CAST(sum(octet_length(body) + octet_length(target) + 256) AS BIGINT) FROM deliveries",
    );
    assert_eq!(webhook_bytes(&ground.url).await, counted.await, "the total of stored bytes is still right");
}

async fn webhook_bytes(url: &str) -> i64 {
    let sql = if url.starts_with("sqlite:") {
        "SELECT bytes FROM stored_bytes WHERE kind = 'webhooks'"
    } else {
        "SELECT CAST((SELECT bytes FROM stored_bytes WHERE kind = 'webhooks')
             + (SELECT coalesce(sum(bytes), 0) FROM stored_changes WHERE kind = 'webhooks') AS BIGINT)"
    };
    number(url, sql).await
}

async fn a_key_is_changed_without_losing_anything(ground: TestStore) {
    let planted = plant(&ground).await;
    // Two processes on the way: both keys are read, the new one encrypts.
    let both = store::open(&with(&ground.url, "cd", &[KEY])).await.unwrap();
    everything_is_read(&*both, ground.team, &planted).await;
    let ids = store::secret_key_ids(&options(&ground.url)).await.unwrap();
    assert_eq!(ids, [key(KEY).id(), key("cd").id()]);
    let text = refusal(&options(&ground.url)).await;
    assert!(text.contains(&key("cd").id().to_string()), "who does not have the new key is refused: {text}");
    // What the first store writes meanwhile is still under the old key.
    ground.store.rotate_webhook_secret(ground.team, "newer", HOUR, &Actor::server()).await.unwrap();
    both.shut_down().await;
    let done = store::rekey_secrets(&with(&ground.url, "cd", &[KEY])).await.unwrap();
    assert_eq!(done, Resealed { sealed: 1, unreadable: 0 }, "the rest was encrypted anew at the start");
    assert_eq!(store::secret_key_ids(&options(&ground.url)).await.unwrap(), [key("cd").id()]);
    refusal(&options(&ground.url)).await;
    let only_new = store::open(&with(&ground.url, "cd", &[])).await.unwrap();
    let secrets = only_new.webhook_secrets(ground.team).await.unwrap();
    assert_eq!(secrets.iter().map(|one| one.secret.as_str()).collect::<Vec<_>>(), ["newer", MARK]);
    assert_eq!(only_new.profile(ground.team, "shop").await.unwrap().as_deref(), Some(MARK.as_bytes()));
    assert_eq!(only_new.server_secret("files").await.unwrap(), planted.server_secret);
}

async fn a_lost_key_costs_what_it_encrypted_and_nothing_else(ground: TestStore) {
    let planted = plant(&ground).await;
    let lost = with(&ground.url, "cd", &[]);
    refusal(&lost).await;
    assert_eq!(store::reset_secrets(&lost).await.unwrap(), Resealed { sealed: 0, unreadable: 7 });
    let store: Arc<dyn Store> = store::open(&lost).await.unwrap();
    // Whoever works on them finds nothing to go by, and ends them.
    assert_eq!(store.crawl(ground.team, planted.crawl).await.unwrap().unwrap().request, "");
    assert_eq!(store.run(ground.team, planted.run).await.unwrap().unwrap().request, "");
    assert_eq!(store.monitor(ground.team, planted.monitor).await.unwrap().unwrap().request, "");
    assert_eq!(store.claim_deliveries(10, HOUR).await.unwrap()[0].1.target, "");
    assert_eq!(store.profile(ground.team, "shop").await.unwrap(), None);
    assert_ne!(store.server_secret("files").await.unwrap(), planted.server_secret);
    assert!(store.webhook_secrets(ground.team).await.unwrap().is_empty());
    assert_eq!(store.first_webhook_secret(ground.team, "next").await.unwrap()[0].secret, "next");
    assert_eq!(store::reset_secrets(&lost).await.unwrap(), Resealed::default(), "once is enough");
}

async fn without_a_key_nothing_secret_is_written_or_read(ground: TestStore) {
    let planted = plant(&ground).await;
    let mut options = options(&ground.url);
    options.secret_keys = None;
    let store = store::open(&options).await.unwrap();
    assert!(store.team(ground.team).await.unwrap().is_some(), "everything else works");
    let misuse = |error: StoreError| assert!(matches!(error, StoreError::Misuse(_)), "{error}");
    misuse(store.crawl(ground.team, planted.crawl).await.unwrap_err());
    misuse(store.server_secret("files").await.unwrap_err());
    misuse(store.start_crawl(crawl(ground.team), pages([1])).await.unwrap_err());
    misuse(store.rotate_webhook_secret(ground.team, "x", HOUR, &Actor::server()).await.unwrap_err());
}
