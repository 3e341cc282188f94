//! What `gannet serve` prints when it listens.

use crate::home::{self, FirstKey};
use crate::settings::{Settings, without_password};
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::Path;

/// Where it listens, its key, and a first command to try. Whoever reads this may stop reading at any
/// line; that must not stop the server.
pub fn print(settings: &Settings, address: SocketAddr, backend: &str, first: Option<&FirstKey>) {
    let mut out = std::io::stdout();
    let (key, bearer) = key_lines(settings, first, out.is_terminal());
    let database = without_password(&settings.database_url);
    let header = bearer.map(|bearer| format!(" -H \"Authorization: Bearer {bearer}\"")).unwrap_or_default();
    let banner = format!(
        "Gannet {}\n\
         \x20 listening  http://{address}\n\
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

/// What is said about the key, and what stands for it in a command; none where no key is asked for. The key itself is shown once,
/// to a person at a terminal only: everything else that reads our output (a container's log, a service manager's journal) keeps it.
fn key_lines(settings: &Settings, first: Option<&FirstKey>, terminal: bool) -> (String, Option<String>) {
    let file = home::first_key_file(&settings.data_dir);
    match first {
        _ if !settings.auth => ("none is asked for (auth = off)".to_owned(), None),
        Some(FirstKey { secret, file }) if terminal => {
            let key = secret.reveal();
            (format!("{key}\n             shown this once; kept in {}", file.display()), Some(key.to_owned()))
        }
        _ if file.exists() => {
            (format!("kept in {}", file.display()), Some(format!("$(cat {})", in_shell(&file))))
        }
        _ => ("make one with: gannet keys create NAME".to_owned(), Some("YOUR-KEY".to_owned())),
    }
}

/// A path as a shell reads it.
fn in_shell(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    if text.bytes().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_a_shell_would_read_them_otherwise() {
        assert_eq!(in_shell(Path::new("gannet-data/first-key")), "gannet-data/first-key");
        assert_eq!(in_shell(Path::new("/my data/it's")), "'/my data/it'\\''s'");
    }
}
