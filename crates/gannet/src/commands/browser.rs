//! `gannet browser`: browser sessions of a running server.

use super::api::{ApiClient, ServerChoice};
use crate::output::to_line;
use crate::settings::Settings;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::io::Read as _;
use std::process::ExitCode;

/// Characters of a text of the server in a table.
const MAX_CELL_CHARS: usize = 60;

#[derive(Debug, clap::Args)]
pub struct Browser {
    #[command(subcommand)]
    command: BrowserCommand,
    #[command(flatten)]
    server: ServerChoice,
}

#[derive(Debug, clap::Subcommand)]
enum BrowserCommand {
    /// Begin a session and print its id and links
    Open {
        /// Page to open in it
        url: Option<String>,
        /// Seconds after which it ends, 30 to 3600
        #[arg(long)]
        ttl: Option<u32>,
        /// Saved state to start from, and to save to at the end
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Use the profile without saving it
        #[arg(long, requires = "profile")]
        no_save: bool,
        /// Do not record the session
        #[arg(long)]
        no_recording: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run code or a browser command in a session
    Run {
        /// The code, such as `snapshot` or `click @e1`; - reads it from standard input
        code: String,
        /// Id of the session, or the start of it [default: the only one]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Language of the code
        #[arg(long, default_value = "bash", value_parser = ["bash", "node", "python"])]
        language: String,
        /// Seconds it may take, 1 to 300
        #[arg(long, default_value = "30")]
        timeout: u32,
    },
    /// Print the link of the live view of a session
    View {
        /// Id of the session, or the start of it [default: the only one]
        session: Option<String>,
        /// A link to look only
        #[arg(long)]
        read_only: bool,
        /// Links that play what was recorded of its pages
        #[arg(long)]
        replay: bool,
    },
    /// List sessions
    List {
        /// Ended ones too
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End a session
    Close {
        /// Id of the session, or the start of it [default: the only one]
        session: Option<String>,
    },
    /// List or delete saved profiles
    Profiles {
        /// Delete this one
        #[arg(long, value_name = "NAME")]
        delete: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Browser {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let client = self.server.connect(settings)?;
        match self.command {
            BrowserCommand::Open { url, ttl, profile, no_save, no_recording, json } => {
                let profile = profile.map(|name| json!({ "name": name, "saveChanges": !no_save }));
                open(&client, url.as_deref(), ttl, profile, !no_recording, json).await
            }
            BrowserCommand::Run { code, session, language, timeout } => {
                let id = find(&client, session.as_deref(), "active").await?;
                run_code(&client, &id, &code, &language, timeout).await
            }
            BrowserCommand::View { session, read_only, replay } => {
                view(&client, session.as_deref(), read_only, replay).await
            }
            BrowserCommand::List { all, json } => list(&client, all, json).await,
            BrowserCommand::Close { session } => {
                let id = find(&client, session.as_deref(), "active").await?;
                let ended = client.delete(&format!("/v2/browser/{id}")).await?;
                let seconds = ended["sessionDurationMs"].as_i64().unwrap_or_default() / 1000;
                println!("ended after {seconds} s, {} credits", ended["creditsBilled"]);
                Ok(ExitCode::SUCCESS)
            }
            BrowserCommand::Profiles { delete: Some(name), .. } => {
                let name = url_segment(&name)?;
                client.delete(&format!("/v2/profiles/{name}")).await?;
                println!("deleted");
                Ok(ExitCode::SUCCESS)
            }
            BrowserCommand::Profiles { delete: None, json } => profiles(&client, json).await,
        }
    }
}

async fn open(
    client: &ApiClient,
    url: Option<&str>,
    ttl: Option<u32>,
    profile: Option<Value>,
    record: bool,
    as_json: bool,
) -> Result<ExitCode> {
    let url = url.map(page_url).transpose()?;
    let mut wanted = json!({ "recordSession": record });
    if let Some(ttl) = ttl {
        wanted["ttl"] = ttl.into();
    }
    if let Some(profile) = profile {
        wanted["profile"] = profile;
    }
    let session = client.post("/v2/browser", &wanted).await?;
    if as_json {
        println!("{session}");
    } else {
        for (label, field) in [
            ("session", "id"),
            ("live view", "interactiveLiveViewUrl"),
            ("read only", "liveViewUrl"),
            ("CDP", "cdpUrl"),
            ("until", "expiresAt"),
        ] {
            println!("{label:<10} {}", session[field].as_str().unwrap_or_default());
        }
    }
    let Some(url) = url else { return Ok(ExitCode::SUCCESS) };
    let id = session["id"].as_str().context("the server gave no id")?;
    let body = json!({ "language": "bash", "code": format!("open '{url}'") });
    let opened = client.post(&format!("/v2/browser/{id}/execute"), &body).await?;
    ensure!(opened["exitCode"] == 0, "{}", opened["stderr"].as_str().unwrap_or_default().trim());
    Ok(ExitCode::SUCCESS)
}

/// A web page, as it can stand between single quotes of a shell.
fn page_url(text: &str) -> Result<String> {
    let url = url::Url::parse(text).or_else(|_| url::Url::parse(&format!("https://{text}")));
    let url = url.with_context(|| format!("{text} is not a URL"))?;
    ensure!(matches!(url.scheme(), "http" | "https"), "{text} is not the URL of a web page");
    Ok(url.as_str().replace('\'', "%27"))
}

/// A name as a part of a path.
fn url_segment(name: &str) -> Result<String> {
    let mut url = url::Url::parse("http://localhost/")?;
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.clear().push(name);
    }
    Ok(url.path().trim_start_matches('/').to_owned())
}

async fn run_code(
    client: &ApiClient,
    id: &str,
    code: &str,
    language: &str,
    timeout: u32,
) -> Result<ExitCode> {
    let mut text = code.to_owned();
    if code == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    }
    let body = json!({ "code": text, "language": language, "timeout": timeout });
    let outcome = client.post(&format!("/v2/browser/{id}/execute"), &body).await?;
    let field = |name: &str| outcome[name].as_str().unwrap_or_default();
    let (stdout, result) = (field("stdout"), field("result"));
    crate::output::print(format_args!("{stdout}"));
    // Where nothing was returned it repeats the output.
    if !result.is_empty() && result != stdout.trim_end_matches('\n') {
        println!("{result}");
    }
    crate::output::print_message(format_args!("{}", field("stderr")));
    let code = outcome["exitCode"].as_i64().unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

async fn view(client: &ApiClient, wanted: Option<&str>, read_only: bool, replay: bool) -> Result<ExitCode> {
    if replay {
        let id = find(client, wanted, "").await?;
        let recorded = client.get(&format!("/v2/interact/{id}/replay")).await?;
        for page in recorded["pages"].as_array().into_iter().flatten() {
            let address = page["pageUrl"].as_str().unwrap_or_default();
            println!("{}  {}", page["url"].as_str().unwrap_or_default(), to_line(address, MAX_CELL_CHARS));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let session = find_session(client, wanted, "active").await?;
    let field = if read_only { "liveViewUrl" } else { "interactiveLiveViewUrl" };
    println!("{}", session[field].as_str().unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

async fn list(client: &ApiClient, all: bool, as_json: bool) -> Result<ExitCode> {
    let listed = client.get(if all { "/v2/browser" } else { "/v2/browser?status=active" }).await?;
    if as_json {
        println!("{}", listed["sessions"]);
        return Ok(ExitCode::SUCCESS);
    }
    for session in listed["sessions"].as_array().into_iter().flatten() {
        let field = |name: &str| session[name].as_str().unwrap_or_default();
        let end = if field("status") == "active" { field("expiresAt") } else { field("destroyedReason") };
        let end = to_line(end, MAX_CELL_CHARS);
        println!("{}  {:<9}  {}  {end}", field("id"), field("status"), field("createdAt"));
    }
    Ok(ExitCode::SUCCESS)
}

async fn profiles(client: &ApiClient, as_json: bool) -> Result<ExitCode> {
    let listed = client.get("/v2/profiles").await?;
    if as_json {
        println!("{}", listed["profiles"]);
        return Ok(ExitCode::SUCCESS);
    }
    for profile in listed["profiles"].as_array().into_iter().flatten() {
        let name = to_line(profile["name"].as_str().unwrap_or_default(), MAX_CELL_CHARS);
        let used = profile["lastUsed"].as_str().unwrap_or_default();
        let note = if profile["inUse"] == true { "  in use" } else { "" };
        println!("{name:<30}  {:>9} bytes  {used}{note}", profile["bytes"]);
    }
    Ok(ExitCode::SUCCESS)
}

async fn find(client: &ApiClient, wanted: Option<&str>, status: &str) -> Result<String> {
    let session = find_session(client, wanted, status).await?;
    Ok(session["id"].as_str().context("the server gave no id")?.to_owned())
}

/// The session whose id begins with `wanted`, or the only one.
async fn find_session(client: &ApiClient, wanted: Option<&str>, status: &str) -> Result<Value> {
    let query = if status.is_empty() { String::new() } else { format!("?status={status}") };
    let listed = client.get(&format!("/v2/browser{query}")).await?;
    let wanted = wanted.unwrap_or_default();
    let sessions = listed["sessions"].as_array().into_iter().flatten();
    let mut found =
        sessions.filter(|session| session["id"].as_str().is_some_and(|id| id.starts_with(wanted)));
    match (found.next(), found.next()) {
        (Some(session), None) => Ok(session.clone()),
        (None, _) if wanted.is_empty() => bail!("there is no session; `gannet browser open` begins one"),
        (None, _) => bail!("there is no session {wanted}"),
        (Some(_), Some(_)) => {
            bail!("there are several sessions; name one, as `gannet browser list` shows them")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_cannot_break_out_of_their_place() {
        assert_eq!(page_url("example.com").unwrap(), "https://example.com/");
        assert_eq!(page_url("http://a.example/it's").unwrap(), "http://a.example/it%27s");
        assert!(page_url("file:///etc/passwd").is_err());
        assert_eq!(url_segment("my shop/../x").unwrap(), "my%20shop%2F..%2Fx");
    }
}
