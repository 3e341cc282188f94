//! Finds Chromium. The small headless build is preferred where there is one: the same engine with about a
//! third of the CPU time per page, because it draws no windows.

use crate::error::{ChromiumNotFound, shorten};
use futures_util::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Program names in `PATH`, best first.
const PROGRAM_NAMES: [&str; 8] = [
    "chrome-headless-shell",
    "chromium-headless-shell",
    "headless_shell",
    "headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

/// Other paths where distributions install it.
const PROGRAM_PATHS: [&str; 9] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/headless-shell/headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/lib/chromium/chromium",
    "/snap/bin/chromium",
    "/opt/google/chrome/chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// The browser to start: the configured one, or the best one on this machine.
pub fn find_chromium(configured: Option<&Path>) -> Result<PathBuf, ChromiumNotFound> {
    if let Some(path) = configured {
        return if is_program(path) {
            Ok(path.to_owned())
        } else {
            Err(ChromiumNotFound::Configured(path.to_owned()))
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let named = PROGRAM_NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named
        .chain(PROGRAM_PATHS.iter().map(PathBuf::from))
        .find(|path| is_program(path))
        .ok_or(ChromiumNotFound::NotInstalled)
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The version text of the program.
pub fn chromium_version(program: &Path) -> BoxFuture<'_, Option<String>> {
    Box::pin(async move {
        let mut command = Command::new(program);
        command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        // Secrets in our environment must not reach it.
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        let output = tokio::time::timeout(Duration::from_secs(10), command.output()).await.ok()?.ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (output.status.success() && !text.is_empty()).then(|| shorten(&text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_program_is_taken_or_refused_never_replaced() {
        let missing = PathBuf::from("/nowhere/chromium");
        assert_eq!(find_chromium(Some(&missing)), Err(ChromiumNotFound::Configured(missing)));
        let folder = PathBuf::from("/");
        assert_eq!(find_chromium(Some(&folder)), Err(ChromiumNotFound::Configured(folder)));
        let shell = PathBuf::from("/bin/sh");
        assert_eq!(find_chromium(Some(&shell)), Ok(shell.clone()));
    }

    #[tokio::test]
    async fn the_installed_browser_is_found_and_says_what_it_is() {
        let program = find_chromium(None).expect("tests need Chromium: install the package `chromium`");
        let version = chromium_version(&program).await.unwrap();
        assert!(version.contains("Chrom"), "{version}");
    }
}
