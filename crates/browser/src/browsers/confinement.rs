//! How the browser is isolated from the server: its account, its sandbox, a process per site. Decides which
//! launch options are tried, and reports what is missing if less was possible than there should be.

use crate::account::{Account, BrowserUser};
use crate::flags::Launch;
use crate::process::{Process, StartError, StartErrorKind};
use crate::settings::{BrowserSettings, Sandbox};
use rustix::process::geteuid;
use sandbox::Layer;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// What an operator can do about a missing sandbox.
const SANDBOX_ADVICE: &str = "allow unprivileged user namespaces (kernel.unprivileged_userns_clone=1, \
    kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces above 0; in a container a seccomp profile that permits \
    clone and unshare) or install Chromium's setuid helper (Debian: chromium-sandbox); browser_sandbox=on refuses to run without a \
    sandbox; see docs/operate.md";
/// The setuid helper, next to Chromium's program, that is used where user namespaces are not allowed.
const SETUID_HELPER: &str = "chrome-sandbox";
const USUAL_FOLDERS: [&str; 3] = ["/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome"];
/// Why files are not restricted where the operator wants it so.
const FILES_OPEN: &str = "switched off: browser_restrict_files=off";
const NAMESPACE_TEST_TIMEOUT: Duration = Duration::from_secs(5);

/// How a started browser is isolated from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confinement {
    /// The user id it runs under.
    pub uid: u32,
    /// Whether its pages run in Chromium's sandbox.
    pub sandboxed: bool,
    /// Whether every site has a process of its own.
    pub site_isolation: bool,
    /// Whether the kernel keeps it from files of others, and the reason why not.
    pub files_restricted: Result<(), String>,
    /// What is missing of the sandbox and why, one sentence each. Empty if nothing is.
    pub shortcomings: Vec<String>,
}

/// The launch options that are tried first.
pub(super) fn first_launch(settings: &BrowserSettings) -> Launch {
    let account = settings.user.to_account();
    let sandboxed = match settings.sandbox {
        Sandbox::On => true,
        Sandbox::Off => false,
        // Chromium refuses to run its sandbox as root.
        Sandbox::Auto => user_id(account) != 0,
    };
    let files_restricted = settings.restrict_files && missing_landlock().is_none();
    Launch { account, sandboxed, site_isolation: settings.site_isolation, files_restricted }
}

/// Why the kernel cannot restrict the files of a program; `None` if it can.
fn missing_landlock() -> Option<String> {
    let layers = sandbox::probe_landlock();
    layers.missing.into_iter().find(|missing| missing.layer == Layer::Files).map(|missing| missing.reason)
}

/// The launch options to try after a failed start; `None` if there are none.
pub(super) fn next_launch(settings: &BrowserSettings, launch: Launch, error: &StartError) -> Option<Launch> {
    match error.kind {
        // A setuid helper of its sandbox does not work under Landlock, nor do some ways of packaging it.
        StartErrorKind::Sandbox | StartErrorKind::Other if launch.files_restricted => {
            Some(Launch { files_restricted: false, ..launch })
        }
        StartErrorKind::Sandbox if launch.sandboxed && settings.sandbox == Sandbox::Auto => {
            Some(Launch { sandboxed: false, ..launch })
        }
        StartErrorKind::Account if launch.account.is_some() && settings.user == BrowserUser::Auto => {
            let same = BrowserSettings { user: BrowserUser::Same, ..settings.clone() };
            Some(first_launch(&same))
        }
        _ => None,
    }
}

fn user_id(account: Option<Account>) -> u32 {
    account.map_or_else(|| geteuid().as_raw(), |account| account.uid)
}

impl Confinement {
    /// Describes a successful start, after starts that failed with `errors`.
    pub(super) fn from_start(
        process: &Process,
        launch: Launch,
        settings: &BrowserSettings,
        errors: &[String],
    ) -> Self {
        let (uid, sandboxed) = (user_id(launch.account), process.is_sandboxed(launch));
        let mut shortcomings = Vec::new();
        if uid == 0 {
            shortcomings.push("it runs as root, for which Chromium has no sandbox".to_owned());
        }
        if !sandboxed && settings.sandbox == Sandbox::Off {
            shortcomings.push("the sandbox is switched off (browser_sandbox=off)".to_owned());
        } else if !sandboxed && launch.sandboxed {
            shortcomings.push("the program that starts Chromium adds --no-sandbox".to_owned());
        }
        shortcomings.extend(errors.iter().cloned());
        let files_restricted = if launch.files_restricted {
            Ok(())
        } else if !settings.restrict_files {
            Err(FILES_OPEN.to_owned())
        } else {
            Err(missing_landlock().unwrap_or_else(|| format!("it did not start so: {}", errors.join("; "))))
        };
        Self { uid, sandboxed, site_isolation: launch.site_isolation, files_restricted, shortcomings }
    }

    /// Logs whether the browser is sandboxed.
    pub(super) fn report(&self) {
        if self.sandboxed && self.uid != 0 {
            tracing::info!(uid = self.uid, "the browser runs in its sandbox");
        } else {
            warn(self.uid, &self.shortcomings.join("; "));
        }
        if let Err(reason) = &self.files_restricted {
            warn_of_files(reason);
        }
    }

    /// One line for `doctor`.
    pub fn describe(&self) -> String {
        let sandbox = if self.sandboxed { "sandbox on" } else { "WITHOUT A SANDBOX" };
        let isolation = if self.site_isolation { "on" } else { "off" };
        let files = match &self.files_restricted {
            Ok(()) => "files restricted".to_owned(),
            Err(reason) => format!("FILES NOT RESTRICTED ({reason})"),
        };
        let uid = self.uid;
        let mut line = format!("runs as user {uid}, {sandbox}, site isolation {isolation}, {files}");
        if !self.sandboxed || self.uid == 0 {
            line = format!("{line}: {}. To enable it: {SANDBOX_ADVICE}", self.shortcomings.join("; "));
        }
        line
    }
}

fn warn(uid: u32, reason: &str) {
    tracing::warn!(
        uid,
        reason,
        "the browser runs without a sandbox: a page that breaks out of Chromium has the rights of this user; {SANDBOX_ADVICE}"
    );
}

fn warn_of_files(reason: &str) {
    tracing::warn!(
        reason,
        "the kernel does not keep the browser from files of others: a page that breaks out of Chromium may read what its \
         user may"
    );
}

/// Warns if it is clear without starting the browser that it will have no sandbox, or that its files will not be
/// restricted. Only a start gives certainty; `doctor` does one.
pub(super) async fn warn_before_start(settings: &BrowserSettings, program: &Path) {
    if !settings.restrict_files {
        warn_of_files(FILES_OPEN);
    }
    let launch = first_launch(settings);
    let problem = if !launch.sandboxed && settings.sandbox == Sandbox::Off {
        Some("the sandbox is switched off (browser_sandbox=off)".to_owned())
    } else if user_id(launch.account) == 0 {
        Some("it runs as root (browser_user=same), for which Chromium has no sandbox".to_owned())
    } else {
        namespace_error(launch.account).await.filter(|_| !has_setuid_helper(program))
    };
    if let Some(reason) = problem {
        warn(user_id(launch.account), &reason);
    }
}

/// Why a process of this account cannot create a user namespace; `None` if it can, or if there is no program
/// to test it with.
async fn namespace_error(account: Option<Account>) -> Option<String> {
    let mut command = Command::new("unshare");
    command.args(["--user", "true"]).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
    command.kill_on_drop(true);
    if let Some(account) = account {
        command.gid(account.gid).uid(account.uid);
    }
    let output = tokio::time::timeout(NAMESPACE_TEST_TIMEOUT, command.output()).await.ok()?;
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Some(format!("user namespaces cannot be created here ({})", stderr.trim()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => Some(format!("the browser cannot be started as user {}: {error}", user_id(account))),
    }
}

/// Whether Chromium finds a working setuid helper.
fn has_setuid_helper(program: &Path) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if status.lines().any(|line| line.split_ascii_whitespace().eq(["NoNewPrivs:", "1"])) {
        return false;
    }
    let own_folder = program.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
    let folders = own_folder.into_iter().chain(USUAL_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(SETUID_HELPER)).any(|path| {
        path.metadata().is_ok_and(|data| data.uid() == 0 && data.permissions().mode() & 0o4001 == 0o4001)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start_error(kind: StartErrorKind) -> StartError {
        StartError { message: String::new(), kind }
    }

    #[test]
    fn less_than_was_wanted_is_tried_only_where_the_settings_leave_it_open() {
        let other = Account { uid: 65_533, gid: 65_533 };
        let sandboxed =
            Launch { account: Some(other), sandboxed: true, site_isolation: true, files_restricted: false };
        let auto = BrowserSettings::default();
        let without = next_launch(&auto, sandboxed, &start_error(StartErrorKind::Sandbox)).unwrap();
        assert_eq!(without, Launch { sandboxed: false, ..sandboxed });
        assert_eq!(next_launch(&auto, without, &start_error(StartErrorKind::Sandbox)), None);
        assert_eq!(next_launch(&auto, sandboxed, &start_error(StartErrorKind::Other)), None);
        let same = next_launch(&auto, sandboxed, &start_error(StartErrorKind::Account)).unwrap();
        assert_eq!((same.account, same.sandboxed), (None, !geteuid().is_root()));
        let restricted = Launch { files_restricted: true, ..sandboxed };
        for kind in [StartErrorKind::Sandbox, StartErrorKind::Other] {
            assert_eq!(next_launch(&auto, restricted, &start_error(kind)), Some(sandboxed));
        }
        let required = BrowserSettings { sandbox: Sandbox::On, ..auto.clone() };
        assert_eq!(next_launch(&required, sandboxed, &start_error(StartErrorKind::Sandbox)), None);
        let chosen = BrowserSettings { user: BrowserUser::Account(other), ..auto };
        assert_eq!(next_launch(&chosen, sandboxed, &start_error(StartErrorKind::Account)), None);
    }

    #[test]
    fn what_is_missing_is_said() {
        let mut seen = Confinement {
            uid: 65_533,
            sandboxed: true,
            site_isolation: true,
            files_restricted: Ok(()),
            shortcomings: Vec::new(),
        };
        assert_eq!(seen.describe(), "runs as user 65533, sandbox on, site isolation on, files restricted");
        seen.files_restricted = Err("the kernel has no Landlock".into());
        assert!(seen.describe().ends_with("FILES NOT RESTRICTED (the kernel has no Landlock)"));
        seen.sandboxed = false;
        seen.shortcomings.push("No usable sandbox!".into());
        let line = seen.describe();
        assert!(
            line.contains("WITHOUT A SANDBOX") && line.contains("No usable") && line.contains("userns"),
            "{line}"
        );
    }
}
