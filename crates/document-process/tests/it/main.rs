//! Files read in sandboxed processes. The processes are this test binary itself, without OCR.

mod files;

use libtest_mimic::Arguments;
use std::process::ExitCode;

/// As in `gannet`: how memory runs out depends on it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let prepare = |role: &str, _: &[String]| match role {
        document_process::ROLE => Ok(document_process::prepare(None)),
        _ => Err(format!("there is no role {role}")),
    };
    if let Some(code) = sandbox::run_if_sandboxed(prepare) {
        return code;
    }
    libtest_mimic::run(&Arguments::from_args(), files::trials()).exit_code()
}
