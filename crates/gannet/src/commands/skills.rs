//! `gannet skills`: how AI tools use this version of Gannet, as a file that they read.

use super::file_change::{self, Consent};
use anyhow::{Context, Result, ensure};
use mcp::skill::{FILE, NAME, TEXT, description};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where AI tools look for skills, below the home folder: what is there where the tool is, and the folder.
const SKILL_FOLDERS: [(&str, &str); 5] = [
    (".claude", ".claude/skills"),
    (".codex", ".codex/skills"),
    (".cursor", ".cursor/skills"),
    (".gemini", ".gemini/skills"),
    (".agents", ".agents/skills"),
];
/// A larger file is not one that this command wrote.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
pub struct Skills {
    #[command(subcommand)]
    command: Option<SkillsCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum SkillsCommand {
    /// List the skills and where they are installed; also without a subcommand
    List,
    /// Print the skill
    Show,
    /// Write the skill into the folders where the AI tools of this machine look for skills
    Install {
        /// Folder of skills to write into, instead of those of the tools that are here
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
        #[command(flatten)]
        consent: Consent,
    },
}

impl Skills {
    pub fn run(self) -> Result<ExitCode> {
        match self.command.unwrap_or(SkillsCommand::List) {
            SkillsCommand::List => list(),
            SkillsCommand::Show => crate::output::print(format_args!("{TEXT}")),
            SkillsCommand::Install { to, consent } => install(to, consent)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list() {
    println!("{NAME}: {}", description());
    for folder in folders_here() {
        let file = file_in(&folder);
        let state = match read(&file) {
            Ok(text) if text == TEXT => "installed",
            Ok(text) if text.is_empty() => "not installed",
            _ => "another version",
        };
        println!("  {state:<15} {}", file.display());
    }
}

fn install(to: Option<PathBuf>, consent: Consent) -> Result<()> {
    let folders = match to {
        Some(folder) => vec![folder],
        None => folders_here(),
    };
    ensure!(
        !folders.is_empty(),
        "none of the known AI tools is on this machine; name the folder of skills with --to"
    );
    for folder in folders {
        let file = file_in(&folder);
        let before = read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        file_change::apply(&file, &file.display().to_string(), &before, TEXT, consent)?;
    }
    Ok(())
}

/// The folders of skills of the tools that are on this machine.
fn folders_here() -> Vec<PathBuf> {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else { return Vec::new() };
    let here = SKILL_FOLDERS.iter().filter(|(sign, _)| home.join(sign).is_dir());
    here.map(|(_, folder)| home.join(folder)).collect()
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join(NAME).join(FILE)
}

/// The text of a file; empty where there is none.
fn read(path: &Path) -> Result<String> {
    if !path.exists() {
        return Ok(String::new());
    }
    ensure!(path.metadata()?.len() <= MAX_FILE_BYTES, "it is too large to be a skill");
    Ok(std::fs::read_to_string(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::Parser;

    /// The lines of shell blocks that start this program, as words.
    fn commands() -> Vec<Vec<String>> {
        let is_command = |line: &&str| line.starts_with("gannet ");
        TEXT.lines().filter(is_command).map(|line| words(line.split(" #").next().unwrap())).collect()
    }

    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        for c in line.trim().chars() {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                (None, ' ') if !word.is_empty() => words.push(std::mem::take(&mut word)),
                (None, ' ') => {}
                _ => word.push(c),
            }
        }
        words.push(word);
        words
    }

    #[test]
    fn every_command_of_the_skill_exists() {
        let commands = commands();
        assert!(commands.len() > 20, "{}", commands.len());
        for words in commands {
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{words:?}: {error}");
            }
        }
    }

    #[test]
    fn every_path_of_the_skill_exists() {
        let document = server::openapi();
        let mentioned = TEXT.split('`').filter_map(|code| {
            let (method, path) = code.split_once(' ')?;
            ["GET", "POST"].contains(&method).then_some((method.to_lowercase(), path))
        });
        let mut count = 0;
        for (method, path) in mentioned {
            let known = document["paths"].as_object().unwrap().iter().any(|(declared, methods)| {
                let same = |(one, other): (&str, &str)| {
                    one == other || (one.starts_with('{') && other.starts_with('{'))
                };
                let parts = (declared.split('/').count(), path.split('/').count());
                parts.0 == parts.1
                    && declared.split('/').zip(path.split('/')).all(same)
                    && methods.get(&method).is_some()
            });
            assert!(known, "{method} {path}");
            count += 1;
        }
        assert!(count >= 10, "{count}");
        assert!(description().len() > 100 && description().len() <= 1024);
    }
}
