//! How a process gives up its rights, in this order: resources, privileges, Landlock, seccomp. Each step is
//! tried; one that this machine cannot do is reported and the others still hold.

use crate::landlock_rules::deny_files_tcp_and_signals;
use crate::layers::{Layer, Layers};
use crate::resources::{Policy, limit_resources};
use crate::system_calls::deny_others;
use rustix::io::{self, Errno};
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{
    DumpableBehavior, Pid, Signal, getppid, set_dumpable_behavior, set_parent_process_death_signal,
    test_kill_process,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::RawFd;

/// Takes the rights of the calling process away, which has one thread. `verify` also tries what is refused
/// afterwards, because a kernel may accept a rule and not follow it.
pub(crate) fn restrict_process(policy: &Policy, verify: bool) -> Layers {
    let mut layers = Layers::default();
    if let Err(error) = limit_resources(policy) {
        layers.add_missing(Layer::Resources, error.to_string());
    }
    if let Err(error) = drop_privileges() {
        layers.add_missing(Layer::Privileges, error.to_string());
    }
    deny_files_tcp_and_signals(&mut layers);
    if verify {
        verify_landlock(&mut layers);
    }
    if let Err(error) = deny_others() {
        layers.add_missing(Layer::SystemCalls, format!("seccomp: {error}"));
    } else if verify {
        verify_system_calls(&mut layers);
    }
    layers
}

/// Closes what the server should not have handed down: descriptors that it was given itself without the flag
/// that closes them, such as sockets of a supervisor. Here only the standard three are open.
pub(crate) fn close_inherited_descriptors() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let number = |name: std::ffi::OsString| name.to_str()?.parse::<RawFd>().ok();
    let inherited: Vec<RawFd> = entries.flatten().filter_map(|entry| number(entry.file_name())).collect();
    for descriptor in inherited.into_iter().filter(|descriptor| *descriptor > 2) {
        // The one of the list itself is closed already, which is an error that says nothing.
        let _ = nix::unistd::close(descriptor);
    }
}

/// Has the kernel kill this process when the server ends, however it ends.
pub(crate) fn end_with_parent(parent: u32) -> std::io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before that.
    if getppid().map(Pid::as_raw_pid) != i32::try_from(parent).ok() {
        return Err(std::io::Error::other("the server has ended"));
    }
    Ok(())
}

/// Drops all capabilities for good, and everything that could bring them back. Its memory is private from now
/// on: no core dump, no debugger.
pub(crate) fn drop_privileges() -> io::Result<()> {
    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Tries what Landlock refuses, while seccomp still allows it.
pub(crate) fn verify_landlock(layers: &mut Layers) {
    verify(layers, Layer::Files, Errno::ACCESS, open_root_folder());
    verify(layers, Layer::Tcp, Errno::ACCESS, connect_to_own_machine());
    verify(layers, Layer::Signals, Errno::PERM, signal_parent());
}

/// Tries what seccomp refuses.
pub(crate) fn verify_system_calls(layers: &mut Layers) {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None).map(drop);
    verify(layers, Layer::SystemCalls, Errno::PERM, socket);
    verify(layers, Layer::SystemCalls, Errno::PERM, open_root_folder());
}

pub(crate) fn verify(layers: &mut Layers, layer: Layer, refusal: Errno, attempt: io::Result<()>) {
    if attempt != Err(refusal) {
        let outcome = attempt.map_or_else(|error| error.to_string(), |()| "allowed".to_owned());
        layers.add_missing(layer, format!("the kernel accepted the rule and does not follow it: {outcome}"));
    }
}

fn open_root_folder() -> io::Result<()> {
    rustix::fs::open("/", rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).map(drop)
}

/// To a port where nothing listens: without Landlock the answer is that the connection was refused.
fn connect_to_own_machine() -> io::Result<()> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    rustix::net::connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1))
}

/// The signal 0 is checked like any other and never arrives.
fn signal_parent() -> io::Result<()> {
    getppid().map_or(Err(Errno::SRCH), test_kill_process)
}
