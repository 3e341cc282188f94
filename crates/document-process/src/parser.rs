//! The server's side: hands files to the processes and returns what they answer.

use crate::ROLE;
use crate::error::ParseError;
use crate::job::{ParseJob, ParsedFile, Request};
use crate::ocr_program::OcrProgram;
use futures_util::future::BoxFuture;
use sandbox::{Job, PoolOptions, ProcessPool, bytes_as_input};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

/// What pictures are read with.
#[derive(Debug, Clone)]
pub struct OcrSetup {
    pub program: OcrProgram,
    /// The folder of the models, as an absolute path: the process starts in another folder.
    pub models: PathBuf,
}

/// What an operator decides about reading files.
#[derive(Debug, Clone)]
pub struct ParserOptions {
    /// Reads all files, pictures included. Without it the program that is running reads them, and pictures
    /// are not read.
    pub ocr: Option<OcrSetup>,
    /// Files that are read at the same time, for all teams together.
    pub max_jobs: usize,
    /// Processes that are kept ready.
    pub warm_processes: usize,
}

impl Default for ParserOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // One more than there are cores: a single team may use all of them, and there is still a place for others.
        Self { ocr: None, max_jobs: cores + 1, warm_processes: cores.min(2) }
    }
}

/// Reads files in sandboxed processes. Clones share the processes, which end with the last of them.
#[derive(Debug, Clone)]
pub struct DocumentParser(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    pool: ProcessPool,
    has_ocr: bool,
    max_jobs_per_team: usize,
    /// A place for each file whose answer is not yet a [`ParsedFile`].
    places: Arc<Semaphore>,
    /// The places of teams that read files at the moment.
    teams: Mutex<HashMap<Uuid, Weak<Semaphore>>>,
}

impl DocumentParser {
    pub fn new(options: ParserOptions) -> Self {
        let ParserOptions { ocr, max_jobs, warm_processes } = options;
        let has_ocr = ocr.is_some();
        let mut pool = PoolOptions::new(ROLE);
        pool.max_jobs = max_jobs.max(1);
        pool.warm_processes = warm_processes;
        if let Some(OcrSetup { program, models }) = ocr {
            pool.executable = program.executable;
            pool.arguments = vec![models.to_string_lossy().into_owned()];
        }
        let max_jobs_per_team = pool.max_jobs.saturating_sub(1).max(1);
        let places = Arc::new(Semaphore::new(pool.max_jobs.min(Semaphore::MAX_PERMITS)));
        let pool = ProcessPool::new(pool);
        Self(Arc::new(Shared { pool, has_ocr, max_jobs_per_team, places, teams: Mutex::default() }))
    }

    /// Reads a file: a regular one that is open for reading only, or [`sandbox::bytes_as_input`]. The time limit holds
    /// for everything: waiting for a free process, starting it, the work. When the future is dropped, the work ends.
    pub fn parse<'a>(
        &'a self,
        owner: Uuid,
        input: &'a File,
        job: &'a ParseJob,
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<ParsedFile, ParseError>> {
        Box::pin(async move { self.read(owner, input, job, time_limit).await?.decode().await })
    }

    /// The same, but leaves it to the caller when the answer becomes a [`ParsedFile`], which takes memory.
    pub fn read<'a>(
        &'a self,
        owner: Uuid,
        input: &'a File,
        job: &'a ParseJob,
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<FileAnswer, ParseError>> {
        Box::pin(async move {
            let deadline = Instant::now() + time_limit;
            let places = self.0.take_places(owner, deadline).await?;
            self.run(owner, input, job, deadline, places).await
        })
    }

    /// The same for a file in memory, which is copied when it is the team's turn.
    pub fn read_bytes<'a>(
        &'a self,
        owner: Uuid,
        bytes: impl AsRef<[u8]> + Send + 'static,
        job: &'a ParseJob,
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<FileAnswer, ParseError>> {
        Box::pin(async move {
            let deadline = Instant::now() + time_limit;
            let places = self.0.take_places(owner, deadline).await?;
            let copying = tokio::task::spawn_blocking(move || bytes_as_input(bytes.as_ref()));
            let input = copying.await.map_err(unavailable)?.map_err(unavailable)?;
            self.run(owner, &input, job, deadline, places).await
        })
    }

    async fn run(
        &self,
        owner: Uuid,
        input: &File,
        job: &ParseJob,
        deadline: Instant,
        places: Places,
    ) -> Result<FileAnswer, ParseError> {
        let time_limit = deadline.saturating_duration_since(Instant::now());
        let request = Request { job: job.clone(), time_limit };
        let options = serde_json::to_vec(&request).map_err(unavailable)?;
        let job = Job { owner, options: &options, input: input.as_fd(), time_limit };
        Ok(FileAnswer { json: self.0.pool.run(job).await?, _places: places })
    }

    /// Whether pictures are read.
    pub fn has_ocr(&self) -> bool {
        self.0.has_ocr
    }
}

/// What a process has answered, before it is read. It keeps its places: answers that wait to be read are as few as
/// the processes.
#[derive(Debug)]
pub struct FileAnswer {
    json: Vec<u8>,
    _places: Places,
}

/// That of the team, and that among all.
type Places = [OwnedSemaphorePermit; 2];

impl FileAnswer {
    /// Its length; what is made of it takes several times as much.
    pub fn bytes(&self) -> usize {
        self.json.len()
    }

    pub fn decode(self) -> BoxFuture<'static, Result<ParsedFile, ParseError>> {
        Box::pin(async move {
            // It can be as long as a book.
            let read = tokio::task::spawn_blocking(move || serde_json::from_slice(&self.json));
            let answer: Result<ParsedFile, ParseError> =
                read.await.map_err(unavailable)?.map_err(|error| ParseError::Crashed(error.to_string()))?;
            answer
        })
    }
}

impl Shared {
    async fn take_places(&self, team: Uuid, deadline: Instant) -> Result<Places, ParseError> {
        let of_team = take_place(self.places_of_team(team), deadline).await?;
        Ok([of_team, take_place(self.places.clone(), deadline).await?])
    }

    /// One team may not take all processes.
    fn places_of_team(&self, team: Uuid) -> Arc<Semaphore> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = teams.get(&team).and_then(Weak::upgrade) {
            return places;
        }
        teams.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(self.max_jobs_per_team.min(Semaphore::MAX_PERMITS)));
        teams.insert(team, Arc::downgrade(&places));
        places
    }
}

async fn take_place(places: Arc<Semaphore>, deadline: Instant) -> Result<OwnedSemaphorePermit, ParseError> {
    let place = timeout_at(deadline, places.acquire_owned()).await.map_err(|_| ParseError::TimedOut)?;
    // The semaphore is never closed.
    place.map_err(unavailable)
}

fn unavailable(error: impl std::fmt::Display) -> ParseError {
    ParseError::Unavailable(error.to_string())
}
