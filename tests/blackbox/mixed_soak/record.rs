//! Resource use of the server during the soak: memory, handles, threads, database.

use crate::processes;
use crate::server::Server;
use std::fs;
use std::path::PathBuf;
use testkit::TempDir;

#[derive(Debug, Clone, Copy)]
struct Sample {
    memory_mb: f64,
    handles: f64,
    threads: f64,
    database_mb: f64,
}

pub struct Record {
    server: u32,
    database: PathBuf,
    samples: Vec<Sample>,
}

impl Record {
    pub fn new(server: &Server, dir: &TempDir) -> Self {
        Self { server: server.pid(), database: dir.join("data"), samples: Vec::new() }
    }

    pub fn note(&mut self) {
        let tree = processes::tree(self.server);
        let Some(own) = tree.iter().find(|process| process.pid == self.server) else { return };
        let threads = fs::read_dir(format!("/proc/{}/task", self.server)).map_or(0, Iterator::count);
        let size = |name: &str| fs::metadata(self.database.join(name)).map_or(0, |about| about.len());
        self.samples.push(Sample {
            memory_mb: own.memory_kb() as f64 / 1024.0,
            handles: own.handles() as f64,
            threads: threads as f64,
            database_mb: (size("gannet.db") + size("gannet.db-wal")) as f64 / 1_048_576.0,
        });
    }

    /// The mean of one of four parts.
    fn quarter(&self, quarter: usize, value: impl Fn(&Sample) -> f64) -> f64 {
        let size = (self.samples.len() / 4).max(1);
        let part = &self.samples[quarter * size..((quarter + 1) * size).min(self.samples.len())];
        part.iter().map(value).sum::<f64>() / part.len() as f64
    }

    /// The last quarter used at most a tenth more than the second.
    pub fn is_level(&self) {
        let quarters =
            |value: &dyn Fn(&Sample) -> f64| [0, 1, 2, 3].map(|quarter| self.quarter(quarter, value));
        let memory = quarters(&|sample| sample.memory_mb);
        let handles = quarters(&|sample| sample.handles);
        let threads = quarters(&|sample| sample.threads);
        let database = quarters(&|sample| sample.database_mb);
        println!("memory of the server by quarters, MB: {memory:.1?}");
        println!("handles: {handles:.0?}  threads: {threads:.0?}");
        println!("database, MB: {database:.1?}");
        assert!(memory[3] <= memory[1] * 1.1 + 24.0, "memory grows: {memory:.1?} MB");
        assert!(handles[3] <= handles[1] * 1.1 + 32.0, "handles grow: {handles:.0?}");
        assert!(threads[3] <= threads[1] * 1.1 + 24.0, "threads grow: {threads:.0?}");
    }
}
