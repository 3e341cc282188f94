//! The Landlock layer of a program: the paths and ports that its policy names, and no others.

use super::policy::ProgramAccess;
use crate::landlock_rules::{NEWEST_ABI, report_status};
use crate::layers::Layers;
use landlock::{
    Access as _, AccessFs, AccessNet, NetPort, RestrictionStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

/// Restricts the calling thread and whatever it starts.
pub(super) fn restrict_access(access: &ProgramAccess, executable: &std::path::Path, layers: &mut Layers) {
    report_status(restrict(access, executable), layers);
}

fn restrict(access: &ProgramAccess, executable: &std::path::Path) -> Result<RestrictionStatus, RulesetError> {
    let read = AccessFs::from_read(NEWEST_ABI);
    let existing = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::WriteFile | AccessFs::Truncate;
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let ports = access
        .connect_ports
        .iter()
        .map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp)));
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST_ABI))?
        .handle_access(AccessNet::from_all(NEWEST_ABI))?
        .scope(Scope::from_all(NEWEST_ABI))?
        .create()?
        .add_rules(path_beneath_rules(access.readable.iter(), read))?
        .add_rules(path_beneath_rules([executable], read))?
        .add_rules(path_beneath_rules(access.devices.iter(), device))?
        .add_rules(path_beneath_rules(access.existing.iter(), existing))?
        .add_rules(path_beneath_rules(access.writable.iter(), AccessFs::from_all(NEWEST_ABI)))?
        .add_rules(ports)?
        .restrict_self()
}
