//! Progress over many files: on a terminal a bar that is overwritten, otherwise a line for each file. Errors and
//! warnings are lines in both cases.

use super::render::Rendered;
use crate::exit_code::{self, without_error_numbers};
use crate::output::{count, is_quiet, print_message, shows_progress, to_line};
use anyhow::Result;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const BAR_CHARS: usize = 30;
/// Longer messages are cut.
const MAX_LINE_CHARS: usize = 500;

#[derive(Debug)]
pub struct FileProgress {
    files: usize,
    parsed: usize,
    failed: usize,
    begun: Instant,
    has_bar: bool,
    has_lines: bool,
}

impl FileProgress {
    /// `quiet_output`: whether nothing else is written to the terminal.
    pub fn start(files: usize, quiet_output: bool) -> Self {
        let on_terminal = shows_progress();
        let is_free = quiet_output || !std::io::stdout().is_terminal();
        let progress = Self {
            files,
            parsed: 0,
            failed: 0,
            begun: Instant::now(),
            has_bar: files > 1 && on_terminal && is_free,
            has_lines: files > 1 && !on_terminal && !is_quiet(),
        };
        progress.draw();
        progress
    }

    pub fn finish_file(&mut self, name: &str, result: &Result<Rendered>) {
        match result {
            Ok(rendered) => {
                self.parsed += 1;
                for warning in &rendered.warnings {
                    print_line(&format!("gannet: {name}: {warning}"));
                }
                if self.has_lines {
                    print_line(&format!("{name}: {}", count(rendered.pages.into(), "page")));
                }
            }
            Err(error) => {
                self.failed += 1;
                let text = without_error_numbers(&format!("{error:#}"));
                print_line(&format!("gannet: {name}: {text}"));
            }
        }
        self.draw();
    }

    /// Makes room for another line.
    pub fn clear(&self) {
        if self.has_bar {
            print_message(format_args!("\r\x1b[K"));
        }
    }

    /// Prints how it went over all files, and says it as an exit code. `written`: the folder of the outputs.
    pub fn end(self, written: Option<&Path>) -> ExitCode {
        self.clear();
        let Self { files, parsed, failed, begun, .. } = self;
        if files > 1 {
            let parsed = count(parsed as u64, "file");
            let place =
                written.map(|folder| format!("; written to {}", folder.display())).unwrap_or_default();
            note!("{parsed} parsed, {failed} failed, in {:.1} s{place}", begun.elapsed().as_secs_f64());
        }
        match (parsed, failed) {
            (_, 0) => ExitCode::SUCCESS,
            (0, _) => ExitCode::from(exit_code::FAILED),
            _ => ExitCode::from(exit_code::SOME_FAILED),
        }
    }

    fn draw(&self) {
        if !self.has_bar {
            return;
        }
        let done = self.parsed + self.failed;
        let filled = done * BAR_CHARS / self.files;
        let (full, empty) = ("#".repeat(filled), ".".repeat(BAR_CHARS - filled));
        let rate = done as f64 / self.begun.elapsed().as_secs_f64().max(0.001);
        let Self { files, failed, .. } = self;
        print_message(format_args!(
            "\r[{full}{empty}] {done}/{files} files  {failed} failed  {rate:.1} files/s\x1b[K"
        ));
    }
}

/// Names and warnings may come from whoever made the file.
fn print_line(text: &str) {
    eprintln!("{}", to_line(text, MAX_LINE_CHARS));
}
