//! Code in bash, and browser commands in it.

use crate::support::{Session, trial};
use code_runner::BrowserCommands;
use code_runner::Language::Bash;
use libtest_mimic::Trial;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("bash::one_shell_for_all_calls", one_shell_for_all_calls),
        trial("bash::exit_codes_and_errors", exit_codes_and_errors),
        trial("bash::browser_commands_work_bare_and_in_lines", browser_commands_work),
    ]
}

async fn one_shell_for_all_calls() {
    let session = Session::start_bash(None).await;
    assert_eq!(session.result(Bash, "mkdir -p a/b && cd a/b; x=7; greet() { echo \"hi $1\"; }").await, "");
    let output = session.run(Bash, "pwd | sed 's:.*/home/::'; echo $x; greet you; echo oh >&2").await;
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("a/b\n7\nhi you\n", "oh\n"));
    assert_eq!(output.result, "a/b\n7\nhi you");
    assert_eq!(session.result(Bash, "cat <(echo substituted) | tr a-z A-Z").await, "SUBSTITUTED");
    assert_eq!(session.result(Bash, "cat <<EOF\nline 1\nline 2\nEOF").await, "line 1\nline 2");
    assert_eq!(session.result(Bash, "printf '%s' \"$SESSION_ID\"").await, "some-session");
    assert_eq!(session.result(Bash, "read line; echo \"[$line]\"").await, "[]", "nothing to read");
    let long = format!("echo {} | wc -c", "x".repeat(90_000));
    assert_eq!(session.result(Bash, &long).await, "90001");
}

async fn exit_codes_and_errors() {
    let session = Session::start_bash(None).await;
    assert_eq!(session.run(Bash, "false").await.exit_code, 1);
    assert_eq!(session.run(Bash, "(exit 9)").await.exit_code, 9);
    let output = session.run(Bash, "no-such-program x").await;
    assert_eq!(
        (output.exit_code, output.stderr.as_str()),
        (127, "bash: no-such-program: command not found\n")
    );
    let output = session.run(Bash, "if then").await;
    assert!(output.exit_code != 0 && output.stderr.contains("syntax error"), "{output:?}");
    assert_eq!(session.result(Bash, "echo alive").await, "alive");
    let output = session.run(Bash, "echo before; exit 3").await;
    assert_eq!((output.exit_code, output.stdout.as_str(), output.killed), (3, "before\n", false));
    assert!(session.run(Bash, "echo $x").await.stderr.contains("variables of earlier calls are gone"));
}

/// A program that answers as `agent-browser`, and a server that says back what it was asked.
async fn browser_commands_work() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).expect("a mode");
    let program = folder.path().join("program");
    let script = "#!/bin/bash\nexec 9>>\"$GANNET_COMMANDS_LOCK\"; flock 9\n\
        printf '%s\\n' \"$*\" >&\"$GANNET_COMMANDS_FD\"; read -r answer <&\"$GANNET_COMMANDS_FD\"; echo \"$answer\"\n";
    std::fs::write(&program, script).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let open = || {
        let (ours, theirs) = UnixStream::pair()?;
        std::thread::spawn(move || {
            let mut writer = ours.try_clone().expect("a stream");
            for line in BufReader::new(ours).lines().map_while(Result::ok) {
                let _ = writeln!(writer, "did: {line}");
            }
        });
        Ok(theirs.into())
    };
    let words = ["snapshot", "click", "wait", "find", "get"].map(str::to_owned).into();
    let session = Session::start_bash(Some(BrowserCommands { program, open: Arc::new(open), words })).await;
    for (code, expected) in [
        ("agent-browser get title", "did: get title"),
        ("snapshot", "did: snapshot"),
        ("click @e1", "did: click @e1"),
        ("snapshot -i | tr a-z A-Z", "DID: SNAPSHOT -I"),
        ("wait 500", "did: wait 500"),
        ("find role button", "did: find role button"),
        ("for n in 1 2; do click @e$n; done", "did: click @e1\ndid: click @e2"),
        ("click @e1 & click @e1 & wait", "did: click @e1\ndid: click @e1"),
        ("find . -name nothing", ""),
    ] {
        assert_eq!(session.result(Bash, code).await, expected, "{code}");
    }
}
