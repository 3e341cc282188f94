//! Reading pages of any kind within bounds of time and memory.

mod hostile;
mod memory;
mod round_trip;
