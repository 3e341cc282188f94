//! Crawls and batches without a server: the same engine on a database of its own, which lies beside the output until all of it is
//! written. So whatever stops the command, the same command goes on where it was.

mod note;
mod options;
mod output;
mod progress;

use crate::Globals;
use crate::commands::serve::{open_scraper, stop_on_signals};
use crate::home;
use crate::settings::Settings;
use anyhow::{Context, Result};
use engine::crawl::{Crawler, Crew, CrewOptions};
use engine::{Caller, Gate};
use note::Note;
pub use options::PageOptions;
pub use output::Form;
use output::Output;
use progress::Progress;
use serde::{Deserialize, Serialize};
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

/// Not one page could be had.
const NOTHING: u8 = 1;
/// The command does not make sense; also what the command line itself answers with.
const MISTAKE: u8 = 2;
/// Some pages could not be had.
const NOT_ALL: u8 = 3;
/// Stopped by a signal; the same command goes on.
const STOPPED: u8 = 130;

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Pages that a killed command held are taken up again after this.
const LEASE: Duration = Duration::from_secs(5);
const GRACE: Duration = Duration::from_secs(2);
/// A page that was lost so often is taken to be the reason.
const MOST_LOST: u32 = 5;

/// Where it all goes.
#[derive(Debug)]
pub struct Place {
    pub out: PathBuf,
    pub ledger: Option<PathBuf>,
    pub form: Form,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Job {
    Crawl(Box<CrawlRequest>),
    Batch(Box<BatchRequest>),
}

impl Job {
    fn kind(&self) -> CrawlKind {
        match self {
            Self::Crawl(_) => CrawlKind::Crawl,
            Self::Batch(_) => CrawlKind::Batch,
        }
    }
}

pub fn mistake(why: &str) -> ExitCode {
    eprintln!("gannet: {why}");
    ExitCode::from(MISTAKE)
}

#[derive(Debug)]
pub struct Gathering {
    pub job: Job,
    pub place: Place,
}

impl Gathering {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let state = self.place.state();
        if Note::read(&state)?.is_none() && self.place.has_output() {
            return Ok(mistake(&format!("{} is there already", self.place.out.display())));
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
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let _lock = home::lock_database(&settings).context("is the same command running already?")?;
        let note = Note::read(&state)?;
        if note.map(|note| note.is_of(&self.job)).transpose()? == Some(false) {
            let why = "holds another crawl that is not done; give another --out, or remove it";
            return Ok(mistake(&format!("{} {why}", state.display())));
        }
        let store = home::open_store(&settings).await?;
        let stop = stop_on_signals()?;
        let ended = Run::open(&settings, store.clone(), &stop).await?.carry(&self, &state).await;
        store.shut_down().await;
        match ended? {
            Ended::Refused(error) => {
                // Nothing was begun.
                std::fs::remove_dir_all(&state).context("cannot remove the state folder")?;
                Ok(mistake(&error.to_string()))
            }
            Ended::Stopped => {
                eprintln!("gannet: stopped; the same command goes on");
                Ok(ExitCode::from(STOPPED))
            }
            Ended::Done(head) => {
                std::fs::remove_dir_all(&state).context("cannot remove the state folder")?;
                Ok(verdict(&head))
            }
        }
    }
}

enum Ended {
    Refused(WireError),
    Stopped,
    Done(Box<JobHead>),
}

/// The engine, for one job.
struct Run {
    store: Arc<dyn Store>,
    caller: Caller,
    crawler: Arc<Crawler>,
    crew: Crew,
    gate: Arc<Gate>,
    browsers: Option<browser::Browsers>,
    stop: CancellationToken,
}

impl Run {
    async fn open(settings: &Settings, store: Arc<dyn Store>, stop: &CancellationToken) -> Result<Self> {
        let team = if let Some(team) = store.teams().await?.into_iter().next() {
            team
        } else {
            let (name, plan) = ("default".to_owned(), settings.plan.clone());
            store.create_team(NewTeam { id: Uuid::now_v7(), name, plan, zero_data_retention: false }).await?
        };
        let gate = Gate::new(store.clone());
        let scraper = open_scraper(settings, &store, &gate, None).await?;
        let browsers = scraper.browsers().cloned();
        let options = CrewOptions {
            slots: settings.workers.max(1),
            lease: LEASE,
            grace: GRACE,
            ..CrewOptions::default()
        };
        Ok(Self {
            caller: Caller::new(team, None, &settings.plans),
            crawler: Arc::new(
                Crawler::new(store.clone(), settings.egress_allow.clone())
                    .with_models(scraper.models().clone()),
            ),
            crew: Crew::new(store.clone(), scraper, &settings.plans, options),
            store,
            gate,
            browsers,
            stop: stop.clone(),
        })
    }

    /// Starts the job or goes on with it, and writes what comes of it.
    async fn carry(self, gathering: &Gathering, state: &Path) -> Result<Ended> {
        let id = match accept(&self, &gathering.job, state).await? {
            Ok(id) => id,
            Err(refusal) => return Ok(Ended::Refused(refusal)),
        };
        let (over, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(self.crew.run(over.clone()));
        tasks.spawn(self.gate.clone().keep(over.clone()));
        tasks.spawn(take_back(self.store.clone(), over.clone()));
        let kind = gathering.job.kind();
        let written = write(&self.crawler, &self.caller, kind, id, &gathering.place, &self.stop).await;
        over.cancel();
        tasks.close();
        tasks.wait().await;
        if let Some(browsers) = self.browsers {
            browsers.shut_down().await;
        }
        let ended = written?;
        if let (Ended::Done(_), Some(ledger)) = (&ended, &gathering.place.ledger) {
            write_ledger(&self.crawler, &self.caller, kind, id, ledger).await?;
        }
        Ok(ended)
    }
}

/// The id of the job: the one that is there, or a new one.
async fn accept(run: &Run, job: &Job, state: &Path) -> Result<Result<Uuid, WireError>> {
    if let Some(note) = Note::read(state)? {
        if let Some(id) = note.id {
            return Ok(Ok(id));
        }
        // Stopped after it was accepted and before that was noted.
        let known = run.store.active_crawls(run.caller.team, job.kind(), 1).await?;
        if let Some(crawl) = known.first() {
            return Ok(Ok(crawl.id));
        }
    }
    Note::from_job(job, None)?.write(state)?;
    let accepted = match job {
        Job::Crawl(asked) => {
            let accepted = run.crawler.start(&run.caller, asked, None, "").await;
            accepted.map(|crawl| {
                if let Some(warning) = crawl.prompted.and_then(|prompted| prompted.warning) {
                    eprintln!("gannet: {warning}");
                }
                crawl.id
            })
        }
        Job::Batch(asked) => {
            let accepted = run.crawler.start_batch(&run.caller, (**asked).clone(), None, "").await;
            accepted.map(|batch| {
                for wrong in batch.invalid.iter().flatten() {
                    eprintln!("gannet: no address: {wrong}");
                }
                batch.id
            })
        }
    };
    if let Ok(id) = &accepted {
        Note::from_job(job, Some(*id))?.write(state)?;
    }
    Ok(accepted)
}

/// Takes back what a killed command held.
async fn take_back(store: Arc<dyn Store>, over: CancellationToken) {
    while over.run_until_cancelled(tokio::time::sleep(Duration::from_secs(1))).await.is_some() {
        if let Err(error) = store.sweep_entries(MOST_LOST).await {
            tracing::warn!(%error, "sweep of pages failed");
        }
        if let Err(error) = engine::crawl::fail_overdue(store.as_ref()).await {
            tracing::warn!(%error, "sweep of crawls failed");
        }
    }
}

async fn write(
    crawler: &Arc<Crawler>,
    caller: &Caller,
    kind: CrawlKind,
    id: Uuid,
    place: &Place,
    stop: &CancellationToken,
) -> Result<Ended> {
    let mut output = Output::open(place)?;
    let mut watch = crawler.watch(caller, kind, id, output.written()).await?.looking_every(LOOK_EVERY);
    let mut progress = Progress::start();
    loop {
        let Some(look) = stop.run_until_cancelled(watch.next()).await else {
            progress.end();
            return Ok(Ended::Stopped);
        };
        let look = look?;
        output.write(&look.documents)?;
        progress.show(&look.head);
        if look.ended {
            progress.end();
            return Ok(Ended::Done(Box::new(look.head)));
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
        let page = crawler.ledger(caller, kind, id, &asked, "").await?;
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

fn verdict(head: &JobHead) -> ExitCode {
    let JobHead { completed, failed, skipped, duration, .. } = head;
    eprintln!("{completed} pages, {failed} failed, {skipped} left out, in {duration:.1} s");
    if let Some(error) = &head.error {
        eprintln!("gannet: {error}");
    }
    match (completed, failed) {
        (0, _) => ExitCode::from(NOTHING),
        _ if head.status != "completed" || *failed > 0 => ExitCode::from(NOT_ALL),
        _ => ExitCode::SUCCESS,
    }
}
