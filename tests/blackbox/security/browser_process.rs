//! A page that breaks out of Chromium must not get into the server: the browser runs in its sandbox and, for
//! a server that runs as root, under another account. Where that is not possible, the operator is told.

use crate::processes::{self, Process};
use crate::scrape::{ScrapeFixture, assert_contains, assert_failure, config};
use crate::server::{KEY, Server, ServerConfig, run};
use crate::site::Site;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::TempDir;

/// A folder that every account may list. Private files in it are protected by their own permissions.
fn open_folder() -> TempDir {
    let dir = TempDir::new();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    dir
}

/// The account of this test.
fn own_uid() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}

/// A browser process, as the kernel describes it.
struct Described {
    pid: u32,
    command_line: String,
    environment: String,
    status: String,
}

impl Described {
    fn from_process(process: &Process) -> Option<Self> {
        let file = |name: &str| fs::read(format!("/proc/{}/{name}", process.pid));
        let text = |name: &str| file(name).map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
        Some(Self {
            pid: process.pid,
            command_line: text("cmdline").ok()?,
            // Not readable for us where the sandbox has changed the permissions.
            environment: text("environ").unwrap_or_default(),
            status: text("status").ok()?,
        })
    }

    /// The values of a line of `status`.
    fn field(&self, name: &str) -> Vec<&str> {
        let line = self.status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_default().split_ascii_whitespace().collect()
    }

    fn is_renderer(&self) -> bool {
        self.command_line.contains("--type=renderer")
    }

    fn is_main(&self) -> bool {
        !self.command_line.contains("--type=") && self.command_line.contains("--user-data-dir")
    }
}

fn browser_of(server: &Server) -> Vec<Described> {
    let tree = processes::tree(server.pid());
    let found: Vec<Described> =
        tree.iter().filter(|process| process.is_chromium()).filter_map(Described::from_process).collect();
    assert!(found.iter().any(Described::is_main) && found.iter().any(Described::is_renderer), "{tree:?}");
    found
}

/// What `gannet doctor` reports about the browser: verdict and text.
fn doctor(config: &ServerConfig) -> (String, String) {
    let (_, out, error) = run(config.command(&["doctor", "--json"]));
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{error}"));
    let part = report["parts"].as_array().unwrap().iter().find(|part| part["part"] == "chromium").unwrap();
    (part["verdict"].as_str().unwrap().to_owned(), part["text"].as_str().unwrap().to_owned())
}

/// Whether an account can read a file, by trying.
fn can_read(uid: &str, gid: &str, file: &Path) -> bool {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", uid, "--regid", gid, "--clear-groups", "cat"]).arg(file);
    command.output().expect("setpriv of util-linux").status.success()
}

#[tokio::test]
async fn the_browser_runs_sandboxed_and_not_as_root() {
    let dir = open_folder();
    let config = config(&dir).set("log", "info");
    let (server, site) = (config.start().await, Site::start());
    let fixture = ScrapeFixture { dir: dir.into(), server, site };
    assert_contains(&fixture.scrape_document("/app", json!({})).await["markdown"], &["renderedword"]);
    let browser = browser_of(&fixture.server);
    let is_root = own_uid() == 0;
    for process in &browser {
        let ids = process.field("Uid");
        if is_root {
            assert!(!ids.contains(&"0") && !process.field("Gid").contains(&"0"), "{}", process.status);
            assert!(process.field("Groups").is_empty(), "{}", process.status);
        }
        assert!(!process.environment.contains(KEY), "the key is in the environment of Chromium");
        assert!(!process.environment.contains("GANNET_"), "{}", process.environment);
        let handles = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten().flatten();
        for open in handles.filter_map(|entry| fs::read_link(entry.path()).ok()) {
            assert!(!open.starts_with(fixture.dir.join("data")), "Chromium has {} open", open.display());
        }
    }
    let main = browser.iter().find(|process| process.is_main()).unwrap();
    if is_root {
        assert_eq!(main.field("CapEff"), ["0000000000000000"], "{}", main.status);
        let (uid, gid) = (main.field("Uid")[0], main.field("Gid")[0]);
        let readable = fixture.dir.join("readable");
        fs::write(&readable, "x").unwrap();
        assert!(can_read(uid, gid, &readable), "the attempt itself works");
        for file in ["first-key", "secret-key", "gannet.db"] {
            let file = fixture.dir.join("data").join(file);
            assert!(file.is_file() && !can_read(uid, gid, &file), "{} can be read", file.display());
        }
    }
    let (verdict, text) = doctor(&config);
    let metrics = fixture.http().get("/metrics").await.unwrap().text;
    if main.command_line.contains("--no-sandbox") {
        // Where this machine forbids it, the log and the doctor say so.
        assert!(fixture.server.log().contains("without a sandbox"), "{}", fixture.server.log());
        assert!(verdict == "warning" && text.contains("WITHOUT A SANDBOX"), "{text}");
        assert!(metrics.contains("gannet_browser_sandboxed 0"), "{metrics}");
    } else {
        for renderer in browser.iter().filter(|process| process.is_renderer()) {
            assert_eq!(renderer.field("Seccomp"), ["2"], "{}", renderer.status);
            assert!(renderer.field("NSpid").len() > 1, "no namespace of its own: {}", renderer.status);
        }
        assert!(verdict == "ok" && text.contains("sandbox on"), "{text}");
        assert!(metrics.contains("gannet_browser_sandboxed 1"), "{metrics}");
    }
}

/// Starts the binary where no user namespace can be made: the kernel refuses that inside a chroot.
fn without_namespaces(config: ServerConfig, dir: &TempDir) -> ServerConfig {
    let root = dir.join("root");
    fs::create_dir_all(&root).unwrap();
    let script = "mount --rbind / \"$0\" && exec chroot \"$0\" \"$@\"";
    let become_root: &[&str] = if own_uid() == 0 { &[] } else { &["--user", "--map-root-user"] };
    let root = root.to_str().unwrap();
    let words = [&["unshare"], become_root, &["--mount", "sh", "-c", script, root]].concat();
    let launcher = words.into_iter().map(str::to_owned).collect();
    ServerConfig { launcher, ..config }
}

#[tokio::test]
async fn a_browser_without_a_sandbox_is_reported_or_refused() {
    let dir = open_folder();
    let config = without_namespaces(config(&dir), &dir);
    let site = Site::start();
    let server = config.start().await;
    let end = Instant::now() + Duration::from_secs(20);
    while !server.log().contains("without a sandbox") {
        assert!(Instant::now() < end, "no warning at the start:\n{}", server.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(server.log().contains("WARN") && server.log().contains("user namespaces"), "{}", server.log());
    let fixture = ScrapeFixture { dir: dir.into(), server, site };
    assert_contains(&fixture.scrape_document("/app", json!({})).await["markdown"], &["renderedword"]);
    let browser = browser_of(&fixture.server);
    let main = browser.iter().find(|process| process.is_main()).unwrap();
    assert!(main.command_line.contains("--no-sandbox"), "{}", main.command_line);
    if own_uid() == 0 {
        for process in &browser {
            assert!(!process.field("Uid").contains(&"0"), "still not as root: {}", process.status);
        }
    }
    let warnings = fixture.server.log().matches("the browser runs without a sandbox").count();
    assert_eq!(warnings, 2, "at the start of the server and of the browser: {}", fixture.server.log());
    let (verdict, text) = doctor(&config);
    assert!(verdict == "warning" && text.contains("WITHOUT A SANDBOX"), "{verdict}: {text}");
    let ScrapeFixture { dir, server, site } = fixture;
    drop(server);

    let strict = config.set("browser_sandbox", "on");
    let fixture = ScrapeFixture { server: strict.start().await, dir, site };
    let response = fixture.scrape("/app", json!({ "waitFor": 10, "maxAge": 0 })).await;
    assert_failure(&response, 500, "SCRAPE_ALL_ENGINES_FAILED");
    assert!(!processes::tree(fixture.server.pid()).iter().any(Process::is_chromium), "it was not started");
    let (verdict, text) = doctor(&strict);
    assert!(verdict == "broken" && text.to_lowercase().contains("sandbox"), "{verdict}: {text}");
}

#[tokio::test]
async fn files_of_a_browser_that_does_not_work_restricted_can_be_left_open() {
    let dir = open_folder();
    let open = config(&dir).set("browser_restrict_files", "off");
    let server = open.start().await;
    let warning = "switched off: browser_restrict_files=off";
    let end = Instant::now() + Duration::from_secs(20);
    while !server.log().contains(warning) {
        assert!(Instant::now() < end, "no warning at the start:\n{}", server.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let fixture = ScrapeFixture { dir: dir.into(), server, site: Site::start() };
    assert_contains(&fixture.scrape_document("/app", json!({})).await["markdown"], &["renderedword"]);
    let (verdict, text) = doctor(&open);
    assert!(
        verdict == "warning" && text.contains(&format!("FILES NOT RESTRICTED ({warning})")),
        "{verdict}: {text}"
    );
}

#[tokio::test]
async fn the_account_of_the_browser_is_configurable_and_checked_at_the_start() {
    let dir = open_folder();
    let start = |user: &str| {
        let (code, _, error) = run(config(&dir).set("browser_user", user).command(&["keys", "list"]));
        (code, error)
    };
    for (user, reason) in [("no-such-account", "no-such-account"), ("root", "same"), ("0:0", "same")] {
        let (code, error) = start(user);
        assert!(
            code != Some(0) && error.contains("browser_user") && error.contains(reason),
            "{user}: {error}"
        );
    }
    if own_uid() != 0 {
        let (code, error) = start("65534");
        assert!(code != Some(0) && error.contains("root"), "{error}");
        return;
    }
    let chosen = config(&dir).set("browser_user", "54321:54322");
    let fixture = ScrapeFixture { server: chosen.start().await, site: Site::start(), dir: dir.into() };
    fixture.scrape_document("/app", json!({})).await;
    for process in browser_of(&fixture.server) {
        assert_eq!(process.field("Uid"), ["54321"; 4], "{}", process.status);
        assert_eq!(process.field("Gid"), ["54322"; 4], "{}", process.status);
    }
}

/// A page with a frame of another site, whose script never ends.
fn page_with_busy_frame() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut head = vec![0; 16 * 1024];
                let length = stream.read(&mut head).unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..length]).into_owned();
                let words = "The harbour master keeps the book of the tides. ".repeat(20);
                let body = match head.split(' ').nth(1) {
                    Some("/") => format!(
                        "<!doctype html><title>Tides</title><main><h1>Tides</h1><p>{words}</p><p id=late></p></main>\
                         <iframe src=http://localhost:{port}/frame></iframe><script>setTimeout(() => \
                         document.getElementById('late').textContent = 'lateword', 1500)</script>"
                    ),
                    _ => "<script>for (;;) {}</script>".to_owned(),
                };
                let kind = "Content-Type: text/html\r\nConnection: close";
                let answer =
                    format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes());
            });
        }
    });
    port
}

#[tokio::test]
async fn a_frame_of_another_site_has_its_own_process() {
    let fixture = ScrapeFixture::own().await;
    let url = format!("http://127.0.0.1:{}/", page_with_busy_frame());
    let body = json!({ "url": url, "waitFor": 3000, "timeout": 30_000 });
    let response = fixture.http().post("/v2/scrape", &body).await.unwrap();
    // In one process with the frame, the page could never write this.
    assert_contains(&response.expect_success()["data"]["markdown"], &["lateword"]);
}

#[tokio::test]
async fn no_browser_process_outlives_a_kill_and_the_next_start() {
    let dir = open_folder();
    let temporary = dir.join("tmp");
    fs::create_dir(&temporary).unwrap();
    fs::set_permissions(&temporary, Permissions::from_mode(0o1777)).unwrap();
    let entries = || {
        let names = fs::read_dir(&temporary).unwrap().flatten().map(|entry| entry.file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let site = Site::start();
    // Like the first process of a container: orphaned browser processes become its children.
    let become_root: &[&str] = if own_uid() == 0 { &[] } else { &["--user", "--map-root-user"] };
    let variable = format!("TMPDIR={}", temporary.display());
    let words = [
        &["unshare"],
        become_root,
        &["--pid", "--mount-proc", "--fork", "--kill-child", "env", variable.as_str()],
    ]
    .concat();
    let launcher: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let config = ServerConfig { launcher, ..config(&dir) };
    let visit = async |server: &Server| {
        let body = json!({ "url": site.url("/app"), "maxAge": 0 });
        server.http.post("/v2/scrape", &body).await.unwrap().expect_success();
    };
    let first = config.start().await;
    visit(&first).await;
    // A killed browser is replaced, whatever its account, and its processes and files are gone.
    let tree = processes::tree(first.pid());
    let killed = browser_of(&first).into_iter().find(Described::is_main).unwrap().pid;
    crate::server::signal(killed, "KILL");
    let chromium: Vec<Process> = tree.into_iter().filter(Process::is_chromium).collect();
    processes::all_gone(&chromium, Duration::from_secs(10));
    visit(&first).await;
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let zombies: Vec<Process> =
            processes::tree(first.pid()).into_iter().filter(Process::is_zombie).collect();
        if zombies.is_empty() && entries().len() == 2 {
            break;
        }
        assert!(Instant::now() < end, "left behind: {zombies:?}, {:?}", entries());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let tree = processes::tree(first.pid());
    first.kill();
    processes::all_gone(&tree, Duration::from_secs(10));
    assert!(!entries().is_empty(), "a killed server leaves files");
    let second = config.start().await;
    visit(&second).await;
    assert_eq!(entries().len(), 2, "a folder and its lock: {:?}", entries());
    let tree = processes::tree(second.pid());
    let server = tree.iter().find(|process| process.name() == "gannet").expect("the server").pid;
    crate::server::signal(server, "TERM");
    processes::all_gone(&tree, Duration::from_secs(20));
    assert_eq!(entries(), Vec::<String>::new());
}
