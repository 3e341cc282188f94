//! Tests of the public API against loopback servers.

mod authority;
mod behaviour;
mod dns;
mod hostile;
mod leaks;
mod loopback;
mod proxies;
mod request_rules;
mod servers;
mod ssrf;
mod tls;
mod tunnels;
