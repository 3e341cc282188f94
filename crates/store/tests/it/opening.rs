//! Opening: migrations by many at once, foreign schemas, the file's privacy, size, closing.

use crate::crawls_ground::{crawl, pages};
use crate::ground::{TestStore, number, options, run_sql};
use store::StoreError;

/// The version of the newest migration.
const NEWEST: i64 = 22;

on_both!(
    many_open_an_empty_database_at_once,
    a_database_of_the_first_version_is_brought_up_to_date,
    a_newer_schema_is_refused,
    a_changed_migration_is_refused,
    a_store_tells_about_itself,
    what_was_written_is_there_after_opening_again,
);

/// The URL of a database that nothing was done to yet.
fn empty(ground: &TestStore) -> String {
    if ground.store.backend() == "sqlite" {
        ground.url.replace("store.db", "empty.db")
    } else {
        testkit::postgres::shared_database()
    }
}

async fn many_open_an_empty_database_at_once(ground: TestStore) {
    let url = empty(&ground);
    let mut starting = Vec::new();
    for _ in 0..8 {
        let options = options(&url);
        starting.push(tokio::spawn(async move { store::migrate(&options).await }));
    }
    let mut applied = 0_usize;
    for one in starting {
        let report = one.await.unwrap().expect("each of them starts");
        assert_eq!(report.to, NEWEST);
        applied += report.applied.len();
    }
    assert_eq!(i64::try_from(applied).unwrap(), NEWEST, "each migration is applied once");
    let store = crate::ground::open(&url).await;
    assert_eq!(store.schema_version().await.unwrap(), NEWEST);
    let report = store::migrate(&options(&url)).await.unwrap();
    assert_eq!((report.from, report.to, report.applied.len()), (NEWEST, NEWEST, 0));
}

/// As the first release left it: a newer program keeps what is there and adds what is missing.
async fn a_database_of_the_first_version_is_brought_up_to_date(ground: TestStore) {
    let url = empty(&ground);
    let [table, first, total] = if ground.store.backend() == "sqlite" {
        std::fs::write(url.strip_prefix("sqlite:").unwrap(), "").unwrap();
        [
            include_str!("../../src/sqlite/migrations/schema_migrations.sql"),
            include_str!("../../src/sqlite/migrations/0001_ground.sql"),
            "INSERT INTO object_totals VALUES (x'0123456789abcdef0123456789abcdef', 7)",
        ]
    } else {
        [
            include_str!("../../src/postgres/migrations/schema_migrations.sql"),
            include_str!("../../src/postgres/migrations/0001_ground.sql"),
            "INSERT INTO object_totals VALUES ('0123456789abcdef0123456789abcdef', 7)",
        ]
    };
    run_sql(&url, table).await;
    run_sql(&url, first).await;
    // The checksums of the published text, on both stores: it must never change.
    let remember = if ground.store.backend() == "sqlite" {
        "INSERT INTO schema_migrations VALUES (1, 'ground', '9da044e915c1d19a32cdc4ee428b86b78259b786fc73364a27e9300e75348519', 0)"
    } else {
        "INSERT INTO schema_migrations VALUES (1, 'ground', 'bb08647dae600460872cbb4f423c9345cd21f2bd2e430bb23192ad4ea238f78e', 0)"
    };
    run_sql(&url, remember).await;
    run_sql(&url, total).await;
    let report = store::migrate(&options(&url)).await.unwrap();
    assert_eq!((report.from, report.to), (1, NEWEST));
    let store = crate::ground::open(&url).await;
    assert_eq!(store.object_bytes().await.unwrap(), 7, "what was there is there");
    assert_eq!(store.cache_bytes().await.unwrap(), 0);
    let job_tables = if store.backend() == "sqlite" {
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('jobs', 'job_rows')"
    } else {
        "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename IN ('jobs', 'job_rows')"
    };
    assert_eq!(number(&url, job_tables).await, 0, "the job queue of the first version is gone");
}

async fn a_newer_schema_is_refused(ground: TestStore) {
    run_sql(&ground.url, "INSERT INTO schema_migrations VALUES (99, 'later', 'x', 0)").await;
    for error in [
        store::open(&options(&ground.url)).await.err().expect("not opened"),
        store::migrate(&options(&ground.url)).await.expect_err("not migrated"),
    ] {
        assert!(matches!(&error, StoreError::Schema(text) if text.contains("99")), "{error}");
        assert!(!error.is_retryable());
    }
}

async fn a_changed_migration_is_refused(ground: TestStore) {
    run_sql(&ground.url, "UPDATE schema_migrations SET checksum = 'x' WHERE version = 1").await;
    let error = store::open(&options(&ground.url)).await.err().expect("not opened");
    assert!(matches!(error, StoreError::Schema(_)), "{error}");
}

async fn a_store_tells_about_itself(ground: TestStore) {
    ground.store.ping().await.unwrap();
    assert_eq!(ground.store.schema_version().await.unwrap(), NEWEST);
    assert!(ground.store.size_bytes().await.unwrap() > 10_000);
    ground.store.shut_down().await;
    let error = ground.store.ping().await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
}

async fn what_was_written_is_there_after_opening_again(ground: TestStore) {
    let new = crawl(ground.team);
    let id = new.id;
    ground.store.start_crawl(new, pages(1..=2)).await.unwrap();
    ground.store.shut_down().await;
    let again = ground.another().await;
    assert_eq!(again.crawl(ground.team, id).await.unwrap().unwrap().counts.queued, 2);
}

#[tokio::test]
async fn a_new_file_is_private_and_a_missing_folder_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let ground = TestStore::sqlite().await;
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
