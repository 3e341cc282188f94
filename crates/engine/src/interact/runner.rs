//! Runs code and prompts in sessions: code in processes that are locked in, commands of `agent-browser` and prompts
//! in this process.

use super::code::{CodeError, CodeOutput, CodeRunner, CodeSession, Language, PromptOutput};
use super::session_cdp::SessionCdp;
use crate::models::{Models, Task};
use async_trait::async_trait;
use browser_commands::prompt::{PromptModel, PromptReply, PromptStatus, run_by_model, run_by_rules};
use browser_commands::{BoxFuture, Commander, CommanderOptions};
use code_runner::{
    BrowserCommands, CdpPort, CodeUser, LockIn, OpenCdp, RunnerError, Runners, RunnersOptions,
    RuntimeSettings, Runtimes,
};
use interact::{CODE_FOLDER, Session};
use model::chat::{Chat, ChatRequest, Message};
use net::Deadline;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use tokio::sync::OnceCell;
use uuid::Uuid;

/// How long a runtime that is missing is taken to be missing.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// Tokens of one reply of the model: a command, or an answer.
const MAX_REPLY_TOKENS: u32 = 1_000;

/// What code may use on this machine.
#[derive(Debug, Clone)]
pub struct SessionCodeSettings {
    /// `None`: code is never run; prompts and bare browser commands still are.
    pub lock_in: Option<LockIn>,
    pub user: CodeUser,
    pub runtimes: RuntimeSettings,
    /// Our own program, which answers to the name `agent-browser`.
    pub program: PathBuf,
}

/// Runs the code of all sessions of this process.
pub struct SessionCode {
    settings: SessionCodeSettings,
    models: Models,
    /// Looked for when the first session begins, and when.
    runtimes: tokio::sync::Mutex<Option<(Arc<Runtimes>, Instant)>>,
    sessions: Mutex<HashMap<Uuid, Arc<SessionTools>>>,
}

/// What one session has for its code and prompts.
struct SessionTools {
    commander: OnceCell<Commander>,
    runners: OnceCell<Runners>,
}

impl std::fmt::Debug for SessionCode {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SessionCode").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl SessionCode {
    pub fn new(settings: SessionCodeSettings, models: Models) -> Self {
        Self { settings, models, runtimes: tokio::sync::Mutex::default(), sessions: Mutex::default() }
    }

    fn tools(&self, session: Uuid) -> Arc<SessionTools> {
        let mut sessions = self.sessions.lock();
        let tools = sessions.entry(session).or_insert_with(|| {
            Arc::new(SessionTools { commander: OnceCell::new(), runners: OnceCell::new() })
        });
        Arc::clone(tools)
    }

    /// What this machine can run. What is missing is looked for again now and then: it may have been installed.
    async fn runtimes(&self) -> Arc<Runtimes> {
        let SessionCodeSettings { runtimes: settings, user, .. } = &self.settings;
        let mut known = self.runtimes.lock().await;
        let found = match known.as_ref() {
            Some((found, at)) if found.are_complete() || at.elapsed() < LOOK_AGAIN_AFTER => {
                return Arc::clone(found);
            }
            Some((found, _)) => found.look_again(settings, *user).await,
            None => Runtimes::find(settings, *user).await,
        };
        let found = Arc::new(found);
        *known = Some((Arc::clone(&found), Instant::now()));
        found
    }

    async fn runners<'a>(
        &self,
        tools: &'a SessionTools,
        session: &CodeSession,
    ) -> Result<&'a Runners, CodeError> {
        let Some(lock_in) = self.settings.lock_in else {
            let why = "running code is switched off on this server (interact_code = \"off\")";
            return Err(CodeError::NotInstalled(why.to_owned()));
        };
        let start = async {
            let runtimes = self.runtimes().await;
            let commander = tools.commander(session).await?.clone();
            let files = session.session.files();
            let folder = files.parent().unwrap_or(files).join(CODE_FOLDER);
            let failed = |error: io::Error| CodeError::Internal(error.to_string());
            std::fs::create_dir(&folder).map_err(failed)?;
            let options = RunnersOptions {
                folder,
                open_cdp: open_cdp(Arc::clone(&session.session)),
                browser_commands: Some(BrowserCommands {
                    program: self.settings.program.clone(),
                    open: Arc::new(move || open_commands(commander.clone())),
                    words: browser_commands::command_names(),
                }),
                environment: vec![
                    ("CDP_URL".to_owned(), session.cdp_url.clone()),
                    ("SESSION_ID".to_owned(), session.id.to_string()),
                ],
                readable: vec![files.to_owned()],
                lock_in,
                user: self.settings.user,
            };
            Runners::new(runtimes, options).map_err(failed)
        };
        tools.runners.get_or_try_init(|| start).await
    }
}

impl SessionTools {
    async fn commander(&self, session: &CodeSession) -> Result<&Commander, CodeError> {
        let start = || async {
            let client = session.session.client().await;
            let client = client.map_err(|error| CodeError::Browser(error.to_string()))?;
            let folder = session.session.files().canonicalize().ok();
            let options = CommanderOptions { folder, ..CommanderOptions::default() };
            Ok(Commander::new(Arc::new(SessionCdp::new(client)), options))
        };
        self.commander.get_or_try_init(start).await
    }
}

/// Connects one process of users' code to the browser.
fn open_cdp(session: Arc<Session>) -> OpenCdp {
    Arc::new(move || {
        let session = Arc::clone(&session);
        Box::pin(async move {
            let port = session.connect().await.map_err(|error| error.to_string())?;
            let (to_browser, from_browser) = port.into_channels();
            Ok(CdpPort { to_browser, from_browser })
        })
    })
}

/// Connects one shell to the browser commands.
fn open_commands(commander: Commander) -> io::Result<OwnedFd> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let ours = UnixStream::from_std(ours)?;
    tokio::spawn(async move {
        if let Err(error) = browser_commands::serve(ours, commander).await {
            tracing::debug!(%error, "a shell of a browser session sent no valid command");
        }
    });
    Ok(theirs.into())
}

#[async_trait]
impl CodeRunner for SessionCode {
    async fn run(
        &self,
        session: &CodeSession,
        language: Language,
        code: &str,
        timeout: Duration,
    ) -> Result<CodeOutput, CodeError> {
        let tools = self.tools(session.id);
        if language == Language::Bash
            && let Some(words) = browser_commands::parse_bare_command(code)
        {
            // One command and nothing else needs no shell.
            let commander = tools.commander(session).await?;
            let Ok(reply) = tokio::time::timeout(timeout, commander.run(&words)).await else {
                let stderr = "the time for this command is over\n".to_owned();
                return Ok(CodeOutput { stderr, exit_code: 124, killed: true, ..CodeOutput::default() });
            };
            return Ok(CodeOutput {
                stdout: reply.stdout,
                stderr: reply.stderr,
                exit_code: reply.exit_code,
                ..CodeOutput::default()
            });
        }
        let language = match language {
            Language::Node => code_runner::Language::Node,
            Language::Python => code_runner::Language::Python,
            Language::Bash => code_runner::Language::Bash,
        };
        let runners = self.runners(&tools, session).await?;
        let output = runners.run(language, code, timeout).await.map_err(|error| from_runner(&error))?;
        Ok(CodeOutput {
            stdout: output.stdout,
            stderr: output.stderr,
            result: Some(output.result),
            exit_code: output.exit_code,
            killed: output.killed,
            truncated: output.truncated,
        })
    }

    async fn prompt(
        &self,
        session: &CodeSession,
        prompt: &str,
        timeout: Duration,
    ) -> Result<PromptOutput, CodeError> {
        let tools = self.tools(session.id);
        let commander = tools.commander(session).await?;
        let reply = match self.models.chat(Task::Agent) {
            Some(chat) => {
                let model = PromptChat { chat, deadline: Deadline::after(timeout) };
                run_by_model(commander, prompt, &model, timeout).await
            }
            None => run_by_rules(commander, prompt, timeout).await,
        };
        to_output(reply)
    }

    async fn prepare(&self) {
        if self.settings.lock_in.is_some() {
            self.runtimes().await.compile_ahead().await;
        }
    }

    async fn end(&self, session: Uuid) {
        let tools = self.sessions.lock().remove(&session);
        if let Some(runners) = tools.as_ref().and_then(|tools| tools.runners.get()) {
            runners.end().await;
        }
    }
}

fn to_output(reply: PromptReply) -> Result<PromptOutput, CodeError> {
    let (done, stderr) = match reply.status {
        PromptStatus::Completed => (true, String::new()),
        PromptStatus::Failed => (false, String::new()),
        PromptStatus::NeedsPerson => {
            (false, "A person is needed: open interactiveLiveViewUrl, then send the prompt again".to_owned())
        }
        PromptStatus::ModelNeeded => return Err(CodeError::NeedsModel(reply.output)),
    };
    Ok(PromptOutput { output: reply.output, snapshot: reply.snapshot, stderr, done })
}

fn from_runner(error: &RunnerError) -> CodeError {
    let text = error.to_string();
    match error {
        _ if error.is_not_installed() => CodeError::NotInstalled(text),
        RunnerError::Browser(_) | RunnerError::SessionEnded => CodeError::Browser(text),
        _ => CodeError::Internal(text),
    }
}

/// The configured model, asked within the time of one prompt.
struct PromptChat {
    chat: Arc<dyn Chat>,
    deadline: Deadline,
}

impl PromptModel for PromptChat {
    fn next<'a>(&'a self, conversation: &'a [Message]) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let ask = ChatRequest {
                messages: conversation.to_vec(),
                max_tokens: Some(MAX_REPLY_TOKENS),
                ..ChatRequest::default()
            };
            let answer = self.chat.ask(&ask, self.deadline).await;
            answer.map(|answer| answer.text).map_err(|error| error.to_string())
        })
    }
}
