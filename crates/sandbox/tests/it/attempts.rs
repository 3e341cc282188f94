//! What a hostile file would try once it has taken over the process that parses it.

use std::fs::{self, File};
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::Command;

/// An attempt, given the process id of the server.
pub struct Attempt {
    pub name: &'static str,
    pub run: fn(server: i32) -> io::Result<()>,
    pub free_for: FreeFor,
}

/// Which processes without a sandbox are allowed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreeFor {
    Anyone,
    /// With all capabilities, and outside of containers that filter system calls themselves.
    Root,
    /// Some kernels are set up to refuse it to all.
    Nobody,
}

const fn free(name: &'static str, run: fn(i32) -> io::Result<()>) -> Attempt {
    Attempt { name, run, free_for: FreeFor::Anyone }
}

const fn for_root(name: &'static str, run: fn(i32) -> io::Result<()>) -> Attempt {
    Attempt { name, run, free_for: FreeFor::Root }
}

const fn off_on_some_kernels(name: &'static str, run: fn(i32) -> io::Result<()>) -> Attempt {
    Attempt { name, run, free_for: FreeFor::Nobody }
}

pub const ATTEMPTS: &[Attempt] = &[
    free("read_a_file", |_| File::open("/etc/passwd").map(drop)),
    free("write_a_file", |server| {
        let path = std::env::temp_dir().join(format!("gannet-sandbox-test-{server}"));
        fs::write(&path, "x").and_then(|()| fs::remove_file(path))
    }),
    free("list_a_folder", |_| fs::read_dir("/").map(drop)),
    free("ask_for_a_file", |_| fs::metadata("/etc/passwd").map(drop)),
    free("change_the_folder", |_| std::env::set_current_dir("/")),
    free("read_the_server's_memory_map", |server| File::open(format!("/proc/{server}/maps")).map(drop)),
    free("read_the_server's_environment", |server| File::open(format!("/proc/{server}/environ")).map(drop)),
    free("read_own_memory_as_a_file", |_| File::open("/proc/self/mem").map(drop)),
    free("connect_by_tcp", |_| TcpStream::connect("127.0.0.1:1").map(drop)),
    free("listen_on_tcp", |_| TcpListener::bind("127.0.0.1:0").map(drop)),
    free("send_by_udp", |_| UdpSocket::bind("127.0.0.1:0")?.send_to(b"x", "127.0.0.1:9").map(drop)),
    free("connect_to_a_socket_file", |_| UnixStream::connect("/nonexistent").map(drop)),
    free("connect_to_an_abstract_socket", |_| {
        UnixStream::connect_addr(&SocketAddr::from_abstract_name("nobody")?).map(drop)
    }),
    free("make_a_socket_pair", |_| UnixStream::pair().map(drop)),
    free("run_a_program", |_| Command::new("/bin/true").status().map(drop)),
    free("run_itself", |_| Command::new("/proc/self/exe").arg("--list").output().map(drop)),
    free("signal_the_server", |server| call(libc::SYS_kill, [server.into(), 0, 0])),
    free("signal_a_thread_of_the_server", |server| call(libc::SYS_tgkill, [server.into(), server.into(), 0])),
    free("signal_by_a_handle", |server| call(libc::SYS_pidfd_open, [server.into(), 0, 0])),
    free("change_the_server's_limits", |server| call(libc::SYS_prlimit64, [server.into(), 0, 0])),
    free("own_its_signals", |server| call(libc::SYS_fcntl, [0, libc::F_SETOWN.into(), server.into()])),
    free("be_traced", |_| call(libc::SYS_ptrace, [libc::PTRACE_TRACEME.into(), 0, 0])),
    for_root("unshare_nothing", |_| call(libc::SYS_unshare, [0, 0, 0])),
    free("map_code", |_| {
        let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        system_call(libc::SYS_mmap, [0, 4096, libc::PROT_EXEC.into(), anonymous.into(), -1, 0])
    }),
    free("make_a_file_in_memory", |_| {
        rustix::fs::memfd_create(c"x", rustix::fs::MemfdFlags::CLOEXEC).map(drop).map_err(Into::into)
    }),
    free("make_a_pipe", |_| io::pipe().map(drop)),
    free("wait_for_events", |_| call(libc::SYS_epoll_create1, [0, 0, 0])),
    for_root("trace_the_server", |server| {
        call(libc::SYS_ptrace, [libc::PTRACE_SEIZE.into(), server.into(), 0])
    }),
    for_root("read_the_server's_memory", |server| call(libc::SYS_process_vm_readv, [server.into(), 0, 0])),
    for_root("make_a_user_namespace", |_| call(libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0])),
    for_root("make_a_network_namespace", |_| call(libc::SYS_unshare, [libc::CLONE_NEWNET.into(), 0, 0])),
    off_on_some_kernels("use_io_uring", |_| call(libc::SYS_io_uring_setup, [1, 0, 0])),
    off_on_some_kernels("load_bpf", |_| call(libc::SYS_bpf, [0, 0, 0])),
    off_on_some_kernels("count_events", |_| call(libc::SYS_perf_event_open, [0, 0, 0])),
    off_on_some_kernels("handle_page_faults", |_| call(libc::SYS_userfaultfd, [0, 0, 0])),
    off_on_some_kernels("use_keys", |_| call(libc::SYS_keyctl, [0, 0, 0])),
    for_root("mount", |_| call(libc::SYS_mount, [0, 0, 0])),
    for_root("change_the_root", |_| call(libc::SYS_chroot, [0, 0, 0])),
    for_root("become_another_user", |_| call(libc::SYS_setuid, [65_533, 0, 0])),
    for_root("get_a_descriptor_of_the_server", |_| call(libc::SYS_pidfd_getfd, [0, 0, 0])),
    for_root("open_by_handle", |_| call(libc::SYS_open_by_handle_at, [0, 0, 0])),
    off_on_some_kernels("load_a_kernel", |_| call(libc::SYS_kexec_load, [0, 1 << 20, 0])),
];

/// Descriptors that are open in this process.
pub fn open_descriptors() -> Vec<i64> {
    (0..256).filter(|number| call(libc::SYS_fcntl, [*number, libc::F_GETFD.into(), 0]).is_ok()).collect()
}

fn call(number: libc::c_long, [first, second, third]: [i64; 3]) -> io::Result<()> {
    system_call(number, [first, second, third, 0, 0, 0])
}

/// A system call as code of an attacker would make it. No safe library makes some of these.
#[allow(unsafe_code)]
fn system_call(number: libc::c_long, arguments: [i64; 6]) -> io::Result<()> {
    // SAFETY: every pointer among the arguments is null, so the kernel writes to no memory of this process.
    let result = unsafe {
        let [first, second, third, fourth, fifth, sixth] = arguments;
        libc::syscall(number, first, second, third, fourth, fifth, sixth)
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
