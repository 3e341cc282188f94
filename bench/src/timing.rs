//! Clock time and CPU time of measured work, and the statistics of measured figures. Starts nothing and reads no pages.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// User and system time of this process so far, all threads together.
pub fn process_cpu() -> Duration {
    cpu(ClockId::ProcessCPUTime)
}

/// User and system time of this thread so far: unlike the clock, not disturbed by other load on the machine.
pub fn thread_cpu() -> Duration {
    cpu(ClockId::ThreadCPUTime)
}

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Measures a piece of work.
#[derive(Debug)]
pub struct Stopwatch {
    read_cpu: fn() -> Duration,
    cpu: Duration,
    wall: Instant,
}

/// Milliseconds that a piece of work took.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub wall: f64,
    pub cpu: f64,
}

impl Stopwatch {
    /// With the CPU time of all threads.
    pub fn for_process() -> Self {
        Self::start(process_cpu)
    }

    /// With the CPU time of the thread that starts and reads it.
    pub fn for_thread() -> Self {
        Self::start(thread_cpu)
    }

    fn start(read_cpu: fn() -> Duration) -> Self {
        Self { read_cpu, cpu: read_cpu(), wall: Instant::now() }
    }

    pub fn cost(&self) -> Cost {
        let wall = milliseconds(self.wall.elapsed());
        Cost { wall, cpu: milliseconds((self.read_cpu)().saturating_sub(self.cpu)) }
    }
}

/// Figures in ascending order.
#[derive(Debug, Clone)]
pub struct Figures(Vec<f64>);

impl FromIterator<f64> for Figures {
    fn from_iter<T: IntoIterator<Item = f64>>(figures: T) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        Self(figures)
    }
}

impl Figures {
    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The figure that this share of all is below, in percent; nothing of no figures.
    pub fn percentile(&self, share: usize) -> f64 {
        let place = (self.0.len() * share / 100).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or_default()
    }

    /// The middle one; of an even number the upper of the two.
    pub fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// A row of a table: mean, median and 95th percentile below the title of [`print_heading`].
    pub fn print_row(&self, name: &str, width: usize, decimals: usize) {
        let (mean, p50, p95) = (self.mean(), self.percentile(50), self.percentile(95));
        println!("{name:<width$} {mean:>9.decimals$} {p50:>9.decimals$} {p95:>9.decimals$}");
    }
}

pub fn print_heading(title: &str, width: usize) {
    println!("{title:<width$} {:>9} {:>9} {:>9}", "mean", "p50", "p95");
}
