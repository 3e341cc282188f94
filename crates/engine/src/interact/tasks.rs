//! Running code and prompts in sessions.

use super::active::ActiveSession;
use super::billing;
use super::code::{CodeError, CodeRunner, CodeSession};
use super::plan::{SessionPlan, Task, TaskPlan};
use super::reopen;
use super::sessions::Sessions;
use crate::scrape::ScrapePlan;
use crate::{Error, from_store};
use access::{Caller, CallerError};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use uuid::Uuid;
use wire::Kind;
use wire::interact::{ExecuteRequest, ExecuteResponse, InteractRequest, InteractResponse};
use wire::scrape::ScrapeRequest;

impl Sessions {
    /// Runs code in a session.
    pub fn execute<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        asked: &'a ExecuteRequest,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<ExecuteResponse, Error>> {
        Box::pin(async move {
            let plan = TaskPlan::from_execute(asked)?;
            let active = self.find(caller, id).await?;
            let (_, outcome) = self.run(caller, &active, &plan, base_url).await?;
            // Code that failed is a success of this call.
            Ok(ExecuteResponse { success: true, ..outcome })
        })
    }

    /// Runs code or a prompt in the session of a scrape, which begins with the first call.
    pub fn interact<'a>(
        self: &'a Arc<Self>,
        caller: &'a Arc<Caller>,
        scrape: Uuid,
        asked: &'a InteractRequest,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<InteractResponse, Error>> {
        Box::pin(async move {
            let plan = TaskPlan::from_interact(asked)?;
            self.require_runner(&plan.task)?;
            let active = self.session_of_scrape(caller, scrape).await?;
            let (output, outcome) = self.run(caller, &active, &plan, base_url).await?;
            let links = self.links.of_session(base_url, active.row.id);
            Ok(InteractResponse {
                session_id: active.row.id,
                cdp_url: links.cdp,
                live_view_url: links.view,
                interactive_live_view_url: links.act,
                output,
                outcome,
            })
        })
    }

    /// The session of a scrape, begun if there is none.
    async fn session_of_scrape(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        scrape: Uuid,
    ) -> Result<Arc<ActiveSession>, Error> {
        if let Some(active) = self.running_session_of(caller, scrape).await? {
            return Ok(active);
        }
        let _turn = self.openings.turn(caller.team, scrape).await;
        if let Some(active) = self.running_session_of(caller, scrape).await? {
            return Ok(active);
        }
        let store = &self.services.store;
        let record = store.scrape(caller.team, scrape).await.map_err(from_store)?.ok_or(Kind::JobNotFound)?;
        if record.private || record.url.is_empty() {
            return Err(Kind::NoReplayContext.into());
        }
        let kept = store.scrape_request(caller.team, scrape).await.map_err(from_store)?;
        let asked: ScrapeRequest = match kept {
            Some(text) => serde_json::from_str(&text).map_err(Error::internal)?,
            None => ScrapeRequest { url: Some(record.url), ..ScrapeRequest::default() },
        };
        if asked.headers.as_ref().is_some_and(|headers| !headers.is_empty()) {
            let why = "it was fetched with headers, which a session would send to every site; \
                       begin a session with POST /v2/browser and set them there";
            return Err(Error::because(Kind::NoReplayContext, why));
        }
        let names_host = |host: &str| self.services.names_host(host);
        let mut page = ScrapePlan::resolve(&asked, false, &names_host).map_err(|_| Kind::NoReplayContext)?;
        if record.key_id != caller.key {
            reopen::blank_typed_texts(&mut page.access.actions);
        }
        let plan = SessionPlan::of_scrape(&page.access, caller, self.settings.record)?;
        self.begin(caller, &plan, Some(scrape), |session| async move {
            reopen::open_page(&session, &page.url, &page.access, page.timeout).await
        })
        .await
    }

    async fn running_session_of(
        &self,
        caller: &Caller,
        scrape: Uuid,
    ) -> Result<Option<Arc<ActiveSession>>, Error> {
        let running = self.services.store.browser_session_of_scrape(caller.team, scrape).await;
        match running.map_err(from_store)? {
            Some(row) => self.find(caller, row.id).await.map(Some),
            None => Ok(None),
        }
    }

    fn require_runner(&self, task: &Task) -> Result<&Arc<dyn CodeRunner>, Error> {
        self.runner.as_ref().ok_or_else(|| {
            let what = match task {
                Task::Code { language, .. } => format!("code in {} cannot be run", language.name()),
                Task::Prompt(_) => "prompts cannot be answered".to_owned(),
            };
            let advice = "connect to `cdpUrl` with Playwright, Puppeteer or agent-browser instead";
            Error::because(Kind::CodeNotInstalled, &format!("{what} on this server; {advice}"))
        })
    }

    async fn run(
        &self,
        caller: &Caller,
        active: &ActiveSession,
        plan: &TaskPlan,
        base_url: &str,
    ) -> Result<(Option<String>, ExecuteResponse), Error> {
        let runner = self.require_runner(&plan.task)?;
        let _busy = active.begin_task();
        let session = CodeSession {
            id: active.row.id,
            session: Arc::clone(&active.session),
            cdp_url: self.links.of_session(base_url, active.row.id).cdp,
        };
        match &plan.task {
            Task::Code { language, code } => {
                let output = runner.run(&session, *language, code, plan.timeout).await.map_err(from_code)?;
                let result = output.result.unwrap_or_else(|| output.stdout.trim_end_matches('\n').to_owned());
                let error = (output.exit_code != 0).then(|| last_line(&output.stderr));
                let outcome = ExecuteResponse {
                    success: output.exit_code == 0,
                    stdout: output.stdout,
                    result,
                    stderr: output.stderr,
                    exit_code: output.exit_code,
                    killed: output.killed,
                    truncated: output.truncated.then_some(true),
                    error,
                };
                Ok((None, outcome))
            }
            Task::Prompt(prompt) => {
                self.reserve_for_prompt(caller, active).await?;
                let output = runner.prompt(&session, prompt, plan.timeout).await.map_err(from_code)?;
                let outcome = ExecuteResponse {
                    success: output.done,
                    result: output.snapshot,
                    stderr: output.stderr,
                    exit_code: i32::from(!output.done),
                    error: (!output.done).then(|| output.output.clone()),
                    ..ExecuteResponse::default()
                };
                Ok((Some(output.output), outcome))
            }
        }
    }

    /// The first prompt makes the whole session cost more.
    async fn reserve_for_prompt(&self, caller: &Caller, active: &ActiveSession) -> Result<(), Error> {
        if !active.note_prompt() {
            return Ok(());
        }
        let Some(allowance) = caller.plan.credits else { return Ok(()) };
        let ttl_ms = active.row.expires_at - active.row.created_at;
        let more = billing::price(ttl_ms, true) - billing::price(ttl_ms, false);
        let covered = self.services.store.extend(active.row.reservation, more, allowance).await;
        if covered.map_err(from_store)? {
            return Ok(());
        }
        active.forget_prompt();
        Err(CallerError::InsufficientCredits.into())
    }
}

fn from_code(error: CodeError) -> Error {
    match error {
        CodeError::NotInstalled(advice) => Error::because(Kind::CodeNotInstalled, &advice),
        CodeError::NeedsModel(why) => Error::because(Kind::ModelNotConfigured, &why),
        CodeError::Browser(why) => Error::because(Kind::BrowserFailed, &why),
        CodeError::Internal(why) => Error::internal(why),
    }
}

/// Why code failed, in one line: the last one of its error output, where runtimes and limits name the reason.
fn last_line(stderr: &str) -> String {
    let last = stderr.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last.unwrap_or("the code failed without a message").to_owned()
}
