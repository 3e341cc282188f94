//! What `gannet serve` prints when it listens.

use crate::first_team::{self, FirstKey};
use crate::settings::{Settings, hide_password};
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::Path;

/// Prints the address, the API key, and a first command to try. A closed pipe must not stop the server.
///
/// `dashboard` is the address that opens it, where there is one.
pub fn print(
    settings: &Settings,
    address: SocketAddr,
    backend: &str,
    first: Option<&FirstKey>,
    dashboard: Option<&str>,
) {
    let mut out = std::io::stdout();
    let (key, bearer) = key_lines(settings, first, out.is_terminal());
    let database = hide_password(&settings.database_url);
    let header = bearer.map(|bearer| format!(" -H \"Authorization: Bearer {bearer}\"")).unwrap_or_default();
    let dashboard = dashboard.map(|link| format!("\x20 dashboard  {link}\n")).unwrap_or_default();
    let banner = format!(
        "Gannet {}\n\
         \x20 listening  http://{address}\n\
         {dashboard}\
         \x20 docs       http://{address}/docs\n\
         \x20 data       {} ({backend}, {database})\n\
         \x20 key        {key}\n\
         \x20 try        curl -s http://{address}/v2/scrape{header} -H \"Content-Type: application/json\" -d '{{\"url\":\"https://example.com\"}}'\n",
        env!("CARGO_PKG_VERSION"),
        settings.data_dir.display(),
    );
    if out.write_all(banner.as_bytes()).and_then(|()| out.flush()).is_err() {
        tracing::info!(%address, "listening");
    }
}

/// The text about the key, and its form in a command; none if no key is needed. The key itself is shown only
/// once and only on a terminal: container logs and service journals would keep it.
fn key_lines(settings: &Settings, first: Option<&FirstKey>, terminal: bool) -> (String, Option<String>) {
    let file = first_team::first_key_file(&settings.data_dir);
    match first {
        _ if !settings.auth => ("not needed (auth = off)".to_owned(), None),
        Some(FirstKey { secret, file }) if terminal => {
            let key = secret.reveal();
            (
                format!("{key}\n             shown only once; stored in {}", file.display()),
                Some(key.to_owned()),
            )
        }
        _ if file.exists() => {
            (format!("stored in {}", file.display()), Some(format!("$(cat {})", shell_quote(&file))))
        }
        _ => ("create one with: gannet keys create NAME".to_owned(), Some("YOUR-KEY".to_owned())),
    }
}

/// Quotes a path for a shell.
fn shell_quote(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    if text.bytes().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_needed() {
        assert_eq!(shell_quote(Path::new("gannet-data/first-key")), "gannet-data/first-key");
        assert_eq!(shell_quote(Path::new("/my data/it's")), "'/my data/it'\\''s'");
    }
}
