//! A server process that cannot outlive the process that started it.

use std::process::{Child, Command, Stdio};

/// Runs `"$@"` until standard input closes, which it does when the parent dies in whatever way.
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
pub(crate) struct Tethered {
    watcher: Child,
}

impl Tethered {
    /// Starts a command and stops it with `signal` later. Its own process group keeps a runner that
    /// kills the test's group from killing the watcher before it has cleaned up.
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

impl Drop for Tethered {
    fn drop(&mut self) {
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
    }
}
