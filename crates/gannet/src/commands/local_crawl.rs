//! Crawls and batches without a server: the same engine with a database of its own, which is kept next to the
//! output until everything is written. If the command is interrupted, running it again continues the crawl.

mod options;
mod output;
mod progress;
mod state_file;

use crate::Globals;
use crate::commands::serve::stop_on_signals;
use crate::data_dir;
use crate::exit_code::{self, usage_error};
use crate::opening::open_services;
use crate::output::{count, to_line};
use crate::settings::Settings;
use access::{Caller, Limiter};
use anyhow::{Context, Result};
use engine::crawl::{CrawlWorker, Crawler};
use engine::scrape::Scraper;
pub use options::PageOptions;
use output::Output;
pub use output::{OutputFormat, page_file_name};
use progress::ProgressLine;
use serde::{Deserialize, Serialize};
use state_file::StateFile;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::crawls::CrawlKind;
use store::keys::NewTeam;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wire::WireError;
use wire::batch::BatchRequest;
use wire::crawl::{CrawlRequest, JobHead, LedgerQuery};
use work::{LeaseTimes, WorkSlots};

/// Pages that failed and are named at the end.
const MAX_FAILED_SHOWN: u32 = 10;
const MAX_LINE_CHARS: usize = 300;
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Pages that a killed command was working on are retried after this time.
const LEASE_DURATION: Duration = Duration::from_secs(5);
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// A page whose worker died this often is given up.
const MAX_LOST_WORKERS: u32 = 5;

/// Output files and their format.
#[derive(Debug)]
pub struct OutputTarget {
    pub out: PathBuf,
    pub ledger: Option<PathBuf>,
    pub format: OutputFormat,
    /// Print how it ended as JSON.
    pub json: bool,
}

/// The requested crawl or batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LocalJob {
    Crawl(Box<CrawlRequest>),
    Batch(Box<BatchRequest>),
}

impl LocalJob {
    fn kind(&self) -> CrawlKind {
        match self {
            Self::Crawl(_) => CrawlKind::Crawl,
            Self::Batch(_) => CrawlKind::Batch,
        }
    }
}

#[derive(Debug)]
pub struct LocalCrawl {
    pub job: LocalJob,
    pub target: OutputTarget,
}

impl LocalCrawl {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let state = self.target.state();
        if StateFile::load(&state)?.is_none() && self.target.has_output() {
            return Ok(usage_error(&format!("{} exists already", self.target.out.display())));
        }
        let own = [
            ("data_dir", state.display().to_string()),
            ("objects", String::new()),
            ("plan", "unlimited".into()),
            ("role", "all".into()),
        ];
        let database = ("database_url", format!("sqlite:{}", state.join("gannet.db").display()));
        let values = own.into_iter().chain([database]).map(|(name, value)| (name.to_owned(), value));
        let settings = globals.settings(values.collect())?;
        if let Some(folder) = state.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let _lock = data_dir::lock_database(&settings).context("is the same command already running?")?;
        let state_file = StateFile::load(&state)?;
        if state_file.map(|state_file| state_file.matches(&self.job)).transpose()? == Some(false) {
            let why = "contains another unfinished crawl; choose another --out, or remove it";
            return Ok(usage_error(&format!("{} {why}", state.display())));
        }
        let store = data_dir::open_store(&settings).await?;
        let stop = stop_on_signals()?;
        let ended = CrawlRun::open(&settings, store.clone(), &stop).await?.finish(&self, &state).await;
        store.shut_down().await;
        match ended? {
            CrawlEnd::Refused(error) => {
                // Nothing was started.
                std::fs::remove_dir_all(&state).context("cannot remove the state folder")?;
                Ok(exit_code::print_refusal(&error))
            }
            CrawlEnd::Stopped => {
                eprintln!("gannet: interrupted; run the same command again to continue");
                Ok(ExitCode::from(exit_code::STOPPED))
            }
            CrawlEnd::Done(head) => {
                std::fs::remove_dir_all(&state).context("cannot remove the state folder")?;
                self.print_end(&head)?;
                Ok(exit_code(&head, self.job.kind()))
            }
        }
    }
}

impl LocalCrawl {
    fn print_end(&self, head: &JobHead) -> Result<()> {
        let JobHead { completed, failed, skipped, duration, .. } = head;
        let target = &self.target;
        if target.json {
            let ended = serde_json::json!({
                "status": head.status, "completed": completed, "failed": failed, "skipped": skipped,
                "seconds": duration, "error": head.error, "out": target.out, "ledger": target.ledger,
            });
            println!("{}", serde_json::to_string_pretty(&ended)?);
        } else {
            let pages = count(*completed, "page");
            let place =
                if *completed == 0 { String::new() } else { format!("; wrote {}", target.out.display()) };
            note!("{pages}, {failed} failed, {skipped} skipped, in {duration:.1} s{place}");
        }
        if let Some(error) = &head.error {
            eprintln!("gannet: {error}");
        }
        Ok(())
    }
}

enum CrawlEnd {
    Refused(WireError),
    Stopped,
    Done(Box<JobHead>),
}

/// The engine for one job.
struct CrawlRun {
    store: Arc<dyn Store>,
    caller: Caller,
    crawler: Arc<Crawler>,
    worker: CrawlWorker,
    gate: Arc<Limiter>,
    browsers: Option<browser::Browsers>,
    stop: CancellationToken,
}

impl CrawlRun {
    async fn open(settings: &Settings, store: Arc<dyn Store>, stop: &CancellationToken) -> Result<Self> {
        let team = if let Some(team) = store.teams().await?.into_iter().next() {
            team
        } else {
            let (name, plan) = ("default".to_owned(), settings.plan.clone());
            store.create_team(NewTeam { id: Uuid::now_v7(), name, plan, zero_data_retention: false }).await?
        };
        let gate = Limiter::new(store.clone());
        let services = open_services(settings, &store, &gate, None).await?;
        let scraper = Arc::new(Scraper::new(&services));
        let slots = WorkSlots::new(settings.workers).for_pages();
        let times = LeaseTimes::new(LEASE_DURATION, SHUTDOWN_GRACE);
        Ok(Self {
            caller: Caller::new(team, None, &settings.plans),
            crawler: Arc::new(
                Crawler::new(store.clone(), settings.egress_allow.clone())
                    .with_models(services.models.clone()),
            ),
            worker: CrawlWorker::new(&services, scraper, &settings.plans, slots, times)
                .with_max_lost_workers(MAX_LOST_WORKERS),
            store,
            gate,
            browsers: services.browsers,
            stop: stop.clone(),
        })
    }

    /// Starts or resumes the job and writes its results.
    async fn finish(self, crawl: &LocalCrawl, state: &Path) -> Result<CrawlEnd> {
        let id = match start_or_resume(&self, &crawl.job, state).await? {
            Ok(id) => id,
            Err(refusal) => return Ok(CrawlEnd::Refused(refusal)),
        };
        let (over, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(self.worker.run(over.clone()));
        tasks.spawn(self.gate.clone().keep(over.clone()));
        tasks.spawn(fail_overdue(self.store.clone(), over.clone()));
        let kind = crawl.job.kind();
        let written = write_documents(&self.crawler, &self.caller, kind, id, &crawl.target, &self.stop).await;
        over.cancel();
        tasks.close();
        tasks.wait().await;
        if let Some(browsers) = self.browsers {
            browsers.shut_down().await;
        }
        let ended = written?;
        if let CrawlEnd::Done(head) = &ended {
            match &crawl.target.ledger {
                Some(ledger) => write_ledger(&self.crawler, &self.caller, kind, id, ledger).await?,
                None if head.failed > 0 => print_failed(&self.crawler, &self.caller, kind, id).await?,
                None => {}
            }
            if head.completed == 0 {
                crawl.target.remove_empty_output();
            }
        }
        Ok(ended)
    }
}

/// The id of the job: resumed or new.
async fn start_or_resume(run: &CrawlRun, job: &LocalJob, state: &Path) -> Result<Result<Uuid, WireError>> {
    if let Some(state_file) = StateFile::load(state)? {
        if let Some(id) = state_file.id {
            return Ok(Ok(id));
        }
        // Interrupted after the job was accepted and before its id was written.
        let known = run.store.active_crawls(run.caller.team, job.kind(), 1).await?;
        if let Some(crawl) = known.first() {
            return Ok(Ok(crawl.id));
        }
    }
    StateFile::from_job(job, None)?.write(state)?;
    let accepted = match job {
        LocalJob::Crawl(asked) => {
            let accepted = run.crawler.start(&run.caller, asked, None, "").await;
            accepted.map(|crawl| {
                if let Some(warning) = crawl.prompted.and_then(|prompted| prompted.warning) {
                    note!("gannet: {warning}");
                }
                crawl.id
            })
        }
        LocalJob::Batch(asked) => {
            let accepted = run.crawler.start_batch(&run.caller, (**asked).clone(), None, "").await;
            accepted.map(|batch| {
                for wrong in batch.invalid.iter().flatten() {
                    eprintln!("gannet: not a valid URL: {wrong}");
                }
                batch.id
            })
        }
    };
    if let Ok(id) = &accepted {
        StateFile::from_job(job, Some(*id))?.write(state)?;
    }
    Ok(accepted.map_err(WireError::from))
}

/// Ends crawls and batches whose deadline has passed.
async fn fail_overdue(store: Arc<dyn Store>, over: CancellationToken) {
    while over.run_until_cancelled(tokio::time::sleep(Duration::from_secs(1))).await.is_some() {
        if let Err(error) = engine::crawl::fail_overdue(store.as_ref()).await {
            tracing::warn!(%error, "could not end overdue crawls");
        }
    }
}

async fn write_documents(
    crawler: &Arc<Crawler>,
    caller: &Caller,
    kind: CrawlKind,
    id: Uuid,
    target: &OutputTarget,
    stop: &CancellationToken,
) -> Result<CrawlEnd> {
    let mut output = Output::open(target)?;
    let watch = crawler.watch(caller, kind, id, output.written()).await.map_err(WireError::from)?;
    let mut watch = watch.checking_every(POLL_INTERVAL);
    let mut progress = ProgressLine::start();
    loop {
        let Some(update) = stop.run_until_cancelled(watch.next_update()).await else {
            progress.end();
            return Ok(CrawlEnd::Stopped);
        };
        let update = update.map_err(WireError::from)?;
        output.write(&update.documents)?;
        progress.show(&update.head);
        if update.ended {
            progress.end();
            return Ok(CrawlEnd::Done(Box::new(update.head)));
        }
    }
}

async fn write_ledger(
    crawler: &Crawler,
    caller: &Caller,
    kind: CrawlKind,
    id: Uuid,
    path: &Path,
) -> Result<()> {
    let file = std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut file = std::io::BufWriter::new(file);
    let mut asked = LedgerQuery::default();
    loop {
        let page = crawler.ledger(caller, kind, id, &asked, "").await.map_err(WireError::from)?;
        for line in &page.data {
            serde_json::to_writer(&mut file, line)?;
            file.write_all(b"\n")?;
        }
        match page.data.last() {
            Some(last) if page.next.is_some() => asked.after = last.number,
            _ => return Ok(file.flush()?),
        }
    }
}

/// Names the first pages that failed, and why.
async fn print_failed(crawler: &Crawler, caller: &Caller, kind: CrawlKind, id: Uuid) -> Result<()> {
    let limit = Some(MAX_FAILED_SHOWN);
    let asked = LedgerQuery { state: Some("failed".to_owned()), limit, ..LedgerQuery::default() };
    let page = crawler.ledger(caller, kind, id, &asked, "").await.map_err(WireError::from)?;
    for line in &page.data {
        let why = line.error.as_deref().unwrap_or_default();
        note!("gannet: {}", to_line(&format!("{}: {why}", line.url), MAX_LINE_CHARS));
    }
    if page.next.is_some() {
        note!("gannet: there are more; --ledger FILE lists all of them");
    }
    Ok(())
}

/// That links of a site are dead is no failure of its crawl; of the pages of a batch each was named.
fn exit_code(head: &JobHead, kind: CrawlKind) -> ExitCode {
    let is_whole = head.status == "completed" && (kind == CrawlKind::Crawl || head.failed == 0);
    match head.completed {
        0 => ExitCode::from(exit_code::FAILED),
        _ if is_whole => ExitCode::SUCCESS,
        _ => ExitCode::from(exit_code::SOME_FAILED),
    }
}
