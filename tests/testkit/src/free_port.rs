//! A loopback port that nothing listens on.

use std::net::TcpListener;

/// A port of 127.0.0.1 that was free a moment ago. Another process may take it before it is used, so a caller
/// that starts a server on it must check that the server came up, and try another port if not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreePort(pub u16);

impl FreePort {
    /// # Panics
    /// When the system has no port left.
    pub fn find() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on 127.0.0.1");
        Self(listener.local_addr().expect("the address of a bound socket").port())
    }
}
