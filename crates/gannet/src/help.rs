//! `gannet --help`: the commands in groups, each group with an example.

use clap::Command;
use std::fmt::Write as _;

/// A heading, the commands below it, and a command line to begin with.
const GROUPS: [(&str, &[&str], &str); 5] = [
    (
        "Read the web and files, without a server",
        &["scrape", "crawl", "batch", "map", "search", "extract", "agent", "parse"],
        "gannet scrape https://example.com",
    ),
    ("The server", &["serve", "doctor", "migrate"], "gannet serve"),
    (
        "Work with a running server",
        &["crawls", "runs", "sessions", "browser", "monitor", "mcp"],
        "gannet crawls list",
    ),
    (
        "Who may use it",
        &["keys", "audit", "secrets", "web-bot-auth"],
        "gannet keys create laptop --expires-in-days 90",
    ),
    (
        "What it knows, and what it is used with",
        &["index", "research", "models", "skills", "openapi", "completions", "help"],
        "gannet index add docs/",
    ),
];

/// The template of the help of the whole program.
pub fn template(command: &Command) -> String {
    let names = GROUPS.iter().flat_map(|(_, names, _)| names.iter()).map(|name| name.len());
    let width = names.max().unwrap_or(0);
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (heading, names, example) in GROUPS {
        let _ = write!(text, "\n{heading}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<width$}  {about}");
        }
        let _ = writeln!(text, "  {:<width$}  Example: {example}", "");
    }
    text + "\nOptions:\n{options}\n\n`gannet help COMMAND` tells more. Documentation: docs/, and /docs of a server.\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn each_command_is_in_one_group() {
        let mut command = crate::Cli::command();
        command.build();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names, _)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }
}
