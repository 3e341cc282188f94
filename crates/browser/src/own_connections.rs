//! Whose connection it is that arrives at the proxy of a session's browser. Chromium cannot be given a password for its
//! proxy without getting into the way of whoever drives it, so the kernel is asked which process has the other end.

use crate::process_group::members;
use rustix::process::Pid;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The sockets of this network, one in a line.
const SOCKETS: &str = "/proc/net/tcp";
/// How the process that has a browser's connections is called on its command line.
const NETWORK_PROCESS: &str = "network.mojom.NetworkService";

/// The connections of one browser.
pub(crate) struct OwnConnections {
    group: Pid,
    /// The account it runs under.
    uid: u32,
    /// The process that had the last one.
    last_owner: AtomicI32,
}

/// A socket as the kernel lists it.
#[derive(Debug, PartialEq, Eq)]
struct Socket {
    uid: u32,
    inode: u64,
}

/// Whether a process has a socket.
#[derive(Debug, PartialEq, Eq)]
enum Holds {
    Yes,
    No,
    /// It does not show its descriptors to this account.
    Hidden,
}

impl OwnConnections {
    pub(crate) fn new(group: Pid, uid: u32) -> Self {
        Self { group, uid, last_owner: AtomicI32::new(0) }
    }

    /// Whether the connection from `peer` to `proxy` is one of this browser. Reads files: not for threads that serve.
    pub(crate) fn contain(&self, peer: SocketAddr, proxy: SocketAddr) -> bool {
        let found = match find_socket(peer, proxy) {
            Ok(found) => found,
            Err(error) => {
                warn_once(&error);
                return true;
            }
        };
        found.is_some_and(|socket| socket.uid == self.uid && self.has(&socket))
    }

    fn has(&self, socket: &Socket) -> bool {
        let last = self.last_owner.load(Ordering::Relaxed);
        let processes = members(self.group);
        if processes.contains(&last) && holds(last, socket.inode) == Holds::Yes {
            return true;
        }
        let mut is_hidden = false;
        for process in processes {
            match holds(process, socket.inode) {
                Holds::Yes => {
                    self.last_owner.store(process, Ordering::Relaxed);
                    return true;
                }
                Holds::Hidden => is_hidden |= may_have_connections(process, self.group),
                Holds::No => {}
            }
        }
        // Then all that is known is that it is a process of the same account.
        is_hidden
    }
}

/// Where the kernel does not list sockets, nobody can be told from the browser.
fn warn_once(error: &std::io::Error) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        tracing::warn!(%error, "{SOCKETS} cannot be read: the proxies of browser sessions serve every account of this machine");
    }
}

fn find_socket(peer: SocketAddr, proxy: SocketAddr) -> std::io::Result<Option<Socket>> {
    let (Some(peer), Some(proxy)) = (to_kernel_form(peer), to_kernel_form(proxy)) else { return Ok(None) };
    for line in BufReader::new(File::open(SOCKETS)?).lines() {
        let line = line?;
        let mut fields = line.split_ascii_whitespace().skip(1);
        if (fields.next(), fields.next()) == (Some(&*peer), Some(&*proxy)) {
            let uid = fields.nth(4).and_then(|field| field.parse().ok());
            let inode = fields.nth(1).and_then(|field| field.parse().ok());
            return Ok(uid.zip(inode).map(|(uid, inode)| Socket { uid, inode }));
        }
    }
    Ok(None)
}

/// An address as it stands in the list.
fn to_kernel_form(address: SocketAddr) -> Option<String> {
    let IpAddr::V4(ip) = address.ip() else { return None };
    Some(format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), address.port()))
}

fn holds(process: i32, inode: u64) -> Holds {
    let entries = match fs::read_dir(format!("/proc/{process}/fd")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Holds::Hidden,
        Err(_) => return Holds::No,
    };
    let wanted = format!("socket:[{inode}]");
    for entry in entries.flatten() {
        match fs::read_link(entry.path()) {
            Ok(target) if target.as_os_str() == wanted.as_str() => return Holds::Yes,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Holds::Hidden,
            _ => {}
        }
    }
    Holds::No
}

/// Whether this process of a browser is one that connects. Those of pages hide their descriptors and never do.
fn may_have_connections(process: i32, group: Pid) -> bool {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    process == group.as_raw_pid() || String::from_utf8_lossy(&line).contains(NETWORK_PROCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{getpgrp, getuid};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_belongs_to_the_processes_that_have_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = listener.local_addr().unwrap();
        let stream = TcpStream::connect(proxy).unwrap();
        let (_served, peer) = listener.accept().unwrap();
        let socket = find_socket(peer, proxy).unwrap().unwrap();
        assert_eq!(socket.uid, getuid().as_raw());
        assert_eq!(find_socket(peer, "127.0.0.1:1".parse().unwrap()).unwrap(), None);
        let uid = socket.uid;
        let own = OwnConnections::new(getpgrp(), uid);
        // The second time the process is known.
        assert!(own.contain(peer, proxy) && own.contain(peer, proxy));
        assert!(!OwnConnections::new(getpgrp(), uid + 1).contain(peer, proxy), "another account");
        let mut other = std::process::Command::new("sleep");
        let mut other =
            std::os::unix::process::CommandExt::process_group(&mut other, 0).arg("60").spawn().unwrap();
        let group = Pid::from_raw(i32::try_from(other.id()).unwrap()).unwrap();
        assert!(!OwnConnections::new(group, uid).contain(peer, proxy), "other processes of the account");
        other.kill().unwrap();
        other.wait().unwrap();
        drop(stream);
    }
}
