//! The directory of installed models. A model is copied completely under a temporary name, with the checksum
//! of each file, and then renamed; a copy that was interrupted is never used.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::archive::Archive;
use super::catalog::{KNOWN_MODELS, KnownFile, KnownModel, MINILM};
use super::{Error, MiniLm, Result};

/// No file of a small model is larger.
const MAX_FILE_BYTES: u64 = 1 << 30;
const MANIFEST: &str = "manifest.json";

/// A file of a model with its checksum.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CheckedFile {
    name: String,
    bytes: u64,
    sha256: String,
    /// When the file was last written, as it was compared with its checksum: nanoseconds since 1970.
    #[serde(default)]
    modified: Option<u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Manifest {
    files: Vec<CheckedFile>,
}

/// An installed model.
#[derive(Debug, Clone)]
pub struct InstalledModel {
    pub name: String,
    pub bytes: u64,
    /// SHA-256 of the weights, which identifies the model.
    pub sha256: String,
}

/// The directory of installed models.
#[derive(Debug, Clone)]
pub struct ModelDir {
    folder: PathBuf,
}

impl ModelDir {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where a model is, or will be.
    fn path_of(&self, name: &str) -> Result<PathBuf> {
        Ok(self.folder.join(find_known(name)?.name))
    }

    /// Copies a model from a wheel or a folder, compares its files with the checksums that are known of it, and has
    /// `try_model` open it. An older copy is replaced only if the new one works.
    pub fn add(
        &self,
        name: &str,
        from: &Path,
        try_model: impl FnOnce(&Path) -> std::result::Result<(), String>,
    ) -> Result<InstalledModel> {
        let known = find_known(name)?;
        let target = self.path_of(name)?;
        let temporary = self.folder.join(format!("{name}.new"));
        remove_folder(&temporary)?;
        fs::create_dir_all(&temporary).map_err(Error::file(&temporary))?;
        let copied = copy_files(known, from, &temporary).and_then(|files| {
            write_manifest(&temporary, &Manifest { files })?;
            try_model(&temporary).map_err(|why| Error::unusable(from, why))
        });
        if let Err(error) = copied {
            remove_folder(&temporary)?;
            return Err(error);
        }
        remove_folder(&target)?;
        fs::rename(&temporary, &target).map_err(Error::file(&target))?;
        self.installed(name)?.ok_or_else(|| Error::Missing(name.to_owned()))
    }

    /// Adds the sentence embedder.
    pub fn add_minilm(&self, from: &Path) -> Result<InstalledModel> {
        self.add(MINILM.name, from, |folder| {
            MiniLm::open(folder).map(|_| ()).map_err(|error| error.to_string())
        })
    }

    /// All installed models.
    pub fn list(&self) -> Result<Vec<InstalledModel>> {
        let installed = KNOWN_MODELS.iter().map(|known| self.installed(known.name));
        installed.filter_map(Result::transpose).collect()
    }

    pub fn installed(&self, name: &str) -> Result<Option<InstalledModel>> {
        let Some(manifest) = read_manifest(&self.path_of(name)?)? else { return Ok(None) };
        let weights = manifest.files.iter().max_by_key(|file| file.bytes);
        Ok(Some(InstalledModel {
            name: name.to_owned(),
            bytes: manifest.files.iter().map(|file| file.bytes).sum(),
            sha256: weights.map(|file| file.sha256.clone()).unwrap_or_default(),
        }))
    }

    /// The folder of a model whose files have the size and the time of the last comparison, and are compared with
    /// their checksums where they do not: that takes a while, and commands start often.
    pub fn find_unchanged(&self, name: &str) -> Result<PathBuf> {
        let target = self.path_of(name)?;
        let mut manifest = read_manifest(&target)?.ok_or_else(|| Error::Missing(name.to_owned()))?;
        let mut is_compared = false;
        for file in files_of_model(name, &mut manifest)? {
            let metadata = fs::metadata(target.join(&file.name)).map_err(Error::file(&target))?;
            let modified = time_of(&metadata);
            if metadata.len() != file.bytes || !is_same_time(file.modified, modified) {
                compare(&target, file)?;
                file.modified = modified;
                is_compared = true;
            }
        }
        if is_compared {
            // Where it cannot be written, the files are compared the next time too.
            let _ = replace_manifest(&target, &manifest);
        }
        Ok(target)
    }

    /// Compares every file of a model with its checksum and returns the folder it is in.
    pub fn verify(&self, name: &str) -> Result<PathBuf> {
        let target = self.path_of(name)?;
        let mut manifest = read_manifest(&target)?.ok_or_else(|| Error::Missing(name.to_owned()))?;
        for file in files_of_model(name, &mut manifest)? {
            compare(&target, file)?;
        }
        Ok(target)
    }

    /// Compares the files of the sentence embedder with their checksums, then opens it.
    pub fn open_minilm(&self) -> Result<MiniLm> {
        MiniLm::open(&self.verify(MINILM.name)?)
    }

    /// Removes a model; returns whether it was installed.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let target = self.path_of(name)?;
        let existed = target.exists();
        remove_folder(&target)?;
        Ok(existed)
    }
}

fn find_known(name: &str) -> Result<&'static KnownModel> {
    KNOWN_MODELS.iter().find(|known| known.name == name).ok_or_else(|| Error::Unknown(name.to_owned()))
}

fn files_of_model<'a>(
    name: &str,
    manifest: &'a mut Manifest,
) -> Result<impl Iterator<Item = &'a mut CheckedFile>> {
    let known = find_known(name)?;
    let of_model = move |file: &&mut CheckedFile| known.files.iter().any(|known| known.name == file.name);
    Ok(manifest.files.iter_mut().filter(of_model))
}

fn compare(folder: &Path, file: &CheckedFile) -> Result<()> {
    let path = folder.join(&file.name);
    let found = write_checked(&mut File::open(&path).map_err(Error::file(&path))?, &mut std::io::sink())
        .map_err(Error::file(&path))?;
    if found.1 == file.sha256 {
        return Ok(());
    }
    Err(Error::unusable(&path, "its checksum has changed; add the model again"))
}

fn time_of(metadata: &fs::Metadata) -> Option<u64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// Archives and layers of images keep whole seconds only.
fn is_same_time(known: Option<u64>, found: Option<u64>) -> bool {
    const SECOND: u64 = 1_000_000_000;
    let (Some(known), Some(found)) = (known, found) else { return false };
    known == found || found == known - known % SECOND
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { path: folder.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

fn copy_files(known: &KnownModel, from: &Path, to: &Path) -> Result<Vec<CheckedFile>> {
    let mut archive = if from.is_dir() { None } else { Some(Archive::open(from)?) };
    let mut files = Vec::new();
    for file in known.files {
        let found = match &archive {
            Some(archive) => archive.contains(file.published_name),
            None => from.join(file.published_name).exists(),
        };
        // A required one that is missing is an error below, which names it.
        if !found && !file.required {
            continue;
        }
        let copied = write_file(to, file.name, |out| {
            if let Some(archive) = &mut archive {
                let mut hashing = HashingWriter { out, hash: Sha256::new(), bytes: 0 };
                archive.unpack(file.published_name, MAX_FILE_BYTES, &mut hashing)?;
                return Ok(hashing.finish());
            }
            let path = from.join(file.published_name);
            let mut input = File::open(&path).map_err(Error::file(&path))?;
            write_checked(&mut input, out).map_err(Error::file(&path))
        })?;
        check_version(file, &copied, from)?;
        files.push(copied);
    }
    Ok(files)
}

/// A file whose checksum is not known may be anything.
fn check_version(known: &KnownFile, copied: &CheckedFile, from: &Path) -> Result<()> {
    if known.sha256.is_empty() || known.sha256.contains(&copied.sha256.as_str()) {
        return Ok(());
    }
    let what = format!("{} has a checksum that is not known ({})", known.published_name, copied.sha256);
    Err(Error::unusable(from, what))
}

fn write_file(
    to: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> Result<(u64, String)>,
) -> Result<CheckedFile> {
    let path = to.join(name);
    let mut out = BufWriter::new(File::create(&path).map_err(Error::file(&path))?);
    let (bytes, sha256) = write(&mut out)?;
    out.flush().and_then(|()| out.get_ref().sync_all()).map_err(Error::file(&path))?;
    let modified = out.get_ref().metadata().ok().as_ref().and_then(time_of);
    Ok(CheckedFile { name: name.to_owned(), bytes, sha256, modified })
}

fn write_checked(input: &mut dyn Read, out: &mut dyn Write) -> std::io::Result<(u64, String)> {
    let mut hashing = HashingWriter { out, hash: Sha256::new(), bytes: 0 };
    std::io::copy(&mut input.take(MAX_FILE_BYTES), &mut hashing)?;
    Ok(hashing.finish())
}

/// Writes to `out` and computes the checksum.
struct HashingWriter<'a> {
    out: &'a mut dyn Write,
    hash: Sha256,
    bytes: u64,
}

impl HashingWriter<'_> {
    fn finish(self) -> (u64, String) {
        let mut hex = String::with_capacity(64);
        for byte in self.hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        (self.bytes, hex)
    }
}

impl Write for HashingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn read_manifest(folder: &Path) -> Result<Option<Manifest>> {
    let path = folder.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(Error::file(&path))?,
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::unusable(&path, error.to_string()))
}

/// At once, because other processes read it.
fn replace_manifest(folder: &Path, manifest: &Manifest) -> Result<()> {
    let temporary = folder.join(format!("{MANIFEST}.{}", std::process::id()));
    let written = write_manifest_to(&temporary, manifest)
        .and_then(|()| fs::rename(&temporary, folder.join(MANIFEST)).map_err(Error::file(&temporary)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<()> {
    write_manifest_to(&folder.join(MANIFEST), manifest)
}

fn write_manifest_to(path: &Path, manifest: &Manifest) -> Result<()> {
    let bytes =
        serde_json::to_vec_pretty(manifest).map_err(|error| Error::unusable(path, error.to_string()))?;
    fs::write(path, bytes).map_err(Error::file(path))
}
