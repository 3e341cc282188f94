//! The program `gannet-ocr`, which reads pictures too: where it is, and whether it belongs to this version.
//! Never hands it a file.

use sandbox::Executable;
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What the program answers to `--version`. Both programs must be of one version: what they say to each other
/// may change with every release.
pub const OCR_PROGRAM_VERSION: &str = concat!("gannet-ocr ", env!("CARGO_PKG_VERSION"));
const FILE_NAME: &str = "gannet-ocr";
/// Says which file answered with this version the last time; beside the models.
const KNOWN_FILE: &str = "program";
/// The commands that install the models.
pub const INSTALL_OCR_MODELS: &str =
    "pip download --no-deps rapidocr==3.10.0 && gannet models add ocr rapidocr-3.10.0-py3-none-any.whl";

/// The program, of this version. It stays the one that was opened, also after the file was replaced.
#[derive(Debug, Clone)]
pub struct OcrProgram {
    path: PathBuf,
    pub(crate) executable: Executable,
}

/// Why pictures cannot be read or drawn, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum OcrProgramError {
    /// Normal where nobody needs OCR.
    #[error(
        "the program gannet-ocr is missing in {}; it is part of every package of Gannet \
        (in a checkout: cargo build --release -p gannet-ocr)",
        .0.display()
    )]
    Missing(PathBuf),
    #[error("{} cannot be started: {reason}", .path.display())]
    Broken { path: PathBuf, reason: String },
    #[error(
        "{} is `{version}`, and this version of gannet needs `{OCR_PROGRAM_VERSION}`; \
        install both programs from the same release (in a checkout: \
        cargo build --release -p gannet -p gannet-ocr) and restart the server",
        .path.display()
    )]
    OtherVersion { path: PathBuf, version: String },
}

impl OcrProgram {
    /// The program in the folder of the one that is running.
    pub fn find() -> Result<Self, OcrProgramError> {
        Self::open(&path_beside_this_program()?)
    }

    /// The same, and it is not started where the folder of the models says that this very file was of this version: a
    /// command that reads one file would pay a good part of what the file costs.
    pub fn find_known(models: &Path) -> Result<Self, OcrProgramError> {
        Self::open_known(&path_beside_this_program()?, &models.join(KNOWN_FILE))
    }

    fn open_known(path: &Path, known: &Path) -> Result<Self, OcrProgramError> {
        let identity = identify(path);
        let is_known = identity.is_some() && std::fs::read_to_string(known).ok() == identity;
        if is_known && let Ok(executable) = Executable::open(path) {
            return Ok(Self { path: path.to_owned(), executable });
        }
        let program = Self::open(path)?;
        if let Some(identity) = identity {
            // Where it cannot be written, the program is asked the next time too.
            let _ = std::fs::write(known, identity);
        }
        Ok(program)
    }

    pub fn open(path: &Path) -> Result<Self, OcrProgramError> {
        let broken = |reason: String| OcrProgramError::Broken { path: path.to_owned(), reason };
        let executable = Executable::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                OcrProgramError::Missing(path.parent().unwrap_or(Path::new(".")).to_owned())
            }
            _ => broken(error.to_string()),
        })?;
        let output = executable.run(&[OsStr::new("--version")]).map_err(|error| broken(error.to_string()))?;
        let version = first_line(&output.stdout);
        if !output.status.success() {
            return Err(broken(format!("{} {}", output.status, first_line(&output.stderr))));
        }
        if version != OCR_PROGRAM_VERSION {
            return Err(OcrProgramError::OtherVersion { path: path.to_owned(), version });
        }
        Ok(Self { path: path.to_owned(), executable })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has the program load the models of this folder; an error says why they cannot be used.
    pub fn check_models(&self, folder: &Path) -> Result<(), String> {
        let output = self
            .executable
            .run(&[OsStr::new("check"), folder.as_os_str()])
            .map_err(|error| format!("{} cannot be started: {error}", self.path.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let reason = first_line(&output.stderr);
        Err(if reason.is_empty() { format!("gannet-ocr ended with {}", output.status) } else { reason })
    }
}

fn path_beside_this_program() -> Result<PathBuf, OcrProgramError> {
    let broken = |error: io::Error| OcrProgramError::Broken {
        path: FILE_NAME.into(),
        reason: format!("the folder of the running program is unknown ({error})"),
    };
    Ok(std::env::current_exe().map_err(broken)?.with_file_name(FILE_NAME))
}

/// What differs when another file takes its place, and the version that is wanted of it.
fn identify(path: &Path) -> Option<String> {
    let file = std::fs::metadata(path).ok()?;
    let (device, inode, bytes) = (file.dev(), file.ino(), file.len());
    Some(format!("{OCR_PROGRAM_VERSION} {device} {inode} {bytes} {}.{}", file.mtime(), file.mtime_nsec()))
}

fn first_line(output: &[u8]) -> String {
    String::from_utf8_lossy(output).lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_program_is_told_from_one_of_another_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE_NAME);
        let missing = OcrProgram::open(&path).expect_err("nothing is there");
        assert!(matches!(missing, OcrProgramError::Missing(_)), "{missing}");
        assert!(missing.to_string().contains("cargo build --release -p gannet-ocr"), "{missing}");
        // Any other program that answers, for want of an older release.
        let program = ["/bin/echo", "/usr/bin/echo"].map(Path::new).into_iter().find(|path| path.exists());
        std::os::unix::fs::symlink(program.expect("echo"), &path).expect("a link");
        let other = OcrProgram::open(&path).expect_err("another program");
        assert!(matches!(other, OcrProgramError::OtherVersion { .. }), "{other}");
        // It is not asked again where it is known, and asked where another file has taken its place.
        let known = folder.path().join(KNOWN_FILE);
        assert!(OcrProgram::open_known(&path, &known).is_err() && !known.exists());
        std::fs::write(&known, identify(&path).expect("a file")).expect("write");
        OcrProgram::open_known(&path, &known).expect("it is known");
        std::fs::write(&known, identify(folder.path()).expect("another file")).expect("write");
        assert!(OcrProgram::open_known(&path, &known).is_err());
        std::fs::remove_file(&path).expect("remove");
        std::fs::write(&path, "no program").expect("write");
        let broken = OcrProgram::open(&path).expect_err("no program");
        assert!(matches!(broken, OcrProgramError::Broken { .. }), "{broken}");
    }
}
