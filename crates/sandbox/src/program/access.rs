//! The Landlock layer of a program: the paths and ports that its policy names, and no others.

use super::policy::ProgramPolicy;
use crate::landlock_rules::{NEWEST_ABI, report_status};
use crate::layers::Layers;
use landlock::{
    Access as _, AccessFs, AccessNet, NetPort, RestrictionStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

/// Restricts the calling thread and whatever it starts.
pub(super) fn restrict_access(policy: &ProgramPolicy, executable: &std::path::Path, layers: &mut Layers) {
    report_status(restrict(policy, executable), layers);
}

fn restrict(policy: &ProgramPolicy, executable: &std::path::Path) -> Result<RestrictionStatus, RulesetError> {
    let read = AccessFs::from_read(NEWEST_ABI);
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let ports = policy
        .connect_ports
        .iter()
        .map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp)));
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST_ABI))?
        .handle_access(AccessNet::from_all(NEWEST_ABI))?
        .scope(Scope::from_all(NEWEST_ABI))?
        .create()?
        .add_rules(path_beneath_rules(policy.readable.iter(), read))?
        .add_rules(path_beneath_rules([executable], read))?
        .add_rules(path_beneath_rules(policy.devices.iter(), device))?
        .add_rules(path_beneath_rules(policy.writable.iter(), AccessFs::from_all(NEWEST_ABI)))?
        .add_rules(ports)?
        .restrict_self()
}
