//! Nothing can be reached from inside. Each refusal is compared with the same attack by a process that is not locked
//! in, so it is the lock-in that refuses and not a mistake in the attack.

use crate::attack_list::{ATTACKS, Attack, FreeFor};
use crate::support::{Session, trial};
use code_runner::Language::{self, Bash, Node, Python};
use code_runner::{CodeUser, probe};
use libtest_mimic::Trial;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("attacks::every_layer_holds_here", every_layer_holds_here),
        trial("attacks::every_attack_is_refused", every_attack_is_refused),
        trial("attacks::the_same_attacks_work_without_the_lock_in", attacks_work_without_the_lock_in),
        trial("attacks::modes_of_files_outside_are_not_changed", modes_are_not_changed),
        trial("attacks::node_and_its_children_are_locked_in", node_and_its_children_are_locked_in),
        trial("attacks::shells_and_their_children_are_locked_in", shells_are_locked_in),
        trial("attacks::no_secret_is_handed_down", no_secret_is_handed_down),
    ]
}

/// What attacks aim at: a file, sockets and a process that are none of their business.
struct Targets {
    folder: TempDir,
    secret: PathBuf,
    tcp: TcpListener,
    _socket: UnixListener,
    _datagrams: UnixDatagram,
    _abstract: UnixListener,
    abstract_name: String,
    sibling: std::process::Child,
}

impl Targets {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // Reachable for the account of the code, so that it is not the account that refuses.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("a mode");
        let secret = folder.path().join("gannet.db");
        std::fs::write(&secret, "secret text").expect("a file");
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o666)).expect("a mode");
        let program = folder.path().join("program");
        std::fs::write(&program, "#!/bin/sh\n").expect("a program");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let socket = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        std::fs::set_permissions(folder.path().join("socket"), std::fs::Permissions::from_mode(0o777))
            .expect("mode");
        let datagrams = folder.path().join("datagrams");
        let datagrams_socket = UnixDatagram::bind(&datagrams).expect("a socket");
        std::fs::set_permissions(&datagrams, std::fs::Permissions::from_mode(0o777)).expect("a mode");
        // Tests run at the same time, and the name is one for the whole machine.
        let abstract_name = format!("gannet-test-{}", folder.path().display());
        let address = SocketAddr::from_abstract_name(&abstract_name).expect("a name");
        Self {
            secret,
            tcp: TcpListener::bind("127.0.0.1:0").expect("a listener"),
            _socket: socket,
            _datagrams: datagrams_socket,
            _abstract: UnixListener::bind_addr(&address).expect("a socket"),
            abstract_name,
            sibling: Command::new("sleep").arg("600").spawn().expect("a process"),
            folder,
        }
    }

    fn script(&self, attack: &Attack) -> String {
        let quoted = |text: &str| format!("{text:?}");
        let mut code = attack
            .code
            .replace("{server}", &std::process::id().to_string())
            .replace("{sibling}", &self.sibling.id().to_string())
            .replace("{tcp}", &self.tcp.local_addr().expect("an address").port().to_string())
            .replace("{secret!r}", &quoted(&self.secret.to_string_lossy()))
            .replace("{outside!r}", &quoted(&self.folder.path().to_string_lossy()))
            .replace("{socket!r}", &quoted(&self.folder.path().join("socket").to_string_lossy()))
            .replace("{datagrams!r}", &quoted(&self.folder.path().join("datagrams").to_string_lossy()))
            .replace("{abstract!r}", &quoted(&self.abstract_name));
        for (name, number) in SYSTEM_CALLS {
            code = code.replace(&format!("SYS_{name},"), &format!("{number},"));
        }
        let lines: Vec<String> = code.lines().map(|line| format!("    {line}\n")).collect();
        let body = lines.concat();
        format!(
            "{PRELUDE}def attack():\n{body}try:\n    attack()\n    print('done')\nexcept OSError as error:\n    print('refused', error.errno)\n"
        )
    }
}

impl Drop for Targets {
    fn drop(&mut self) {
        let _ = self.sibling.kill();
        let _ = self.sibling.wait();
    }
}

const PRELUDE: &str = "import ctypes, os, socket, subprocess
library = ctypes.CDLL(None, use_errno=True)
library.syscall.restype = ctypes.c_long
def call(number, *arguments):
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = library.syscall(ctypes.c_long(number), *arguments)
    if result < 0: raise OSError(ctypes.get_errno(), 'refused')
    return result
";

const SYSTEM_CALLS: &[(&str, libc::c_long)] = &[
    ("inotify_add_watch", libc::SYS_inotify_add_watch),
    ("inotify_init1", libc::SYS_inotify_init1),
    ("tgkill", libc::SYS_tgkill),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("prlimit64", libc::SYS_prlimit64),
    ("ptrace", libc::SYS_ptrace),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("socketpair", libc::SYS_socketpair),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("unshare", libc::SYS_unshare),
    ("clone", libc::SYS_clone),
    ("setns", libc::SYS_setns),
    ("mount", libc::SYS_mount),
    ("bpf", libc::SYS_bpf),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("userfaultfd", libc::SYS_userfaultfd),
    ("keyctl", libc::SYS_keyctl),
    ("kexec_load", libc::SYS_kexec_load),
    ("shmget", libc::SYS_shmget),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("prctl", libc::SYS_prctl),
];

async fn every_layer_holds_here() {
    let layers = probe().await.expect("a process");
    assert!(layers.hold_all(), "{}", layers.describe_program());
}

/// As seccomp (1, 38) and Landlock (13, and 18 for links and renames) refuse.
const REFUSALS: [&str; 4] = ["refused 1\n", "refused 38\n", "refused 13\n", "refused 18\n"];

/// Under the account of the server, so that the account does not refuse anything.
async fn every_attack_is_refused() {
    let targets = Targets::new();
    let session = Session::start_as(CodeUser::Same).await;
    for attack in ATTACKS {
        let output = session.run(Python, &targets.script(attack)).await;
        assert!(REFUSALS.contains(&output.stdout.as_str()), "{}: {output:?}", attack.name);
    }
    assert_eq!(std::fs::read_to_string(&targets.secret).expect("the file"), "secret text");
    assert_eq!(session.result(Python, "await page.title()").await, "", "it still works");
}

async fn attacks_work_without_the_lock_in() {
    let targets = Targets::new();
    let runtimes = crate::support::runtimes().await;
    let python = runtimes.get(Python).expect("Python").executable().to_owned();
    let is_unfiltered_root = is_unfiltered_root();
    let is_free = |attack: &&Attack| match attack.free_for {
        FreeFor::Anyone => true,
        FreeFor::Root => is_unfiltered_root,
        FreeFor::Nobody => false,
    };
    for attack in ATTACKS.iter().filter(is_free) {
        let mut command = Command::new(&python);
        let output =
            command.args(["-c", &targets.script(attack)]).current_dir(targets.folder.path()).output();
        let output = output.expect("Python");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n", "{}: {output:?}", attack.name);
    }
}

/// Whether this process has all capabilities and no seccomp filter.
fn is_unfiltered_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let last = std::fs::read_to_string("/proc/sys/kernel/cap_last_cap").expect("/proc");
    let all = format!("{:016x}", u64::MAX >> (63 - last.trim().parse::<u32>().expect("a number")));
    value("CapEff:") == Some(all.as_str()) && value("Seccomp:") == Some("0")
}

/// Landlock does not restrict this; under the account of the server it has no effect.
async fn modes_are_not_changed() {
    let targets = Targets::new();
    let session = Session::start_as(CodeUser::Same).await;
    let path = targets.secret.to_string_lossy().into_owned();
    let code = format!(
        "chmod 000 {path}; touch -d 2001-01-01 {path}; chown 1:1 {path}; echo x > own; chmod 777 own"
    );
    session.run(Bash, &code).await;
    let data = std::fs::metadata(&targets.secret).expect("the file");
    assert_eq!(data.permissions().mode() & 0o777, 0o666);
    assert!(data.modified().expect("a time").elapsed().expect("the past").as_secs() < 600);
    // Under an account of its own, code may change what belongs to it.
    let session = Session::start_bash(None).await;
    let mode = session.result(Bash, "echo x > own; chmod 741 own; stat -c %a own").await;
    assert!(mode == "741" || !rustix::process::geteuid().is_root(), "{mode}");
}

async fn assert_refused(session: &Session, language: Language, code: &str) {
    let output = session.run(language, code).await;
    let refusals = ["EACCES", "EPERM", "ermission denied", "not permitted", "not implemented"];
    let is_refused = output.exit_code != 0 && refusals.iter().any(|text| output.stderr.contains(text));
    assert!(is_refused, "{code}: {output:?}");
}

async fn node_and_its_children_are_locked_in() {
    let targets = Targets::new();
    let secret = targets.secret.to_string_lossy().into_owned();
    let port = targets.tcp.local_addr().expect("an address").port();
    let server = std::process::id();
    let session = Session::start().await;
    for code in [
        format!("require('fs').readFileSync({secret:?})"),
        format!(
            "const pipe = {{ type: 'pipe', readable: true, writable: true }}; \
             const child = process.binding('spawn_sync').spawn({{ file: 'cat', args: ['cat', {secret:?}], \
             stdio: [pipe, pipe, pipe] }}); if (child.status) throw new Error(child.output[2].toString())"
        ),
        format!("require('child_process').execFileSync('cat', [{secret:?}], {{ stdio: 'pipe' }})"),
        format!("require('child_process').execSync('node -e \"fs.readFileSync(process.argv[1])\" ' + {secret:?})"),
        format!("await new Promise((done, fail) => require('net').connect({port}, '127.0.0.1', done).on('error', fail))"),
        format!("await fetch('http://127.0.0.1:{port}/').catch((error) => {{ throw error.cause }})"),
        "await new Promise((done, fail) => require('dgram').createSocket('udp4').on('error', fail).bind(0, done))".into(),
        format!("process.kill({server}, 'SIGTERM')"),
        format!("require('fs').readFileSync('/proc/{server}/environ')"),
        "require('fs').writeFileSync('/tmp/gannet-code-test', 'x')".into(),
        "require('fs').readFileSync('/proc/self/net/tcp')".into(),
        "require('fs').readFileSync('/proc/thread-self/net/unix')".into(),
        "require('fs').readFileSync('/proc/self/mountinfo')".into(),
        "require('fs').symlinkSync('/etc', 'etc'); require('fs').readFileSync('etc/passwd')".into(),
    ] {
        assert_refused(&session, Node, &code).await;
    }
    assert_eq!(
        session.result(Node, "require('child_process').execSync('echo fine').toString()").await,
        "fine\n"
    );
}

async fn shells_are_locked_in() {
    let targets = Targets::new();
    let secret = targets.secret.to_string_lossy().into_owned();
    let port = targets.tcp.local_addr().expect("an address").port();
    let server = std::process::id();
    let session = Session::start_bash(None).await;
    for code in [
        format!("cat {secret}"),
        format!("cp {secret} copy"),
        format!("echo x > {secret}"),
        format!("rm {secret}"),
        "cat /etc/passwd".into(),
        "ls /root".into(),
        // By the shell itself, whose folder it is.
        "read -r line < /proc/self/net/tcp".into(),
        "read -r line < /proc/self/net/unix".into(),
        "read -r line < /proc/self/mountinfo".into(),
        "read -r line < /proc/self/cgroup".into(),
        format!("exec 9<>/dev/tcp/127.0.0.1/{port}"),
        format!("kill -9 {server}"),
        format!("cat /proc/{server}/environ"),
        "ln -s /etc/passwd link; cat link".into(),
        format!("{}/program", targets.folder.path().display()),
        format!("(setsid bash -c '(cat {secret}) & wait $!')"),
        "unshare -U true".into(),
        "mkfifo x || exit 1; cat /etc/passwd".into(),
    ] {
        assert_refused(&session, Bash, &code).await;
    }
    assert_eq!(std::fs::read_to_string(&targets.secret).expect("the file"), "secret text");
}

async fn no_secret_is_handed_down() {
    let session = Session::start().await;
    let variables = session.result(Bash, "env | cut -d= -f1 | sort | tr '\\n' ' '").await;
    assert_eq!(variables, "HOME LANG PATH PWD SESSION_ID SHLVL TMPDIR _ ");
    let variables = session.result(Node, "Object.keys(process.env).sort().join(' ')").await;
    assert_eq!(variables, "HOME LANG PATH SESSION_ID TMPDIR");
    // Standard input, output and error, and the copy of one of them that this shell makes for its redirection.
    let list = "for n in {0..40}; do { : >&$n; } 2>/dev/null && printf '%s ' $n; done; :";
    assert_eq!(session.result(Bash, &format!("bash -c {list:?}").replace('$', "\\$")).await, "0 1 2 10 ");
}
