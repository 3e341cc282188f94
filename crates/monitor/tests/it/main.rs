//! Changes told from noise, and when checks are due.

mod hostile;
mod never_lost;
mod noise;
mod pages;
mod schedules;
mod walls;
