//! The cost of a file that a process is started for.

use document_process::{DocumentParser, ParseJob, ParserOptions};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};
use uuid::Uuid;

/// Of one file.
const MAX_TIME: Duration = Duration::from_mins(1);
/// How long processes may take to end.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// What `/proc` counts CPU time in, on every machine that Linux runs on.
const TICK_MS: f64 = 10.0;

pub fn prepare(role: &str, arguments: &[String]) -> Result<sandbox::Handler, String> {
    match role {
        document_process::ROLE => document_process::prepare(arguments),
        _ => Err(format!("there is no role {role}")),
    }
}

/// Mean CPU milliseconds of a file, those of the server's side included; the least of the rounds.
pub fn measure(paths: &[PathBuf], rounds: usize) -> Result<f64, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut least = f64::MAX;
    for _ in 0..rounds.max(1) {
        let start = cpu_ms()?;
        // Without warm processes each file gets one of its own.
        let options = ParserOptions { ocr_models: None, max_jobs: 1, warm_processes: 0 };
        let parser = DocumentParser::new(options);
        for path in paths {
            let bytes = fs::read(path)?;
            let job = ParseJob::default();
            runtime.block_on(parser.parse_bytes(Uuid::nil(), bytes, &job, MAX_TIME))?;
        }
        drop(parser);
        wait_for_children(&runtime)?;
        least = least.min((cpu_ms()? - start) / paths.len() as f64);
    }
    Ok(least)
}

/// CPU time of this process and of those of its children that have ended.
fn cpu_ms() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no fields")?;
    let times: Vec<f64> =
        fields.split_whitespace().skip(11).take(4).map(str::parse).collect::<Result<_, _>>()?;
    Ok(times.iter().sum::<f64>() * TICK_MS)
}

/// The CPU time of a child counts when it has been waited for, which the runtime does.
fn wait_for_children(runtime: &tokio::runtime::Runtime) -> Result<(), Box<dyn Error>> {
    let end = Instant::now() + MAX_WAIT;
    while has_children(Path::new("/proc/self/task"))? {
        if Instant::now() > end {
            return Err("a process does not end".into());
        }
        runtime.block_on(tokio::time::sleep(Duration::from_millis(1)));
        thread::yield_now();
    }
    Ok(())
}

fn has_children(tasks: &Path) -> Result<bool, Box<dyn Error>> {
    for task in fs::read_dir(tasks)? {
        if !fs::read_to_string(task?.path().join("children")).unwrap_or_default().trim().is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
