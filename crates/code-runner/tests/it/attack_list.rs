//! What hostile code would try, in Python. Each attack raises an error when it is refused.

/// An attack.
pub struct Attack {
    pub name: &'static str,
    /// Lines of Python. `{server}`, `{secret}`, `{outside}`, `{tcp}`, `{socket}`, `{datagrams}`, `{abstract}` and `{sibling}` are
    /// replaced; `call(number, …)` makes a system call.
    pub code: &'static str,
    pub free_for: FreeFor,
}

/// Which processes that are not locked in are allowed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreeFor {
    Anyone,
    /// With all capabilities, and outside of containers that filter system calls themselves.
    Root,
    /// Some kernels refuse it to all.
    Nobody,
}

const fn free(name: &'static str, code: &'static str) -> Attack {
    Attack { name, code, free_for: FreeFor::Anyone }
}

const fn for_root(name: &'static str, code: &'static str) -> Attack {
    Attack { name, code, free_for: FreeFor::Root }
}

const fn off_on_some_kernels(name: &'static str, code: &'static str) -> Attack {
    Attack { name, code, free_for: FreeFor::Nobody }
}

pub const ATTACKS: &[Attack] = &[
    // Files.
    free("read_a_file_of_the_server", "open({secret!r}).read()"),
    free("read_the_list_of_accounts", "open('/etc/passwd').read()"),
    for_root("read_the_passwords", "open('/etc/shadow').read()"),
    for_root("list_the_home_of_root", "os.listdir('/root')"),
    free("list_the_root_folder", "os.listdir('/')"),
    free("list_the_folder_for_temporary_files", "os.listdir('/tmp')"),
    free("write_outside", "open({outside!r} + '/x', 'w').write('x')"),
    free("make_a_folder_outside", "os.mkdir({outside!r} + '/folder')"),
    free(
        "delete_a_file_of_the_server",
        "os.rename({secret!r}, {secret!r} + '2'); os.rename({secret!r} + '2', {secret!r})",
    ),
    free("truncate_a_file_of_the_server", "os.truncate({secret!r}, 1000)"),
    free(
        "follow_a_symbolic_link_out",
        "link = f'link-{os.getpid()}'; os.symlink({secret!r}, link)\ntry: open(link).read()\nfinally: os.unlink(link)",
    ),
    free(
        "make_a_hard_link_out",
        "link = f'hard-{os.getpid()}'; os.link({secret!r}, {outside!r} + '/' + link)",
    ),
    free("open_by_a_path_descriptor", "open(f'/proc/self/fd/{os.open({secret!r}, os.O_PATH)}').read()"),
    free("run_a_program_outside", "subprocess.run([{outside!r} + '/program'], check=True)"),
    free(
        "watch_a_folder_of_the_server",
        "call(SYS_inotify_add_watch, call(SYS_inotify_init1, 0), {outside!r}.encode(), 0x100)",
    ),
    // The server.
    free("read_the_environment_of_the_server", "open('/proc/{server}/environ').read()"),
    free("read_the_command_line_of_the_server", "open('/proc/{server}/cmdline').read()"),
    free("read_the_memory_of_the_server", "open('/proc/{server}/mem', 'rb')"),
    free("read_the_memory_map_of_the_server", "open('/proc/{server}/maps').read()"),
    free("list_the_descriptors_of_the_server", "os.listdir('/proc/{server}/fd')"),
    free("signal_the_server", "os.kill({server}, 0)"),
    free("signal_a_thread_of_the_server", "call(SYS_tgkill, {server}, {server}, 0)"),
    free(
        "signal_the_server_by_a_handle",
        "call(SYS_pidfd_send_signal, call(SYS_pidfd_open, {server}, 0), 0, 0, 0)",
    ),
    free("have_the_kernel_signal_the_server", "import fcntl\nfcntl.fcntl(0, 8, {server})"),
    free("signal_another_session", "os.kill({sibling}, 0)"),
    free("read_the_environment_of_another_session", "open('/proc/{sibling}/environ').read()"),
    free(
        "change_the_limits_of_the_server",
        "call(SYS_prlimit64, {server}, 7, 0, ctypes.create_string_buffer(16))",
    ),
    free("change_the_priority_of_the_server", "os.setpriority(os.PRIO_PROCESS, {server}, 0)"),
    free("pin_the_server_to_a_core", "os.sched_setaffinity({server}, os.sched_getaffinity(0))"),
    for_root("trace_the_server", "call(SYS_ptrace, 0x4206, {server}, 0, 0)"),
    free("be_traced", "call(SYS_ptrace, 0, 0, 0, 0)"),
    for_root("copy_the_memory_of_the_server", "call(SYS_process_vm_readv, {server}, 0, 0, 0, 0, 0)"),
    for_root(
        "take_a_descriptor_of_the_server",
        "call(SYS_pidfd_getfd, call(SYS_pidfd_open, {server}, 0), 0, 0)",
    ),
    // The network.
    free("connect_by_tcp", "socket.create_connection(('127.0.0.1', {tcp}))"),
    free("listen_on_tcp", "socket.create_server(('127.0.0.1', 0))"),
    free("send_by_udp", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"),
    free("connect_to_a_socket_file", "socket.socket(socket.AF_UNIX).connect({socket!r})"),
    free("connect_to_an_abstract_socket", "socket.socket(socket.AF_UNIX).connect('\\0' + {abstract!r})"),
    free(
        "send_to_a_socket_file_out_of_a_pair",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendto(b'x', {datagrams!r})",
    ),
    free(
        "send_a_message_to_a_socket_file_out_of_a_pair",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendmsg([b'x'], [], 0, {datagrams!r})",
    ),
    free(
        "send_to_a_socket_file_out_of_a_raw_pair",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW | socket.SOCK_CLOEXEC)\na.sendto(b'x', {datagrams!r})",
    ),
    free("talk_to_the_kernel_by_netlink", "socket.socket(16, socket.SOCK_RAW, 0)"),
    for_root("send_raw_packets", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    off_on_some_kernels(
        "make_a_pair_of_other_sockets",
        "call(SYS_socketpair, 30, 5, 0, ctypes.create_string_buffer(8))",
    ),
    // The kernel.
    off_on_some_kernels("use_io_uring", "call(SYS_io_uring_setup, 1, ctypes.create_string_buffer(256))"),
    for_root("make_a_user_namespace", "call(SYS_unshare, 0x10000000)"),
    for_root("make_a_network_namespace", "call(SYS_unshare, 0x40000000)"),
    for_root(
        "start_a_process_in_a_namespace",
        "if call(SYS_clone, 0x40000011, 0, 0, 0, 0) == 0: os._exit(0)",
    ),
    off_on_some_kernels("enter_a_namespace", "call(SYS_setns, 0, 0)"),
    off_on_some_kernels("mount", "call(SYS_mount, 0, 0, 0, 0, 0)"),
    for_root("change_the_root", "os.chroot('/usr')"),
    off_on_some_kernels("load_bpf", "call(SYS_bpf, 0, 0, 0)"),
    off_on_some_kernels("count_events", "call(SYS_perf_event_open, 0, 0, 0, 0, 0)"),
    off_on_some_kernels("handle_page_faults", "call(SYS_userfaultfd, 0)"),
    off_on_some_kernels("use_keys", "call(SYS_keyctl, 0, -2, 0, 0, 0)"),
    off_on_some_kernels("load_a_kernel", "call(SYS_kexec_load, 0, 0, 0, 0)"),
    free("use_memory_that_no_limit_counts", "os.memfd_create('x')"),
    free(
        "have_a_socket_hold_more",
        "a, b = socket.socketpair()\na.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100_000)",
    ),
    free("share_memory_without_a_name", "import mmap\nmmap.mmap(-1, 4096)"),
    free(
        "send_a_descriptor_that_nobody_sees",
        "a, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [os.open('/dev/null', os.O_RDONLY)])",
    ),
    off_on_some_kernels("share_memory_by_a_key", "call(SYS_shmget, 0, 4096, 0o1600)"),
    off_on_some_kernels("open_by_handle", "call(SYS_open_by_handle_at, -1, 0, 0)"),
    free("hide_from_the_supervisor", "call(SYS_prctl, 4, 0, 0, 0, 0)"),
];
