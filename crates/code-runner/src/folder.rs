//! The folder of a session's code: what it may write, and the programs that we put first in its path.

use crate::account::SessionAccount;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROGRAM_NAME: &str = "agent-browser";
const PYTHON_CDP: &str = include_str!("drivers/python_cdp.cjs");

/// How bash reaches the browser.
#[derive(Clone)]
pub struct BrowserCommands {
    /// The program that answers as `agent-browser`: our own binary.
    pub program: PathBuf,
    /// Opens a connection for the commands of one shell, and returns the end that the shell inherits.
    pub open: Arc<dyn Fn() -> io::Result<OwnedFd> + Send + Sync>,
    /// The words that are commands of `agent-browser`. A line that begins with one of them, and not with a program of
    /// that name, is such a command.
    pub words: Vec<String>,
}

impl std::fmt::Debug for BrowserCommands {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("BrowserCommands").field("program", &self.program).finish_non_exhaustive()
    }
}

/// The folders of a session's code. They lie in a folder of the caller, who removes it.
#[derive(Debug, Clone)]
pub struct SessionFolder {
    programs: PathBuf,
    home: PathBuf,
}

impl SessionFolder {
    /// Creates the folders inside `within`, which exists.
    pub(crate) fn create(within: &Path, account: Option<&SessionAccount>) -> io::Result<Self> {
        let within = std::path::absolute(within)?;
        let folder = Self { programs: within.join("programs"), home: within.join("home") };
        DirBuilder::new().mode(0o755).create(&folder.programs)?;
        write_readable(&folder.python_cdp(), PYTHON_CDP)?;
        DirBuilder::new().mode(0o700).create(&folder.home)?;
        DirBuilder::new().mode(0o700).create(folder.temporary_files())?;
        if let Some(account) = account {
            // Whatever the mask for new files: the other account has to pass.
            fs::set_permissions(&within, fs::Permissions::from_mode(0o711))?;
            fs::set_permissions(&folder.programs, fs::Permissions::from_mode(0o755))?;
            account.account().take_ownership(&folder.temporary_files())?;
            account.account().take_ownership(&folder.home)?;
        }
        Ok(folder)
    }

    /// Where code is run, and the only folder that it may change.
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn temporary_files(&self) -> PathBuf {
        self.home.join("tmp")
    }

    /// The folder that is first in the path.
    pub(crate) fn programs(&self) -> &Path {
        &self.programs
    }

    pub(crate) fn python_cdp(&self) -> PathBuf {
        self.programs.join("python_cdp.cjs")
    }

    /// Held by one browser command at a time.
    pub(crate) fn commands_lock(&self) -> PathBuf {
        self.home.join(".agent-browser.lock")
    }

    /// Puts the program that answers as `agent-browser` into the path: as a link where the account can follow it, else
    /// as the file itself.
    pub(crate) fn link_program(&self, program: &Path, account: Option<&SessionAccount>) -> io::Result<()> {
        let link = self.programs.join(PROGRAM_NAME);
        if link.symlink_metadata().is_ok() {
            return Ok(());
        }
        let folder = program.parent().unwrap_or(Path::new("/"));
        if account.is_none_or(|account| account.account().can_reach(folder)) {
            return symlink(program, link);
        }
        fs::hard_link(program, &link).or_else(|_| fs::copy(program, &link).map(drop))
    }
}

fn write_readable(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}
