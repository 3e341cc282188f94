//! Other programs under the layers: a shell, and a browser.

use crate::support::{LONG, trial};
use gannet_sandbox::{
    Layer, Program, ProgramAccess, ProgramDescriptors, ProgramEnd, ProgramError, ProgramLimits,
    ProgramPolicy, RunningProgram, SystemCallSet, probe_landlock, probe_program, restricted_command,
};
use libtest_mimic::Trial;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use tokio::time::timeout;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("programs::a_program_has_its_policy_its_environment_and_its_folder", program_has_its_policy),
        trial("programs::a_program_that_cannot_start_says_why", program_that_cannot_start),
        trial("programs::only_named_ports_can_be_reached", only_named_ports_can_be_reached),
        trial("programs::a_limit_of_all_processes_together_ends_the_program", limit_ends_the_program),
        trial("programs::a_browser_works_and_opens_no_file_of_others", browser_opens_no_file_of_others),
        trial("programs::a_restricted_command_becomes_its_program", restricted_command_becomes_its_program),
        trial(
            "programs::a_restricted_command_reads_no_other_process",
            restricted_command_reads_no_other_process,
        ),
    ]
}

const SYSTEM: [&str; 6] = ["/usr", "/lib", "/lib64", "/bin", "/etc/alternatives", "/etc/ld.so.cache"];

fn policy(writable: &Path) -> ProgramPolicy {
    ProgramPolicy {
        control_group: None,
        readable: SYSTEM.map(PathBuf::from).into(),
        writable: vec![writable.to_owned()],
        devices: vec!["/dev/null".into(), "/dev/zero".into(), "/dev/urandom".into(), "/dev/random".into()],
        connect_ports: Vec::new(),
        system_calls: SystemCallSet::NoSockets,
        account: None,
        limits: ProgramLimits::default(),
        required: vec![Layer::Files, Layer::SystemCalls],
    }
}

/// Runs a program to its end and returns how it ended and what it printed.
async fn run(
    executable: &str,
    arguments: &[&str],
    folder: &Path,
    policy: ProgramPolicy,
) -> Result<(ProgramEnd, String), ProgramError> {
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let folder_text = folder.to_string_lossy().into_owned();
    let program = Program {
        executable: executable.into(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        environment: ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"]
            .map(|name| (name.to_owned(), folder_text.clone()))
            .into(),
        folder: folder.to_owned(),
    };
    let null = File::open("/dev/null").expect("a device");
    let errors = File::options().write(true).open("/dev/null").expect("a device");
    let descriptors = ProgramDescriptors {
        stdin: null.into(),
        stdout: writer.into(),
        stderr: errors.into(),
        more: Vec::new(),
    };
    let mut running = RunningProgram::start(program, policy, descriptors).await?;
    let output = tokio::task::spawn_blocking(move || {
        let mut output = String::new();
        reader.read_to_string(&mut output).expect("text");
        output
    });
    let end = timeout(LONG, running.wait()).await.expect("an end in time");
    Ok((end, output.await.expect("the output")))
}

async fn program_has_its_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let layers = probe_program(&policy(folder.path())).await.expect("a process");
    assert!(layers.hold_all(), "{}", layers.describe_program());
    let script =
        "pwd; env | sort | head -1 | cut -d= -f1; echo x > own && cat own; cat /etc/passwd || exit 7";
    let (end, output) =
        run("/bin/sh", &["-c", script], folder.path(), policy(folder.path())).await.expect("a run");
    assert_eq!(output, format!("{}\nHOME\nx\n", folder.path().display()));
    assert_eq!(end, ProgramEnd { exit_code: Some(7), ..ProgramEnd::default() });
    let (end, _) =
        run("/bin/sh", &["-c", "kill -9 $$"], folder.path(), policy(folder.path())).await.expect("a run");
    assert_eq!(end, ProgramEnd { signal: Some(9), ..ProgramEnd::default() });
}

async fn program_that_cannot_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let error =
        run("/nowhere/program", &[], folder.path(), policy(folder.path())).await.expect_err("an error");
    assert!(error.to_string().contains("/nowhere/program: No such file"), "{error}");
    let missing = Path::new("/nowhere");
    let error = run("/bin/true", &[], missing, policy(folder.path())).await.expect_err("an error");
    assert!(error.to_string().contains("No such file"), "{error}");
}

async fn only_named_ports_can_be_reached() {
    let folder = tempfile::tempdir().expect("a folder");
    let (allowed, other) =
        (TcpListener::bind("127.0.0.1:0").expect("a port"), TcpListener::bind("127.0.0.1:0"));
    let port = |listener: &TcpListener| listener.local_addr().expect("an address").port();
    let other = other.expect("a port");
    let mut policy = policy(folder.path());
    policy.system_calls = SystemCallSet::Unfiltered;
    policy.connect_ports = vec![port(&allowed)];
    let script = "for port; do (: < /dev/tcp/127.0.0.1/$port) 2> /dev/null && echo yes || echo no; done";
    let ports = [port(&allowed), port(&other)].map(|port| port.to_string());
    let arguments = ["-c", script, "bash", &ports[0], &ports[1]];
    let (_, output) = run("/bin/bash", &arguments, folder.path(), policy).await.expect("a run");
    assert_eq!(output, "yes\nno\n");
}

async fn limit_ends_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut policy = policy(folder.path());
    policy.limits.max_memory_bytes = Some(100_000_000);
    let script = "for n in 1 2; do head -c 90000000 /dev/zero | tail -c 80000000 | sleep 60 & done; wait";
    let (end, _) = run("/bin/sh", &["-c", script], folder.path(), policy).await.expect("a run");
    assert_eq!(end.exceeded, Some(gannet_sandbox::ExceededLimit::Memory), "{end:?}");
}

async fn browser_opens_no_file_of_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut policy = policy(folder.path());
    policy.system_calls = SystemCallSet::Unfiltered;
    let more =
        ["/etc/fonts", "/etc/ssl", "/etc/chromium", "/etc/chromium.d", "/etc/localtime", "/proc", "/sys"];
    policy.readable.extend(more.map(PathBuf::from));
    policy.writable.push("/dev/shm".into());
    let profile = format!("--user-data-dir={}", folder.path().display());
    for (address, expected) in
        [("data:text/html,<p>hello", Some("<p>hello</p>")), ("file:///etc/passwd", None)]
    {
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", &profile, "--dump-dom", address];
        let (_, output) = run("/usr/bin/chromium-headless-shell", &arguments, folder.path(), policy.clone())
            .await
            .expect("a run");
        match expected {
            Some(text) => assert!(output.contains(text), "{output}"),
            None => assert!(!output.contains("root:") && !output.contains("/bin/"), "{output}"),
        }
    }
}

/// The process that was started is the program: no other has to be killed or measured.
async fn restricted_command_becomes_its_program() {
    assert!(probe_landlock().holds(Layer::Files), "{:?}", probe_landlock());
    let [own, existing, other] = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    for folder in [&own, &existing, &other] {
        std::fs::write(folder.path().join("file"), "x").expect("a file");
        std::fs::copy("/bin/true", folder.path().join("program")).expect("a program");
    }
    let access = ProgramAccess {
        readable: SYSTEM.map(PathBuf::from).into(),
        writable: vec![own.path().to_owned()],
        existing: vec![existing.path().to_owned(), "/proc".into()],
        devices: vec!["/dev/null".into()],
        connect_ports: Vec::new(),
    };
    let script = "echo $$ $MARK; for folder; do cat $folder/file; echo y > $folder/file && echo changed;
        $folder/program && echo run; touch $folder/new && echo created; rm $folder/file && echo removed; done";
    let mut command = restricted_command(&access, Path::new("/bin/sh")).expect("a command");
    command.args(["-c", script, "sh"]).args([own.path(), existing.path(), other.path()]);
    command.env_clear().env("MARK", "m").env("PATH", "/usr/bin:/bin").current_dir(own.path());
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn();
    let child = child.expect("a process");
    let number = child.id();
    let output = child.wait_with_output().expect("an end");
    let said = format!("{number} m\nxchanged\nrun\ncreated\nremoved\nxchanged\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), said);
    assert_eq!(std::fs::read(existing.path().join("file")).expect("a file"), b"y\n");
    assert!(!existing.path().join("new").exists() && !other.path().join("new").exists());
}

/// Although `/proc` is open to it. Without capabilities: with them the kernel asks nobody.
async fn restricted_command_reads_no_other_process() {
    let access = ProgramAccess {
        readable: SYSTEM.map(PathBuf::from).into(),
        existing: vec!["/proc".into()],
        ..ProgramAccess::default()
    };
    let as_stranger = |command: &mut std::process::Command| {
        if rustix::process::geteuid().is_root() {
            command.uid(65_533).gid(65_533);
        }
    };
    let mut other = std::process::Command::new("sleep");
    other.arg("60").env_clear().env("WORD", "secret");
    as_stranger(&mut other);
    let mut other = other.spawn().expect("a process");
    let script = format!("cd /proc/{}; cat environ maps; readlink exe fd/1; head -c 5 cmdline", other.id());
    let mut open = std::process::Command::new("/bin/sh");
    let restricted = restricted_command(&access, Path::new("/bin/sh")).expect("a command");
    let [open, restricted] = [&mut open, &mut { restricted }].map(|command| {
        as_stranger(command);
        let output =
            command.args(["-c", &script]).env_clear().env("PATH", "/usr/bin:/bin").current_dir("/").output();
        String::from_utf8_lossy(&output.expect("an end").stdout).into_owned()
    });
    other.kill().expect("killed");
    other.wait().expect("waited");
    assert!(open.contains("WORD=secret") && open.contains("/sleep"), "{open}");
    assert_eq!(restricted, "sleep", "only its name and arguments are shown");
}
