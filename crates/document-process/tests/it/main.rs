//! Files read in sandboxed processes. The processes are this test binary itself.

mod files;
mod ocr_pages;

use libtest_mimic::Arguments;
use std::process::ExitCode;

/// As in `gannet`: how memory runs out depends on it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let prepare = |role: &str, arguments: &[String]| match role {
        document_process::ROLE => document_process::prepare(arguments),
        _ => Err(format!("there is no role {role}")),
    };
    if let Some(code) = sandbox::run_if_sandboxed(prepare) {
        return code;
    }
    libtest_mimic::run(
        &Arguments::from_args(),
        files::trials().into_iter().chain(ocr_pages::trials()).collect(),
    )
    .exit_code()
}
