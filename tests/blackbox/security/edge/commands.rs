//! Commands while a server runs: they leave the schema of its database alone, and read-only commands write
//! nothing.

use crate::server::{ServerConfig, run};
use std::fs::File;
use std::process::Command;
use testkit::TempDir;

/// Runs SQL on a SQLite file, which no command of ours does.
fn sql(dir: &TempDir, statement: &str) -> String {
    let python = std::env::var_os("GANNET_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let script = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as db: print(db.execute(sys.argv[2]).fetchall())";
    let output = Command::new(python)
        .args(["-c", script])
        .arg(dir.join("data/gannet.db"))
        .arg(statement)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_do_not_change_a_schema_that_a_server_uses() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    std::fs::create_dir(dir.join("data")).unwrap();
    File::create(dir.join("data/gannet.db")).unwrap();
    std::fs::write(dir.join("page.md"), "# A page").unwrap();
    // As a server of a version with an older schema does it: here, one that has no table yet.
    let lock = File::create(dir.join("data/gannet.db.lock")).unwrap();
    lock.try_lock().unwrap();
    for arguments in [
        &["keys", "list"][..],
        &["keys", "create", "x"],
        &["migrate"],
        &["index", "status"],
        &["index", "add", "page.md"],
        &["search", "x"],
    ] {
        let (code, printed, error) = run(config.command(arguments));
        assert_eq!(
            sql(&dir, "SELECT count(*) FROM sqlite_master").trim(),
            "[(0,)]",
            "{arguments:?} changed the schema"
        );
        assert_eq!(code, Some(1), "{arguments:?}: {printed}{error}");
    }
    for arguments in [&["keys", "create", "x"][..], &["migrate"]] {
        let (_, _, error) = run(config.command(arguments));
        assert!(error.contains("stop the server") && error.contains("another server uses"), "{error}");
    }
    // Not by closing it: a process that another test is starting right now may have it open as well.
    lock.unlock().unwrap();
    let (code, _, error) = run(config.command(&["keys", "create", "x"]));
    assert_eq!(code, Some(0), "without a server it is done: {error}");
    // A schema without our newest migration.
    sql(&dir, "DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)");
    let before = sql(&dir, "SELECT version FROM schema_migrations");
    let lock = File::create(dir.join("data/gannet.db.lock")).unwrap();
    lock.try_lock().unwrap();
    for arguments in [&["keys", "list"][..], &["migrate"]] {
        let (code, _, error) = run(config.command(arguments));
        assert!(code == Some(1) && error.contains("stop the server"), "{arguments:?}: {error}");
    }
    assert_eq!(sql(&dir, "SELECT version FROM schema_migrations"), before);
}

#[tokio::test]
async fn commands_work_next_to_a_server_of_the_same_schema() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let server = config.start().await;
    for arguments in [&["keys", "list"][..], &["keys", "create", "x"], &["index", "status"], &["doctor"]] {
        let (code, printed, error) = run(config.command(arguments));
        assert_eq!(code, Some(0), "{arguments:?}: {printed}{error}");
    }
    let (code, _, error) = run(config.command(&["migrate"]));
    assert!(code == Some(1) && error.contains("stop the server"), "{error}");
    server.http.get("/v2/concurrency-check").await.unwrap().expect_success();
}

#[test]
fn read_only_commands_create_no_data_folder() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    for arguments in [
        &["keys", "list"][..],
        &["keys", "revoke", "0"],
        &["index", "status"],
        &["index", "rebuild"],
        &["index", "remove", "https://a.test/"],
        &["search", "gannets"],
    ] {
        let (code, printed, error) = run(config.command(arguments));
        assert!(!dir.join("data").exists(), "{arguments:?} made a data folder");
        assert_eq!(code, Some(1), "{arguments:?}: {printed}{error}");
        let printed = error.contains("there is no database at") || arguments[0] == "search";
        assert!(printed, "{arguments:?}: {error}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, _, error) = run(config.command(&["serve", "--listen", &address]));
    assert!(code == Some(1) && error.contains("cannot listen"), "{error}");
    assert!(!dir.join("data").exists(), "a server that cannot listen made a data folder");
}
