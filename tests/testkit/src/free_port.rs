//! Loopback ports: those that no other test of this process has had, and those on which nobody listens.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};

/// A port of 127.0.0.1 that was free a moment ago. Another process may take it before it is used, so a caller
/// that starts a server on it must check that the server came up, and try another port if not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreePort(pub u16);

impl FreePort {
    /// # Panics
    /// When the system has no port left.
    pub fn find() -> Self {
        Self::listen().1
    }

    /// Listens on a port that was never given out in this process. A server that several tests share
    /// remembers hosts (their robots.txt, their silence) by address and port, so a site must not have the
    /// port of an earlier one.
    ///
    /// # Panics
    /// When the system has no port left.
    pub fn listen() -> (TcpListener, Self) {
        static GIVEN_OUT: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
        // Listeners on ports of earlier sites stay open until a new port is found: else the system could
        // offer the same port again and again.
        let mut used = Vec::new();
        loop {
            let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on 127.0.0.1");
            let port = listener.local_addr().expect("the address of a bound socket").port();
            let mut given_out = GIVEN_OUT.lock().unwrap_or_else(PoisonError::into_inner);
            if given_out.get_or_insert_with(HashSet::new).insert(port) {
                return (listener, Self(port));
            }
            used.push(listener);
        }
    }
}

/// A port of 127.0.0.1 on which nobody listens, and which nobody else can get while this lives: that of a connection.
#[derive(Debug)]
pub struct ClosedPort {
    connection: TcpStream,
    _listener: TcpListener,
}

impl ClosedPort {
    /// # Panics
    /// When the system has no port left.
    pub fn hold() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("the address of a bound socket");
        Self { connection: TcpStream::connect(address).expect("a connection"), _listener: listener }
    }

    /// # Panics
    /// Never while the connection is open.
    pub fn address(&self) -> SocketAddr {
        self.connection.local_addr().expect("the address of an open connection")
    }
}
