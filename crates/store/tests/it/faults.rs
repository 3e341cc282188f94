//! Faults of disks and servers, made on purpose: full, failing, read-only, locked by others, out of connections, in recovery. Every
//! call fails as something that may pass, what can be read is read, nothing that was accepted is lost, and the same store works
//! again by itself when the fault is over.
//!
//! Faults of a disk concern a whole process, so they happen to one of their own: this test binary again, running one function below
//! on a small disk, or under a limit for the size of files.

use crate::crawls_ground::{crawl, pages, request};
use crate::ground::{HOUR, NOW, cases, page, scrape, team};
use bytes::Bytes;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::crawls::{AttemptEnd, NewCrawl};
use store::objects::{ObjectPlace, Objects};
use store::scrapes::NewScrape;
use store::{FullDisk, Store, StoreError, StoreOptions};
use testkit::{PostgresCluster, SmallDisk, TempDir};
use uuid::Uuid;

const FOLDER: &str = "GANNET_TEST_FAULT_FOLDER";
/// A store works again this soon after a fault is over.
const RECOVERY: Duration = Duration::from_secs(10);

/// Runs one function of this file in a process of its own, which begins with these words.
fn run_apart(name: &str, words: &[String], folder: &Path) {
    let (program, words) = words.split_first().expect("a program");
    let arguments = ["--ignored", "--nocapture", "--test-threads=1", "--exact"];
    let output = Command::new(program)
        .args(words)
        .arg(std::env::current_exe().expect("this program"))
        .args(arguments)
        .arg(format!("faults::{name}"))
        .env(FOLDER, folder)
        .output()
        .expect("a process of its own");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "{name} did not run: {}", text(&output.stdout));
}

/// Where the process that runs apart works; none where somebody runs its function by hand.
fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

async fn open(folder: &Path) -> Arc<dyn Store> {
    let mut options = crate::ground::options(&format!("sqlite:{}", folder.join("store.db").display()));
    options.wait = Duration::from_secs(2);
    store::open(&options).await.expect("the store opens")
}

/// Writes scrapes until one is refused; those that were accepted, and the refusal.
async fn write_until_refused(store: &dyn Store, team: Uuid, bytes: usize) -> (Vec<Uuid>, StoreError) {
    let mut accepted = Vec::new();
    for round in 0..20_000_u32 {
        // Bytes that no file system stores as a hole.
        let body = (0..bytes)
            .map(|at| (at ^ (round as usize).wrapping_mul(2_654_435_761)).to_le_bytes()[0])
            .collect();
        let new = NewScrape { result: Some(body), ..scrape(team) };
        let id = new.id;
        match store.record_scrapes(vec![new]).await {
            Ok(_) => accepted.push(id),
            Err(error) => return (accepted, error),
        }
    }
    panic!("nothing was ever refused");
}

async fn works_again(store: &dyn Store, team: Uuid) -> Uuid {
    let began = Instant::now();
    loop {
        let new = scrape(team);
        let id = new.id;
        match store.record_scrapes(vec![new]).await {
            Ok(_) => return id,
            Err(error) => {
                assert!(error.is_retryable(), "{error:?}");
                assert!(began.elapsed() < RECOVERY, "no recovery: {error:?}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn all_are_there(store: &dyn Store, team: Uuid, accepted: &[Uuid]) {
    for id in accepted {
        assert!(store.scrape(team, *id).await.expect("readable").is_some(), "{id} was accepted and is gone");
    }
    were_charged(store, team, accepted.len()).await;
}

async fn were_charged(store: &dyn Store, team: Uuid, scrapes: usize) {
    let used = store.balance(team).await.expect("readable").used;
    assert_eq!(used, i64::try_from(scrapes).unwrap(), "each was charged once");
}

async fn is_sound(folder: &Path) {
    use sqlx::Connection;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("store.db"));
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let verdict: String =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
    assert_eq!(verdict, "ok");
}

#[test]
fn a_full_disk_is_told_and_survived() {
    let folder = TempDir::new();
    let disk = SmallDisk::mount(&folder.join("disk"), "20m");
    run_apart("on_a_full_disk", &disk.enter(folder.path()), &folder.join("disk"));
}

#[tokio::test]
#[ignore = "not a test: runs on the small disk that another test mounts"]
async fn on_a_full_disk() {
    let Some(folder) = folder() else { return };
    let store = open(&folder).await;
    let team = team(&*store, "free").await;
    let objects = Objects::open(&ObjectPlace::Folder(folder.join("objects")), store.clone()).unwrap();
    let filler = folder.join("filler");
    let mut charged = 0;
    for round in 0..cases(3, 20) {
        // Deleted when the round ends: the documents of twenty rounds would fill the disk by themselves.
        let book = NewCrawl { retain_for: NOW, ..crawl(team) };
        store.start_crawl(book.clone(), pages(1..=1)).await.expect("there is room");
        // Somebody else's, and what they take away again is more than the log: a database that filled the disk alone has no room
        // to delete in, which is what `min_free_disk` is for.
        std::fs::write(&filler, vec![1; 8 << 20]).unwrap();
        let claimed = store.claim_entries(&request(1)).await.unwrap().remove(0);
        // Large writes and small ones: each leaves another amount of room.
        let (written, error) = write_until_refused(&*store, team, 40_000 >> (round % 3 * 2)).await;
        charged += written.len();
        assert!(matches!(error, StoreError::Full { disk: FullDisk::Database, .. }), "{error:?}");
        // To the last byte.
        let _ = std::fs::write(&filler, vec![1; 20 << 20]);
        for _ in 0..5 {
            // A small write may fit in what the log had taken before.
            let small = store.ping().await;
            assert!(small.is_ok() || small.is_err_and(|error| error.is_retryable()));
            let large = NewScrape { result: Some(vec![2; 900_000]), ..scrape(team) };
            let error = store.record_scrapes(vec![large]).await.expect_err("there is no room");
            assert!(matches!(error, StoreError::Full { .. } | StoreError::Unavailable(_)), "{error:?}");
        }
        let document = Some(vec![3; 900_000]);
        let document = AttemptEnd::Fetched { outcome: vec![1], document, page: None, search: None };
        let refused = store.end_attempts(vec![(claimed.lease, document.clone())]).await;
        assert!(refused.as_ref().is_err_and(StoreError::is_retryable), "{refused:?}");
        // What was accepted can be read meanwhile.
        for id in &written {
            assert!(store.scrape(team, *id).await.expect("readable").is_some(), "{id} is gone");
        }
        were_charged(&*store, team, charged).await;
        assert!(store.crawl(team, book.id).await.unwrap().is_some());
        let put = objects.put("files/a.bin", team, Bytes::from(vec![9; 900_000]), HOUR).await;
        assert!(put.is_err_and(|error| error.is_retryable()));

        std::fs::remove_file(&filler).unwrap();
        // Old records make room inside the file.
        let began = Instant::now();
        while let Err(error) = store.sweep_cache(0, 10_000).await {
            assert!(error.is_retryable() && began.elapsed() < RECOVERY, "{error:?}");
        }
        store.release_space().await.ok();
        works_again(&*store, team).await;
        charged += 1;
        assert!(began.elapsed() < RECOVERY, "{:?}", began.elapsed());
        assert!(store.ping().await.is_ok());
        let kept = store.end_attempts(vec![(claimed.lease, document)]).await.unwrap();
        assert_eq!(kept, [true], "what could not be written is written now");
        store.cancel_crawl(team, book.id).await.unwrap();
        were_charged(&*store, team, charged).await;
        while store.crawl_for_work(book.id).await.unwrap().is_some() {
            store.purge_crawls(10_000).await.unwrap();
            assert!(began.elapsed() < 2 * RECOVERY, "the crawl is purged");
        }
    }
    store.shut_down().await;
    is_sound(&folder).await;
}

#[test]
fn a_failing_disk_is_survived() {
    let folder = TempDir::new();
    // Writes past this size fail with an error that is not "full", in every file.
    let words = ["prlimit", "--fsize=3000000:unlimited"].map(String::from);
    run_apart("under_a_limit_for_files", &words, folder.path());
}

#[tokio::test]
#[ignore = "not a test: runs under the limit that another test sets"]
async fn under_a_limit_for_files() {
    let Some(folder) = folder() else { return };
    // SIGXFSZ, which would end the process.
    let _ignored = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(25)).unwrap();
    let store = open(&folder).await;
    let team = team(&*store, "free").await;
    let (mut accepted, error) = write_until_refused(&*store, team, 30_000).await;
    assert!(error.is_retryable(), "{error:?}");
    for _ in 0..5 {
        // The log starts again from its beginning when all of it is in the file, which makes room for some.
        let (more, error) = write_until_refused(&*store, team, 200_000).await;
        assert!(error.is_retryable(), "{error:?}");
        accepted.extend(more);
    }
    all_are_there(&*store, team, &accepted).await;
    let lifted = Command::new("prlimit")
        .args(["--fsize=unlimited:unlimited", "--pid", &std::process::id().to_string()])
        .status();
    assert!(lifted.is_ok_and(|status| status.success()));
    accepted.push(works_again(&*store, team).await);
    all_are_there(&*store, team, &accepted).await;
    store.shut_down().await;
    is_sound(&folder).await;
}

#[test]
fn a_file_that_cannot_be_written_or_opened_for_a_while_is_survived() {
    let folder = TempDir::new();
    let disk = SmallDisk::mount(&folder.join("disk"), "6m");
    let mut words = disk.enter(folder.path());
    // Permissions hold for everybody, also for who is root.
    words.extend(["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"].map(String::from));
    run_apart("with_permissions_lost", &words, &folder.join("disk"));
}

#[tokio::test]
#[ignore = "not a test: runs without the rights that another test takes away"]
async fn with_permissions_lost() {
    let Some(folder) = folder() else { return };
    let store = open(&folder).await;
    let team = team(&*store, "free").await;
    let filler = folder.join("filler");
    let permit = |mode: u32| {
        for name in ["store.db", "store.db-wal", "store.db-shm"] {
            // Its companions come and go.
            let changed = std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(mode));
            assert!(changed.is_ok() || name != "store.db", "{changed:?}");
        }
    };
    let mut accepted = Vec::new();
    for mode in [0o400, 0o000, 0o400] {
        accepted.push(works_again(&*store, team).await);
        let _ = std::fs::write(&filler, vec![1; 6 << 20]);
        // Fails, and the connection is in doubt: the next call opens another, which is read-only or not to be had.
        let refused =
            store.record_scrapes(vec![NewScrape { result: Some(vec![1; 300_000]), ..scrape(team) }]).await;
        assert!(refused.is_err_and(|error| error.is_retryable()));
        permit(mode);
        std::fs::remove_file(&filler).unwrap();
        for _ in 0..3 {
            let refused = store.record_scrapes(vec![scrape(team)]).await;
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{mode:o}: {refused:?}");
        }
        permit(0o600);
    }
    accepted.push(works_again(&*store, team).await);
    all_are_there(&*store, team, &accepted).await;
    store.shut_down().await;
    is_sound(&folder).await;
}

#[tokio::test]
async fn a_file_that_another_process_holds_is_waited_for_and_then_unavailable() {
    use sqlx::Connection;
    let folder = TempDir::new();
    let store = open(folder.path()).await;
    let team = team(&*store, "free").await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("store.db"));
    let mut other = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let held = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let refused = store.record_scrapes(vec![scrape(team)]).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(store.balance(team).await.is_ok(), "reading goes on");
    held.rollback().await.unwrap();
    let id = works_again(&*store, team).await;
    all_are_there(&*store, team, &[id]).await;
}

#[test]
fn a_full_disk_leaves_no_half_objects() {
    let folder = TempDir::new();
    let disk = SmallDisk::mount(&folder.join("disk"), "1m");
    run_apart("with_objects_on_a_full_disk", &disk.enter(folder.path()), &folder.join("disk"));
}

#[tokio::test]
#[ignore = "not a test: runs on the small disk that another test mounts"]
async fn with_objects_on_a_full_disk() {
    let Some(folder) = folder() else { return };
    let database = TempDir::new();
    let store = open(database.path()).await;
    let team = team(&*store, "free").await;
    let objects = Objects::open(&ObjectPlace::Folder(folder.join("objects")), store.clone()).unwrap();
    let put = async |key: &str, bytes: usize| objects.put(key, team, Bytes::from(vec![5; bytes]), HOUR).await;
    put("files/first.bin", 300_000).await.expect("there is room");
    for _ in 0..3 {
        let refused = put("files/second.bin", 3_000_000).await;
        assert!(matches!(refused, Err(StoreError::Full { disk: FullDisk::Objects, .. })), "{refused:?}");
    }
    assert_eq!(objects.get("files/second.bin").await.unwrap(), None);
    assert!(store.object("files/second.bin").await.unwrap().is_none(), "nothing is noted either");
    let mut files = Vec::new();
    for entry in ["objects/files", "objects/partial"] {
        let entries = std::fs::read_dir(folder.join(entry)).into_iter().flatten().flatten();
        files.extend(entries.map(|entry| entry.file_name()));
    }
    assert_eq!(files, ["first.bin"], "no half file is left");
    assert_eq!(objects.get("files/first.bin").await.unwrap().map(|bytes| bytes.len()), Some(300_000));
    objects.delete("files/first.bin").await.unwrap();
    put("files/second.bin", 600_000).await.expect("there is room again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn object_storage_that_hangs_is_given_up() {
    let folder = TempDir::new();
    let store = open(folder.path()).await;
    let team = team(&*store, "free").await;
    // Takes connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = ObjectPlace::S3(store::objects::S3Place {
        endpoint: format!("http://{}", silent.local_addr().unwrap()),
        region: "us-east-1".into(),
        bucket: "gannet".into(),
        prefix: String::new(),
        access_key: "test".into(),
        secret_key: "test".into(),
    });
    let objects = Objects::open(&place, store.clone()).unwrap();
    let began = Instant::now();
    let refused = objects.put("files/a.bin", team, Bytes::from_static(b"x"), HOUR).await;
    assert!(matches!(refused, Err(StoreError::Objects(_))), "{refused:?}");
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
}

async fn open_postgres(url: &str, connections: u32) -> Arc<dyn Store> {
    let mut options = crate::ground::options(url);
    options.wait = Duration::from_secs(2);
    options.max_connections = connections;
    store::open(&options).await.expect("the store opens")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_out_of_space_says_so_and_recovers() {
    let url = testkit::shared_database();
    let store = open_postgres(&url, 4).await;
    let team = team(&*store, "free").await;
    let first = works_again(&*store, team).await;
    // What the server answers when it cannot extend a file.
    crate::ground::run_sql(
        &url,
        "CREATE FUNCTION no_space() RETURNS TRIGGER LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
         CREATE TRIGGER no_space BEFORE INSERT ON scrapes EXECUTE FUNCTION no_space()",
    )
    .await;
    for _ in 0..8 {
        let refused =
            store.record_scrapes(vec![NewScrape { page: Some(page(1, b"x")), ..scrape(team) }]).await;
        assert!(
            matches!(refused, Err(StoreError::Full { disk: FullDisk::DatabaseServer, .. })),
            "{refused:?}"
        );
    }
    assert!(store.scrape(team, first).await.unwrap().is_some());
    crate::ground::run_sql(&url, "DROP TRIGGER no_space ON scrapes").await;
    let second = works_again(&*store, team).await;
    all_are_there(&*store, team, &[first, second]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_out_of_connections_is_unavailable_and_recovers() {
    use sqlx::Connection;
    let cluster = PostgresCluster::start_with(&["max_connections=12", "superuser_reserved_connections=0"]);
    let url = cluster.database();
    let store = open_postgres(&url, 4).await;
    let team = team(&*store, "free").await;
    let first = works_again(&*store, team).await;
    let mut taken = Vec::new();
    while let Ok(connection) = sqlx::PgConnection::connect(&url).await {
        taken.push(connection);
    }
    // More at once than the pool has: some would need a further connection.
    let calls = (0..16).map(|_| store.record_scrapes(vec![scrape(team)]));
    let done = futures_util::future::join_all(calls).await;
    assert!(
        done.iter()
            .all(|one| one.as_ref().is_ok_and(|_| true) || one.as_ref().is_err_and(StoreError::is_retryable))
    );
    // One that starts now finds no connection at all, and is told soon.
    let mut options = StoreOptions::new(&url);
    options.wait = Duration::from_secs(1);
    let began = Instant::now();
    let refused = store::open(&options).await.err().expect("there is no connection left");
    assert!(refused.is_retryable(), "{refused:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
    let written = i64::try_from(done.iter().filter(|one| one.is_ok()).count()).unwrap();
    drop(taken);
    let second = works_again(&*store, team).await;
    assert_eq!(store.balance(team).await.unwrap().used, written + 2);
    assert!(store.scrape(team, first).await.unwrap().is_some());
    assert!(store.scrape(team, second).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_becomes_a_standby_and_takes_over_again_is_survived() {
    let mut cluster = PostgresCluster::start();
    let store = open_postgres(&cluster.database(), 4).await;
    let team = team(&*store, "free").await;
    let first = works_again(&*store, team).await;
    cluster.restart_as_standby();
    let end = Instant::now() + RECOVERY;
    while store.balance(team).await.is_err() {
        assert!(Instant::now() < end, "a standby can be read");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for _ in 0..8 {
        let refused = store.record_scrapes(vec![scrape(team)]).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    }
    assert!(store.ping().await.is_err(), "a standby takes no work");
    cluster.promote();
    let second = works_again(&*store, team).await;
    all_are_there(&*store, team, &[first, second]).await;
    assert!(store.ping().await.is_ok());
}
