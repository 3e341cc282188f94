//! The binary: the command line, the settings, and the wiring of the other crates. The logic of the service
//! is in the other crates.

#[macro_use]
mod output;

mod collector;
mod commands;
mod data_dir;
mod database;
mod exit_code;
mod first_team;
mod help;
mod ocr;
mod opening;
mod private_files;
mod secret_keys;
mod settings;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use exit_code::Mistake;
use settings::{Flags, Settings};
use std::path::PathBuf;
use std::process::ExitCode;

/// For many small responses mimalloc is faster than the system's allocator and returns memory sooner.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Reads the web for programs and people: scrape, crawl, map and search pages, parse files, take data out of them,
/// work in a browser, watch pages for changes. As commands, or as a server that speaks the v2 API of the Firecrawl
/// clients.
#[derive(Debug, Parser)]
#[command(name = "gannet", version, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    /// Print results and errors only: no progress, no remarks
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, clap::Args)]
struct Globals {
    /// Configuration file [default: gannet.toml, if it exists]
    #[arg(long, global = true, help_heading = "Settings", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory for the database, objects and the first API key
    #[arg(long, global = true, help_heading = "Settings", value_name = "DIR")]
    data_dir: Option<String>,
    /// Database: postgres://… or sqlite:PATH
    #[arg(long, global = true, help_heading = "Settings", value_name = "URL")]
    database_url: Option<String>,
    /// Any other setting; `gannet doctor` lists all settings
    #[arg(long = "set", global = true, help_heading = "Settings", value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server
    Serve(commands::serve::Serve),
    /// Create, list, rotate and revoke API keys
    #[command(subcommand)]
    Keys(commands::keys::Keys),
    /// Show what happened to keys, sign-ins and settings of a team, and who did it
    Audit(commands::audit::Audit),
    /// Check the installation and show all settings
    Doctor(commands::doctor::Doctor),
    /// Import into, verify and query the research index
    #[command(subcommand)]
    Research(commands::research::ResearchCommand),
    /// Search the web or the local index
    Search(commands::search::Search),
    /// Import into, show and rebuild the local search index
    #[command(subcommand)]
    Index(commands::index::Index),
    /// Scrape pages
    Scrape(commands::scrape::Scrape),
    /// Install, list and remove the small models that run in the process
    #[command(subcommand)]
    Models(commands::models::ModelsCommand),
    /// Crawl a site
    Crawl(commands::crawl::Crawl),
    /// Scrape a list of pages
    Batch(commands::batch::Batch),
    /// Answer a question or collect data from the web
    Agent(commands::agent::Agent),
    /// List, follow and end crawls and batches
    Crawls(commands::jobs::Crawls),
    /// List, follow and end agent runs and extractions
    Runs(commands::jobs::Runs),
    /// List, follow and end browser sessions
    Sessions(commands::jobs::Sessions),
    /// Open and use browser sessions
    Browser(commands::browser::Browser),
    /// Create, show, run and delete monitors of pages, sites and searches
    #[command(subcommand)]
    Monitor(commands::monitor::Monitor),
    /// List the URLs of a site
    Map(commands::map::Map),
    /// Convert files to markdown
    Parse(commands::parse::Parse),
    /// Extract structured data from pages
    Extract(commands::extract::Extract),
    /// Rotate the key that stored secrets are encrypted with
    #[command(subcommand)]
    Secrets(commands::secrets::Secrets),
    /// Make the key that requests for pages are signed with, and show its directory
    #[command(subcommand)]
    WebBotAuth(commands::web_bot_auth::WebBotAuthCommand),
    /// Migrate the database to this version's schema
    Migrate,
    /// Offer tools to AI applications (Model Context Protocol), over standard input and output
    Mcp(commands::mcp::Mcp),
    /// Show and install the skill that tells AI tools how to use Gannet
    Skills(commands::skills::Skills),
    /// Print the OpenAPI document
    Openapi,
    /// Print shell completions
    Completions { shell: clap_complete::Shell },
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

impl Globals {
    fn settings(self, more: Vec<(String, String)>) -> Result<Settings> {
        let mut values = self.set;
        let own = [("data_dir", self.data_dir), ("database_url", self.database_url)];
        values.extend(own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        values.extend(more);
        // Skip values that are not UTF-8: all settings are text.
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let loaded = settings::load(&Flags { config: self.config, values }, &environment.collect());
        loaded.map_err(|error| Mistake(error).into())
    }
}

/// The command line, with each command offering the settings that it uses. All of them are accepted everywhere.
fn command_line() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    let template = help::template(&command);
    command.help_template(template).mut_subcommands(|command| {
        let unused: &[&str] = match command.get_name() {
            "openapi" | "completions" | "skills" => &["config", "data_dir", "database_url", "set"],
            // These keep their data in a folder of their own.
            "crawl" | "batch" => &["data_dir", "database_url"],
            "agent" | "browser" | "crawls" | "runs" | "sessions" | "extract" | "map" | "models"
            | "monitor" | "parse" | "research" | "scrape" | "web-bot-auth" => &["database_url"],
            _ => &[],
        };
        hide_options(command, unused)
    })
}

fn hide_options(command: clap::Command, names: &[&str]) -> clap::Command {
    let hide = |option: clap::Arg| {
        let is_named = names.contains(&option.get_id().as_str());
        if is_named { option.hide(true) } else { option }
    };
    command.mut_args(hide).mut_subcommands(|command| hide_options(command, names))
}

fn main() -> ExitCode {
    // In the shell of a browser session the binary is linked as `agent-browser`: a client without rights.
    let mut words = std::env::args_os();
    if browser_commands::is_client(words.next().as_deref()) {
        return browser_commands::client_main(
            words.map(|word| word.to_string_lossy().into_owned()).collect(),
        );
    }
    // First of all: a sandboxed process gives up its rights before it has a second thread.
    if let Some(code) = sandbox::run_if_sandboxed(prepare_role) {
        return code;
    }
    keep_memory_small();
    let cli = Cli::from_arg_matches(&command_line().get_matches()).unwrap_or_else(|error| error.exit());
    output::set_quiet(cli.quiet);
    match run(cli) {
        Ok(code) => code,
        Err(error) => exit_code::print_error(&error),
    }
}

/// Memory in ordinary pages, here and in what this process starts. The allocator would ask for huge ones, of 2 MB, of which
/// the kernel holds all once a little is used: twice the memory for the same work, in the same time, and it moves up and down
/// with what the kernel merges in the background.
fn keep_memory_small() {
    // A kernel without huge pages has nothing to switch off.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// What a sandboxed process of this binary works on. With pictures `gannet-ocr` does it.
fn prepare_role(role: &str, _: &[String]) -> Result<sandbox::Handler, String> {
    match role {
        document_process::ROLE => Ok(document_process::prepare(None)),
        document_process::overlay::ROLE => Ok(document_process::overlay::prepare(None)),
        _ => Err(format!("there is no role {role}")),
    }
}

impl Command {
    /// Whether it writes only to the data directory, and no output file that the user asked for.
    fn writes_own_files_only(&self) -> bool {
        match self {
            Self::Research(research) => research.writes_own_files_only(),
            Self::Scrape(_)
            | Self::Crawl(_)
            | Self::Batch(_)
            | Self::Map(_)
            | Self::Parse(_)
            | Self::Extract(_)
            | Self::Skills(_) => false,
            Self::Mcp(mcp) => mcp.writes_own_files_only(),
            _ => true,
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    // Must come before the first thread and the first file.
    if cli.command.writes_own_files_only() {
        private_files::make_new_files_private();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match cli.command {
            Command::Serve(serve) => serve.run(cli.globals).await,
            Command::Audit(audit) => audit.run(&cli.globals.settings(Vec::new())?).await,
            Command::Keys(keys) => keys.run(&cli.globals.settings(Vec::new())?).await,
            Command::Doctor(doctor) => doctor.run(&cli.globals.settings(Vec::new())?).await,
            Command::Research(research) => research.run(&cli.globals.settings(Vec::new())?),
            Command::Search(search) => search.run(cli.globals.settings(Vec::new())?).await,
            Command::Index(index) => index.run(&cli.globals.settings(Vec::new())?).await,
            Command::Scrape(scrape) => scrape.run(&cli.globals.settings(Vec::new())?).await,
            Command::Models(models) => models.run(&cli.globals.settings(Vec::new())?),
            Command::Crawl(crawl) => crawl.run(cli.globals).await,
            Command::Batch(batch) => batch.run(cli.globals).await,
            Command::Agent(agent) => agent.run(cli.globals).await,
            Command::Browser(browser) => browser.run(&cli.globals.settings(Vec::new())?).await,
            Command::Monitor(monitor) => monitor.run(&cli.globals.settings(Vec::new())?).await,
            Command::Map(map) => map.run(&cli.globals.settings(Vec::new())?).await,
            Command::Parse(parse) => parse.run(|| cli.globals.settings(Vec::new())).await,
            Command::Extract(extract) => extract.run(cli.globals).await,
            Command::Crawls(crawls) => crawls.run(&cli.globals.settings(Vec::new())?).await,
            Command::Runs(runs) => runs.run(&cli.globals.settings(Vec::new())?).await,
            Command::Sessions(sessions) => sessions.run(&cli.globals.settings(Vec::new())?).await,
            Command::Secrets(secrets) => secrets.run(&cli.globals.settings(Vec::new())?).await,
            Command::WebBotAuth(command) => command.run(|| cli.globals.settings(Vec::new())),
            Command::Migrate => commands::migrate::run(&cli.globals.settings(Vec::new())?).await,
            Command::Mcp(mcp) => mcp.run(cli.globals).await,
            Command::Skills(skills) => skills.run(),
            Command::Openapi => commands::openapi::run(),
            Command::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut command_line(), "gannet", &mut script);
                output::print(format_args!("{}", String::from_utf8_lossy(&script)));
                Ok(ExitCode::SUCCESS)
            }
        }
    })
}
