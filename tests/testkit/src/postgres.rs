//! PostgreSQL for tests: a private cluster of one test, or one shared by all tests of a run.
//!
//! The shared one is started by the first test that needs it and stopped some seconds after the last has
//! gone. Each process that uses it holds a lock on a file, which the system releases when the process dies.

use crate::guarded_process::GuardedProcess;
use crate::{FreePort, TempDir};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const USER: &str = "gannet";

/// Starts the server, waits until nobody has held the users' lock for a while, stops it, cleans up.
const GUARD: &str = r#"
home=$1; shift
"$@" </dev/null >>"$home/log" 2>&1 &
server=$!
idle=0
while sleep 1; do
    kill -0 "$server" 2>/dev/null || exit
    if flock -n -x "$home/users" true; then idle=$((idle + 1)); else idle=0; fi
    [ "$idle" -lt 8 ] && continue
    exec 9>"$home/lock"
    flock -x 9
    if flock -n -x "$home/users" true; then
        kill -QUIT "$server"
        wait "$server"
        rm -rf "$home/data" "$home/port" "$home/log"
        exit
    fi
    exec 9>&-
    idle=0
done
"#;

/// A cluster that the current test has to itself; it stops when this value is dropped.
#[derive(Debug)]
pub struct PostgresCluster {
    folder: TempDir,
    port: u16,
    server: Option<GuardedProcess>,
    /// Settings of the server that override the usual ones.
    settings: Vec<String>,
}

impl PostgresCluster {
    /// # Panics
    /// When PostgreSQL is not installed or does not start.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with settings of the server, such as `max_connections=20`.
    ///
    /// # Panics
    /// As [`Self::start`].
    pub fn start_with(settings: &[&str]) -> Self {
        let folder = TempDir::new();
        open_for_server(folder.path());
        let data = folder.join("data");
        initialise(&data);
        let settings = settings.iter().map(ToString::to_string).collect();
        let mut cluster = Self { folder, port: FreePort::find().0, server: None, settings };
        cluster.restart();
        cluster
    }

    /// Starts the server again on the same port after [`Self::kill`].
    pub fn restart(&mut self) {
        let data = self.folder.join("data");
        // A killed server leaves its lock file; the process it names is gone.
        let _ = std::fs::remove_file(data.join("postmaster.pid"));
        let mut command = server_command(&data, self.port);
        command.extend(self.settings.iter().flat_map(|setting| ["-c".to_owned(), setting.clone()]));
        self.server = Some(GuardedProcess::start("QUIT", &command));
        wait_until_ready(self.port, "a private cluster");
    }

    /// Starts the server again with other settings.
    ///
    /// # Panics
    /// When it does not start.
    pub fn restart_with(&mut self, settings: &[&str]) {
        self.kill();
        self.settings = settings.iter().map(ToString::to_string).collect();
        self.restart();
    }

    /// Starts the server again as a standby, which only reads, until [`Self::promote`].
    ///
    /// # Panics
    /// When it does not start.
    pub fn restart_as_standby(&mut self) {
        self.kill();
        std::fs::write(self.folder.join("data").join("standby.signal"), "").expect("a note for the server");
        self.restart();
    }

    /// Makes a standby take over.
    ///
    /// # Panics
    /// When it refuses.
    pub fn promote(&self) {
        self.sql("SELECT pg_promote()");
    }

    /// Runs a statement as the owner of the server.
    ///
    /// # Panics
    /// When it fails.
    pub fn sql(&self, statement: &str) {
        run_sql(self.port, statement);
    }

    /// Stops the server at once, as a crash would, with every connection open.
    pub fn kill(&mut self) {
        self.server = None;
    }

    /// Stops every process of the server without ending it: connections stay open, and nobody answers.
    /// Lasts until the returned value is dropped.
    ///
    /// # Panics
    /// When the server does not run.
    pub fn freeze(&self) -> FrozenPostgres {
        let note =
            std::fs::read_to_string(self.folder.join("data").join("postmaster.pid")).expect("a server");
        let server: u32 = note.lines().next().and_then(|line| line.parse().ok()).expect("its process id");
        // The server first, so that it starts no new processes while the others are being stopped.
        signal("STOP", &[server]);
        let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
        let children = children.expect("its child processes");
        let mut processes = vec![server];
        processes.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        signal("STOP", &processes);
        FrozenPostgres { processes }
    }

    /// The folder with all files of the server, including its log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a database in this cluster and returns its URL.
    pub fn database(&self) -> String {
        create_database(self.port)
    }
}

/// A server whose processes are stopped; see [`PostgresCluster::freeze`].
#[derive(Debug)]
pub struct FrozenPostgres {
    processes: Vec<u32>,
}

impl Drop for FrozenPostgres {
    fn drop(&mut self) {
        signal("CONT", &self.processes);
    }
}

fn signal(name: &str, processes: &[u32]) {
    let ids: Vec<String> = processes.iter().map(u32::to_string).collect();
    // A process may have ended just now.
    let _ = Command::new("kill").arg(format!("-{name}")).args(ids).stderr(Stdio::null()).status();
}

/// A fresh database in the cluster that the tests of this run share, as a URL.
///
/// # Panics
/// When PostgreSQL is not installed or does not start.
pub fn shared_database() -> String {
    static SHARED: OnceLock<(u16, File)> = OnceLock::new();
    let (port, _users) = SHARED.get_or_init(join_shared_cluster);
    create_database(*port)
}

/// Joins the shared cluster, and starts it if necessary. The returned file is this process's lock: while it
/// is open the cluster stays.
fn join_shared_cluster() -> (u16, File) {
    let home = std::env::temp_dir().join(format!("gannet-testkit-{}", own_uid()));
    let _ = std::fs::create_dir(&home);
    let owner = std::fs::metadata(&home).expect("the folder of the shared cluster").uid();
    assert_eq!(owner, own_uid(), "{} belongs to another user", home.display());
    open_for_server(&home);
    let open =
        |name: &str| OpenOptions::new().create(true).append(true).open(home.join(name)).expect("a lock file");
    let turn = open("lock");
    turn.lock().expect("the lock of the shared cluster");
    let users = open("users");
    users.lock_shared().expect("the users' lock of the shared cluster");
    let recorded = std::fs::read_to_string(home.join("port")).ok().and_then(|text| text.trim().parse().ok());
    if let Some(port) = recorded.filter(|port| is_ready(*port)) {
        return (port, users);
    }
    let data = home.join("data");
    let _ = std::fs::remove_dir_all(&data);
    open_for_server(&home);
    initialise(&data);
    let port = FreePort::find().0;
    guard(&home, &server_command(&data, port));
    wait_until_ready(port, "the shared cluster");
    let mut record = File::create(home.join("port")).expect("a note of the port");
    writeln!(record, "{port}").expect("a note of the port");
    (port, users)
}

fn guard(home: &Path, command: &[String]) {
    use std::os::unix::process::CommandExt;
    let guard = Command::new("sh")
        .args(["-c", GUARD, "guard"])
        .arg(home)
        .args(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("a shell to guard the shared cluster");
    // It outlives this process on purpose; nobody waits for it.
    drop(guard);
}

fn create_database(port: u16) -> String {
    let nanos =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let name = format!("test_{}_{nanos}", std::process::id());
    run_sql(port, &format!("CREATE DATABASE {name}"));
    format!("postgres://{USER}@127.0.0.1:{port}/{name}")
}

fn run_sql(port: u16, statement: &str) {
    let done = Command::new(program("psql"))
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", USER, "-d", "postgres"])
        .args(["-p", &port.to_string(), "-c", statement])
        .output()
        .expect("psql to run");
    assert!(done.status.success(), "{statement}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Runs a file of statements in the database of this URL.
///
/// # Panics
/// When one of them fails.
pub fn run_sql_file(url: &str, file: &Path) {
    let done = Command::new(program("psql"))
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-o", "/dev/null", "-f"])
        .arg(file)
        .output()
        .expect("psql to run");
    assert!(done.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&done.stderr));
}

fn initialise(data: &Path) {
    let initdb = program("initdb").display().to_string();
    let data = data.display().to_string();
    let arguments = ["-D", &data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
    let command = as_server_user(std::iter::once(initdb).chain(arguments.map(String::from)).collect());
    let done = Command::new(&command[0]).args(&command[1..]).output().expect("initdb to run");
    assert!(done.status.success(), "initdb failed: {}", String::from_utf8_lossy(&done.stderr));
}

/// No durability: the data lives as long as the test.
fn server_command(data: &Path, port: u16) -> Vec<String> {
    let settings = [
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "fsync=off",
        "full_page_writes=off",
        "max_connections=300",
        "shared_buffers=32MB",
        "log_min_messages=error",
    ];
    let mut command =
        vec![program("postgres").display().to_string(), "-D".into(), data.display().to_string()];
    command.extend(["-p".into(), port.to_string()]);
    for setting in settings {
        command.extend(["-c".into(), setting.into()]);
    }
    as_server_user(command)
}

fn is_ready(port: u16) -> bool {
    Command::new(program("pg_isready"))
        .args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()])
        .status()
        .is_ok_and(|status| status.success())
}

fn wait_until_ready(port: u16, what: &str) {
    let end = Instant::now() + Duration::from_mins(1);
    while !is_ready(port) {
        assert!(Instant::now() < end, "{what} on port {port} did not respond within a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Finds a program of PostgreSQL in PATH or where Debian installs it, newest version first.
fn program(name: &str) -> PathBuf {
    let in_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file()));
    let mut installed: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin").join(name))
        .filter(|path| path.is_file())
        .collect();
    installed.sort();
    installed.pop().or(in_path).unwrap_or_else(|| {
        panic!(
            "PostgreSQL is missing ({name} not found); install it, for instance: apt-get install postgresql"
        )
    })
}

fn own_uid() -> u32 {
    std::fs::metadata("/proc/self").expect("the process's own entry in /proc").uid()
}

/// The server refuses to run as root; then it runs as the user `postgres`, or else `nobody`.
fn server_user() -> Option<(u32, u32)> {
    if own_uid() != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("the list of users");
    let find = |wanted: &str| {
        users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|user| user[0] == wanted)
            .and_then(|user| Some((user.get(2)?.parse().ok()?, user.get(3)?.parse().ok()?)))
    };
    Some(find("postgres").or_else(|| find("nobody")).expect("a user that PostgreSQL may run as"))
}

fn as_server_user(command: Vec<String>) -> Vec<String> {
    let Some((uid, gid)) = server_user() else { return command };
    let mut prefixed = vec!["setpriv".into(), format!("--reuid={uid}"), format!("--regid={gid}")];
    prefixed.extend(["--clear-groups".into(), "--".into()]);
    prefixed.extend(command);
    prefixed
}

/// Lets the server's user create its data folder here.
fn open_for_server(folder: &Path) {
    if let Some((uid, gid)) = server_user() {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)).expect("permissions");
        let data = folder.join("data");
        if !data.exists() {
            std::fs::create_dir(&data).expect("a data folder");
            std::os::unix::fs::chown(&data, Some(uid), Some(gid))
                .expect("a data folder of the server's user");
        }
    }
}
