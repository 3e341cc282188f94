//! A folder of generations. Imports go to staging logs; a new index is built beside the one that serves and takes its place by
//! one rename. Whatever happens in between, the old one stays whole.
//!
//! ```text
//! CURRENT                     name of the generation that serves
//! generations/000007.papers   index files, never changed
//! generations/000007.vectors  what its works mean, where a model was asked
//! staged/000003.openalex      staging logs, kept for the next build
//! imports.json                finished logs, in order
//! import.json                 the import under way, for going on after a crash
//! lock                        held while importing
//! ```

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::build::{BuildOptions, Facts, Progress, build};
use crate::error::{Error, Result};
use crate::import::{Batch, read_source};
use crate::index::{Index, vectors_beside};
use crate::stage::{Stage, StageWriter, frames};
use crate::vectors::{self, Embedder, Plan, VectorProgress, Vectors};
use crate::work::Source;

/// How often the state of an import is brought to the disk.
const CHECKPOINT: Duration = Duration::from_secs(5);

/// A finished staging log.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct FinishedImport {
    log: String,
    source: String,
    works: u64,
    bytes: u64,
    files: Vec<PathBuf>,
}

/// An import under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Checkpoint {
    log: String,
    source: String,
    files: Vec<PathBuf>,
    /// Files read to their end.
    files_done: usize,
    /// Works taken from the file after those.
    works_of_file: u64,
    works: u64,
    bytes: u64,
    log_bytes: u64,
}

/// What is served: the name of a generation, and when its vectors were made.
type Edition = (String, Option<SystemTime>);

/// What the library holds.
#[derive(Debug, Clone)]
pub struct LibraryStatus {
    pub generation: Option<String>,
    pub facts: Option<Facts>,
    /// Source, works and bytes of each finished import.
    pub imports: Vec<(String, u64, u64)>,
    /// An import was begun and not finished.
    pub unfinished: bool,
}

/// A folder of generations and the one that is served.
#[derive(Debug)]
pub struct Library {
    folder: PathBuf,
    served: RwLock<Option<(Edition, Arc<Index>)>>,
    looked: Mutex<Option<Instant>>,
}

impl Library {
    /// Opens a folder, which is made when missing, and the generation it names.
    pub fn open(folder: &Path) -> Result<Self> {
        for part in [folder.to_owned(), folder.join("generations"), folder.join("staged")] {
            fs::create_dir_all(&part).map_err(Error::file(&part))?;
        }
        let library = Self { folder: folder.to_owned(), served: RwLock::new(None), looked: Mutex::new(None) };
        library.refresh()?;
        Ok(library)
    }

    /// The index that serves; `None` before the first import.
    pub fn current(&self) -> Option<Arc<Index>> {
        self.served
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .map(|(_, index)| Arc::clone(index))
    }

    /// Takes up a generation that another process has published. Requests under way keep the one they have.
    pub fn refresh(&self) -> Result<()> {
        let Some(name) = self.current_name()? else { return Ok(()) };
        let path = self.generation(&name);
        let vectors = fs::metadata(vectors_beside(&path)).and_then(|found| found.modified()).ok();
        let edition = (name, vectors);
        if self
            .served
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .is_some_and(|(served, _)| *served == edition)
        {
            return Ok(());
        }
        let index = Arc::new(Index::open(&path)?);
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = Some((edition, index));
        Ok(())
    }

    /// [`Library::refresh`], at most once in `every`; for calling at each request. A generation that cannot be opened leaves the
    /// old one serving.
    pub fn refresh_if_older_than(&self, every: Duration) -> Result<()> {
        {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
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
                    Err(Error::damaged(&path, "names no generation"))
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

    /// Reads `files` of `source` into a staging log, builds a new generation from all logs and makes it the one that serves.
    /// An import of the same files that was cut off goes on where it was.
    pub fn import(
        &self,
        source: Source,
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

    /// Builds and publishes a generation from the logs there are.
    pub fn rebuild(&self, options: &BuildOptions, progress: Progress<'_>) -> Result<Facts> {
        let _lock = self.lock()?;
        self.publish(options, progress)
    }

    /// Makes the vectors of all works of the generation that serves, those that are not there yet. Goes on where a run that was
    /// cut off has ended.
    pub fn make_vectors(&self, embedder: &dyn Embedder, progress: VectorProgress<'_>) -> Result<()> {
        let _lock = self.lock()?;
        self.refresh()?;
        let (Some(index), Some(name)) = (self.current(), self.current_name()?) else { return Ok(()) };
        let plan = Plan {
            index: &index,
            identity: embedder.identity(),
            dimensions: embedder.dimensions(),
            before: index.vectors(),
            embedder: Some(embedder),
        };
        vectors::write(&plan, &vectors_beside(&self.generation(&name)), progress)?;
        self.refresh()
    }

    /// Takes vectors over from a file of another library or generation, for works whose text is the same.
    pub fn take_over_vectors(&self, from: &Path) -> Result<()> {
        let _lock = self.lock()?;
        let (Some(index), Some(name)) = (self.current(), self.current_name()?) else { return Ok(()) };
        take_over(&index, &Vectors::open(from)?, &self.generation(&name))?;
        self.refresh()
    }

    /// The lock goes with the file handle, also when the process dies.
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

    fn stage(&self, source: Source, files: &[PathBuf], progress: Progress<'_>) -> Result<()> {
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
        };
        let before = read_json::<Checkpoint>(&state_path)?
            .filter(|before| before.files == fresh.files && before.source == fresh.source)
            .filter(|_| unchanged_since(&state_path, files));
        let is_staged = |before: &Checkpoint| {
            before.files_done == before.files.len()
                && imports.last().is_some_and(|last| last.log == before.log)
        };
        if before.as_ref().is_some_and(is_staged) {
            // Read to the end before; it was the build that failed.
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
                // An import that goes on has the first works of the file already.
                let had = skip.saturating_sub(seen).min(batch.works);
                seen += batch.works;
                let had_bytes = frames(&batch.framed).take(had as usize).map(<[u8]>::len).sum::<usize>();
                log.append(&batch.framed[had_bytes..])?;
                state.works += batch.works - had;
                state.works_of_file += batch.works - had;
                if last.elapsed() >= CHECKPOINT {
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
        });
        write_json(&self.folder.join("imports.json"), &imports)?;
        // Kept until the index is built: should that fail, the same import need not be read again.
        write_json(&state_path, &state)
    }

    fn publish(&self, options: &BuildOptions, progress: Progress<'_>) -> Result<Facts> {
        let mut stages = Vec::new();
        for import in self.imports()? {
            let path = self.folder.join("staged").join(&import.log);
            let source = Source::from_name(&import.source)
                .ok_or_else(|| Error::damaged(&path, format!("unknown source {}", import.source)))?;
            stages.push(Stage::open(&path, source)?);
        }
        let before = self.current_name()?;
        let number =
            before.as_deref().and_then(|name| name.split('.').next()?.parse::<u32>().ok()).unwrap_or(0) + 1;
        let name = format!("{number:06}.papers");
        let scratch = self.folder.join("building");
        // What a crashed build left behind.
        if scratch.exists() {
            fs::remove_dir_all(&scratch).map_err(Error::file(&scratch))?;
        }
        fs::create_dir(&scratch).map_err(Error::file(&scratch))?;
        let built = scratch.join(&name);
        let outcome = build(&stages, &built, options, progress).and_then(|facts| {
            let index = Index::open(&built)?;
            let last = self.generation(&name);
            if let Some(before) = before.as_deref() {
                // Vectors that cannot be read are made anew; they must not stop an import.
                if let Ok(before) = Vectors::open(&vectors_beside(&self.generation(before))) {
                    take_over(&index, &before, &last)?;
                }
            }
            fs::rename(&built, &last).map_err(Error::file(&last))?;
            sync_folder(&self.folder.join("generations"))?;
            write_atomically(&self.folder.join("CURRENT"), name.as_bytes())?;
            Ok(facts)
        });
        // Scratch files of a build that failed (a full disk, say) must not stay and keep the disk full.
        let cleaned = fs::remove_dir_all(&scratch).map_err(Error::file(&scratch));
        let facts = outcome?;
        cleaned?;
        self.refresh()?;
        self.remove_old(&name, before.as_deref());
        Ok(facts)
    }

    /// Keeps the generation that serves and the one before it. Failing to remove is no failure: the next import tries again.
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

/// Writes the vectors of `index`, which will be at `path`, as far as another generation has them.
fn take_over(index: &Index, before: &Vectors, path: &Path) -> Result<()> {
    let plan = Plan {
        index,
        identity: before.identity(),
        dimensions: before.dimensions(),
        before: Some(before),
        embedder: None,
    };
    vectors::write(&plan, &vectors_beside(path), &|_, _| {})
}

/// Whether none of the files was written after `mark` was.
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

/// A rename is safe only when its folder is on the disk.
fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(Error::file(path))
}
