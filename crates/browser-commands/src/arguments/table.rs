//! The table of commands: names, usage, flags. Parsing, help and errors are made from it.

mod acting;
mod browser;
mod reading;

use std::fmt::Write as _;

/// A flag of a command; the first name is the one that code asks for.
#[derive(Debug)]
pub(crate) struct Flag {
    pub(crate) names: &'static [&'static str],
    pub(crate) takes_value: bool,
}

/// One command as it is typed.
#[derive(Debug)]
pub(crate) struct CommandSpec {
    pub(crate) names: &'static [&'static str],
    pub(crate) usage: &'static str,
    pub(crate) about: &'static str,
    pub(crate) flags: &'static [Flag],
    /// What the first value may be; empty when it is anything.
    pub(crate) subcommands: &'static [&'static str],
    pub(crate) min_values: usize,
    /// Flags that make up for missing values.
    pub(crate) satisfied_by: &'static [&'static str],
    pub(crate) max_values: usize,
    /// Unknown words that begin with a dash are text.
    pub(crate) takes_text: bool,
}

const fn switch(names: &'static [&'static str]) -> Flag {
    Flag { names, takes_value: false }
}

const fn option(names: &'static [&'static str]) -> Flag {
    Flag { names, takes_value: true }
}

const fn command(
    names: &'static [&'static str],
    usage: &'static str,
    about: &'static str,
    values: (usize, usize),
) -> CommandSpec {
    CommandSpec {
        names,
        usage,
        about,
        flags: &[],
        subcommands: &[],
        min_values: values.0,
        satisfied_by: &[],
        max_values: values.1,
        takes_text: false,
    }
}

impl CommandSpec {
    const fn flags(self, flags: &'static [Flag]) -> Self {
        Self { flags, ..self }
    }

    const fn subcommands(self, subcommands: &'static [&'static str]) -> Self {
        Self { subcommands, ..self }
    }

    const fn or_flags(self, satisfied_by: &'static [&'static str]) -> Self {
        Self { satisfied_by, ..self }
    }

    const fn text(self) -> Self {
        Self { takes_text: true, max_values: usize::MAX, ..self }
    }
}

/// All commands, in the order of the help.
pub(super) fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    [acting::COMMANDS, reading::COMMANDS, browser::COMMANDS].into_iter().flatten()
}

pub(crate) fn find_spec(name: &str) -> Option<&'static CommandSpec> {
    commands().find(|spec| spec.names.contains(&name))
}

/// Every word that is a command.
pub fn command_names() -> Vec<String> {
    commands().flat_map(|spec| spec.names).map(|name| (*name).to_owned()).collect()
}

/// The names of all commands in one line.
pub(super) fn overview() -> String {
    let names: Vec<&str> = commands().map(|spec| spec.names[0]).collect();
    format!("Commands: {}\nMore: agent-browser help [command]", names.join(", "))
}

pub(super) fn full_help() -> String {
    let mut help = String::from("Usage: agent-browser <command> [arguments] [--json] [--timeout <ms>]\n\n");
    for spec in commands() {
        // Writing to a string cannot fail.
        let _ = writeln!(help, "  {}\n      {}", spec.usage, spec.about);
    }
    help.push_str(
        "\nElements are named by refs of the last snapshot (@e1), CSS selectors, text=…, or xpath=….\n\
         Files are read and written below the session's folder only.",
    );
    help
}

pub(super) fn command_help(spec: &CommandSpec) -> String {
    let mut help =
        format!("agent-browser {0} - {1}\n\nUsage: agent-browser {2}", spec.names[0], spec.about, spec.usage);
    if spec.names.len() > 1 {
        let _ = write!(help, "\nAlso: {}", spec.names[1..].join(", "));
    }
    if !spec.subcommands.is_empty() {
        let _ = write!(help, "\nValid: {}", spec.subcommands.join(", "));
    }
    if !spec.flags.is_empty() {
        let flags: Vec<String> = spec.flags.iter().map(|flag| flag.names.join(", ")).collect();
        let _ = write!(help, "\nOptions: {}", flags.join("; "));
    }
    help
}
