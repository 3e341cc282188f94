//! Finished downloads, for who asked for them. The browser writes all of them to the session's own folder. Playwright looks
//! for a file in the folder that it named itself, under the id of the download: so before a client hears that a download is
//! complete, a copy is put there, if that folder is one of the session's code, or is in the folder that clients on this machine
//! share with the server where the operator has named one. No other folder is a client's to name.

use super::own_files::{CODE_FOLDER, INSIDE, open_file, open_folder};
use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags, openat2};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fs::{File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Bytes of one session that are copied. Code may not write much more itself.
const MAX_COPIED_BYTES: u64 = 256 << 20;
const MAX_ID_BYTES: usize = 64;

/// The downloads of one session.
#[derive(Debug)]
pub(super) struct Downloads {
    files: PathBuf,
    shared: Option<PathBuf>,
    copied_bytes: Mutex<u64>,
}

/// A folder below one that copies may be put into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedFolder {
    root: PathBuf,
    /// The path inside of it.
    inside: PathBuf,
}

#[derive(Deserialize)]
struct Behavior {
    #[serde(rename = "downloadPath")]
    path: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Progress {
    guid: String,
    state: String,
}

impl Downloads {
    pub(super) fn new(files: PathBuf, shared: Option<PathBuf>) -> Self {
        Self { files, shared, copied_bytes: Mutex::new(0) }
    }

    /// The folder that a client names for its downloads, if it is one that copies may be put into.
    pub(super) fn named_folder(&self, params: Option<&RawValue>) -> Option<NamedFolder> {
        let Behavior { path } = serde_json::from_str(params?.get()).ok()?;
        let path = path?;
        let code = self.files.with_file_name(CODE_FOLDER);
        let roots = [Some(code), self.shared.clone()];
        roots.into_iter().flatten().find_map(|root| {
            let inside = path.strip_prefix(&root).ok()?.to_owned();
            Some(NamedFolder { root, inside })
        })
    }

    /// Puts a copy of a download into such a folder. Nothing outside of its root is written, whatever links are there.
    pub(super) fn copy(&self, folder: &NamedFolder, id: &str) -> io::Result<()> {
        let source = open_file(&self.files, Path::new(id))?;
        let root = open_folder(&folder.root)?;
        let folder = openat2(
            root,
            &folder.inside,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
            INSIDE,
        )?;
        let mut copied_bytes = self.copied_bytes.lock();
        let room = MAX_COPIED_BYTES - *copied_bytes;
        if source.metadata()?.len() > room {
            return Err(io::Error::other("the session has downloaded too much"));
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut target = File::from(openat2(folder, id, flags, Mode::from_raw_mode(0o600), INSIDE)?);
        // The code may have another account than this server, and new files of the server are private.
        target.set_permissions(Permissions::from_mode(0o644))?;
        *copied_bytes += io::copy(&mut source.take(room), &mut target)?;
        Ok(())
    }
}

/// The id of a download that an event reports as complete.
pub(super) fn completed(method: &str, params: Option<&RawValue>) -> Option<String> {
    if method != "Browser.downloadProgress" {
        return None;
    }
    let Progress { guid, state } = serde_json::from_str(params?.get()).ok()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (state == "completed" && guid.len() <= MAX_ID_BYTES && guid.bytes().all(is_name)).then_some(guid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_download_is_copied_into_folders_of_the_code_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let (files, code) = (folder.path().join("files"), folder.path().join("code"));
        std::fs::create_dir(&files).unwrap();
        std::fs::create_dir_all(code.join("home/artifacts")).unwrap();
        std::fs::create_dir(folder.path().join("outside")).unwrap();
        for (link, target) in [("home/link", "outside"), ("home/files", "files")] {
            std::os::unix::fs::symlink(folder.path().join(target), code.join(link)).unwrap();
        }
        std::fs::write(files.join("a-1"), "content").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", files.join("b-2")).unwrap();
        let shared = folder.path().join("shared");
        std::fs::create_dir_all(shared.join("playwright-artifacts-1")).unwrap();
        let downloads = Downloads::new(files, Some(shared.clone()));
        let named = |path: &Path| {
            let params = RawValue::from_string(json!({ "downloadPath": path }).to_string()).unwrap();
            downloads.named_folder(Some(&params))
        };
        let artifacts = named(&code.join("home/artifacts")).expect("a folder of the code");
        downloads.copy(&artifacts, "a-1").unwrap();
        assert_eq!(std::fs::read(code.join("home/artifacts/a-1")).unwrap(), b"content");
        assert!(downloads.copy(&artifacts, "a-1").is_err(), "nothing is overwritten");
        assert!(downloads.copy(&artifacts, "b-2").is_err(), "links are not followed");
        for outside in ["/tmp", "/etc", ""] {
            assert_eq!(named(Path::new(outside)), None);
        }
        for hostile in ["home/link", "home/link/..", "../outside", "home/../../outside", "home/files"] {
            let inside = PathBuf::from(hostile);
            let folder = named(&code.join(hostile)).unwrap_or(NamedFolder { root: code.clone(), inside });
            assert!(downloads.copy(&folder, "a-1").is_err(), "{hostile}");
        }
        let artifacts = named(&shared.join("playwright-artifacts-1")).expect("a folder of a client");
        downloads.copy(&artifacts, "a-1").unwrap();
        assert_eq!(std::fs::read(shared.join("playwright-artifacts-1/a-1")).unwrap(), b"content");
        assert_eq!(std::fs::read_dir(folder.path().join("outside")).unwrap().count(), 0);
    }

    #[test]
    fn only_the_end_of_a_download_with_a_plain_id_counts() {
        let read = |method: &str, guid: &str, state: &str| {
            let params = json!({ "guid": guid, "state": state }).to_string();
            completed(method, Some(&RawValue::from_string(params).unwrap()))
        };
        assert_eq!(read("Browser.downloadProgress", "a-1", "completed").as_deref(), Some("a-1"));
        assert_eq!(read("Browser.downloadProgress", "a-1", "inProgress"), None);
        assert_eq!(read("Browser.downloadProgress", "../a", "completed"), None);
        assert_eq!(read("Page.downloadProgress", "a-1", "completed"), None);
    }
}
