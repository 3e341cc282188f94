//! Sandboxed processes as a server uses them. The processes are this test binary itself.

mod attempts;
mod escapes;
mod faults;
mod handler;
mod lifecycle;
mod programs;
mod speed;
mod support;

use libtest_mimic::Arguments;
use std::process::ExitCode;

/// As in `gannet`: how memory runs out depends on it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = gannet_sandbox::run_if_sandboxed(handler::prepare) {
        return code;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [support::FREE_ATTEMPT, name, server] => return escapes::run_free(name, server),
        [support::LOOPING_SERVER, role] => return lifecycle::run_looping_server(role),
        _ => {}
    }
    let trials =
        [escapes::trials(), faults::trials(), lifecycle::trials(), programs::trials(), speed::trials()];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect()).exit_code()
}
