//! The floor: the cost of fetching a page over a kept connection and building a plain tree of it, and nothing else.

use anyhow::{Result, anyhow};
use gannet_bench::connection::Connection;
use gannet_bench::pages::{path_of, site_urls};
use gannet_bench::plain_tree;
use gannet_bench::processes::CpuTimes;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const THREADS: usize = 2;
/// The kernel counts CPU time in hundredths of a second; one pass is too short for it.
const PASSES: usize = 3;

/// Prints the row that an external floor program prints.
pub fn measure(folder: &Path, address: &str) -> Result<()> {
    let paths: Vec<String> = site_urls(folder)?.iter().map(|url| path_of(url)).collect();
    let cpu = cpu_ms_per_page(&paths, address)?;
    println!("{{\"what\":\"fetch+tree\",\"threads\":{THREADS},\"cpu_ms_per_page\":{cpu:.3}}}");
    Ok(())
}

fn cpu_ms_per_page(paths: &[String], address: &str) -> Result<f64> {
    let (next, count) = (AtomicUsize::new(0), paths.len() * PASSES);
    let build_trees = || -> Result<()> {
        let mut connection = Connection::open(address)?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            let tree = plain_tree::parse(connection.get(&paths[number % paths.len()])?);
            std::hint::black_box(tree.children.borrow().len());
        }
    };
    let before = CpuTimes::read("self")?.own();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(build_trees)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    Ok((CpuTimes::read("self")?.own() - before) / count as f64)
}
