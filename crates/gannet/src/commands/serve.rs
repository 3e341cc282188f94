//! `gannet serve`: the API, the workers and the janitor in one process, until a signal stops them.

use crate::Globals;
use crate::collector::start_log;
use crate::commands::banner;
use crate::commands::server_process::ServerProcess;
use crate::first_team::write_secret;
use crate::settings::{ProcessRole, Settings};
use anyhow::{Context, Result};
use server::{App, ServeOptions};
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A file of the data directory.
const SIGN_IN_LINK: &str = "sign-in-link";

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Address and port to listen on [default: 127.0.0.1:3002]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// Role of this process: all, api or worker [default: all]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
}

impl Serve {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let own = [("listen", self.listen), ("role", self.role)];
        let given = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let settings = globals.settings(given.collect())?;
        let collected = start_log(&settings);
        for setting in &settings.obsolete {
            tracing::warn!(setting, "this setting has no effect any more; a later version will refuse it");
        }
        // Bind first: a server that cannot listen must not create a data directory.
        let listener = TcpListener::bind(settings.listen)
            .await
            .with_context(|| format!("cannot listen on {}", settings.listen))?;
        let address = listener.local_addr()?;
        let stop = stop_on_signals()?;
        let options = serve_options(&settings);
        let process = ServerProcess::start(settings, Some(address), stop.clone(), collected).await?;
        let link = sign_in_link(&process.settings, &process.app, address).await;
        let first_key = process.first_key.as_ref();
        banner::print(&process.settings, address, process.backend(), first_key, link.as_deref());
        server::serve::serve(listener, server::router(&process.app), stop, options).await;
        process.shut_down().await;
        Ok(ExitCode::SUCCESS)
    }
}

/// The address that opens the dashboard; on a loopback address it signs in once, so that whoever started the server
/// need not look for a key. It is shown on a terminal only: container logs and service journals would keep it.
async fn sign_in_link(settings: &Settings, app: &App, address: SocketAddr) -> Option<String> {
    let base = format!("http://{address}/");
    if app.dashboard.is_none() || settings.role == ProcessRole::Worker {
        return None;
    }
    if !settings.auth || !address.ip().is_loopback() {
        return Some(base);
    }
    match app.sign_ins.issue_link().await {
        Ok(Some(token)) => {
            let link = format!("{base}?open={}", token.reveal());
            if std::io::stdout().is_terminal() {
                return Some(link);
            }
            let file = settings.data_dir.join(SIGN_IN_LINK);
            match write_secret(&file, &link) {
                Ok(()) => Some(format!("{base}  (signed in once by the link in {})", file.display())),
                Err(error) => {
                    tracing::warn!(%error, file = %file.display(), "cannot write the link to sign in with");
                    Some(base)
                }
            }
        }
        Ok(None) => Some(base),
        Err(error) => {
            tracing::warn!(%error, "no link to sign in with");
            Some(base)
        }
    }
}

fn serve_options(settings: &Settings) -> ServeOptions {
    ServeOptions {
        shutdown_grace: settings.shutdown_grace,
        write_timeout: settings.write_timeout,
        connections_per_address: settings.connections_per_address,
        trusted_proxies: settings.trusted_proxies.clone(),
    }
}

/// The first signal stops gracefully, the second at once.
pub fn stop_on_signals() -> Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let cancelled = stop.clone();
    tokio::spawn(async move {
        let mut next = async || {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        next().await;
        tracing::info!("stopping: waiting for open requests; a second signal stops at once");
        cancelled.cancel();
        next().await;
        std::process::exit(130);
    });
    Ok(stop)
}
