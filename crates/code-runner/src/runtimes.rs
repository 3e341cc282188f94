//! Finds what runs code on this machine: Node with playwright-core, Python with playwright, bash.

mod code_cache;

pub(crate) use self::code_cache::NODE_HEAP_OPTION;

use self::code_cache::CodeCache;
use crate::account::{CodeUser, session_account};
use crate::error::RunnerError;
use crate::language::Language;
use futures_util::future::BoxFuture;
use sandbox::Account;
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
    print(json.dumps({'executable': sys.executable, 'playwright': spec and spec.origin, \
    'paths': [sys.prefix, sys.base_prefix, os.path.realpath(sys.executable), *filter(os.path.isdir, sys.path)]}))";
/// Where runtimes are looked for besides the data folder, which the accounts of sessions of a server that runs as root
/// may not enter; an image has them there too.
const SHARED_FOLDER: &str = "/usr/local/lib/gannet";
/// Folders of programs that are searched after those in `PATH`.
const SYSTEM_PROGRAMS: [&str; 2] = ["/usr/local/bin", "/usr/bin"];

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
    /// Looks for all of them; takes a moment, because each is asked for its version. What the account of sessions may
    /// not enter is passed over for what it may.
    pub fn find(settings: &RuntimeSettings, user: CodeUser) -> BoxFuture<'_, Self> {
        Box::pin(async move {
            let search = Search { settings, account: session_account(user) };
            let (node, python) = tokio::join!(search.find_node(), search.find_python());
            Self { node, python, bash: find_bash(), cache: Arc::default() }
        })
    }

    /// Looks again for what was missing.
    pub fn look_again<'a>(&'a self, settings: &'a RuntimeSettings, user: CodeUser) -> BoxFuture<'a, Self> {
        Box::pin(async move {
            let search = Search { settings, account: session_account(user) };
            let mut found = self.clone();
            if found.node.is_err() {
                (found.node, found.cache) = (search.find_node().await, Arc::default());
            }
            if found.python.is_err() {
                found.python = search.find_python().await;
            }
            found.bash = found.bash.or_else(|_| find_bash());
            found
        })
    }

    /// Whether there is nothing more to look for.
    pub fn are_complete(&self) -> bool {
        self.node.is_ok() && self.python.is_ok() && self.bash.is_ok()
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

/// Where is looked, and who has to enter it.
struct Search<'a> {
    settings: &'a RuntimeSettings,
    /// `None`: code has the account of the server.
    account: Option<Account>,
}

impl Search<'_> {
    async fn find_node(&self) -> Result<Runtime, RunnerError> {
        let language = Language::Node;
        let missing = |advice: String| RunnerError::RuntimeMissing { language, advice };
        let executables = match &self.settings.node {
            Some(path) => vec![path.clone()],
            None => find_in_path("node"),
        };
        let executables = executables.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let executable = self.first_reachable(executables).map_err(|unreachable| match unreachable {
            Some(path) => {
                let advice = format!("install Node.js {MIN_NODE_MAJOR} or newer where other accounts may");
                RunnerError::Unreachable { language, path, advice }
            }
            None => missing(format!("install Node.js {MIN_NODE_MAJOR} or newer and playwright-core")),
        })?;
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
        let packages = self.node_modules_folders(prefix.as_deref()).into_iter().filter_map(|folder| {
            let package = folder.join("playwright-core").canonicalize().ok()?;
            is_recent_playwright(&package).then_some(package)
        });
        let (major, minor) = MIN_PLAYWRIGHT;
        let advice = format!(
            "npm install --prefix {} playwright-core@{major}.{minor} (or name its folder in interact_node_modules)",
            self.install_folder().display()
        );
        let playwright =
            self.first_reachable(packages.collect()).map_err(|unreachable| match unreachable {
                Some(path) => RunnerError::Unreachable { language, path, advice },
                None => missing(advice),
            })?;
        let libraries = prefix.map(|prefix| prefix.join("lib"));
        let readable = [Some(playwright.clone()), libraries].into_iter().flatten();
        let readable = readable.filter(|path| self.can_reach(path)).collect();
        Ok(Runtime { language, executable, readable, playwright: Some(playwright) })
    }

    /// Folders that may hold `playwright-core`, best first.
    fn node_modules_folders(&self, prefix: Option<&Path>) -> Vec<PathBuf> {
        let in_data_dir = self.settings.data_dir.as_ref().map(|folder| folder.join("node_modules"));
        let global = prefix.map(|prefix| prefix.join("lib/node_modules"));
        let node_path = std::env::var_os("NODE_PATH").unwrap_or_default();
        let named: Vec<PathBuf> =
            std::env::split_paths(&node_path).filter(|path| path.is_absolute()).collect();
        let shared = Some(Path::new(SHARED_FOLDER).join("node_modules"));
        let system = ["/usr/local/lib/node_modules", "/usr/lib/node_modules"].map(PathBuf::from);
        let own = self.settings.node_modules.clone().into_iter().chain(in_data_dir).chain(shared);
        own.chain(named).chain(global).chain(system).collect()
    }

    async fn find_python(&self) -> Result<Runtime, RunnerError> {
        let language = Language::Python;
        let executables = match &self.settings.python {
            Some(path) => vec![path.clone()],
            None => self.python_programs(),
        };
        let mut unreachable = None;
        for executable in &executables {
            // It is asked in another folder.
            let executable = std::path::absolute(executable).unwrap_or_else(|_| executable.clone());
            // That of a virtual environment is a link to the Python which it was made with.
            let real = executable.canonicalize().unwrap_or_else(|_| executable.clone());
            if let Some(path) = [&executable, &real].into_iter().find(|path| !self.can_reach(path)) {
                unreachable.get_or_insert_with(|| path.clone());
                continue;
            }
            let answer = ask(&executable, ["-c", PYTHON_PROBE]).await.unwrap_or_default();
            let Ok(probe) = serde_json::from_str::<PythonProbe>(answer.trim()) else { continue };
            let Some(playwright) = probe.playwright else { continue };
            if !self.can_reach(&playwright) {
                unreachable.get_or_insert(playwright);
                continue;
            }
            let is_root = |path: &PathBuf| path.as_os_str() == OsStr::new("/");
            let paths = probe.paths.into_iter().filter(|path| path.is_absolute() && !is_root(path));
            let readable = paths.filter(|path| self.can_reach(path)).collect();
            return Ok(Runtime { language, executable: probe.executable, readable, playwright: None });
        }
        if executables.is_empty() {
            let advice = "install Python 3.9 or newer and its package playwright".to_owned();
            return Err(RunnerError::RuntimeMissing { language, advice });
        }
        let (major, minor) = MIN_PLAYWRIGHT;
        let install = if let Some(path) = &self.settings.python {
            format!("{} -m pip install playwright", path.display())
        } else {
            // Distributions do not let pip install into their own Python.
            let (python, folder) = (self.base_python(), self.install_folder().join("python"));
            let (python, folder) = (python.display(), folder.display());
            format!("{python} -m venv {folder} && {folder}/bin/pip install playwright=={major}.{minor}.0")
        };
        let advice = format!("{install} (it needs no browser of its own: no `playwright install`)");
        Err(match unreachable {
            Some(path) => RunnerError::Unreachable { language, path, advice },
            None => RunnerError::RuntimeMissing { language, advice },
        })
    }

    fn python_programs(&self) -> Vec<PathBuf> {
        let own = self.settings.data_dir.as_deref().into_iter().chain([Path::new(SHARED_FOLDER)]);
        let own = own.map(|folder| folder.join("python/bin/python3")).filter(|path| path.exists());
        own.chain(find_in_path("python3")).collect()
    }

    /// What a virtual environment is to be made with: a Python that code may enter too, by its name if that is enough.
    fn base_python(&self) -> PathBuf {
        let found = find_in_path("python3");
        let is_reachable = |path: &&PathBuf| path.canonicalize().is_ok_and(|real| self.can_reach(&real));
        match found.iter().find(is_reachable) {
            Some(path) if found.first() != Some(path) => path.clone(),
            _ => PathBuf::from("python3"),
        }
    }

    /// The folder that packages are to be installed into.
    fn install_folder(&self) -> &Path {
        let own = self.settings.data_dir.as_deref().unwrap_or(Path::new("."));
        if self.account.is_none_or(|account| account.can_reach(own)) { own } else { Path::new(SHARED_FOLDER) }
    }

    /// Whether code may enter the folder that this lies in.
    fn can_reach(&self, path: &Path) -> bool {
        self.account.is_none_or(|account| account.can_reach(path.parent().unwrap_or(Path::new("/"))))
    }

    /// The first that code may use; else the first that there is, if any.
    fn first_reachable(&self, found: Vec<PathBuf>) -> Result<PathBuf, Option<PathBuf>> {
        let reachable = found.iter().find(|path| self.can_reach(path)).cloned();
        reachable.ok_or_else(|| found.into_iter().next())
    }
}

/// What a Python says of itself.
#[derive(Deserialize)]
struct PythonProbe {
    executable: PathBuf,
    /// A file of the package.
    playwright: Option<PathBuf>,
    paths: Vec<PathBuf>,
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

fn find_bash() -> Result<Runtime, RunnerError> {
    let missing =
        || RunnerError::RuntimeMissing { language: Language::Bash, advice: "install bash".to_owned() };
    let executable = find_in_path("bash").into_iter().find_map(|path| path.canonicalize().ok());
    let executable = executable.ok_or_else(missing)?;
    Ok(Runtime { language: Language::Bash, executable, readable: Vec::new(), playwright: None })
}

/// Programs of this name, those in `PATH` first.
fn find_in_path(name: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SYSTEM_PROGRAMS.map(PathBuf::from));
    let mut found: Vec<PathBuf> = Vec::new();
    for program in folders.map(|folder| folder.join(name)).filter(|path| path.is_file()) {
        if !found.contains(&program) {
            found.push(program);
        }
    }
    found
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
        let runtimes = Runtimes::find(&settings, CodeUser::Same).await;
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

    /// The data folder of a server that runs as root is closed to the accounts of sessions: what is installed there as
    /// the advice for other servers has it does not work, and is told with what does.
    #[tokio::test]
    async fn what_the_account_of_sessions_may_not_enter_is_told_with_what_to_do() {
        use std::os::unix::fs::PermissionsExt as _;
        let data = tempfile::tempdir().unwrap();
        std::fs::set_permissions(data.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let modules = data.path().join("node_modules/playwright-core");
        std::fs::create_dir_all(&modules).unwrap();
        std::fs::write(modules.join("package.json"), r#"{"version":"1.65.0"}"#).unwrap();
        let settings =
            RuntimeSettings { data_dir: Some(data.path().to_owned()), ..RuntimeSettings::default() };
        let find = |account| {
            let search = Search { settings: &settings, account };
            search.first_reachable(vec![modules.clone()])
        };
        assert_eq!(find(None), Ok(modules.clone()));
        let stranger = Account { uid: 65_533, gid: 65_533 };
        assert_eq!(find(Some(stranger)), Err(Some(modules.clone())));
        let search = Search { settings: &settings, account: Some(stranger) };
        assert_eq!(search.install_folder(), Path::new(SHARED_FOLDER));
        let shared = Path::new(SHARED_FOLDER).join("node_modules");
        assert!(search.node_modules_folders(None).contains(&shared));
        let search = Search { settings: &settings, account: None };
        assert_eq!(search.install_folder(), data.path());
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
