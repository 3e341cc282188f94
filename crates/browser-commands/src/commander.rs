//! A session's commands: one [`Commander`] per session runs them one after the other.

use crate::arguments::Arguments;
use crate::cdp::{BoxFuture, Cdp};
use crate::commands::{self, Context};
use crate::error::CommandError;
use crate::events;
use crate::files::Files;
use crate::page::{CommandPage, SessionBrowser};
use crate::reply::{CommandReply, Outcome, write_reply};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The longest that one command may take, whatever it asks for.
const DEFAULT_COMMAND_TIMEOUT: Duration = Duration::from_mins(1);
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// How a session's commands are set up.
#[derive(Debug, Clone, Default)]
pub struct CommanderOptions {
    /// The folder that screenshots, downloads and uploads live in; without one they are refused, and a
    /// screenshot is given as base64. Without symbolic links in its path.
    pub folder: Option<PathBuf>,
    /// The longest that one command may take.
    pub command_timeout: Option<Duration>,
}

/// Runs the commands of one session. Keeps the current tab, refs, dialogs and logs. Cheap to clone.
#[derive(Clone)]
pub struct Commander {
    inner: Arc<CommanderInner>,
}

struct CommanderInner {
    browser: Arc<SessionBrowser>,
    options: CommanderOptions,
    /// Whether the browser was asked for its tabs. Also the lock that makes commands take turns.
    is_started: Mutex<bool>,
}

impl std::fmt::Debug for Commander {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Commander").field("options", &self.inner.options).finish_non_exhaustive()
    }
}

impl Commander {
    /// Follows the browser's events from now on, in a task that ends when the last clone is dropped. Must be
    /// called inside of a tokio runtime.
    pub fn new(cdp: Arc<dyn Cdp>, options: CommanderOptions) -> Self {
        let browser = SessionBrowser::new(cdp);
        events::follow(&browser);
        Self { inner: Arc::new(CommanderInner { browser, options, is_started: Mutex::new(false) }) }
    }

    /// Runs a command given as words, without the program's name.
    pub fn run<'a>(&'a self, words: &'a [String]) -> BoxFuture<'a, CommandReply> {
        self.run_in(words, None)
    }

    /// Runs a line as it was typed, with quotes as in a shell, with or without `agent-browser` in front.
    pub async fn run_line(&self, line: &str) -> CommandReply {
        match crate::words::split_line(line) {
            Ok(mut words) => {
                if words.first().is_some_and(|word| word == "agent-browser") {
                    words.remove(0);
                }
                self.run(&words).await
            }
            Err(message) => write_reply(Err(CommandError::Usage(message)), false, None, &[]),
        }
    }

    /// Runs a command for a caller in this working directory; relative paths start there.
    pub fn run_in<'a>(
        &'a self,
        words: &'a [String],
        directory: Option<&'a Path>,
    ) -> BoxFuture<'a, CommandReply> {
        Box::pin(async move {
            let arguments = match Arguments::parse(words) {
                Ok(arguments) => arguments,
                Err(error) => {
                    let as_json = words.iter().any(|word| word == "--json");
                    return write_reply(Err(error), as_json, None, &[]);
                }
            };
            let outcome = self.run_parsed(&arguments, directory).await;
            write_reply(outcome, arguments.has("--json"), arguments.max_output(), &self.warnings(&arguments))
        })
    }

    async fn run_parsed(
        &self,
        arguments: &Arguments,
        directory: Option<&Path>,
    ) -> Result<Outcome, CommandError> {
        let limit = self.inner.options.command_timeout.unwrap_or(DEFAULT_COMMAND_TIMEOUT);
        let wanted =
            arguments.timeout()?.map_or(limit, |wanted| (wanted + Duration::from_secs(1)).min(limit));
        // A `wait` may take as long as it says; other commands are bounded by the time-out they were given.
        let deadline = Instant::now() + if arguments.spec.names[0] == "wait" { limit } else { wanted };
        let mut is_started = self.inner.is_started.lock().await;
        if !*is_started {
            self.start().await?;
            *is_started = true;
        }
        let context = self.context(deadline, directory);
        // Every wait inside ends at the deadline; this is for those that a hostile page finds.
        let running = Box::pin(commands::run(&context, arguments));
        let timed_out = || CommandError::failed(format!("{} timed out", arguments.name));
        tokio::time::timeout_at(deadline + Duration::from_secs(2), running)
            .await
            .unwrap_or_else(|_| Err(timed_out()))
    }

    fn context(&self, deadline: Instant, directory: Option<&Path>) -> Context {
        let files = self.inner.options.folder.as_deref().map(|folder| Files::new(folder, directory));
        Context { browser: Arc::clone(&self.inner.browser), files, deadline }
    }

    async fn start(&self) -> Result<(), CommandError> {
        let deadline = Instant::now() + START_TIMEOUT;
        let browser = &self.inner.browser;
        browser.call(None, "Target.setDiscoverTargets", json!({ "discover": true }), deadline).await?;
        events::find_tabs(browser).await;
        Ok(())
    }

    /// The current tab, for callers inside of this crate that look at the page themselves.
    pub(crate) async fn page(&self, deadline: Instant) -> Result<CommandPage, CommandError> {
        let mut is_started = self.inner.is_started.lock().await;
        if !*is_started {
            self.start().await?;
            *is_started = true;
        }
        self.context(deadline, None).page().await
    }

    /// What a caller should know besides the outcome.
    fn warnings(&self, arguments: &Arguments) -> Vec<String> {
        let mut state = self.inner.browser.state();
        let mut warnings = Vec::new();
        if arguments.spec.names[0] != "dialog"
            && let Some(dialog) = state.current_tab().and_then(|tab| tab.dialog.clone())
        {
            warnings.push(format!(
                "A JavaScript {} dialog is blocking the page: \"{}\"; use `dialog accept` or `dialog dismiss`",
                dialog.kind, dialog.message
            ));
        }
        let excess = std::mem::take(&mut state.excess_windows);
        if excess > 0 {
            warnings.push(format!("The page opened too many windows; {excess} of them were closed"));
        }
        warnings
    }
}
