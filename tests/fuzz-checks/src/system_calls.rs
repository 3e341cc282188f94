//! The filters of system calls, which decide by lists and by arguments. They are interpreted here as the kernel does, and
//! held against what SECURITY.md promises, written down a second time.

use libc::c_long;
use sandbox::{ProgramRules, program_filters, reader_filters};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
/// The part of an answer that says what happens; the rest is the number of the error.
const ACTION_BITS: u32 = 0xffff_0000;
/// The most instructions that the kernel takes.
const MAX_INSTRUCTIONS: usize = 4096;
/// A call in the input: its number, which of them have the high half set, and the low halves of six arguments.
const CALL_BYTES: usize = 2 + 1 + 6 * 4;
const MAX_CALLS: usize = 32;
/// A condition in the input: a call, an argument, an operator, a mask, a value.
const CONDITION_BYTES: usize = 12;
const MAX_CONDITIONS: usize = 64;

#[derive(Debug, Clone, Copy)]
struct SystemCall {
    number: i64,
    architecture: u32,
    arguments: [u64; 6],
}

/// The filters of this version, which are the same for every input.
struct Filters {
    reader: Vec<BpfProgram>,
    /// With what they were made of.
    programs: Vec<(ProgramRules, Vec<BpfProgram>)>,
}

/// Any call with any arguments is answered as promised, and a filter made of any list of checked arguments answers as its
/// list says.
///
/// The first byte is how many conditions follow; the rest of the input are calls.
pub fn system_calls(bytes: &[u8]) {
    let Some((count, rest)) = bytes.split_first() else { return };
    let (conditions, calls) = rest.split_at(rest.len().min(usize::from(*count) * CONDITION_BYTES));
    let lists: Vec<_> =
        conditions.chunks_exact(CONDITION_BYTES).take(MAX_CONDITIONS).map(to_condition).collect();
    let filter = build(&lists);
    for call in calls.chunks(CALL_BYTES).take(MAX_CALLS).map(to_call) {
        let filters = Filters::get();
        check_reader(call, answer(&filters.reader, call));
        for (rules, filters) in &filters.programs {
            check_program(*rules, call, answer(filters, call));
        }
        if let Some(filter) = filter.as_ref().filter(|_| call.architecture == native_architecture()) {
            let listed = lists.iter().any(|list| is_met(list, call));
            let expected = if listed { ERRNO | 1 } else { ALLOW };
            assert_eq!(answer(std::slice::from_ref(filter), call), expected, "{lists:?} {call:?}");
        }
    }
}

impl Filters {
    fn get() -> &'static Self {
        static FILTERS: OnceLock<Filters> = OnceLock::new();
        FILTERS.get_or_init(|| {
            let rules = [(false, false), (false, true), (true, false), (true, true)];
            let programs = rules.map(|(may_change_modes, may_signal)| {
                let rules = ProgramRules { may_change_modes, may_signal };
                (rules, program_filters(rules).expect("filters"))
            });
            Self { reader: reader_filters().expect("filters"), programs: programs.into() }
        })
    }
}

fn to_call(bytes: &[u8]) -> SystemCall {
    let mut input = [0; CALL_BYTES];
    input[..bytes.len()].copy_from_slice(bytes);
    let (number, high) = (i16::from_le_bytes([input[0], input[1]]), input[2]);
    let mut arguments = [0; 6];
    for (place, (argument, bytes)) in arguments.iter_mut().zip(input[3..].as_chunks::<4>().0).enumerate() {
        let upper = if high & (1 << place) == 0 { 0 } else { 0xdead_beef_0000_0000 };
        *argument = upper | u64::from(u32::from_le_bytes(*bytes));
    }
    // Programs of 32 bits number their calls in another way; those of x32 set a bit.
    let architecture = if high & 0x80 == 0 { native_architecture() } else { 0x4000_0003 };
    let number = i64::from(number) | if high & 0x40 == 0 { 0 } else { 0x4000_0000 };
    SystemCall { number, architecture, arguments }
}

const fn native_architecture() -> u32 {
    if cfg!(target_arch = "aarch64") { 0xc000_00b7 } else { 0xc000_003e }
}

/// What the kernel does with the answers of several filters: the strictest counts, of equal ones that of the newest.
fn answer(filters: &[BpfProgram], call: SystemCall) -> u32 {
    let answers = filters.iter().rev().map(|filter| run(filter, call));
    // As numbers with a sign, killing comes first and allowing last.
    answers
        .reduce(|strictest, other| {
            let action = |answer: u32| (answer & ACTION_BITS).cast_signed();
            if action(other) < action(strictest) { other } else { strictest }
        })
        .unwrap_or(ALLOW)
}

/// A filter as the kernel runs it: it only jumps forwards, so it ends.
fn run(filter: &[sock_filter], call: SystemCall) -> u32 {
    assert!(filter.len() <= MAX_INSTRUCTIONS, "{} instructions", filter.len());
    let (mut place, mut value) = (0_usize, 0_u32);
    loop {
        let sock_filter { code, jt, jf, k } = filter.get(place).expect("a jump inside of the filter");
        let is_met = match code {
            // Load, and, return, jump.
            0x20 => {
                value = load(*k, call);
                place += 1;
                continue;
            }
            0x54 => {
                value &= k;
                place += 1;
                continue;
            }
            0x06 => return *k,
            0x05 => {
                place += 1 + usize::try_from(*k).expect("a short jump");
                continue;
            }
            0x15 => value == *k,
            0x25 => value > *k,
            0x35 => value >= *k,
            other => panic!("the instruction {other:#x}"),
        };
        place += 1 + usize::from(if is_met { *jt } else { *jf });
    }
}

/// A half of what the kernel shows a filter: number, architecture, place of the instruction, arguments.
fn load(offset: u32, call: SystemCall) -> u32 {
    let half =
        |value: u64, offset: u32| u32::try_from((value >> (offset % 8 * 8)) & 0xffff_ffff).unwrap_or(0);
    assert!(offset.is_multiple_of(4) && offset < 64, "the offset {offset}");
    match offset {
        0 => half(call.number.cast_unsigned(), 0),
        4 => call.architecture,
        8 | 12 => 0,
        _ => half(call.arguments[usize::try_from(offset / 8 - 2).unwrap_or(0)], offset),
    }
}

type List = (i64, u8, SeccompCmpArgLen, SeccompCmpOp, u64);

fn to_condition(bytes: &[u8]) -> List {
    let number =
        |at: usize| u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    let (argument, operator) = (bytes[2] & 7, bytes[3] & 7);
    let mask = number(4);
    let operator = match operator {
        0 => SeccompCmpOp::Eq,
        1 => SeccompCmpOp::Ge,
        2 => SeccompCmpOp::Gt,
        3 => SeccompCmpOp::Le,
        4 => SeccompCmpOp::Lt,
        5 => SeccompCmpOp::Ne,
        _ => SeccompCmpOp::MaskedEq(mask),
    };
    let (length, value) = if bytes[3] & 8 == 0 {
        (SeccompCmpArgLen::Dword, number(8))
    } else {
        (SeccompCmpArgLen::Qword, number(8) | if bytes[3] & 16 == 0 { 0 } else { 0xdead_beef_0000_0000 })
    };
    (i64::from(u16::from_le_bytes([bytes[0], bytes[1]]) % 600), argument, length, operator, value)
}

/// The form of all our filters: calls with conditions on arguments, any of which is enough.
fn build(lists: &[List]) -> Option<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, argument, length, operator, value) in lists {
        let condition = SeccompCondition::new(*argument, length.clone(), operator.clone(), *value).ok()?;
        rules.entry(*call).or_default().push(SeccompRule::new(vec![condition]).ok()?);
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(1), architecture);
    filter.ok()?.try_into().ok()
}

fn is_met((number, argument, length, operator, value): &List, call: SystemCall) -> bool {
    let cut =
        |value: u64| if matches!(length, SeccompCmpArgLen::Dword) { value & 0xffff_ffff } else { value };
    let (found, value) = (cut(call.arguments[usize::from(*argument)]), cut(*value));
    call.number == *number
        && match operator {
            SeccompCmpOp::Eq => found == value,
            SeccompCmpOp::Ge => found >= value,
            SeccompCmpOp::Gt => found > value,
            SeccompCmpOp::Le => found <= value,
            SeccompCmpOp::Lt => found < value,
            SeccompCmpOp::Ne => found != value,
            SeccompCmpOp::MaskedEq(mask) => found & mask == value & mask,
        }
}

/// Nothing may reach these, whatever the arguments.
const NEVER: [c_long; 22] = [
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_accept4,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_clone3,
];
const SIGNALS: [c_long; 5] = [
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_pidfd_send_signal,
];
const MODES: [c_long; 3] = [libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_utimensat];
const NAMESPACES: u64 =
    0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;
/// No architecture has as many calls.
const FIRST_UNKNOWN_CALL: i64 = 1000;

fn check_common(call: SystemCall, answer: u32) {
    assert_ne!(answer & ACTION_BITS, 0x7ff0_0000, "tracing: {call:?}");
    let is_foreign = call.architecture != native_architecture();
    if is_foreign || !(0..FIRST_UNKNOWN_CALL).contains(&call.number) || NEVER.contains(&call.number) {
        assert_ne!(answer, ALLOW, "{call:?}");
    }
}

/// A process that reads files: it computes, and uses what is open.
fn check_reader(call: SystemCall, answer: u32) {
    check_common(call, answer);
    if call.architecture != native_architecture() {
        return;
    }
    let low = |place: usize| call.arguments[place] & 0xffff_ffff;
    let expected = match call.number {
        libc::SYS_read | libc::SYS_write | libc::SYS_futex | libc::SYS_exit_group => true,
        libc::SYS_mmap | libc::SYS_mprotect => low(2) & 4 == 0,
        libc::SYS_clone => low(0) & (NAMESPACES | 0x0001_0000) == 0x0001_0000,
        libc::SYS_tgkill => low(0) == u64::from(std::process::id()),
        libc::SYS_prctl => low(0) == 15,
        libc::SYS_fcntl => matches!(low(1), 1 | 3 | 1030),
        libc::SYS_openat
        | libc::SYS_execve
        | libc::SYS_execveat
        | libc::SYS_kill
        | libc::SYS_ioctl
        | libc::SYS_socketpair
        | libc::SYS_unlinkat
        | libc::SYS_prlimit64
        | libc::SYS_setsockopt => false,
        _ => return,
    };
    assert_eq!(answer == ALLOW, expected, "{call:?} {answer:#x}");
}

/// A program of a user: no sockets but connected pairs, no namespaces, nothing of other processes.
fn check_program(rules: ProgramRules, call: SystemCall, answer: u32) {
    check_common(call, answer);
    if call.architecture != native_architecture() {
        return;
    }
    let low = |place: usize| call.arguments[place] & 0xffff_ffff;
    let shared = u64::from((libc::MAP_SHARED | libc::MAP_ANONYMOUS).cast_unsigned());
    let expected = match call.number {
        libc::SYS_openat | libc::SYS_read | libc::SYS_write | libc::SYS_execve | libc::SYS_exit_group => true,
        libc::SYS_clone => low(0) & NAMESPACES == 0,
        libc::SYS_socketpair => low(0) == 1 && matches!(low(1) & 0xf, 1 | 5),
        libc::SYS_sendto => call.arguments[4] == 0,
        libc::SYS_setsockopt => !matches!(low(2), 7 | 32),
        libc::SYS_mmap => low(3) & shared != shared,
        libc::SYS_fcntl => !matches!(low(1), 8 | 10 | 15),
        libc::SYS_ioctl => !matches!(low(1), 0x8901 | 0x8902 | 0x5412 | 0x541c),
        libc::SYS_prctl => low(0) != 4,
        libc::SYS_prlimit64 | libc::SYS_sched_setaffinity | libc::SYS_sched_setscheduler => low(0) == 0,
        libc::SYS_setpriority => low(0) == 0 && low(1) == 0,
        number if SIGNALS.contains(&number) => rules.may_signal,
        number if MODES.contains(&number) => {
            let expected = if rules.may_change_modes { ALLOW } else { ERRNO };
            assert_eq!(answer, expected, "{call:?}");
            return;
        }
        _ => return,
    };
    assert_eq!(answer == ALLOW, expected, "{rules:?} {call:?} {answer:#x}");
}
