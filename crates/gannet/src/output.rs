//! What commands print. A reader that leaves early (`gannet map … | head`) ends the output, not the command: its
//! work is finished and its exit code says how that went. The standard `println!` and `eprintln!` panic instead,
//! so this crate uses the ones below everywhere.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::process::exit;

/// Prints a line to standard output, see [`print`].
macro_rules! println {
    ($($text:tt)+) => { $crate::output::print(format_args!("{}\n", format_args!($($text)+))) };
}

/// Prints a line to standard error. A message that cannot be written is dropped.
macro_rules! eprintln {
    () => { $crate::output::print_message(format_args!("\n")) };
    ($($text:tt)+) => { $crate::output::print_message(format_args!("{}\n", format_args!($($text)+))) };
}

/// Writes to standard output. Where this fails for another reason than a reader that has left (a full disk), the
/// command ends with an error: its output would not be complete.
pub fn print(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Err(error) if !is_closed_pipe(&error) => {
            print_message(format_args!("gannet: cannot write to standard output: {error}\n"));
            exit(1);
        }
        _ => {}
    }
}

pub fn print_message(text: Arguments<'_>) {
    let mut out = io::stderr().lock();
    let _ = out.write_fmt(text).and_then(|()| out.flush());
}

/// Whether nobody reads standard output any more.
pub fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
