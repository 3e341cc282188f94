//! A server process that cannot outlive the process that started it.

use std::process::{Child, Command, Stdio};

/// Runs `"$@"` until standard input closes, which happens when the parent dies, however it dies.
const WATCH: &str = r#"
signal=$1; shift
"$@" </dev/null &
server=$!
cat >/dev/null
kill -"$signal" "$server" 2>/dev/null
# One that a test stopped in its tracks hears nothing before it goes on.
kill -CONT "$server" 2>/dev/null
wait "$server"
"#;

/// A running server; dropping it stops the server and waits until it is gone.
#[derive(Debug)]
pub(crate) struct GuardedProcess {
    watcher: Child,
}

impl GuardedProcess {
    /// Starts a command that is later stopped with `signal`. It has its own process group, so that a test
    /// runner which kills the test's group does not kill the watcher before it has cleaned up.
    pub(crate) fn start(signal: &str, command: &[String]) -> Self {
        use std::os::unix::process::CommandExt;
        let watcher = Command::new("sh")
            .args(["-c", WATCH, "watch", signal])
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("a shell to start a server with");
        Self { watcher }
    }
}

impl Drop for GuardedProcess {
    fn drop(&mut self) {
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
    }
}
