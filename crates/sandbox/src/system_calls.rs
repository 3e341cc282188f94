//! The seccomp layer: a process that can only compute, and read and write what is open already.
//!
//! A list of what is allowed, so that system calls which a later kernel brings are refused as well. What is
//! not on the list fails with `EPERM`; libraries that ask for more than they need then do without.

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// Whatever the arguments. None of them takes a path, makes a descriptor of something new, or acts on another
/// process. `clone3` is here because a second filter answers it, see [`deny_others`].
const ALLOWED: &[libc::c_long] = &[
    // Reading and writing what is open.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_ppoll,
    // Memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Threads and time.
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_getrandom,
    libc::SYS_restart_syscall,
    // Signals to itself, and the end.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// `clone` is allowed for threads: with `CLONE_THREAD`, and without any new namespace.
const CLONE_FLAGS_CHECKED: libc::c_int = libc::CLONE_THREAD
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// Refuses all other system calls to the calling thread and to all threads that it starts.
pub(crate) fn deny_others() -> Result<(), seccompiler::Error> {
    reader_filters()?.iter().try_for_each(|filter| seccompiler::apply_filter(filter))
}

/// The filters of a process that reads files, in the order in which they are added.
pub fn reader_filters() -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    // The flags of `clone3` are in memory, where no filter can see them. "Not implemented" makes the C
    // library use `clone`, whose flags can be seen. Of the two filters the stricter answer counts.
    let not_implemented = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let clone3 = compile(not_implemented, SeccompAction::Allow, errno(libc::ENOSYS), architecture)?;
    let others = compile(allowed_rules()?, errno(libc::EPERM), SeccompAction::Allow, architecture)?;
    Ok(vec![clone3, others])
}

pub(crate) fn compile(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    for_others: SeccompAction,
    for_these: SeccompAction,
    architecture: TargetArch,
) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(rules, for_others, for_these, architecture)?.try_into()
}

pub(crate) fn errno(number: libc::c_int) -> SeccompAction {
    SeccompAction::Errno(number.unsigned_abs())
}

fn allowed_rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    let executable = bits(libc::PROT_EXEC);
    // No new code: neither from a file nor written into memory.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![masked(2, executable, 0)?]);
    }
    rules.insert(libc::SYS_clone, vec![masked(0, bits(CLONE_FLAGS_CHECKED), bits(libc::CLONE_THREAD))?]);
    // `abort` sends a signal to its own thread.
    rules.insert(libc::SYS_tgkill, vec![equal(0, u64::from(std::process::id()))?]);
    rules.insert(libc::SYS_prctl, vec![equal(0, bits(libc::PR_SET_NAME))?]);
    // Not F_SETOWN, which has the kernel send signals to any process.
    let harmless = [libc::F_GETFD, libc::F_GETFL, libc::F_DUPFD_CLOEXEC];
    let harmless: Result<Vec<_>, _> = harmless.into_iter().map(|command| equal(1, bits(command))).collect();
    rules.insert(libc::SYS_fcntl, harmless?);
    Ok(rules)
}

pub(crate) fn bits(value: libc::c_int) -> u64 {
    u64::from(value.unsigned_abs())
}

/// Allows a call when the argument has exactly these bits of the mask.
pub(crate) fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompRule, BackendError> {
    compare(argument, SeccompCmpOp::MaskedEq(mask), value)
}

pub(crate) fn equal(argument: u8, value: u64) -> Result<SeccompRule, BackendError> {
    compare(argument, SeccompCmpOp::Eq, value)
}

/// Allows a call when the argument, an address, is not null.
pub(crate) fn not_null(argument: u8) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    SeccompRule::new(vec![condition])
}

pub(crate) fn compare(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    // 32 bits of each argument: all that the kernel looks at in these calls.
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::Layers;

    /// Alone, without the other layers. Seccomp holds for a thread, so the test process stays free.
    #[test]
    fn files_and_sockets_are_refused_by_seccomp_alone() {
        let confined = std::thread::spawn(|| {
            let mut layers = Layers::default();
            deny_others().expect("seccomp");
            crate::restrict::verify_system_calls(&mut layers);
            // What a parser needs works.
            let doubled = std::thread::spawn(|| 21 * 2).join().expect("a thread");
            let memory = vec![1_u8; 64 * 1024 * 1024];
            (layers, doubled, memory.len())
        });
        let (layers, doubled, length) = confined.join().expect("the thread");
        assert!(layers.hold_all(), "{layers:?}");
        assert_eq!((doubled, length), (42, 64 * 1024 * 1024));
        assert!(std::net::UdpSocket::bind("127.0.0.1:0").is_ok(), "the rest of the process is free");
    }
}
