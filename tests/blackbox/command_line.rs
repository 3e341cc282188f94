//! The command line and the configuration, as a user sees them.

use crate::server::{ServerConfig, gannet, run};
use serde_json::Value;
use testkit::TempDir;

#[tokio::test]
async fn doctor_shows_the_effective_settings_and_hides_secrets() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path())
        .set("log_format", "json")
        .set("egress_allow", "scrape=127.0.0.0/8;model=h.example")
        .set("proxies", "http://me:pw-secret@127.0.0.1:3128");
    let (code, text, error) = run(config.command(&["doctor"]));
    assert_eq!(code, Some(0), "{error}");
    for part in [
        "database",
        "disk",
        "chromium",
        "untrusted files are parsed in a",
        "scrape: 127.0.0.0/8; model: h.example",
        "scrape through http://127.0.0.1:3128 in turn; requests may not name a proxy",
        "environment GANNET_LOG_FORMAT",
        "the memory and processes of a session",
        "plan free",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(!text.contains(crate::server::KEY) && !text.contains("pw-secret"), "{text}");
    let untrusted = dir.join("none.pem");
    std::fs::write(&untrusted, "no certificate").unwrap();
    let wrong = config.clone().set("extra_certificates", untrusted.to_str().unwrap());
    let (code, text, _) = run(wrong.command(&["doctor"]));
    assert!(code == Some(1) && text.contains("extra_certificates"), "{text}");
    assert!(!dir.join("data").join("gannet.db").exists(), "a doctor changes nothing");
    config.start().await.kill();
    let (code, text, _) = run(config.command(&["doctor", "--json"]));
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(code, Some(0));
    assert_eq!(report["parts"][0]["verdict"], "ok", "{report}");
    let broken = config.set("database_url", "postgres://nobody:pw-secret@127.0.0.1:1/none");
    let (code, text, _) = run(broken.command(&["doctor"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("BROKEN") && !text.contains("pw-secret"), "{text}");
}

#[tokio::test]
async fn invalid_settings_are_named_with_their_source() {
    let dir = TempDir::new();
    let fails = |config: ServerConfig, arguments: &[&str], parts: &[&str]| {
        let (code, _, error) = run(config.command(arguments));
        assert_eq!(code, Some(2), "{error}");
        for part in parts {
            assert!(error.contains(part), "{part} is missing: {error}");
        }
    };
    let plain = || ServerConfig::at(dir.path());
    fails(plain().set("listn", "x"), &["serve"], &["GANNET_LISTN", "GANNET_LISTEN"]);
    fails(plain().set("lease", "soon"), &["serve"], &["lease", "soon", "GANNET_LEASE"]);
    fails(plain(), &["serve", "--set", "nope=1"], &["nope", "command line"]);
    fails(plain().set("auth", "off"), &["serve", "--listen", "0.0.0.0:0"], &["auth", "loopback"]);
    fails(plain().set("database_url", "mysql://x"), &["serve"], &["database_url", "sqlite:"]);
    let mut typo = plain();
    typo.toml = "bdy_limit = '3MB'".to_owned();
    fails(typo, &["serve"], &["bdy_limit", "gannet.toml", "body_limit"]);
}

#[tokio::test]
async fn two_servers_cannot_share_a_sqlite_folder() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let server = config.start().await;
    let (code, _, error) = run(config.command(&["serve", "--listen", "127.0.0.1:0"]));
    assert_eq!(code, Some(1));
    assert!(error.contains("another server uses"), "{error}");
    server.http.get("/v2/concurrency-check").await.unwrap().expect_success();
}

#[tokio::test]
async fn without_authentication_loopback_callers_use_the_first_team() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).set("auth", "off").start().await;
    server.http.with_key(None).get("/v2/team/queue-status").await.unwrap().expect_success();
    server.http.with_key(Some("anything")).get("/admin/keys").await.unwrap().expect_success();
    // A web page in a browser on this machine is not a loopback caller, whatever host name it uses.
    for (header, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
        let request = server.http.request(reqwest::Method::POST, "/admin/keys").header(header, value);
        server
            .http
            .send(request.json(&serde_json::json!({ "name": "x" })))
            .await
            .unwrap()
            .expect_error(403, "Forbidden");
    }
}

#[tokio::test]
async fn metrics_on_a_public_address_need_an_admin_key() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).start().await;
    let open = server.http.with_key(None).get("/metrics").await.unwrap();
    assert!(open.text.contains("gannet_http_requests_total"), "{}", open.text);
    let wide_dir = TempDir::new();
    let config = ServerConfig::at(wide_dir.path());
    let mut child = config.command(&["serve", "--listen", "0.0.0.0:0"]);
    let mut child = child.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let listening =
        lines.find_map(|line| line.unwrap().trim().strip_prefix("listening").map(str::to_owned)).unwrap();
    let base = listening.trim().replace("0.0.0.0", "127.0.0.1");
    let http = crate::http::Http::new(&base, None);
    let refused = http.get("/metrics").await.unwrap();
    refused.expect_error(401, crate::http::NO_KEY);
    assert!(refused.header("www-authenticate").starts_with("Bearer "));
    assert_eq!(http.with_key(Some(crate::server::KEY)).get("/metrics").await.unwrap().status, 200);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn version_completions_and_migrate() {
    let mut version = gannet();
    version.arg("--version");
    let (code, text, _) = run(version);
    assert_eq!((code, text.as_str()), (Some(0), "gannet 0.1.0\n"));
    let mut completions = gannet();
    completions.args(["completions", "bash"]);
    let (code, text, _) = run(completions);
    assert!(code == Some(0) && text.contains("complete -F"), "{text}");
    let dir = TempDir::new();
    let (code, text, _) = run(ServerConfig::at(dir.path()).command(&["migrate"]));
    assert!(code == Some(0) && text.contains("applied"), "{text}");
    let (code, text, _) = run(ServerConfig::at(dir.path()).command(&["migrate"]));
    assert!(code == Some(0) && !text.contains("applied"), "{text}");
}

/// Standard output or standard error of `command` is a pipe that nobody reads (`gannet … | head`, at its end).
fn run_without_reader(mut command: std::process::Command, closed: &str) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = match closed {
        "stdout" => command.stdout(writer).output(),
        _ => command.stderr(writer).output(),
    };
    let output = output.unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_reader_that_leaves_changes_neither_the_work_nor_the_exit_code() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let page = dir.join("page.html");
    std::fs::write(&page, "<h1>Title</h1><p>Some text of a page.</p>").unwrap();
    let rows = dir.join("rows.jsonl");
    std::fs::write(&rows, "{\"id\":\"1\",\"html\":\"<p>Some text of a page.</p>\"}\n".repeat(50)).unwrap();
    let (page, rows) = (page.to_str().unwrap(), rows.to_str().unwrap());
    for arguments in [
        &["migrate"][..],
        &["doctor"],
        &["openapi"],
        &["completions", "bash"],
        &["parse", page],
        &["parse", "--jsonl", rows],
        &["--help"],
    ] {
        let (code, error) = run_without_reader(config.command(arguments), "stdout");
        assert!(code == Some(0) && !error.contains("panicked"), "{arguments:?}: {code:?} {error}");
    }
    let (code, text, _) = run(config.command(&["migrate"]));
    assert!(code == Some(0) && text.contains("nothing to do"), "it was migrated without a reader: {text}");
    // A failure is still one.
    for (arguments, expected) in [(&["parse", "/no/such/file"][..], 1), (&["serve", "--set", "nope=1"], 2)] {
        let (code, _) = run_without_reader(config.command(arguments), "stderr");
        assert_eq!(code, Some(expected), "{arguments:?}");
    }
}

#[test]
fn help_offers_only_the_settings_that_a_command_uses() {
    let all = ["--config", "--data-dir", "--database-url", "--set"];
    for (command, offered) in [
        (&["openapi"][..], &[][..]),
        (&["completions"], &[]),
        (&["skills", "install"], &[]),
        (&["scrape"], &["--config", "--data-dir", "--set"]),
        (&["crawl"], &["--config", "--set"]),
        (&["keys", "list"], &all),
        (&["serve"], &all),
    ] {
        let (code, help, _) = run({
            let mut program = gannet();
            program.args(command).arg("--help");
            program
        });
        assert_eq!(code, Some(0), "{command:?}");
        let shown: Vec<_> = all.into_iter().filter(|option| help.contains(&format!("{option} <"))).collect();
        assert_eq!(shown, offered, "{command:?}");
    }
}

#[test]
fn output_that_does_not_fit_on_the_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = gannet();
    let output = command.arg("openapi").stdout(full).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot write to standard output: No space left"), "{error}");
}
