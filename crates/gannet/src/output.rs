//! What commands print. A reader that leaves early (`gannet map … | head`) ends the output, not the command: its
//! work is finished and its exit code says how that went. The standard `println!` and `eprintln!` panic instead,
//! so this crate uses the ones below everywhere. Results go to standard output; errors, remarks and progress to
//! standard error, and `--quiet` leaves errors of these.

use anyhow::{Context as _, Result};
use std::fmt::Arguments;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Prints a line to standard output, see [`print`].
macro_rules! println {
    ($($text:tt)+) => { $crate::output::print(format_args!("{}\n", format_args!($($text)+))) };
}

/// Prints a line to standard error. A message that cannot be written is dropped.
macro_rules! eprintln {
    () => { $crate::output::print_message(format_args!("\n")) };
    ($($text:tt)+) => { $crate::output::print_message(format_args!("{}\n", format_args!($($text)+))) };
}

/// Prints a line to standard error that says how the work goes or went, unless `--quiet` was given.
macro_rules! note {
    ($($text:tt)+) => {
        if !$crate::output::is_quiet() {
            $crate::output::print_message(format_args!("{}\n", format_args!($($text)+)));
        }
    };
}

/// For the rest of this process.
pub fn set_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Whether there is somebody to show a line of progress to, which is written again and again.
pub fn shows_progress() -> bool {
    !is_quiet() && io::stderr().is_terminal()
}

/// Writes a file that the user has named, and says so.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    note!("wrote {}", path.display());
    Ok(())
}

/// `1 page`, `2 pages`.
pub fn count(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
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

/// A single line without control characters, which pages and files could use to manipulate the terminal.
pub fn to_line(text: &str, max: usize) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = plain.take(max.saturating_add(1)).collect();
    if line.chars().count() > max {
        line.pop();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        assert_eq!([0, 1, 2].map(|number| count(number, "page")), ["0 pages", "1 page", "2 pages"]);
    }

    #[test]
    fn a_page_cannot_write_to_the_terminal() {
        assert_eq!(to_line("a\x1b[31mb\r\nc", 20), "a [31mb  c");
        assert_eq!(to_line("abcdef", 3), "abc…");
        assert_eq!(to_line("abc", 3), "abc");
    }
}
