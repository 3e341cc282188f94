//! The cost of a file that a process is started for.

use anyhow::{Result, ensure};
use document_process::{DocumentParser, ParseJob, ParserOptions};
use gannet_bench::processes::CpuTimes;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Of one file.
const MAX_TIME: Duration = Duration::from_mins(1);
/// How long processes may take to end.
const MAX_WAIT: Duration = Duration::from_secs(10);

pub fn prepare_sandboxed(role: &str, _: &[String]) -> Result<sandbox::Handler, String> {
    match role {
        document_process::ROLE => Ok(document_process::prepare(None)),
        _ => Err(format!("there is no role {role}")),
    }
}

/// Mean CPU milliseconds of a file, those of the server's side included; the least of the rounds.
pub fn measure(paths: &[PathBuf], rounds: usize) -> Result<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut least = f64::MAX;
    for _ in 0..rounds {
        let start = cpu_ms()?;
        // Without warm processes each file gets one of its own.
        let parser = DocumentParser::new(ParserOptions { ocr: None, max_jobs: 1, warm_processes: 0 });
        for path in paths {
            let job = ParseJob::default();
            let bytes = fs::read(path)?;
            runtime.block_on(async {
                parser.read_bytes(Uuid::nil(), bytes, &job, MAX_TIME).await?.decode().await
            })?;
        }
        drop(parser);
        wait_for_children(&runtime)?;
        least = least.min((cpu_ms()? - start) / paths.len() as f64);
    }
    Ok(least)
}

/// CPU time of this process and of those of its children that have ended.
fn cpu_ms() -> Result<f64> {
    let times = CpuTimes::read("self")?;
    Ok(times.own() + times.children)
}

/// The CPU time of a child counts when it has been waited for, which the runtime does.
fn wait_for_children(runtime: &tokio::runtime::Runtime) -> Result<()> {
    let end = Instant::now() + MAX_WAIT;
    while has_children()? {
        ensure!(Instant::now() <= end, "a process does not end");
        runtime.block_on(tokio::time::sleep(Duration::from_millis(1)));
        std::thread::yield_now();
    }
    Ok(())
}

fn has_children() -> Result<bool> {
    for task in fs::read_dir("/proc/self/task")? {
        if !fs::read_to_string(task?.path().join("children")).unwrap_or_default().trim().is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
