//! Records on their way to the index: packed and written by a thread of their own, so that who reads works need not wait for it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::error::{Error, Result};
use crate::file::{IndexFileWriter, RecordWriter, Section};

/// Records waiting to be packed.
const AHEAD: usize = 512;

/// A file of packed records that is being written.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    records: SyncSender<Vec<u8>>,
    /// Gives the offsets of the blocks.
    packer: JoinHandle<std::io::Result<Vec<u8>>>,
}

impl Scratch {
    pub fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).map_err(Error::file(&path))?;
        let (records, arriving) = sync_channel::<Vec<u8>>(AHEAD);
        let packer = std::thread::spawn(move || {
            let mut out = BufWriter::with_capacity(1 << 20, file);
            let mut writer = RecordWriter::default();
            for record in arriving {
                writer.push(&mut out, &record)?;
            }
            let offsets = writer.finish(&mut out)?;
            out.flush()?;
            Ok(offsets)
        });
        Ok(Self { path, records, packer })
    }

    pub fn push(&mut self, record: Vec<u8>) -> Result<()> {
        // Nobody takes it any more: the disk is full, say. What happened is told at the end of this file.
        self.records.send(record).map_err(|_| self.failure())
    }

    fn failure(&mut self) -> Error {
        let (closed, _) = sync_channel(0);
        self.records = closed;
        let packer = std::mem::replace(&mut self.packer, std::thread::spawn(|| Ok(Vec::new())));
        match packer.join() {
            Ok(Err(source)) => Error::File { path: self.path.clone(), source },
            Ok(Ok(_)) => Error::damaged(&self.path, "packing ended too early"),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Copies everything into the index and removes the file.
    pub fn finish(self, index: &mut IndexFileWriter, data: Section, blocks: Section) -> Result<()> {
        drop(self.records);
        let offsets = match self.packer.join() {
            Ok(offsets) => offsets.map_err(Error::file(&self.path))?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        index.copy(data, &self.path)?;
        index.section(blocks, &offsets)
    }
}
