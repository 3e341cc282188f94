//! What was typed: the command, its arguments and its flags, checked against the table of commands. Does not
//! know what a command does.

mod table;

use crate::error::CommandError;
use std::collections::HashMap;
use std::time::Duration;
pub use table::command_names;
pub(crate) use table::{CommandSpec, find_spec};

const MAX_WORDS: usize = 1_000;
/// The longest time-out that a command can ask for.
const MAX_TIMEOUT: Duration = Duration::from_mins(5);

/// Flags that every command understands. The first three of those with a value belong to a browser that one
/// starts oneself; a session has its own, so they are accepted without effect.
const GLOBAL_FLAGS: &[(&str, bool)] = &[
    ("--session", true),
    ("--cdp", true),
    ("--namespace", true),
    ("--json", false),
    ("--max-output", true),
    ("--timeout", true),
];

/// A command as it was typed.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    pub(crate) spec: &'static CommandSpec,
    /// The name it was called by: `goto` is another name of `open`.
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
    flags: HashMap<&'static str, String>,
}

impl Arguments {
    pub(crate) fn parse(words: &[String]) -> Result<Self, CommandError> {
        if words.len() > MAX_WORDS {
            return Err(CommandError::Usage(format!("A command has at most {MAX_WORDS} words")));
        }
        // Flags may stand in front of the command, as in `agent-browser --json snapshot`.
        let mut flags = HashMap::new();
        let mut at = 0;
        while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
            if matches!(word.as_str(), "-h" | "--help") {
                break;
            }
            let Some((flag, takes_value)) = GLOBAL_FLAGS.iter().find(|(flag, _)| flag == word) else {
                return Err(CommandError::Usage(format!("Unknown option: {word}\n{}", table::overview())));
            };
            at += 1;
            let value = if *takes_value { take_value(words, &mut at, flag)? } else { String::new() };
            flags.insert(*flag, value);
        }
        let Some(name) = words.get(at) else {
            return Err(CommandError::Usage(table::overview()));
        };
        let name = if matches!(name.as_str(), "-h" | "--help") { "help" } else { name.as_str() };
        let Some(spec) = find_spec(name) else {
            return Err(CommandError::Usage(format!("Unknown command: {name}\n{}", table::overview())));
        };
        let mut parsed = Self { spec, name: name.to_owned(), values: Vec::new(), flags };
        parsed.parse_rest(&words[at + 1..])?;
        parsed.check()?;
        Ok(parsed)
    }

    fn parse_rest(&mut self, words: &[String]) -> Result<(), CommandError> {
        let mut at = 0;
        let mut only_values = false;
        while let Some(word) = words.get(at) {
            at += 1;
            if only_values || !word.starts_with('-') || word == "-" {
                self.values.push(word.clone());
                continue;
            }
            if word == "--" {
                only_values = true;
                continue;
            }
            if matches!(word.as_str(), "-h" | "--help") {
                self.flags.insert("--help", String::new());
                continue;
            }
            let own = self.spec.flags.iter().find(|flag| flag.names.contains(&word.as_str()));
            let known = own.map(|flag| (flag.names[0], flag.takes_value));
            let known = known.or_else(|| GLOBAL_FLAGS.iter().find(|(name, _)| name == word).copied());
            match known {
                Some((name, true)) => {
                    let value = take_value(words, &mut at, name)?;
                    self.flags.insert(name, value);
                }
                Some((name, false)) => {
                    self.flags.insert(name, String::new());
                }
                // A number, or text that begins with a dash, such as a list that is typed.
                None if self.spec.takes_text || word[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                    self.values.push(word.clone());
                }
                None => return Err(self.unknown_flag(word)),
            }
        }
        Ok(())
    }

    fn unknown_flag(&self, word: &str) -> CommandError {
        let own = self.spec.flags.iter().map(|flag| flag.names[0]);
        let all: Vec<&str> = own.chain(["--json", "--timeout", "--max-output"]).collect();
        CommandError::Usage(format!(
            "Unknown option for {}: {word}\nValid options: {}\nUsage: agent-browser {}",
            self.name,
            all.join(", "),
            self.spec.usage
        ))
    }

    fn check(&self) -> Result<(), CommandError> {
        if self.has("--help") {
            return Ok(());
        }
        if let Some(given) = self.values.first()
            && !self.spec.subcommands.is_empty()
            && !self.spec.subcommands.contains(&given.as_str())
        {
            return Err(CommandError::unknown_subcommand(given, self.spec.subcommands));
        }
        if self.values.len() < self.spec.min_values
            && self.spec.satisfied_by.iter().all(|flag| !self.has(flag))
        {
            return Err(CommandError::missing_arguments(&self.name, self.spec.usage));
        }
        if self.values.len() > self.spec.max_values {
            let extra = &self.values[self.spec.max_values..];
            let usage = self.spec.usage;
            return Err(CommandError::Usage(format!(
                "Too many arguments for {}: {}\nUsage: agent-browser {usage}",
                self.name,
                extra.join(" ")
            )));
        }
        self.timeout()?;
        Ok(())
    }

    /// The value at a place, or the error that shows the usage.
    pub(crate) fn value(&self, at: usize) -> Result<&str, CommandError> {
        let missing = || CommandError::missing_arguments(&self.name, self.spec.usage);
        self.values.get(at).map(String::as_str).ok_or_else(missing)
    }

    /// All values from a place on as one text: agents often forget the quotes.
    pub(crate) fn text_from(&self, at: usize) -> Result<String, CommandError> {
        self.value(at)?;
        Ok(self.values[at..].join(" "))
    }

    pub(crate) fn number(&self, at: usize, what: &str) -> Result<f64, CommandError> {
        parse_number(self.value(at)?, what)
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.contains_key(flag)
    }

    pub(crate) fn flag(&self, flag: &str) -> Option<&str> {
        self.flags.get(flag).map(String::as_str)
    }

    pub(crate) fn timeout(&self) -> Result<Option<Duration>, CommandError> {
        let Some(given) = self.flag("--timeout") else { return Ok(None) };
        let milliseconds: u64 =
            given.parse().map_err(|_| CommandError::invalid_value("--timeout", given, "milliseconds"))?;
        Ok(Some(Duration::from_millis(milliseconds).min(MAX_TIMEOUT)))
    }

    pub(crate) fn max_output(&self) -> Option<usize> {
        self.flag("--max-output")?.parse().ok()
    }
}

pub(crate) fn parse_number(given: &str, what: &str) -> Result<f64, CommandError> {
    let number = given.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| CommandError::invalid_value(what, given, "a number"))
}

fn take_value(words: &[String], at: &mut usize, flag: &str) -> Result<String, CommandError> {
    let value = words.get(*at).cloned();
    *at += 1;
    value.ok_or_else(|| CommandError::Usage(format!("{flag} needs a value")))
}

/// The text of `help`, for all commands or for one.
pub(crate) fn help(topic: Option<&str>) -> Result<String, CommandError> {
    let Some(topic) = topic else { return Ok(table::full_help()) };
    let spec = find_spec(topic)
        .ok_or_else(|| CommandError::Usage(format!("Unknown command: {topic}\n{}", table::overview())))?;
    Ok(table::command_help(spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, CommandError> {
        Arguments::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_may_stand_anywhere_and_text_may_look_like_one() {
        let parsed = parse("--json snapshot -i -d 3").unwrap();
        assert!(parsed.has("--json") && parsed.has("--interactive"));
        assert_eq!(parsed.flag("--depth"), Some("3"));
        assert_eq!(parse("fill #q --x -5").unwrap().values, ["#q", "--x", "-5"]);
        assert_eq!(parse("mouse wheel -100").unwrap().values, ["wheel", "-100"]);
        assert_eq!(parse("type #q -- --json").unwrap().values, ["#q", "--json"]);
        assert_eq!(
            parse("wait #x --timeout 500").unwrap().timeout().unwrap(),
            Some(Duration::from_millis(500))
        );
    }

    #[test]
    fn mistakes_name_what_exists() {
        let message = |line: &str| parse(line).unwrap_err().to_string();
        assert!(
            message("frobnicate").contains("Unknown command: frobnicate\nCommands: open,"),
            "{}",
            message("x")
        );
        assert!(
            message("click").starts_with("Missing arguments for: click\nUsage: agent-browser click <sel")
        );
        assert!(message("snapshot --foo").contains("Valid options: --interactive"));
        assert!(message("get price #x").contains("Valid options: text, html,"));
        assert!(message("back now").contains("Too many arguments for back: now"));
        assert!(message("wait").contains("Missing arguments"));
        assert!(parse("wait --text x").is_ok());
        assert!(message("wait 1 --timeout soon").contains("Expected milliseconds"));
    }

    #[test]
    fn every_command_has_help() {
        let all = help(None).unwrap();
        for spec in table::commands() {
            assert!(all.contains(spec.names[0]), "{}", spec.names[0]);
            assert!(spec.usage.starts_with(spec.names[0]), "{}", spec.usage);
            assert!(help(Some(spec.names[0])).unwrap().contains(spec.usage));
        }
        assert!(help(Some("nothing")).is_err());
    }
}
