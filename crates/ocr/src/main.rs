//! The program `gannet-ocr`: what `gannet` starts instead of itself to read and to draw pictures, in the same
//! sandbox. It does nothing by itself but say its version and try models.

use document_process::{OCR_PROGRAM_VERSION, overlay};
use ocr::{Converter, ModelFiles, TextReader};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// As in `gannet`: how much memory a process may use is measured with it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// OCR of one file uses one core: there are other files.
const OCR_THREADS: usize = 1;
const USAGE: &str = "usage: gannet-ocr --version
       gannet-ocr check FOLDER    load the OCR models of a folder
Files are read by gannet, which starts this program.";
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    // First of all: a sandboxed process gives up its rights before it has a second thread.
    if let Some(code) = sandbox::run_if_sandboxed(prepare_role) {
        return code;
    }
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [flag] if flag == "--version" => println!("{OCR_PROGRAM_VERSION}"),
        [flag] if flag == "--help" => println!("{USAGE}"),
        [command, folder] if command == "check" => {
            if let Err(reason) = check_models(Path::new(folder)) {
                eprintln!("{reason}");
                return ExitCode::FAILURE;
            }
        }
        _ => {
            eprintln!("{USAGE}");
            return USAGE_ERROR.into();
        }
    }
    ExitCode::SUCCESS
}

/// What a sandboxed process of this program works on.
fn prepare_role(role: &str, arguments: &[String]) -> Result<sandbox::Handler, String> {
    match (role, arguments) {
        (document_process::ROLE, [folder]) => {
            // The models are opened here, because nothing can be opened later, and loaded when the first
            // picture comes: most files need none.
            let reader = open_reader(Path::new(folder))?;
            Ok(document_process::prepare(Some(Box::new(reader))))
        }
        (overlay::ROLE, []) => Ok(overlay::prepare(Some(Box::new(Converter)))),
        _ => Err(format!("there is no role {role} with {} arguments", arguments.len())),
    }
}

fn open_reader(folder: &Path) -> Result<TextReader, String> {
    let files = ModelFiles::open(folder)
        .map_err(|error| format!("the OCR models in {} cannot be opened: {error}", folder.display()))?;
    Ok(TextReader::new(files, OCR_THREADS))
}

fn check_models(folder: &Path) -> Result<(), String> {
    open_reader(folder)?.load().map_err(|error| error.to_string())
}
