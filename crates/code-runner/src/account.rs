//! The account of users' code. A server that runs as root gives every session an account of its own, which owns
//! nothing but the folder of the session. Any other server has only its own account.

use parking_lot::Mutex;
use rustix::process::geteuid;
use sandbox::{Account, accounts};
use std::collections::BTreeSet;

/// User ids that distributions leave unassigned and that containers with 65,536 ids have.
const FIRST_ID: u32 = 60_578;
const LAST_ID: u32 = 61_183;

static IDS_IN_USE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The account that code is run under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CodeUser {
    /// For a server that runs as root: an account of its own for every session. For any other server: the same.
    #[default]
    Auto,
    /// The account of the server, root included.
    Same,
}

/// An account like those of sessions, to find out what they may enter; `None` where code has that of the server.
pub(crate) fn session_account(user: CodeUser) -> Option<Account> {
    (user == CodeUser::Auto && geteuid().is_root()).then_some(Account { uid: LAST_ID, gid: LAST_ID })
}

/// An account that no other session of this server has.
#[derive(Debug)]
pub(crate) struct SessionAccount(Account);

impl SessionAccount {
    /// Chooses an account; `None` keeps the account of the server.
    pub(crate) fn choose(user: CodeUser) -> Option<Self> {
        session_account(user)?;
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let mut taken: BTreeSet<u32> = accounts(&passwd).map(|(_, account)| account.uid).collect();
        let mut in_use = IDS_IN_USE.lock();
        taken.extend(in_use.iter());
        // Several servers on one machine begin at different numbers.
        let (count, offset) = (LAST_ID - FIRST_ID + 1, std::process::id());
        let free =
            (0..count).map(|step| FIRST_ID + (offset % count + step) % count).find(|id| !taken.contains(id));
        let id = free.unwrap_or(LAST_ID);
        in_use.insert(id);
        Some(Self(Account { uid: id, gid: id }))
    }

    pub(crate) fn account(&self) -> Account {
        self.0
    }
}

impl Drop for SessionAccount {
    fn drop(&mut self) {
        IDS_IN_USE.lock().remove(&self.0.uid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_have_different_accounts_and_give_them_back() {
        assert!(SessionAccount::choose(CodeUser::Same).is_none());
        let Some(first) = SessionAccount::choose(CodeUser::Auto) else {
            assert!(!geteuid().is_root());
            return;
        };
        let second = SessionAccount::choose(CodeUser::Auto).unwrap();
        assert_ne!(first.account(), second.account());
        let id = first.account().uid;
        assert!((FIRST_ID..=LAST_ID).contains(&id));
        drop(first);
        assert!(!IDS_IN_USE.lock().contains(&id));
    }
}
