//! Opening: migrations by many at once, foreign schemas, the file's privacy, size, closing.

use crate::ground::{Ground, job, options};
use store::StoreError;

on_both!(
    many_open_an_empty_database_at_once,
    a_newer_schema_is_refused,
    a_changed_migration_is_refused,
    a_store_tells_about_itself,
    what_was_written_is_there_after_opening_again,
);

/// The URL of a database that nothing was done to yet.
fn empty(ground: &Ground) -> String {
    if ground.store.backend() == "sqlite" {
        ground.url.replace("store.db", "empty.db")
    } else {
        testkit::postgres::shared_database()
    }
}

async fn run_sql(url: &str, sql: &'static str) {
    use sqlx::Connection;
    if let Some(path) = url.strip_prefix("sqlite:") {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    } else {
        let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    }
}

async fn many_open_an_empty_database_at_once(ground: Ground) {
    let url = empty(&ground);
    let mut starting = Vec::new();
    for _ in 0..8 {
        let options = options(&url);
        starting.push(tokio::spawn(async move { store::migrate(&options).await }));
    }
    let mut applied = 0;
    for one in starting {
        let report = one.await.unwrap().expect("each of them starts");
        assert_eq!(report.to, 1);
        applied += report.applied.len();
    }
    assert_eq!(applied, 1, "each migration is applied once");
    let store = crate::ground::open(&url).await;
    assert_eq!(store.schema_version().await.unwrap(), 1);
    let report = store::migrate(&options(&url)).await.unwrap();
    assert_eq!((report.from, report.to, report.applied.len()), (1, 1, 0));
}

async fn a_newer_schema_is_refused(ground: Ground) {
    run_sql(&ground.url, "INSERT INTO schema_migrations VALUES (99, 'later', 'x', 0)").await;
    for error in [
        store::open(&options(&ground.url)).await.err().expect("not opened"),
        store::migrate(&options(&ground.url)).await.expect_err("not migrated"),
    ] {
        assert!(matches!(&error, StoreError::Schema(text) if text.contains("99")), "{error}");
        assert!(!error.is_retryable());
    }
}

async fn a_changed_migration_is_refused(ground: Ground) {
    run_sql(&ground.url, "UPDATE schema_migrations SET checksum = 'x' WHERE version = 1").await;
    let error = store::open(&options(&ground.url)).await.err().expect("not opened");
    assert!(matches!(error, StoreError::Schema(_)), "{error}");
}

async fn a_store_tells_about_itself(ground: Ground) {
    ground.store.ping().await.unwrap();
    assert_eq!(ground.store.schema_version().await.unwrap(), 1);
    assert!(ground.store.size_bytes().await.unwrap() > 10_000);
    ground.store.shut_down().await;
    let error = ground.store.ping().await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
}

async fn what_was_written_is_there_after_opening_again(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    ground.store.shut_down().await;
    let again = ground.another().await;
    assert!(again.job(ground.team, id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_new_file_is_private_and_a_missing_folder_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let ground = Ground::sqlite().await;
    let path = ground.url.strip_prefix("sqlite:").unwrap();
    for suffix in ["", "-wal"] {
        let mode = std::fs::metadata(format!("{path}{suffix}")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{suffix}");
    }
    let error = store::open(&options("sqlite:/nowhere/at/all.db")).await.err().expect("not opened");
    assert!(error.to_string().contains("/nowhere/at/all.db"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = testkit::TempDir::new();
    let path = folder.join("notes.txt");
    std::fs::write(&path, "these are notes, and long enough to look like something else entirely".repeat(99))
        .unwrap();
    let error = store::open(&options(&format!("sqlite:{}", path.display()))).await.err().expect("not opened");
    assert!(!error.is_retryable(), "{error}");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("these are notes"), "and left as it is");
}
