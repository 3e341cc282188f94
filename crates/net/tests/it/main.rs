//! The crate from outside, against loopback servers of the tests' own making.

mod authority;
mod behaviour;
mod growth;
mod hostile;
mod loopback;
mod names;
mod proxies;
mod rules;
mod servers;
mod ssrf;
mod tls;
mod tunnels;
