//! Child processes: servers that print where they listen, and the CPU time and memory of processes. It measures no
//! work of this process itself, but for what `/proc` tells and a clock does not.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The key of every server that a benchmark starts.
pub const KEY: &str = "gn-bench-0123456789abcdef";

/// So long without work is rest: longer than the index of pages pauses between two rounds.
const REST: Duration = Duration::from_secs(6);
const MAX_WAIT_FOR_REST: Duration = Duration::from_mins(1);
/// What an idle server takes in a tenth of that, in milliseconds.
const IDLE_MS: f64 = 10.0;
/// `/proc` counts CPU time in hundredths of a second on every machine that Linux runs on.
const TICK_MS: f64 = 10.0;

/// A server; it is stopped when this value is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Host and port.
    pub address: String,
}

impl Server {
    /// Starts a program that prints where it listens.
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

    /// Starts this program again with other arguments.
    pub fn start_self(arguments: &[&str]) -> Result<Self> {
        Self::start(own_command()?.args(arguments))
    }

    pub fn start_gannet(
        binary: &Path,
        data: &Path,
        settings: &[(&str, &str)],
        arguments: &[&str],
    ) -> Result<Self> {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data).args(arguments);
        command.envs(settings.iter().copied()).env("GANNET_API_KEY", KEY);
        Self::start(&mut command).with_context(|| format!("cannot start {}", binary.display()))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn own_command() -> Result<Command> {
    Ok(Command::new(std::env::current_exe()?))
}

/// CPU milliseconds of one process so far, in steps of ten.
#[derive(Debug, Clone, Copy)]
pub struct CpuTimes {
    parent: u32,
    pub user: f64,
    pub system: f64,
    /// Of children that it has waited for.
    pub children: f64,
}

impl CpuTimes {
    /// Of a process by its number, or of `self`.
    pub fn read(process: impl std::fmt::Display) -> Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The name, in parentheses, may contain spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let time = |at: usize| -> Result<f64> {
            Ok(fields.get(at).context("a line of /proc is short")?.parse::<f64>()? * TICK_MS)
        };
        Ok(Self {
            parent: fields.get(1).context("a line of /proc is short")?.parse()?,
            user: time(11)?,
            system: time(12)?,
            children: time(13)? + time(14)?,
        })
    }

    /// Of the process alone.
    pub fn own(self) -> f64 {
        self.user + self.system
    }
}

/// CPU milliseconds so far of a process and all below it, including those that have ended.
pub fn tree_cpu_ms(root: u32) -> Result<f64> {
    let numbers =
        fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // Processes come and go in the meantime.
    let all: Vec<(u32, CpuTimes)> =
        numbers.filter_map(|pid| Some((pid, CpuTimes::read(pid).ok()?))).collect();
    let mut tree = vec![root];
    let mut at = 0;
    while at < tree.len() {
        let parent = tree[at];
        tree.extend(all.iter().filter(|(_, times)| times.parent == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    let times =
        all.iter().filter(|(pid, _)| tree.contains(pid)).map(|(_, times)| times.own() + times.children);
    Ok(times.sum())
}

/// The same once the process has come to rest: what a request leaves to be done later belongs to it too.
pub fn tree_cpu_ms_at_rest(root: u32) -> Result<f64> {
    let (start, mut last_work) = (Instant::now(), Instant::now());
    let mut cpu = tree_cpu_ms(root)?;
    while last_work.elapsed() < REST && start.elapsed() < MAX_WAIT_FOR_REST {
        std::thread::sleep(REST / 10);
        let now = tree_cpu_ms(root)?;
        if now > cpu + IDLE_MS {
            last_work = Instant::now();
        }
        cpu = now;
    }
    Ok(cpu)
}

/// CPU milliseconds of the threads of a process that still run, finer than [`CpuTimes`].
pub fn threads_cpu_ms(pid: u32) -> Option<f64> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let times = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    Some(times.sum::<f64>() / 1e6)
}

/// Resident memory of a process, in megabytes.
pub fn resident_mb(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}

/// Prints the lines that the kernel has on the memory of this process, by the start of their names.
pub fn print_own_memory(names: &[&str]) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| names.iter().any(|name| line.starts_with(name))) {
        println!("{line}");
    }
}
