//! Starts real servers on free ports in temporary folders, and ends them: politely, or with `kill -9`.

mod public_address;
mod shared;

use crate::http::Http;
pub use public_address::PublicAddress;
use shared::SharedServer;
pub use shared::shared_server;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::TempDir;

/// The first key of every server that a test starts.
pub const KEY: &str = "gn-blackbox-0123456789abcdef";

/// The binary under test, without any setting of the machine it runs on. `GANNET_TEST_BINARY` names another one: a release build,
/// or an older version that a test is expected to fail on.
pub fn gannet() -> Command {
    let built = env!("CARGO_BIN_EXE_gannet").into();
    let mut command = Command::new(std::env::var_os("GANNET_TEST_BINARY").unwrap_or(built));
    command.env_clear();
    for name in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Fails where the program that reads and draws pictures is not beside the binary under test.
pub fn require_ocr_program() {
    let path = Path::new(gannet().get_program()).with_file_name("gannet-ocr");
    assert!(path.exists(), "{} is missing; run `cargo build -p gannet-ocr` first", path.display());
}

/// What a server is to be like.
#[derive(Clone)]
pub struct ServerConfig {
    pub dir: PathBuf,
    pub settings: Vec<(String, String)>,
    pub toml: String,
    /// A program with arguments that starts the binary in other surroundings, in the same process.
    pub launcher: Vec<String>,
}

impl ServerConfig {
    pub fn at(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            settings: vec![("api_key".into(), KEY.into()), ("research_starter".into(), "off".into())],
            toml: String::new(),
            launcher: Vec::new(),
        }
    }

    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A plan named `tiny` with these lines, for the first team.
    pub fn tiny_plan(mut self, lines: &str) -> Self {
        self.toml = format!("[plans.tiny]\n{lines}\n");
        self.set("plan", "tiny")
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = gannet();
        if let Some((program, arguments)) = self.launcher.split_first() {
            let mut launched = Command::new(program);
            launched.args(arguments).arg(command.get_program()).env_clear();
            launched.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command = launched;
        }
        let data = self.dir.join("data");
        command.args(arguments).arg("--data-dir").arg(&data).current_dir(&self.dir);
        let database = self.settings.iter().find(|(name, _)| name == "database_url");
        if database.is_some_and(|(_, url)| url.starts_with("postgres")) {
            share_secret_key(&data);
        }
        for (name, value) in &self.settings {
            command.env(format!("GANNET_{}", name.to_uppercase()), value);
        }
        if !self.toml.is_empty() {
            let file = self.dir.join("gannet.toml");
            std::fs::write(file, &self.toml).expect("write gannet.toml");
        }
        command
    }

    /// Starts a server and waits until it is ready.
    pub async fn start(&self) -> Server {
        Server::spawn(self).await
    }
}

/// Servers on one PostgreSQL need one key for stored secrets. As a file, which versions that know of no such key do not mind.
fn share_secret_key(data: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    let file = data.join("secret-key");
    if !file.exists() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data).expect("make the data folder");
        std::fs::write(file, "5e".repeat(32)).expect("write the secret key");
    }
}

/// A running server. Dropping it kills it, unless it is shared. A test that fails prints its log.
pub struct Server {
    process: ServerProcess,
    pub http: Http,
    pub banner: Vec<String>,
    /// The folder of a server in which nobody else may be interested, kept until the server has ended.
    folder: Option<Arc<TempDir>>,
}

enum ServerProcess {
    Own {
        child: Child,
        log: Arc<Mutex<String>>,
    },
    Shared {
        server: Arc<SharedServer>,
        /// Where the log ended when the test began.
        log_start: u64,
    },
}

impl Server {
    async fn spawn(config: &ServerConfig) -> Self {
        count_start();
        let mut child = config
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start gannet");
        let log = drain(child.stderr.take().expect("stderr"));
        let Some(banner) = read_banner(child.stdout.take().expect("stdout")) else {
            let _ = child.wait();
            std::thread::sleep(Duration::from_millis(50));
            panic!("gannet ended before it listened:\n{}", log.lock().unwrap());
        };
        let http = Http::new(&listening_address(&banner), Some(KEY));
        let server = Self { process: ServerProcess::Own { child, log }, http, banner, folder: None };
        server.wait_ready().await;
        server
    }

    async fn wait_ready(&self) {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if self.http.get("/ready").await.is_ok_and(|reply| reply.status == 200) {
                return;
            }
            assert!(Instant::now() < end, "not ready:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Everything it has logged so far; of a shared one, what it has logged since the test began.
    pub fn log(&self) -> String {
        match &self.process {
            ServerProcess::Own { log, .. } => log.lock().unwrap().clone(),
            ServerProcess::Shared { server, log_start } => server.log_from(*log_start),
        }
    }

    fn child(&mut self) -> &mut Child {
        match &mut self.process {
            ServerProcess::Own { child, .. } => child,
            ServerProcess::Shared { .. } => panic!("a server that other tests use is not stopped"),
        }
    }

    /// The process of a server that is not shared.
    pub fn pid(&self) -> u32 {
        match &self.process {
            ServerProcess::Own { child, .. } => child.id(),
            ServerProcess::Shared { .. } => {
                panic!("what a server does that other tests use too shows nothing")
            }
        }
    }

    /// `kill -9`, and waits until it is gone.
    pub fn kill(mut self) {
        end(self.child());
    }

    /// SIGTERM, and the exit code with the time it took.
    pub fn terminate(mut self) -> (Option<i32>, Duration, String) {
        let began = Instant::now();
        signal(self.pid(), "TERM");
        let status = self.child().wait().expect("wait");
        std::thread::sleep(Duration::from_millis(20));
        (status.code(), began.elapsed(), self.log())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let shared = match &self.process {
                ServerProcess::Own { .. } => "",
                ServerProcess::Shared { .. } => " since this test began; other tests use it too",
            };
            eprintln!("the log of the server{shared}:\n{}", self.log());
        }
        if let ServerProcess::Own { child, .. } = &mut self.process {
            end(child);
        }
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// What a server prints when it listens; none if it ended before. Its last line is a command to try.
fn read_banner(stdout: impl Read) -> Option<Vec<String>> {
    let mut lines = BufReader::new(stdout).lines();
    let mut banner: Vec<String> = Vec::new();
    while banner.last().is_none_or(|line| !line.trim_start().starts_with("try")) {
        banner.push(lines.next()?.ok()?);
    }
    Some(banner)
}

fn listening_address(banner: &[String]) -> String {
    let address = banner.iter().find_map(|line| line.trim().strip_prefix("listening"));
    address.expect("an address").trim().to_owned()
}

/// Counts the starts of servers in the file that `GANNET_TEST_COUNT_STARTS` names: one byte each.
fn count_start() {
    let Some(file) = std::env::var_os("GANNET_TEST_COUNT_STARTS") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
    file.and_then(|mut file| file.write_all(b".")).expect("count a start");
}

pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status();
    assert!(status.is_ok_and(|status| status.success()), "cannot signal {pid}");
}

/// Reads a pipe to its end in the background, so that the writer never blocks.
fn drain(mut pipe: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let sink = text.clone();
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            sink.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    });
    text
}

/// Runs a command of the binary to its end.
pub fn run(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.output().expect("run gannet");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A server with nothing special about it, which other tests use too.
pub async fn start_plain() -> (Arc<TempDir>, Server) {
    shared_server(&[]).await
}

/// A server with nothing special about it, for one test alone.
pub async fn start_own() -> (TempDir, Server) {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).start().await;
    (dir, server)
}

/// Waits until the team uses this many browsers.
pub async fn wait_for_browsers_in_use(http: &Http, browsers: u64) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let answer = http.get("/v2/concurrency-check").await.unwrap();
        if answer.expect_success()["concurrency"] == browsers {
            return;
        }
        assert!(Instant::now() < end, "browsers in use: {}", answer.text);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the starter corpus has been imported; an index that is still being filled answers 503.
pub async fn wait_for_papers(http: &Http) {
    let end = Instant::now() + Duration::from_mins(5);
    while http.get("/v2/search/research/papers?query=cell").await.unwrap().status != 200 {
        assert!(Instant::now() < end, "the starter corpus did not come");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
