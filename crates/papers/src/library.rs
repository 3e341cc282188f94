//! A folder of index generations. Imports are written to staging logs; a new index is built next to the
//! current one and replaces it by a rename. The old one stays intact whatever happens in between.
//!
//! ```text
//! CURRENT                     name of the current generation
//! generations/000007.papers   index files, never changed
//! generations/000007.vectors  embeddings of its works, if computed
//! generations/000007.weights  weights of its ranking, if learnt
//! staged/000003.openalex      staging logs, kept for the next build
//! imports.json                finished logs, in order
//! import.json                 the running import, to continue after a crash
//! lock                        held while importing
//! ```

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};

use crate::build::{BuildOptions, Facts, Progress, build};
use crate::error::{Error, Result};
use crate::import::{Batch, read_source};
use crate::index::{Index, vectors_path};
use crate::learn::{CitingSentences, learn_collection};
use crate::stage::{Stage, StageWriter, frames};
use crate::vector_writer::{VectorPlan, VectorProgress, write_vectors};
use crate::vectors::{Embedder, Vectors};
use crate::weights::CollectionWeights;
use crate::work::PaperSource;

/// How often the state of an import is flushed to disk.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

/// A finished staging log.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct FinishedImport {
    log: String,
    source: String,
    works: u64,
    bytes: u64,
    files: Vec<PathBuf>,
    /// Whether works have citing sentences.
    #[serde(default)]
    has_contexts: bool,
}

/// A running import.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Checkpoint {
    log: String,
    source: String,
    files: Vec<PathBuf>,
    /// Files that were read completely.
    files_done: usize,
    /// Works read from the next file.
    works_of_file: u64,
    works: u64,
    bytes: u64,
    log_bytes: u64,
    #[serde(default)]
    has_contexts: bool,
}

/// The current generation and the time of its vectors.
type CurrentGeneration = (String, Option<SystemTime>);

/// The contents of the library.
#[derive(Debug, Clone)]
pub struct LibraryStatus {
    pub generation: Option<String>,
    pub facts: Option<Facts>,
    /// Source, works and bytes of each finished import.
    pub imports: Vec<(String, u64, u64)>,
    /// An import was started and not finished.
    pub unfinished: bool,
}

/// A folder of generations with the current one open.
#[derive(Debug)]
pub struct Library {
    folder: PathBuf,
    served: RwLock<Option<(CurrentGeneration, Arc<Index>)>>,
    looked: Mutex<Option<Instant>>,
}

impl Library {
    /// Opens a folder, which is created if missing, and its current generation.
    pub fn open(folder: &Path) -> Result<Self> {
        for part in [folder.to_owned(), folder.join("generations"), folder.join("staged")] {
            fs::create_dir_all(&part).map_err(Error::file(&part))?;
        }
        let library = Self { folder: folder.to_owned(), served: RwLock::new(None), looked: Mutex::new(None) };
        library.refresh()?;
        Ok(library)
    }

    /// The current index; `None` before the first import.
    pub fn current(&self) -> Option<Arc<Index>> {
        self.served.read().as_ref().map(|(_, index)| Arc::clone(index))
    }

    /// Opens a generation that another process has published. Running requests keep the one they have.
    pub fn refresh(&self) -> Result<()> {
        let Some(name) = self.current_name()? else { return Ok(()) };
        let path = self.generation(&name);
        let vectors = fs::metadata(vectors_path(&path)).and_then(|found| found.modified()).ok();
        let edition = (name, vectors);
        if self.served.read().as_ref().is_some_and(|(served, _)| *served == edition) {
            return Ok(());
        }
        let index = Arc::new(Index::open(&path)?);
        *self.served.write() = Some((edition, index));
        Ok(())
    }

    /// [`Library::refresh`], at most once in `every`; called at each request. If the new generation cannot be
    /// opened, the old one stays.
    pub fn refresh_if_older_than(&self, every: Duration) -> Result<()> {
        {
            let mut looked = self.looked.lock();
            if looked.is_some_and(|at| at.elapsed() < every) {
                return Ok(());
            }
            *looked = Some(Instant::now());
        }
        self.refresh()
    }

    fn current_name(&self) -> Result<Option<String>> {
        let path = self.folder.join("CURRENT");
        match fs::read_to_string(&path) {
            Ok(text) => {
                let name = text.trim();
                let is_name = name.ends_with(".papers") && !name.contains(['/', '\\']);
                if is_name {
                    Ok(Some(name.to_owned()))
                } else {
                    Err(Error::damaged(&path, "does not name a generation"))
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::File { path, source: error }),
        }
    }

    fn generation(&self, name: &str) -> PathBuf {
        self.folder.join("generations").join(name)
    }

    pub fn status(&self) -> Result<LibraryStatus> {
        let imports = self.imports()?;
        Ok(LibraryStatus {
            generation: self.current_name()?,
            facts: self.current().map(|index| index.facts().clone()),
            imports: imports.into_iter().map(|import| (import.source, import.works, import.bytes)).collect(),
            unfinished: self.folder.join("import.json").exists(),
        })
    }

    fn imports(&self) -> Result<Vec<FinishedImport>> {
        read_json(&self.folder.join("imports.json")).map(Option::unwrap_or_default)
    }

    /// Reads `files` of `source` into a staging log, builds a new generation from all logs and makes it the
    /// current one. An interrupted import of the same files is continued.
    pub fn import(
        &self,
        source: PaperSource,
        files: &[PathBuf],
        options: &BuildOptions,
        progress: Progress<'_>,
    ) -> Result<Facts> {
        let _lock = self.lock()?;
        self.stage(source, files, progress)?;
        let facts = self.publish(options, progress)?;
        remove_if_there(&self.folder.join("import.json"))?;
        Ok(facts)
    }

    /// Builds and publishes a generation from the existing logs.
    pub fn rebuild(&self, options: &BuildOptions, progress: Progress<'_>) -> Result<Facts> {
        let _lock = self.lock()?;
        self.publish(options, progress)
    }

    /// Computes missing vectors of all works of the current generation. Continues an interrupted run.
    pub fn make_vectors(&self, embedder: &dyn Embedder, progress: VectorProgress<'_>) -> Result<()> {
        let _lock = self.lock()?;
        self.refresh()?;
        let (Some(index), Some(name)) = (self.current(), self.current_name()?) else { return Ok(()) };
        let plan = VectorPlan {
            index: &index,
            identity: embedder.identity(),
            dimensions: embedder.dimensions(),
            before: index.vectors(),
            embedder: Some(embedder),
        };
        write_vectors(&plan, &vectors_path(&self.generation(&name)), progress)?;
        self.refresh()
    }

    /// Copies vectors from a file of another library or generation, for works with the same text.
    pub fn copy_vectors_from(&self, from: &Path) -> Result<()> {
        let _lock = self.lock()?;
        let (Some(index), Some(name)) = (self.current(), self.current_name()?) else { return Ok(()) };
        copy_vectors(&index, &Vectors::open(from)?, &self.generation(&name))?;
        self.refresh()
    }

    /// The lock is released with the file handle, also when the process dies.
    fn lock(&self) -> Result<File> {
        let path = self.folder.join("lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(Error::file(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => Err(Error::Busy { path }),
            Err(fs::TryLockError::Error(source)) => Err(Error::File { path, source }),
        }
    }

    fn stage(&self, source: PaperSource, files: &[PathBuf], progress: Progress<'_>) -> Result<()> {
        let mut imports = self.imports()?;
        let state_path = self.folder.join("import.json");
        let fresh = Checkpoint {
            log: format!("{:06}.{}", imports.len() + 1, source.name()),
            source: source.name().to_owned(),
            files: files.to_vec(),
            files_done: 0,
            works_of_file: 0,
            works: 0,
            bytes: 0,
            log_bytes: 0,
            has_contexts: false,
        };
        let before = read_json::<Checkpoint>(&state_path)?
            .filter(|before| before.files == fresh.files && before.source == fresh.source)
            .filter(|_| unchanged_since(&state_path, files));
        let is_staged = |before: &Checkpoint| {
            before.files_done == before.files.len()
                && imports.last().is_some_and(|last| last.log == before.log)
        };
        if before.as_ref().is_some_and(is_staged) {
            // The files were read completely; the build had failed.
            return Ok(());
        }
        let mut state = before.filter(|before| before.log == fresh.log).unwrap_or(fresh);
        let log_path = self.folder.join("staged").join(&state.log);
        let mut log = StageWriter::open(&log_path, state.log_bytes)?;
        let mut last = Instant::now();
        while state.files_done < state.files.len() {
            let path = state.files[state.files_done].clone();
            let skip = state.works_of_file;
            let mut seen = 0_u64;
            read_source(source, &path, &mut |batch: Batch| {
                state.bytes += batch.bytes;
                state.has_contexts |= batch.has_contexts;
                // A continued import already has the first works of the file.
                let had = skip.saturating_sub(seen).min(batch.works);
                seen += batch.works;
                let had_bytes = frames(&batch.framed).take(had as usize).map(<[u8]>::len).sum::<usize>();
                log.append(&batch.framed[had_bytes..])?;
                state.works += batch.works - had;
                state.works_of_file += batch.works - had;
                if last.elapsed() >= CHECKPOINT_INTERVAL {
                    last = Instant::now();
                    progress("reading records", state.works, 0);
                    log.sync()?;
                    state.log_bytes = log.bytes();
                    write_json(&state_path, &state)?;
                }
                Ok(())
            })?;
            state.files_done += 1;
            state.works_of_file = 0;
        }
        log.sync()?;
        progress("reading records", state.works, state.works);
        state.log_bytes = log.bytes();
        imports.push(FinishedImport {
            log: state.log.clone(),
            source: state.source.clone(),
            works: state.works,
            bytes: state.bytes,
            files: state.files.clone(),
            has_contexts: state.has_contexts,
        });
        write_json(&self.folder.join("imports.json"), &imports)?;
        // Kept until the index is built, so that the files need not be read again if that fails.
        write_json(&state_path, &state)
    }

    fn publish(&self, options: &BuildOptions, progress: Progress<'_>) -> Result<Facts> {
        let mut stages = Vec::new();
        let mut sentences = CitingSentences::default();
        for import in self.imports()? {
            let path = self.folder.join("staged").join(&import.log);
            let source = PaperSource::from_name(&import.source)
                .ok_or_else(|| Error::damaged(&path, format!("unknown source {}", import.source)))?;
            let stage = Stage::open(&path, source)?;
            if options.learn && import.has_contexts {
                sentences.add(&stage)?;
            }
            stages.push(stage);
        }
        let before = self.current_name()?;
        let number =
            before.as_deref().and_then(|name| name.split('.').next()?.parse::<u32>().ok()).unwrap_or(0) + 1;
        let name = format!("{number:06}.papers");
        let scratch = self.folder.join("building");
        // Remove leftovers of a crashed build.
        if scratch.exists() {
            fs::remove_dir_all(&scratch).map_err(Error::file(&scratch))?;
        }
        fs::create_dir(&scratch).map_err(Error::file(&scratch))?;
        let built = scratch.join(&name);
        let outcome = build(&stages, &built, options, progress).and_then(|facts| {
            let index = Index::open(&built)?;
            let last = self.generation(&name);
            if let Some(before) = before.as_deref() {
                // Unreadable vectors are computed again; they must not stop an import.
                if let Ok(before) = Vectors::open(&vectors_path(&self.generation(before))) {
                    copy_vectors(&index, &before, &last)?;
                }
            }
            if options.learn {
                write_weights(&index, &sentences, &last, progress)?;
            }
            fs::rename(&built, &last).map_err(Error::file(&last))?;
            sync_folder(&self.folder.join("generations"))?;
            write_atomically(&self.folder.join("CURRENT"), name.as_bytes())?;
            Ok(facts)
        });
        // Remove scratch files of a failed build, which may have filled the disk.
        let cleaned = fs::remove_dir_all(&scratch).map_err(Error::file(&scratch));
        let facts = outcome?;
        cleaned?;
        self.refresh()?;
        self.remove_old(&name, before.as_deref());
        Ok(facts)
    }

    /// Keeps the current generation and the one before it. Errors are ignored: the next import tries again.
    fn remove_old(&self, current: &str, before: Option<&str>) {
        let Ok(entries) = fs::read_dir(self.folder.join("generations")) else { return };
        let generation = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        let kept = [Some(generation(current)), before.map(generation)];
        for entry in entries.flatten() {
            let name = generation(&entry.file_name().to_string_lossy());
            if !kept.contains(&Some(name)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Learns the weights of `index` and writes them for the generation at `path`.
fn write_weights(
    index: &Index,
    sentences: &CitingSentences,
    path: &Path,
    progress: Progress<'_>,
) -> Result<()> {
    progress("learning weights from citations", 0, 0);
    let learnt = learn_collection(index, sentences)?;
    for line in &learnt.report {
        progress(line, 0, 0);
    }
    let path = CollectionWeights::path_beside(path);
    let json = learnt.weights.to_json().map_err(|error| Error::damaged(&path, error.to_string()))?;
    write_atomically(&path, &json)
}

/// Writes the vectors of `index` to `path`, as far as another generation has them.
fn copy_vectors(index: &Index, before: &Vectors, path: &Path) -> Result<()> {
    let plan = VectorPlan {
        index,
        identity: before.identity(),
        dimensions: before.dimensions(),
        before: Some(before),
        embedder: None,
    };
    write_vectors(&plan, &vectors_path(path), &|_, _| {})
}

/// Whether none of the files was modified after `mark`.
fn unchanged_since(mark: &Path, files: &[PathBuf]) -> bool {
    let written = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    let Some(marked) = written(mark) else { return false };
    files.iter().all(|file| written(file).is_none_or(|at| at <= marked))
}

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::damaged(path, error.to_string()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { path: path.to_owned(), source }),
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let bytes = serde_json::to_vec_pretty(value).map_err(|error| Error::damaged(path, error.to_string()))?;
    write_atomically(path, &bytes)
}

fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside).map_err(Error::file(&beside))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(Error::file(&beside))?;
    fs::rename(&beside, path).map_err(Error::file(path))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// A rename is durable only after its folder was flushed to disk.
fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(Error::file(path))
}
