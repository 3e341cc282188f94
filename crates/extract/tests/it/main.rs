//! Records and fields from whole pages.

mod hostile;
mod tasks;
