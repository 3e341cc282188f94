//! The seccomp layer of a program: a list of what runtimes and shells need. What is not on the list does not exist
//! for it (`ENOSYS`, so that libraries use what is older); what is known to be dangerous is refused (`EPERM`).

use super::call_lists::{ALLOWED, CHANGE_MODES, CHECKED, OLDER, REFUSED, SIGNALS};
use crate::system_calls::{bits, compare, compile, equal, errno, masked, not_null};
use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompCmpOp, SeccompRule, TargetArch};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What depends on the other layers.
#[derive(Debug, Clone, Copy)]
pub struct ProgramRules {
    /// Whether it may change modes and times of files. Landlock does not restrict that, so a program under the
    /// account of the server could lock the server out of its own files.
    pub may_change_modes: bool,
    /// Whether it may send signals: only where Landlock keeps them among its own processes.
    pub may_signal: bool,
}

/// Restricts the calling thread and whatever it starts.
pub(super) fn deny_others(rules: ProgramRules) -> Result<(), seccompiler::Error> {
    program_filters(rules)?.iter().try_for_each(|filter| seccompiler::apply_filter(filter))
}

/// The filters of a program, in the order in which they are added.
pub fn program_filters(rules: ProgramRules) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let known = ALLOWED.iter().chain(OLDER).chain(CHECKED).chain(REFUSED).chain(CHANGE_MODES);
    let known: Rules = known.map(|call| (*call, Vec::new())).collect();
    let no_effect: Rules = CHANGE_MODES.iter().map(|call| (*call, Vec::new())).collect();
    let mut filters = vec![compile(refused(rules)?, SeccompAction::Allow, errno(libc::EPERM), architecture)?];
    if !rules.may_change_modes {
        // A success without an effect: copying a file ends with setting its mode, and would fail as a whole.
        filters.push(compile(no_effect, SeccompAction::Allow, errno(0), architecture)?);
    }
    // The last one, because adding a filter is not on the list.
    filters.push(compile(known, errno(libc::ENOSYS), SeccompAction::Allow, architecture)?);
    Ok(filters)
}

/// Calls that are refused whatever their arguments, and those that are refused with some arguments.
fn refused(program: ProgramRules) -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    if !program.may_signal {
        rules.extend(SIGNALS.iter().map(|call| (*call, Vec::new())));
    }
    let namespaces = NAMESPACE_FLAGS.iter().map(|flag| masked(0, bits(*flag), bits(*flag)));
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    // Only connected pairs of Unix sockets, of kinds that stay with their peer: one for datagrams sends to any socket
    // of the machine.
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(bits);
    let other_kinds = (0..=SOCKET_KINDS).filter(|kind| !connected.contains(kind));
    let mut pairs = vec![compare(0, SeccompCmpOp::Ne, bits(libc::AF_UNIX))?];
    for kind in other_kinds {
        pairs.push(masked(1, SOCKET_KINDS, kind)?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    rules.insert(libc::SYS_sendto, vec![not_null(4)?]);
    // How much waits in a socket is what the supervisor believes it to be.
    let sizes = [libc::SO_SNDBUF, libc::SO_SNDBUFFORCE].into_iter().map(|option| equal(2, bits(option)));
    rules.insert(libc::SYS_setsockopt, sizes.collect::<Result<_, _>>()?);
    // Memory that is shared and has no name stays taken when nobody has it mapped any more.
    let shared = bits(libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    rules.insert(libc::SYS_mmap, vec![masked(3, shared, shared)?]);
    // Have the kernel send signals to any process.
    let owners = [libc::F_SETOWN, F_SETOWN_EX, F_SETSIG].into_iter().map(|command| equal(1, bits(command)));
    rules.insert(libc::SYS_fcntl, owners.collect::<Result<_, _>>()?);
    let owners = IOCTLS_REFUSED.iter().map(|request| equal(1, *request));
    rules.insert(libc::SYS_ioctl, owners.collect::<Result<_, _>>()?);
    // The supervisor has to see which files are open.
    rules.insert(libc::SYS_prctl, vec![equal(0, bits(libc::PR_SET_DUMPABLE))?]);
    // Its own limits and priority, not those of another process of the same account.
    let is_other = |argument| compare(argument, SeccompCmpOp::Ne, 0);
    for call in [libc::SYS_prlimit64, libc::SYS_sched_setaffinity, libc::SYS_sched_setscheduler] {
        rules.insert(call, vec![is_other(0)?]);
    }
    rules.insert(libc::SYS_setpriority, vec![is_other(0)?, is_other(1)?]);
    Ok(rules)
}

/// The bits of a socket's type that say what kind it is; the others are flags.
const SOCKET_KINDS: u64 = 0xf;
const F_SETSIG: libc::c_int = 10;
const F_SETOWN_EX: libc::c_int = 15;
/// `FIOSETOWN`, `SIOCSPGRP`, `TIOCSTI`, `TIOCLINUX`.
const IOCTLS_REFUSED: [u64; 4] = [0x8901, 0x8902, 0x5412, 0x541c];

const NAMESPACE_FLAGS: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
