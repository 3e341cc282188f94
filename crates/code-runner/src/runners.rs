//! The processes of a session, one for each language.

use crate::account::{CodeUser, SessionAccount};
use crate::cdp::{self, OpenCdp};
use crate::control_group;
use crate::error::RunnerError;
use crate::folder::{BrowserCommands, SessionFolder};
use crate::language::Language;
use crate::lock_in::{LockIn, policy};
use crate::output::CodeOutput;
use crate::repl::{CallEnd, Repl};
use crate::runtimes::{NODE_HEAP_OPTION, Runtime, Runtimes};
use crate::shell_line::to_shell_line;
use futures_util::future::BoxFuture;
use sandbox::{Account, ControlGroup, Program};
use serde_json::json;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// In a block, so that cells are free to use every name.
const NODE_DRIVER: &str = concat!(
    "'use strict';\n{\n",
    include_str!("drivers/load_playwright.js"),
    include_str!("drivers/node.js"),
    "\n}"
);
const PYTHON_DRIVER: &str = include_str!("drivers/python.py");
const BASH_DRIVER: &str = include_str!("drivers/bash.sh");
/// The descriptor of browser commands: after that of the browser (3) and those of the driver (4 and 5).
const COMMANDS_DESCRIPTOR: &str = "6";
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What a session gives to its code.
#[derive(Clone)]
pub struct RunnersOptions {
    /// A folder for this session alone, which exists and is empty. The caller removes it after the end.
    pub folder: PathBuf,
    pub open_cdp: OpenCdp,
    /// Without them, bash has no browser.
    pub browser_commands: Option<BrowserCommands>,
    /// What code sees in its environment, such as `CDP_URL`.
    pub environment: Vec<(String, String)>,
    /// More that code may read, such as the folder of downloads.
    pub readable: Vec<PathBuf>,
    pub lock_in: LockIn,
    pub user: CodeUser,
}

impl std::fmt::Debug for RunnersOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RunnersOptions").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// The processes of one session. Dropping it ends them and everything that they have started.
#[derive(Debug)]
pub struct Runners {
    runtimes: Arc<Runtimes>,
    options: RunnersOptions,
    folder: SessionFolder,
    account: Option<SessionAccount>,
    node: Mutex<Slot>,
    python: Mutex<Slot>,
    bash: Mutex<Slot>,
    end: CancellationToken,
    /// Goes after the processes.
    group: Option<ControlGroup>,
}

/// The process of one language.
#[derive(Debug, Default)]
enum Slot {
    #[default]
    NotStarted,
    Running(Box<Repl>),
    /// It has ended, and the next call has to say so.
    Ended,
}

impl Runners {
    /// Prepares the folder; nothing is started yet.
    pub fn new(runtimes: Arc<Runtimes>, options: RunnersOptions) -> io::Result<Self> {
        let account = SessionAccount::choose(options.user);
        let folder = SessionFolder::create(&options.folder, account.as_ref())?;
        let (node, python, bash) = Default::default();
        let end = CancellationToken::new();
        let group = control_group::create(folder.home());
        Ok(Self { runtimes, options, folder, account, node, python, bash, end, group })
    }

    /// The folder that code runs in.
    pub fn folder(&self) -> &SessionFolder {
        &self.folder
    }

    /// Evaluates code in the process of its language, which is started if it does not run. Calls in the same language
    /// wait for each other. At the time limit the process is ended with everything that it has started.
    pub fn run<'a>(
        &'a self,
        language: Language,
        code: &'a str,
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<CodeOutput, RunnerError>> {
        Box::pin(async move {
            let request = self.encode_request(language, code)?;
            let slot = match language {
                Language::Node => &self.node,
                Language::Python => &self.python,
                Language::Bash => &self.bash,
            };
            let mut slot = slot.lock().await;
            if self.end.is_cancelled() {
                return Err(RunnerError::SessionEnded);
            }
            let deadline = Instant::now() + time_limit;
            let (repl, has_lost_variables) = match std::mem::take(&mut *slot) {
                Slot::Running(repl) => (*repl, false),
                Slot::NotStarted => (self.start(language, deadline).await?, false),
                Slot::Ended => {
                    *slot = Slot::Ended;
                    (self.start(language, deadline).await?, true)
                }
            };
            // If this future is dropped in between, so is the process.
            *slot = Slot::Ended;
            let CallEnd { mut output, repl } = repl.run(request, deadline, time_limit, &self.end).await;
            if let Some(repl) = repl {
                *slot = Slot::Running(Box::new(repl));
            }
            if has_lost_variables {
                let note = "gannet: this is a new process, variables of earlier calls are gone\n";
                output.stderr.insert_str(0, note);
            }
            Ok(output)
        })
    }

    /// Ends all processes, calls that are running included, and returns when nothing is left of them.
    pub fn end(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.end.cancel();
            for slot in [&self.node, &self.python, &self.bash] {
                if let Slot::Running(repl) = std::mem::replace(&mut *slot.lock().await, Slot::Ended) {
                    repl.end().await;
                }
            }
        })
    }

    fn encode_request(&self, language: Language, code: &str) -> Result<Vec<u8>, RunnerError> {
        if code.contains('\0') {
            return Err(RunnerError::InvalidCode);
        }
        let mut request = match (language, &self.options.browser_commands) {
            (Language::Bash, Some(commands)) => to_shell_line(code, &commands.words).into_bytes(),
            (Language::Bash, None) => code.as_bytes().to_vec(),
            _ => json!({ "code": code }).to_string().into_bytes(),
        };
        request.push(0);
        Ok(request)
    }

    async fn start(&self, language: Language, deadline: Instant) -> Result<Repl, RunnerError> {
        let runtime = self.runtimes.get(language)?;
        let account = self.account.as_ref().map(SessionAccount::account);
        if let Some(account) = account {
            let needed = runtime.readable.iter().chain([&runtime.executable, &self.options.folder]);
            let mut existing = needed.filter(|path| path.exists());
            if let Some(path) =
                existing.find(|path| !account.can_reach(path.parent().unwrap_or(Path::new("/"))))
            {
                let advice = "let other accounts enter them".to_owned();
                return Err(RunnerError::Unreachable { language, path: path.clone(), advice });
            }
        }
        let failed = |error: io::Error| RunnerError::Start { language, reason: error.to_string() };
        let browser = if language == Language::Bash {
            OwnedFd::from(std::fs::File::open("/dev/null").map_err(failed)?)
        } else {
            let port = (self.options.open_cdp)().await.map_err(RunnerError::Browser)?;
            cdp::connect(port).map_err(failed)?
        };
        let commands = self.options.browser_commands.as_ref().filter(|_| language == Language::Bash);
        let mut readable = self.options.readable.clone();
        let descriptor = match commands {
            Some(commands) => {
                self.folder.link_program(&commands.program, self.account.as_ref()).map_err(failed)?;
                readable.push(commands.program.clone());
                Some((commands.open)().map_err(failed)?)
            }
            None => None,
        };
        let compiled = self.compiled(account).filter(|_| language == Language::Node);
        readable.extend(compiled.map(Path::to_owned));
        let mut policy = policy(runtime, &self.folder, &readable, account, self.options.lock_in);
        policy.control_group = control_group::create_for_program(self.group.as_ref());
        let program = Program {
            executable: runtime.executable.clone(),
            arguments: arguments(language),
            environment: self.environment(runtime, commands, compiled),
            folder: self.folder.home().to_owned(),
        };
        Repl::start(language, program, policy, browser, descriptor, deadline).await
    }

    /// Compiled code, where processes of this session can read it.
    fn compiled(&self, account: Option<Account>) -> Option<&Path> {
        self.runtimes.compiled().filter(|folder| account.is_none_or(|account| account.can_reach(folder)))
    }

    fn environment(
        &self,
        runtime: &Runtime,
        commands: Option<&BrowserCommands>,
        compiled: Option<&Path>,
    ) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let own_folder = runtime.executable.parent().unwrap_or(Path::new("/usr/bin"));
        let path = format!("{}:{}:{SYSTEM_PATH}", text(self.folder.programs()), text(own_folder));
        let mut variables = vec![
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), text(self.folder.home())),
            ("TMPDIR".to_owned(), text(&self.folder.temporary_files())),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ];
        let driver = match runtime.language {
            Language::Node => (
                "GANNET_DRIVER",
                json!({ "playwright": runtime.playwright.as_deref().map(text), "cache": compiled.map(text) })
                    .to_string(),
            ),
            Language::Python => ("NODE_OPTIONS", format!("--require {}", text(&self.folder.python_cdp()))),
            Language::Bash => {
                ("GANNET_DRIVER", commands.map(|commands| commands.words.join(" ")).unwrap_or_default())
            }
        };
        variables.push((driver.0.to_owned(), driver.1));
        if commands.is_some() {
            variables.push(("GANNET_COMMANDS_FD".to_owned(), COMMANDS_DESCRIPTOR.to_owned()));
            variables.push(("GANNET_COMMANDS_LOCK".to_owned(), text(&self.folder.commands_lock())));
        }
        variables.extend(self.options.environment.iter().cloned());
        variables
    }
}

fn arguments(language: Language) -> Vec<String> {
    let arguments: &[&str] = match language {
        Language::Node => &[NODE_HEAP_OPTION, "-e", NODE_DRIVER],
        Language::Python => &["-u", "-c", PYTHON_DRIVER],
        Language::Bash => &["--noprofile", "--norc", "-c", BASH_DRIVER, "bash"],
    };
    arguments.iter().map(|argument| (*argument).to_owned()).collect()
}
