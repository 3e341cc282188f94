//! `gannet mcp install`: adds this server to the settings of AI applications. Shows each change, asks, keeps
//! a copy of the file, and leaves alone what it cannot parse.

mod applications;
mod json_edit;

use super::file_change::{self, Consent};
use anyhow::{Context, Result, ensure};
use applications::{APPLICATIONS, Application, SettingsFormat};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The largest settings file; one application keeps its history in there.
const MAX_FILE_BYTES: u64 = 64 << 20;
const NAME: &str = "gannet";

#[derive(Debug, clap::Args)]
pub struct Install {
    /// Only these applications; see --list
    #[arg(value_name = "APPLICATION")]
    only: Vec<String>,
    /// URL of the server the tools are to use [default: as `gannet mcp` finds one]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// API key, written into the settings of the applications
    #[arg(long, value_name = "KEY", requires = "server")]
    key: Option<String>,
    /// Tools to offer: all, core, or names separated by commas
    #[arg(long, value_name = "LIST")]
    tools: Option<String>,
    #[command(flatten)]
    consent: Consent,
    /// List the applications, and which of them are here
    #[arg(long)]
    list: bool,
}

impl Install {
    pub fn run(self) -> Result<ExitCode> {
        let home = PathBuf::from(std::env::var_os("HOME").context("HOME is not set")?);
        if self.list {
            for application in APPLICATIONS {
                let state = if application.is_here(&home) { "here" } else { "-" };
                println!("{:<16} {state:<5} {}", application.id, application.file(&home).display());
            }
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(tools) = &self.tools {
            mcp::Selection::parse(tools)?;
        }
        let chosen = self.chosen(&home)?;
        ensure!(!chosen.is_empty(), "none of the known AI applications is on this machine; see --list");
        let entry = self.entry()?;
        let mut refused = false;
        for application in chosen {
            refused |= !self.add_to(application, &home, &entry)?;
        }
        Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn chosen(&self, home: &Path) -> Result<Vec<&'static Application>> {
        if self.only.is_empty() {
            return Ok(APPLICATIONS.iter().filter(|application| application.is_here(home)).collect());
        }
        let find = |id: &String| APPLICATIONS.iter().find(|application| application.id == id);
        self.only
            .iter()
            .map(|id| find(id).with_context(|| format!("{id} is not known; see --list")))
            .collect()
    }

    /// How an application starts the server.
    fn entry(&self) -> Result<ServerEntry> {
        let program = std::env::current_exe().context("cannot find the program that is running")?;
        let program = program.to_str().context("the path of this program is not UTF-8")?.to_owned();
        let mut arguments = vec!["mcp".to_owned()];
        for (flag, value) in [("--server", &self.server), ("--tools", &self.tools)] {
            if let Some(value) = value {
                arguments.extend([flag.to_owned(), value.clone()]);
            }
        }
        Ok(ServerEntry { program, arguments, key: self.key.clone() })
    }

    /// False where the settings of the application were left alone because they cannot be parsed.
    fn add_to(&self, application: &Application, home: &Path, entry: &ServerEntry) -> Result<bool> {
        let path = application.file(home);
        let shown = format!("{} ({})", application.name, path.display());
        let changed = read_settings(&path).and_then(|text| {
            let changed = changed_text(application.format, &text, entry)?;
            Ok((text, changed))
        });
        match changed {
            Ok((before, after)) => {
                file_change::apply(&path, &shown, &before, &after, self.consent)?;
                Ok(true)
            }
            Err(error) => {
                eprintln!("{shown}: left as it is: {error:#}");
                eprintln!("  add this yourself: {}", entry.to_json(application.format));
                Ok(false)
            }
        }
    }
}

/// The program with its arguments.
#[derive(Debug, Clone)]
struct ServerEntry {
    program: String,
    arguments: Vec<String>,
    key: Option<String>,
}

impl ServerEntry {
    fn to_json(&self, format: SettingsFormat) -> Value {
        let environment = self.key.as_ref().map(|key| json!({ "FIRECRAWL_API_KEY": key }));
        let mut entry = match format {
            SettingsFormat::OpenCode => {
                let mut command = vec![self.program.clone()];
                command.extend(self.arguments.clone());
                json!({ "type": "local", "command": command, "enabled": true })
            }
            SettingsFormat::Typed(_) => {
                json!({ "type": "stdio", "command": self.program, "args": self.arguments })
            }
            SettingsFormat::Plain(_) | SettingsFormat::Toml => {
                json!({ "command": self.program, "args": self.arguments })
            }
        };
        if let Some(environment) = environment {
            entry[if format == SettingsFormat::OpenCode { "environment" } else { "env" }] = environment;
        }
        entry
    }
}

/// The text of a settings file, or of a new one.
fn read_settings(path: &Path) -> Result<String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error.into()),
        Ok(facts) => ensure!(facts.is_file() && facts.len() <= MAX_FILE_BYTES, "not a file of settings"),
    }
    std::fs::read_to_string(path).context("cannot be read")
}

fn changed_text(format: SettingsFormat, text: &str, entry: &ServerEntry) -> Result<String> {
    match format {
        SettingsFormat::Toml => changed_toml(text, entry),
        SettingsFormat::Plain(section) | SettingsFormat::Typed(section) => {
            json_edit::with_entry(text, section, NAME, &entry.to_json(format))
        }
        SettingsFormat::OpenCode => json_edit::with_entry(text, "mcp", NAME, &entry.to_json(format)),
    }
}

/// A table at the end. A table that is there is never rewritten: its comments would be lost.
fn changed_toml(text: &str, entry: &ServerEntry) -> Result<String> {
    let table: toml::Table = text.parse().context("it is not valid TOML")?;
    let wanted = entry.to_json(SettingsFormat::Toml);
    if let Some(known) = table.get("mcp_servers").and_then(|servers| servers.get(NAME)) {
        let known = serde_json::to_value(known)?;
        ensure!(known == wanted, "it has another [mcp_servers.{NAME}]");
        return Ok(text.to_owned());
    }
    let mut added = format!("[mcp_servers.{NAME}]\n");
    // A JSON string is a basic string of TOML too, and a list of them a list.
    let _ = writeln!(added, "command = {}\nargs = {}", wanted["command"], wanted["args"]);
    if let Some(key) = &entry.key {
        let _ = writeln!(added, "env = {{ FIRECRAWL_API_KEY = {} }}", json!(key));
    }
    let gap = if text.is_empty() {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let changed = format!("{text}{gap}{added}");
    let read: toml::Table = changed.parse().context("the changed file would not be valid TOML")?;
    let made = read.get("mcp_servers").and_then(|servers| servers.get(NAME));
    ensure!(made.map(serde_json::to_value).transpose()? == Some(wanted), "the table cannot be added");
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: Option<&str>) -> ServerEntry {
        let arguments = vec!["mcp".to_owned(), "--tools".to_owned(), "core".to_owned()];
        ServerEntry { program: "/opt/my \"tools\"/gannet".to_owned(), arguments, key: key.map(str::to_owned) }
    }

    #[test]
    fn a_table_is_added_once_and_never_replaced() {
        let before = "# my settings\nmodel = \"x\"";
        let added = changed_toml(before, &entry(Some("k"))).unwrap();
        assert!(added.starts_with(before), "{added}");
        assert_eq!(changed_toml(&added, &entry(Some("k"))).unwrap(), added);
        assert!(changed_toml(&added, &entry(None)).is_err());
        assert!(changed_toml("= nonsense", &entry(None)).is_err());
        assert!(changed_toml("mcp_servers = 5", &entry(None)).is_err());
    }
}
