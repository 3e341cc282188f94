//! Processes: starts servers that print where they listen, and measures the CPU time of one with everything
//! it started.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// So long without work is rest: longer than the index of pages pauses between two rounds.
const REST: Duration = Duration::from_secs(6);
const MAX_WAIT_FOR_REST: Duration = Duration::from_mins(1);
/// What an idle server takes in a tenth of that, in milliseconds.
const IDLE_MS: f64 = 10.0;

/// A server; it is stopped when this value is dropped.
pub struct Running {
    child: Child,
    /// Host and port.
    pub address: String,
}

impl Running {
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
            if let Some(address) = line?.trim().strip_prefix("listening") {
                let address = address.trim().trim_start_matches("http://").to_owned();
                return Ok(Self { child, address });
            }
        }
        bail!("it ended before it listened")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// User and system time so far of a process and all below it, including those that have ended.
pub fn cpu_ms(root: u32) -> Result<f64> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // Processes come and go in the meantime.
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let fields: Vec<&str> = stat.rsplit(')').next().context("odd stat")?.split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        let parent: u32 = fields.get(1).context("odd stat")?.parse()?;
        // Its own time, and that of children it has waited for.
        all.push((pid, parent, number(11) + number(12) + number(13) + number(14)));
    }
    let mut tree = vec![root];
    let mut at = 0;
    while at < tree.len() {
        let parent = tree[at];
        tree.extend(all.iter().filter(|(_, of, _)| *of == parent).map(|(pid, ..)| *pid));
        at += 1;
    }
    let ticks: f64 = all.iter().filter(|(pid, ..)| tree.contains(pid)).map(|(.., ticks)| ticks).sum();
    // The kernel reports in hundredths of a second on every platform we run on.
    Ok(ticks * 10.0)
}

/// The same once the process has come to rest: what a request leaves to be done later belongs to it too.
pub fn cpu_ms_at_rest(root: u32) -> Result<f64> {
    let (began, mut last_work) = (Instant::now(), Instant::now());
    let mut cpu = cpu_ms(root)?;
    while last_work.elapsed() < REST && began.elapsed() < MAX_WAIT_FOR_REST {
        std::thread::sleep(REST / 10);
        let now = cpu_ms(root)?;
        if now > cpu + IDLE_MS {
            last_work = Instant::now();
        }
        cpu = now;
    }
    Ok(cpu)
}

/// Resident memory of a process, in megabytes.
pub fn resident_mb(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}
