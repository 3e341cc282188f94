//! Finding Chromium. The small headless build is preferred where there is one: the same engine, about a
//! third of the processor time for each page, because it has no windows to draw.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Names looked for in `PATH`, best first.
const NAMES: [&str; 8] = [
    "chrome-headless-shell",
    "chromium-headless-shell",
    "headless_shell",
    "headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

/// Where distributions put it beside `PATH`.
const PLACES: [&str; 9] = [
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

/// There is no browser.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    #[error("{0} is not a program that can be started")]
    Configured(PathBuf),
    #[error("no Chromium was found; install it, or name its program in the settings")]
    Nowhere,
}

/// The browser to start: the one that is configured, or the best one on this machine.
pub fn find_chromium(configured: Option<&Path>) -> Result<PathBuf, NotFound> {
    if let Some(path) = configured {
        return if is_program(path) {
            Ok(path.to_owned())
        } else {
            Err(NotFound::Configured(path.to_owned()))
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let named = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.chain(PLACES.iter().map(PathBuf::from)).find(|path| is_program(path)).ok_or(NotFound::Nowhere)
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// What the program says it is, for people.
pub async fn chromium_version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    // Secrets in our environment are none of its business.
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    let output = tokio::time::timeout(Duration::from_secs(10), command.output()).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then(|| crate::error::clip(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_program_is_taken_or_refused_never_replaced() {
        let missing = PathBuf::from("/nowhere/chromium");
        assert_eq!(find_chromium(Some(&missing)), Err(NotFound::Configured(missing)));
        let folder = PathBuf::from("/");
        assert_eq!(find_chromium(Some(&folder)), Err(NotFound::Configured(folder)));
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
