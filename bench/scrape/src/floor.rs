//! The floor: the cost of fetching a page over a kept connection and building its tree, and nothing else.

use anyhow::{Context, Result};
use html5ever::tendril::TendrilSink;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const THREADS: usize = 2;
/// The kernel counts CPU time in hundredths of a second; one pass is too short for it.
const PASSES: usize = 3;

/// Prints the row that an external floor program prints.
pub fn measure(folder: &Path, address: &str) -> Result<()> {
    let urls = std::fs::read_to_string(folder.join("urls.txt")).context("urls.txt of the site")?;
    let paths: Vec<String> = urls.lines().map(crate::site::path_of).collect();
    let cpu = cpu_ms_per_page(&paths, address)?;
    println!("{{\"what\":\"fetch+tree\",\"threads\":{THREADS},\"cpu_ms_per_page\":{cpu:.3}}}");
    Ok(())
}

fn cpu_ms_per_page(paths: &[String], address: &str) -> Result<f64> {
    let (next, all) = (AtomicUsize::new(0), paths.len() * PASSES);
    let before = crate::processes::cpu_ms(std::process::id())?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let mut client = Client::connect(address)?;
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= all {
                            return Ok(());
                        }
                        let bytes = client.get(&paths[number % paths.len()])?;
                        let tree = html5ever::parse_document(
                            markup5ever_rcdom::RcDom::default(),
                            html5ever::ParseOpts::default(),
                        );
                        std::hint::black_box(tree.from_utf8().one(bytes).document.children.borrow().len());
                    }
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?)
    })?;
    Ok((crate::processes::cpu_ms(std::process::id())? - before) / all as f64)
}

/// One kept connection, blocking.
struct Client {
    reader: BufReader<TcpStream>,
    address: String,
    body: Vec<u8>,
}

impl Client {
    fn connect(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: BufReader::with_capacity(1 << 16, stream),
            address: address.to_owned(),
            body: Vec::new(),
        })
    }

    fn get(&mut self, path: &str) -> Result<&[u8]> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        self.reader.get_mut().write_all(request.as_bytes())?;
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            self.reader.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        self.body.resize(length, 0);
        self.reader.read_exact(&mut self.body)?;
        Ok(&self.body)
    }
}
