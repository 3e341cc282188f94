//! Code as users run it: real Node, Python and bash, locked in, with a real Chromium. The processes are started by this
//! test binary itself.

mod attack_list;
mod attacks;
mod bash;
mod chromium;
mod limits;
mod node;
mod python;
mod speed;
mod support;

use libtest_mimic::Arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = sandbox::run_if_sandboxed(|role, _| Err(format!("there is no role {role}"))) {
        return code;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [limits::SERVER_TO_BE_KILLED, folder] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return limits::run_server_to_be_killed(folder);
    }
    let trials = [
        node::trials(),
        python::trials(),
        bash::trials(),
        attacks::trials(),
        limits::trials(),
        speed::trials(),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect()).exit_code()
}
