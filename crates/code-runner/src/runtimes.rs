//! Finds what runs code on this machine: Node with playwright-core, Python with playwright, bash.

mod code_cache;

pub(crate) use self::code_cache::NODE_HEAP_OPTION;

use self::code_cache::CodeCache;
use crate::error::RunnerError;
use crate::language::Language;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::OnceCell;

const MIN_NODE_MAJOR: u32 = 20;
/// The first version that can be given a connection instead of an address.
const MIN_PLAYWRIGHT: (u32, u32) = (1, 65);
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);
/// Prints what we have to know of a Python.
const PYTHON_PROBE: &str = "import importlib.util, json, os, sys; spec = importlib.util.find_spec('playwright'); \
    print(json.dumps({'executable': sys.executable, 'playwright': spec is not None, \
    'paths': [sys.prefix, sys.base_prefix, os.path.realpath(sys.executable), *filter(os.path.isdir, sys.path)]}))";

/// Where to look, from the settings of the server.
#[derive(Debug, Clone, Default)]
pub struct RuntimeSettings {
    /// A folder with `playwright-core` in it: the setting `interact_node_modules`.
    pub node_modules: Option<PathBuf>,
    /// The data folder; its `node_modules` and `python` are looked at too.
    pub data_dir: Option<PathBuf>,
    /// Instead of those in `PATH`.
    pub node: Option<PathBuf>,
    pub python: Option<PathBuf>,
}

/// What runs one language.
#[derive(Debug, Clone)]
pub struct Runtime {
    pub(crate) language: Language,
    pub(crate) executable: PathBuf,
    /// What it reads besides the system's folders.
    pub(crate) readable: Vec<PathBuf>,
    /// The folder of `playwright-core`, for Node.
    pub(crate) playwright: Option<PathBuf>,
}

/// What was found, and what to do about the rest.
#[derive(Debug, Clone)]
pub struct Runtimes {
    pub node: Result<Runtime, RunnerError>,
    pub python: Result<Runtime, RunnerError>,
    pub bash: Result<Runtime, RunnerError>,
    /// Compiled code for Node, once it was written.
    cache: Arc<OnceCell<Option<CodeCache>>>,
}

impl Runtimes {
    /// Looks for all of them; takes a moment, because each is asked for its version.
    pub fn find(settings: &RuntimeSettings) -> BoxFuture<'_, Self> {
        Box::pin(async move {
            let (node, python) = tokio::join!(find_node(settings), find_python(settings));
            Self { node, python, bash: find_bash(), cache: Arc::default() }
        })
    }

    /// Compiles ahead what Node processes begin with: it halves the time to their first call. Does so once.
    pub async fn compile_ahead(&self) {
        if let Ok(node) = &self.node {
            self.cache.get_or_init(|| CodeCache::write(node)).await;
        }
    }

    /// The folder of what was compiled, if that is done.
    pub(crate) fn compiled(&self) -> Option<&Path> {
        self.cache.get()?.as_ref().map(CodeCache::path)
    }

    pub fn get(&self, language: Language) -> Result<&Runtime, RunnerError> {
        let found = match language {
            Language::Node => &self.node,
            Language::Python => &self.python,
            Language::Bash => &self.bash,
        };
        found.as_ref().map_err(Clone::clone)
    }
}

impl Runtime {
    /// The program that is started.
    pub fn executable(&self) -> &Path {
        &self.executable
    }
}

async fn find_node(settings: &RuntimeSettings) -> Result<Runtime, RunnerError> {
    let missing = |advice: String| RunnerError::RuntimeMissing { language: Language::Node, advice };
    let executable = settings.node.clone().or_else(|| find_in_path("node"));
    let executable = executable.and_then(|path| path.canonicalize().ok());
    let executable = executable
        .ok_or_else(|| missing(format!("install Node.js {MIN_NODE_MAJOR} or newer and playwright-core")))?;
    let version = ask(&executable, ["--version"]).await.unwrap_or_default();
    let (major, _) = parse_version(version.trim().trim_start_matches('v'));
    if major < MIN_NODE_MAJOR {
        return Err(missing(format!(
            "{} is {}; install Node.js {MIN_NODE_MAJOR} or newer",
            executable.display(),
            if version.is_empty() { "not Node.js" } else { version.trim() }
        )));
    }
    let prefix = executable.parent().and_then(Path::parent).map(Path::to_owned);
    let playwright = node_modules_folders(settings, prefix.as_deref()).into_iter().find_map(|folder| {
        let package = folder.join("playwright-core").canonicalize().ok()?;
        is_recent_playwright(&package).then_some(package)
    });
    let playwright = playwright.ok_or_else(|| {
        let (major, minor) = MIN_PLAYWRIGHT;
        let folder = settings.data_dir.as_deref().unwrap_or(Path::new("."));
        missing(format!(
            "npm install --prefix {} playwright-core@{major}.{minor} (or name its folder in interact_node_modules)",
            folder.display()
        ))
    })?;
    let libraries = prefix.map(|prefix| prefix.join("lib"));
    let readable = [Some(playwright.clone()), libraries].into_iter().flatten().collect();
    Ok(Runtime { language: Language::Node, executable, readable, playwright: Some(playwright) })
}

/// Folders that may hold `playwright-core`, best first.
fn node_modules_folders(settings: &RuntimeSettings, prefix: Option<&Path>) -> Vec<PathBuf> {
    let in_data_dir = settings.data_dir.as_ref().map(|folder| folder.join("node_modules"));
    let global = prefix.map(|prefix| prefix.join("lib/node_modules"));
    let node_path = std::env::var_os("NODE_PATH").unwrap_or_default();
    let named: Vec<PathBuf> = std::env::split_paths(&node_path).filter(|path| path.is_absolute()).collect();
    let system = ["/usr/local/lib/node_modules", "/usr/lib/node_modules"].map(PathBuf::from);
    settings
        .node_modules
        .clone()
        .into_iter()
        .chain(in_data_dir)
        .chain(named)
        .chain(global)
        .chain(system)
        .collect()
}

fn is_recent_playwright(package: &Path) -> bool {
    #[derive(Deserialize)]
    struct Manifest {
        version: String,
    }
    let manifest = std::fs::read(package.join("package.json")).ok();
    let manifest = manifest.and_then(|bytes| serde_json::from_slice::<Manifest>(&bytes).ok());
    manifest.is_some_and(|manifest| parse_version(&manifest.version) >= MIN_PLAYWRIGHT)
}

async fn find_python(settings: &RuntimeSettings) -> Result<Runtime, RunnerError> {
    #[derive(Deserialize)]
    struct Probe {
        executable: PathBuf,
        playwright: bool,
        paths: Vec<PathBuf>,
    }
    let missing = |advice: String| RunnerError::RuntimeMissing { language: Language::Python, advice };
    let in_data_dir = settings.data_dir.as_ref().map(|folder| folder.join("python/bin/python3"));
    let executable = settings.python.clone().or(in_data_dir.filter(|path| path.exists()));
    let executable = executable
        .or_else(|| find_in_path("python3"))
        .ok_or_else(|| missing("install Python 3.9 or newer and its package playwright".to_owned()))?;
    // It is asked in another folder.
    let executable = std::path::absolute(&executable).unwrap_or(executable);
    let answer = ask(&executable, ["-c", PYTHON_PROBE]).await.unwrap_or_default();
    let probe = serde_json::from_str::<Probe>(answer.trim()).ok().filter(|probe| probe.playwright);
    let probe = probe.ok_or_else(|| {
        missing(format!(
            "{0} -m pip install playwright (it needs no browser of its own: no `playwright install`)",
            executable.display()
        ))
    })?;
    let is_root = |path: &PathBuf| path.as_os_str() == OsStr::new("/");
    let readable = probe.paths.into_iter().filter(|path| path.is_absolute() && !is_root(path)).collect();
    Ok(Runtime { language: Language::Python, executable: probe.executable, readable, playwright: None })
}

fn find_bash() -> Result<Runtime, RunnerError> {
    let missing =
        || RunnerError::RuntimeMissing { language: Language::Bash, advice: "install bash".to_owned() };
    let executable = find_in_path("bash").and_then(|path| path.canonicalize().ok()).ok_or_else(missing)?;
    Ok(Runtime { language: Language::Bash, executable, readable: Vec::new(), playwright: None })
}

fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// What a program prints. Secrets in our environment must not reach it.
pub(crate) async fn ask<const COUNT: usize>(program: &Path, arguments: [&str; COUNT]) -> Option<String> {
    let kept = ["PATH", "HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(kept).current_dir("/");
    command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PROBE_TIMEOUT, command.output()).await.ok()?.ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Major and minor number of a version; zeros where there are none.
fn parse_version(text: &str) -> (u32, u32) {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(parse_version("20.20.2"), (20, 20));
        assert_eq!(parse_version("1.65.0-alpha-2026"), (1, 65));
        assert_eq!(parse_version(""), (0, 0));
        assert!(parse_version("1.100.0") >= MIN_PLAYWRIGHT && parse_version("1.64.1") < MIN_PLAYWRIGHT);
    }

    #[tokio::test]
    async fn what_is_missing_says_what_to_install() {
        let settings = RuntimeSettings {
            node: Some("/nowhere/node".into()),
            python: Some("/bin/false".into()),
            ..RuntimeSettings::default()
        };
        let runtimes = Runtimes::find(&settings).await;
        let text = |result: Result<&Runtime, RunnerError>| result.err().map(|error| error.to_string());
        let node = text(runtimes.get(Language::Node)).unwrap();
        assert_eq!(node, "node is not available: install Node.js 20 or newer and playwright-core");
        let python = text(runtimes.get(Language::Python)).unwrap();
        assert!(
            python.starts_with("python is not available: /bin/false -m pip install playwright"),
            "{python}"
        );
        assert!(runtimes.get(Language::Bash).is_ok());
    }

    #[tokio::test]
    async fn an_old_or_missing_playwright_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("playwright-core");
        std::fs::create_dir(&package).unwrap();
        assert!(!is_recent_playwright(&package));
        std::fs::write(package.join("package.json"), r#"{"version":"1.64.1"}"#).unwrap();
        assert!(!is_recent_playwright(&package));
        std::fs::write(package.join("package.json"), r#"{"version":"1.65.0"}"#).unwrap();
        assert!(is_recent_playwright(&package));
    }
}
