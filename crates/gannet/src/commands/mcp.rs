//! `gannet mcp`: tools for AI applications over standard input and output, by a running server or with the
//! engine in this process.

use super::api::{ApiClient, ServerChoice};
use super::mcp_install::Install;
use super::serve::stop_on_signals;
use super::server_process::ServerProcess;
use crate::Globals;
use crate::collector::start_log;
use crate::data_dir;
use crate::settings::Settings;
use anyhow::{Context, Result};
use mcp::{Api, Handler, HandlerOptions, Selection, Sent, Unreachable};
use otlp::Collected;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A server of this machine answers at once, or there is none.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub struct Mcp {
    #[command(subcommand)]
    command: Option<McpCommand>,
    /// URL of the server [default: the one on this machine if it runs, else the engine in this process]
    #[arg(long, value_name = "URL", env = "FIRECRAWL_API_URL")]
    server: Option<String>,
    /// API key [default: `api_key` of the settings, or the first key in the data directory]
    #[arg(long, value_name = "KEY", env = "FIRECRAWL_API_KEY", hide_env_values = true)]
    key: Option<String>,
    /// Tools to offer: all, core, or names separated by commas
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = Selection::parse)]
    tools: Selection,
}

#[derive(Debug, clap::Subcommand)]
enum McpCommand {
    /// Add this server to the settings of the AI applications on this machine
    Install(Install),
}

impl Mcp {
    /// Settings files of other applications keep the rights that they are given by them.
    pub fn writes_own_files_only(&self) -> bool {
        self.command.is_none()
    }

    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        if let Some(McpCommand::Install(install)) = self.command {
            return install.run();
        }
        let settings = globals.clone().settings(Vec::new())?;
        let collected = start_log(&settings);
        let stop = stop_on_signals()?;
        let options = HandlerOptions { selection: self.tools, files: true };
        let client = choose_server(self.server, self.key, &settings).await?;
        let served = match client {
            Some(client) => mcp::serve_stdio(Handler::new(Arc::new(client), options), stop).await,
            None => serve_engine(globals, &settings, options, stop, collected).await?,
        };
        served.map_err(anyhow::Error::msg)?;
        // Not by returning: a thread may be waiting for standard input, and nothing can wake it.
        std::process::exit(0);
    }
}

/// The server that was named, or the one of the settings if it runs.
async fn choose_server(
    server: Option<String>,
    key: Option<String>,
    settings: &Settings,
) -> Result<Option<ApiClient>> {
    let named = server.is_some();
    let client = ServerChoice { server, key }.connect(settings)?;
    if named {
        return Ok(Some(client));
    }
    let running = tokio::time::timeout(PROBE_TIMEOUT, client.get("/health")).await;
    Ok(matches!(running, Ok(Ok(_))).then_some(client))
}

/// Everything of a server but its listener, until the client leaves. All tools act for the first team.
async fn serve_engine(
    globals: Globals,
    settings: &Settings,
    options: HandlerOptions,
    stop: CancellationToken,
    collected: Option<Collected>,
) -> Result<Result<(), String>> {
    let (settings, _folder) = engine_settings(globals, settings)?;
    let process = ServerProcess::start(settings, None, stop.clone(), collected).await?;
    let api = Arc::new(server::tool_api(&process.app));
    let served = mcp::serve_stdio(Handler::new(api, options), stop.clone()).await;
    stop.cancel();
    process.shut_down().await;
    Ok(served)
}

/// Settings of an engine that only this process uses. Where another process has the database, which is so
/// when two applications each start this command, a temporary folder holds the data.
fn engine_settings(globals: Globals, settings: &Settings) -> Result<(Settings, Option<TempDir>)> {
    // No key: the only caller is the one at standard input.
    let mut given = vec![("role".to_owned(), "all".to_owned())];
    let free = data_dir::lock_database(settings);
    let folder = match free {
        Ok(_) => None,
        Err(error) => {
            let folder = TempDir::with_prefix("gannet-mcp-").context("cannot make a temporary folder")?;
            tracing::warn!("{error:#}; results are kept in a temporary folder until this process ends");
            given.push(("data_dir".to_owned(), folder.path().join("data").display().to_string()));
            Some(folder)
        }
    };
    let mut settings = globals.settings(given)?;
    settings.auth = false;
    Ok((settings, folder))
}

impl Api for ApiClient {
    fn send(&self, request: mcp::ApiRequest) -> Sent<'_> {
        Box::pin(
            async move { self.forward(request).await.map_err(|error| Unreachable(format!("{error:#}"))) },
        )
    }
}
