//! How well a monitor tells changes of real pages from what is no change: on timelines of pages with labels of people,
//! and on pages of two releases of documentation, whose classes a rule gives. The pages come from paths; they are read
//! as a scrape reads them, without a server, and compared as a check does.

mod classes;
mod pairs;
mod score;
mod timelines;
mod watched;

use anyhow::Result;
use score::Outcome;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// States of pages in order of time, with labels: rows {"page","url","step","changed","html"}.
    Timelines(timelines::Arguments),
    /// Pages of two releases of documentation.
    Pairs(pairs::Arguments),
}

/// What both print.
#[derive(Debug, clap::Args)]
pub struct Printing {
    /// Print the differences of these: right, wrong, missed, quiet or failed.
    #[arg(long)]
    show: Vec<Outcome>,
    /// Lines of a difference that are printed.
    #[arg(long, default_value_t = 40)]
    lines: usize,
    /// Compare the text alone, as if the whole page were not known.
    #[arg(long)]
    text_only: bool,
}

pub fn run(command: &Command) -> Result<()> {
    match command {
        Command::Timelines(arguments) => timelines::run(arguments),
        Command::Pairs(arguments) => pairs::run(arguments),
    }
}
