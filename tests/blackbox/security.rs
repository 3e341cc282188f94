//! What attackers must not be able to do, one file for each kind of attack. `SECURITY.md` names the test for
//! every finding; each of them fails on the version that had the defect (`GANNET_TEST_BINARY=<old binary>
//! cargo test --test blackbox security::`).

mod allowed;
mod browser_process;
mod cpu;
mod credentials;
mod disk;
mod edge;
mod faults;
mod idempotency;
mod key_hosts;
mod secrets;
