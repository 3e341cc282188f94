//! CPU time of this process, all threads together.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// User and system time so far.
pub fn spent() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
