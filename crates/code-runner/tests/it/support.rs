//! What the tests share: a session with its folder and its browser.

use crate::chromium::Chromium;
use code_runner::{
    BrowserCommands, CodeOutput, CodeUser, Language, LockIn, OpenCdp, Runners, RunnersOptions,
    RuntimeSettings, Runtimes,
};
use libtest_mimic::Trial;
use sandbox::Account;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Far more than any call of these tests needs.
pub const LONG: Duration = Duration::from_mins(1);
/// How long killed processes may take to be gone, on a busy machine.
const GONE_TIMEOUT: Duration = Duration::from_secs(10);

/// A test in a runtime of its own.
pub fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, move || {
        runtime().block_on(test());
        Ok(())
    })
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("runtime")
}

pub struct Session {
    pub runners: Runners,
    _browser: Option<Chromium>,
    folder: TempDir,
}

impl Session {
    /// With a browser, and under an account of its own where that account can reach all runtimes.
    pub async fn start() -> Self {
        let runtimes = runtimes().await;
        let executables = Language::ALL.map(|language| {
            let runtime = runtimes.get(language).unwrap_or_else(|error| panic!("{error}"));
            runtime.executable().canonicalize().expect("a program")
        });
        let stranger = Account { uid: 65_533, gid: 65_533 };
        let node_modules = node_modules();
        let mut folders = executables.iter().filter_map(|path| path.parent()).chain(node_modules.as_deref());
        let user =
            if folders.all(|folder| stranger.can_reach(folder)) { CodeUser::Auto } else { CodeUser::Same };
        Self::start_as(user).await
    }

    pub async fn start_as(user: CodeUser) -> Self {
        let browser = Chromium::start();
        let open_cdp = browser.open_cdp();
        Self::with(Some(browser), open_cdp, None, user).await
    }

    /// Without a browser, for bash.
    pub async fn start_bash(commands: Option<BrowserCommands>) -> Self {
        Self::with(None, no_browser(), commands, CodeUser::Auto).await
    }

    async fn with(
        browser: Option<Chromium>,
        open_cdp: OpenCdp,
        browser_commands: Option<BrowserCommands>,
        user: CodeUser,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = RunnersOptions {
            folder: folder.path().to_owned(),
            open_cdp,
            browser_commands,
            environment: vec![("SESSION_ID".to_owned(), "some-session".to_owned())],
            readable: Vec::new(),
            lock_in: LockIn::Required,
            user,
        };
        let runners = Runners::new(Arc::new(runtimes().await), options).expect("runners");
        Self { runners, _browser: browser, folder }
    }

    pub fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub async fn run(&self, language: Language, code: &str) -> CodeOutput {
        self.run_for(language, code, LONG).await
    }

    pub async fn run_for(&self, language: Language, code: &str, time_limit: Duration) -> CodeOutput {
        let answer = self.runners.run(language, code, time_limit).await;
        answer.unwrap_or_else(|error| panic!("{}: {error}", language.name()))
    }

    /// The result of code that has to succeed.
    pub async fn result(&self, language: Language, code: &str) -> String {
        let output = self.run(language, code).await;
        assert_eq!(output.exit_code, 0, "{code}: {output:?}");
        output.result
    }
}

pub fn no_browser() -> OpenCdp {
    Arc::new(|| Box::pin(async { Err("no browser in this test".to_owned()) }))
}

fn node_modules() -> Option<PathBuf> {
    std::env::var_os("GANNET_TEST_NODE_DIR").map(|folder| PathBuf::from(folder).join("node_modules"))
}

/// The runtimes that `make test-env` has installed.
pub async fn runtimes() -> Runtimes {
    let settings = RuntimeSettings {
        node_modules: node_modules(),
        python: std::env::var_os("GANNET_TEST_PYTHON").map(PathBuf::from),
        ..RuntimeSettings::default()
    };
    Runtimes::find(&settings, CodeUser::Same).await
}

/// Processes whose command line contains these words.
pub fn processes_with(words: &str) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_words = |number: &u32| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(words)
    };
    numbers.filter(has_words).collect()
}

pub async fn assert_gone(words: &str) {
    let start = Instant::now();
    while !processes_with(words).is_empty() {
        assert!(start.elapsed() < GONE_TIMEOUT, "left: {:?}", processes_with(words));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
