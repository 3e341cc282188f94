//! Servers that tests with the same settings share: each is started by the first test that wants it, and
//! every test has a team of its own on it. Never kills or stops one: that happens when the tests have ended,
//! however they end.
//!
//! A test may share a server when what it sees belongs to its team or to its own site. One that restarts or
//! watches the process, reads totals of the whole server or fills up what all share has a server of its own.

use super::{Server, ServerConfig, ServerProcess, count_start, listening_address, read_banner};
use crate::http::Http;
use std::collections::HashMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use testkit::TempDir;
use tokio::sync::OnceCell;

/// Runs `"$@"` until standard input closes, which happens when the test program is gone, however it ends.
/// Then stops the server and deletes its folder `$1`, in which its log is.
const WATCH: &str = r#"
folder=$1; shift
"$@" </dev/null 2>"$folder/server.log" &
server=$!
cat >/dev/null
kill -TERM "$server" 2>/dev/null
tries=0
while kill -0 "$server" 2>/dev/null && [ "$tries" -lt 50 ]; do
    tries=$((tries + 1))
    sleep 0.2
done
kill -KILL "$server" 2>/dev/null
# Its browsers may still be writing.
rm -rf "$folder" 2>/dev/null || { sleep 1; rm -rf "$folder"; }
"#;

/// What is more than a server needs for one test: pages, runs and browser pages of many tests at once.
const ROOM: [(&str, &str); 3] = [("workers", "64"), ("browser_pages", "8"), ("shutdown_grace", "1s")];

type Settings = Vec<(String, String)>;
type Servers = HashMap<Settings, Arc<OnceCell<Arc<SharedServer>>>>;

/// One running server of the tests.
pub(super) struct SharedServer {
    base: String,
    dir: Arc<TempDir>,
    banner: Vec<String>,
    /// Its standard input stays open for as long as the test program runs.
    _watcher: Child,
}

impl SharedServer {
    async fn start(settings: &[(&str, &str)]) -> Arc<Self> {
        let dir = Arc::new(TempDir::new());
        let mut config = with_settings(&dir, settings);
        for (name, value) in ROOM {
            config = config.set(name, value);
        }
        let folder = dir.path().to_str().expect("a folder with a readable name");
        config.launcher = ["sh", "-c", WATCH, "watch", folder].map(str::to_owned).to_vec();
        count_start();
        let mut watcher = config
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Whoever kills the tests by their process group leaves it time to clean up.
            .process_group(0)
            .spawn()
            .expect("a shell to start gannet with");
        let banner = read_banner(watcher.stdout.take().expect("standard output"))
            .unwrap_or_else(|| panic!("a shared server ended before it listened:\n{}", read_log(&dir, 0)));
        let base = listening_address(&banner);
        let shared = Arc::new(Self { base, dir, banner, _watcher: watcher });
        shared.hand_out().wait_ready().await;
        shared
    }

    /// The server as one test sees it, without a key.
    fn hand_out(self: &Arc<Self>) -> Server {
        let log_start = std::fs::metadata(log_file(&self.dir)).map_or(0, |file| file.len());
        let process = ServerProcess::Shared { server: self.clone(), log_start };
        Server { process, http: Http::new(&self.base, None), banner: self.banner.clone(), folder: None }
    }

    /// What was logged from a position on, by all tests.
    pub(super) fn log_from(&self, start: u64) -> String {
        read_log(&self.dir, start)
    }
}

fn log_file(dir: &TempDir) -> PathBuf {
    dir.join("server.log")
}

fn read_log(dir: &TempDir, start: u64) -> String {
    let bytes = std::fs::read(log_file(dir)).unwrap_or_default();
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(bytes.len());
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}

fn with_settings(dir: &TempDir, settings: &[(&str, &str)]) -> ServerConfig {
    settings.iter().fold(ServerConfig::at(dir.path()), |config, (name, value)| config.set(name, value))
}

/// A server with these settings besides the usual ones, and its folder. Its client has the key of a new team.
/// `GANNET_TEST_OWN_SERVERS=1` gives each test a server of its own, which shows that their order does not
/// matter.
pub async fn shared_server(settings: &[(&str, &str)]) -> (Arc<TempDir>, Server) {
    static SERVERS: LazyLock<Mutex<Servers>> = LazyLock::new(Mutex::default);
    if std::env::var_os("GANNET_TEST_OWN_SERVERS").is_some() {
        let dir = Arc::new(TempDir::new());
        let mut server = with_settings(&dir, settings).start().await;
        server.http = server.http.with_key(Some(&new_team(dir.path()).await));
        server.folder = Some(dir.clone());
        return (dir, server);
    }
    let mut key: Settings =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    key.sort();
    let cell = SERVERS.lock().expect("the shared servers").entry(key).or_default().clone();
    let shared = cell.get_or_init(|| SharedServer::start(settings)).await.clone();
    let (dir, mut server) = (shared.dir.clone(), shared.hand_out());
    let answer = server.http.get("/health").await;
    assert!(answer.is_ok(), "a shared server is gone:\n{}", shared.log_from(0));
    server.http = server.http.with_key(Some(&new_team(dir.path()).await));
    (dir, server)
}

/// Creates a team that is like the first one of a new server; its key.
async fn new_team(dir: &Path) -> String {
    let url = format!("sqlite:{}", dir.join("data/gannet.db").display());
    let store = store::open(&store::StoreOptions::new(url)).await.expect("the database of the server");
    let team = store::keys::NewTeam {
        id: uuid::Uuid::now_v7(),
        name: "default".to_owned(),
        plan: "unlimited".to_owned(),
        zero_data_retention: false,
    };
    let team = store.create_team(team).await.expect("a new team").id;
    let secret = access::keys::Secret::random().expect("a random key");
    let key = access::keys::create(
        store.as_ref(),
        team,
        "first",
        wire::Scope::ALL,
        None,
        &secret,
        &store::audit_log::Actor::server(),
    )
    .await;
    key.expect("a new key");
    store.shut_down().await;
    secret.reveal().to_owned()
}
