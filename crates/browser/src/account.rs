//! The operating system account of the browser. Chromium has no sandbox for root, and a page that breaks out
//! of the browser should not get the rights of the account that owns the database. So a server that runs as
//! root starts the browser under another account.

use rustix::process::geteuid;
pub use sandbox::Account;
use sandbox::accounts;

/// Used if an account with this name exists.
const DEDICATED_NAME: &str = "gannet-browser";
/// Otherwise this user and group id, which no distribution assigns. `nobody` is the last choice: other
/// services run under that account, and processes of one account may read each other's memory.
const UNASSIGNED_ID: u32 = 65_533;
const NOBODY_ID: u32 = 65_534;
const PASSWD: &str = "/etc/passwd";

/// The account the browser is started under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BrowserUser {
    /// For a server that runs as root: the account `gannet-browser` if it exists, else an unassigned user id.
    /// For any other server: the same account.
    #[default]
    Auto,
    /// The account of the server, root included.
    Same,
    /// This account.
    Account(Account),
}

/// Why a text is not a valid account for the browser.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    #[error("must be auto, same, the name of an account, UID or UID:GID; /etc/passwd has no account `{0}`")]
    Unknown(String),
    #[error("only a server that runs as root can start the browser under another account")]
    NotPermitted,
    #[error("is root; use `same` if the browser really must run as root, without a sandbox")]
    Root,
}

impl BrowserUser {
    /// Parses `auto`, `same`, a name, `UID` or `UID:GID`.
    pub fn parse(text: &str) -> Result<Self, AccountError> {
        match text {
            "auto" => return Ok(Self::Auto),
            "same" => return Ok(Self::Same),
            _ => {}
        }
        let passwd = std::fs::read_to_string(PASSWD).unwrap_or_default();
        let account = find_account(text, &passwd).ok_or_else(|| AccountError::Unknown(text.to_owned()))?;
        let own = geteuid().as_raw();
        if account.uid == 0 {
            return Err(AccountError::Root);
        }
        if own != 0 && account.uid != own {
            return Err(AccountError::NotPermitted);
        }
        Ok(Self::Account(account))
    }

    /// The account to switch to; `None` keeps the account of the server.
    pub(crate) fn to_account(self) -> Option<Account> {
        let is_root = geteuid().is_root();
        match self {
            Self::Same => None,
            Self::Account(account) => is_root.then_some(account),
            Self::Auto => {
                is_root.then(|| choose_unprivileged(&std::fs::read_to_string(PASSWD).unwrap_or_default()))
            }
        }
    }
}

fn choose_unprivileged(passwd: &str) -> Account {
    let dedicated = find_account(DEDICATED_NAME, passwd).filter(|account| account.uid != 0);
    let is_assigned = accounts(passwd).any(|(_, account)| account.uid == UNASSIGNED_ID);
    let id = if is_assigned { NOBODY_ID } else { UNASSIGNED_ID };
    dedicated.unwrap_or(Account { uid: id, gid: id })
}

/// Finds an account by name or by number. A user id alone gets the group from `/etc/passwd`, or the group of
/// the same number.
fn find_account(text: &str, passwd: &str) -> Option<Account> {
    let (user, group) = text.split_once(':').map_or((text, None), |(user, group)| (user, Some(group)));
    let Ok(uid) = user.parse::<u32>() else {
        return accounts(passwd).find(|(name, _)| *name == text).map(|(_, account)| account);
    };
    let gid = match group {
        Some(group) => group.parse().ok()?,
        None => {
            accounts(passwd).find(|(_, account)| account.uid == uid).map_or(uid, |(_, account)| account.gid)
        }
    };
    Some(Account { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNTS: &str = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/usr/sbin/nologin\n\
        web:x:33:34:web:/var/www:/bin/sh\nbroken line\n";

    #[test]
    fn accounts_are_found_by_name_and_by_number() {
        for (text, wanted) in [
            ("web", Some((33, 34))),
            ("33", Some((33, 34))),
            ("33:7", Some((33, 7))),
            ("4000", Some((4000, 4000))),
            ("nobody", Some((65_534, 65_534))),
            ("somebody", None),
            ("web:7", None),
            ("33:x", None),
            ("", None),
        ] {
            let found = find_account(text, ACCOUNTS).map(|account| (account.uid, account.gid));
            assert_eq!(found, wanted, "{text}");
        }
        assert_eq!(BrowserUser::parse("auto"), Ok(BrowserUser::Auto));
        assert_eq!(BrowserUser::parse("same"), Ok(BrowserUser::Same));
        assert_eq!(BrowserUser::parse("root"), Err(AccountError::Root));
        assert_eq!(BrowserUser::parse("0:5"), Err(AccountError::Root));
    }

    #[test]
    fn root_gets_the_dedicated_account_or_one_that_nobody_has() {
        let id = |passwd: &str| choose_unprivileged(passwd).uid;
        assert_eq!(id(ACCOUNTS), UNASSIGNED_ID);
        assert_eq!(id(""), UNASSIGNED_ID);
        assert_eq!(id("somebody:x:65533:65533::/:/bin/sh\n"), NOBODY_ID);
        assert_eq!(id(&format!("{ACCOUNTS}gannet-browser:x:998:997::/:/bin/false\n")), 998);
        assert_eq!(id("gannet-browser:x:0:0::/:/bin/false\n"), UNASSIGNED_ID);
    }
}
