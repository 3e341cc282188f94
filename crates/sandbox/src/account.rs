//! Operating system accounts, for servers that run as root and start programs under another one.

use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A user and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub uid: u32,
    pub gid: u32,
}

/// The accounts of a file in the format of `/etc/passwd`, with their names.
pub fn accounts(passwd: &str) -> impl Iterator<Item = (&str, Account)> {
    passwd.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some((name, Account { uid, gid }))
    })
}

impl Account {
    /// Gives this account ownership of a file or folder.
    pub fn take_ownership(self, path: &Path) -> io::Result<()> {
        std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
    }

    /// Whether this account may enter all folders of a path. Access control lists are ignored.
    pub fn can_reach(self, folder: &Path) -> bool {
        let Ok(folder) = folder.canonicalize() else { return false };
        let may_pass = |data: Metadata| {
            let bit = if data.uid() == self.uid {
                0o100
            } else if data.gid() == self.gid {
                0o010
            } else {
                0o001
            };
            data.mode() & bit != 0
        };
        folder.ancestors().all(|path| path.metadata().is_ok_and(may_pass))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_private_folder_anywhere_on_the_path_is_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let set_mode = |mode| {
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let stranger = Account { uid: 65_533, gid: 65_533 };
        set_mode(0o700);
        assert!(!stranger.can_reach(&inner));
        set_mode(0o711);
        assert!(stranger.can_reach(&inner));
        assert!(!stranger.can_reach(&folder.path().join("missing")));
    }
}
