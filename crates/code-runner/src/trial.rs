//! Tries a language as a session runs it: under the same account, with the same rights. `gannet doctor` says what came
//! of it. There is no browser at the other end; that its first message arrives is what shows that all else works.

use crate::account::CodeUser;
use crate::cdp::{CdpPort, OpenCdp};
use crate::error::RunnerError;
use crate::language::Language;
use crate::lock_in::LockIn;
use crate::runners::{Runners, RunnersOptions};
use crate::runtimes::Runtimes;
use futures_util::future::BoxFuture;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Node compiles Playwright for a second or two, and the machine may be busy.
const TRIAL_TIME: Duration = Duration::from_secs(30);

impl Runtimes {
    /// Starts the language, lets it load Playwright and ask the browser its first question.
    pub fn try_language(
        self: Arc<Self>,
        language: Language,
        lock_in: LockIn,
        user: CodeUser,
    ) -> BoxFuture<'static, Result<(), RunnerError>> {
        Box::pin(async move {
            self.get(language)?;
            let failed = |error: io::Error| RunnerError::Start { language, reason: error.to_string() };
            let folder = tempfile::Builder::new().prefix("gannet-code-").tempdir().map_err(failed)?;
            let (to_browser, mut messages) = mpsc::channel(1);
            let options = RunnersOptions {
                folder: folder.path().to_owned(),
                open_cdp: silent_browser(to_browser),
                browser_commands: None,
                environment: Vec::new(),
                readable: Vec::new(),
                lock_in,
                user,
            };
            let runners = Runners::new(self, options).map_err(failed)?;
            let outcome = tokio::select! {
                outcome = runners.run(language, "true", TRIAL_TIME) => match outcome {
                    Ok(output) if output.exit_code == 0 => Ok(()),
                    Ok(output) => {
                        let reason = output.stderr.lines().last().unwrap_or("it ended").to_owned();
                        Err(RunnerError::Start { language, reason })
                    }
                    Err(error) => Err(error),
                },
                Some(_) = messages.recv() => Ok(()),
            };
            runners.end().await;
            outcome
        })
    }
}

/// A browser that takes messages and answers none.
fn silent_browser(to_browser: mpsc::Sender<String>) -> OpenCdp {
    Arc::new(move || {
        let to_browser = to_browser.clone();
        Box::pin(async move {
            let (answers, from_browser) = mpsc::channel(1);
            // The connection stays open for as long as the process is there.
            tokio::spawn(async move { answers.closed().await });
            Ok(CdpPort { to_browser, from_browser })
        })
    })
}
