//! One record a line: lines are read on one thread, parsed on others, and come out in their order.

use std::io::BufRead;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{Batch, MAX_RECORD_BYTES, Sink, at};
use crate::error::Result;
use crate::work::Work;

/// Reads one line into a work; `None` for lines that hold none.
pub type Parse = fn(&[u8]) -> std::result::Result<Option<Work>, String>;

const BATCH_BYTES: usize = 1 << 20;
/// Batches on the way to and from each parser.
const AHEAD: usize = 2;

/// Whole lines, with the number of the first.
struct Lines {
    bytes: Vec<u8>,
    first: u64,
}

/// What became of a batch: works, or the line that could not be read and why.
type Parsed = std::result::Result<Batch, (u64, String)>;

pub fn read(path: &Path, mut input: Box<dyn BufRead + Send>, parse: Parse, sink: Sink<'_>) -> Result<()> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
    std::thread::scope(|scope| {
        let mut to_workers: Vec<SyncSender<Lines>> = Vec::new();
        let mut from_workers: Vec<Receiver<Parsed>> = Vec::new();
        for _ in 0..workers {
            let (send_lines, lines) = sync_channel::<Lines>(AHEAD);
            let (send_parsed, parsed) = sync_channel::<Parsed>(AHEAD);
            scope.spawn(move || {
                for batch in lines {
                    if send_parsed.send(parse_batch(&batch, parse)).is_err() {
                        return;
                    }
                }
            });
            to_workers.push(send_lines);
            from_workers.push(parsed);
        }
        let reader = scope.spawn(move || {
            let mut next = 1;
            for turn in 0.. {
                let batch = next_lines(input.as_mut(), &mut next);
                match batch {
                    Ok(Some(batch)) => {
                        if to_workers[turn % workers].send(batch).is_err() {
                            return Ok(());
                        }
                    }
                    Ok(None) => return Ok(()),
                    Err(failure) => return Err(failure),
                }
            }
            Ok(())
        });
        let mut turn = 0;
        while let Ok(parsed) = from_workers[turn % workers].recv() {
            let batch = parsed.map_err(|(line, what)| at(path, line, what))?;
            sink(batch)?;
            turn += 1;
        }
        drop(from_workers);
        match reader.join() {
            Ok(outcome) => outcome.map_err(|(line, what)| at(path, line, what)),
            Err(_) => Err(at(path, 0, "the reader ended unexpectedly")),
        }
    })
}

/// Reads about a batch of whole lines.
fn next_lines(input: &mut dyn BufRead, next: &mut u64) -> std::result::Result<Option<Lines>, (u64, String)> {
    let mut lines = Lines { bytes: Vec::with_capacity(BATCH_BYTES + (BATCH_BYTES >> 2)), first: *next };
    while lines.bytes.len() < BATCH_BYTES {
        let before = lines.bytes.len();
        let mut bounded = std::io::Read::take(&mut *input, MAX_RECORD_BYTES as u64);
        let read = bounded.read_until(b'\n', &mut lines.bytes).map_err(|error| (*next, error.to_string()))?;
        if read == 0 {
            break;
        }
        if read >= MAX_RECORD_BYTES && lines.bytes.last() != Some(&b'\n') {
            return Err((*next, format!("line longer than {MAX_RECORD_BYTES} bytes")));
        }
        debug_assert!(lines.bytes.len() > before);
        *next += 1;
    }
    Ok((!lines.bytes.is_empty()).then_some(lines))
}

fn parse_batch(lines: &Lines, parse: Parse) -> Parsed {
    let mut batch = Batch { bytes: lines.bytes.len() as u64, ..Batch::default() };
    for (number, line) in lines.bytes.split(|byte| *byte == b'\n').enumerate() {
        let number = lines.first + number as u64;
        let line = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if line.trim_ascii().is_empty() {
            continue;
        }
        // A panic in a parser is a bug of ours, but it must cost an error, not the process.
        let outcome = std::panic::catch_unwind(|| parse(line))
            .unwrap_or_else(|_| Err("this line cannot be read".to_owned()));
        if let Some(work) = outcome.map_err(|what| (number, what))? {
            batch.push(work);
        }
    }
    Ok(batch)
}
