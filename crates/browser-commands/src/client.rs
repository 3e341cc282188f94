//! The program `agent-browser` inside of a session's sandboxed shell: it hands its words to the server over a
//! descriptor that it has inherited, and prints the reply. It has no rights and does nothing itself.

use crate::frames::{COMMANDS_FD, COMMANDS_LOCK, MAX_REPLY_BYTES, Reply, Request};
use nix::sys::socket::{MsgFlags, recv, send};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::RawFd;
use std::process::ExitCode;

/// The name under which the binary is this program.
pub const CLIENT_NAME: &str = "agent-browser";

/// Whether the program was called by the name of the client.
pub fn is_client(program: Option<&std::ffi::OsStr>) -> bool {
    program
        .and_then(|program| std::path::Path::new(program).file_name())
        .is_some_and(|name| name == CLIENT_NAME)
}

/// Runs one command by the server. `words` are the arguments without the program's name.
pub fn client_main(words: Vec<String>) -> ExitCode {
    match ask_server(words) {
        Ok(reply) => {
            // Nobody may be reading any more; that is no error of the command.
            let _ = io::stdout().write_all(reply.stdout.as_bytes());
            let _ = io::stderr().write_all(reply.stderr.as_bytes());
            ExitCode::from(u8::try_from(reply.exit_code).unwrap_or(1))
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "agent-browser: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ask_server(words: Vec<String>) -> Result<Reply, String> {
    let outside = "it works only in the bash of a browser session";
    let descriptor = std::env::var(COMMANDS_FD).ok().and_then(|number| number.parse::<RawFd>().ok());
    let descriptor = descriptor.filter(|number| *number > 2).ok_or(outside)?;
    // All children of the shell share the descriptor, so they take turns.
    let _turn = match std::env::var_os(COMMANDS_LOCK) {
        Some(path) => {
            let opened = File::options().create(true).truncate(false).write(true).open(&path);
            let file = opened.map_err(|error| format!("{}: {error}", path.display()))?;
            file.lock().map_err(|error| format!("{}: {error}", path.display()))?;
            Some(file)
        }
        None => None,
    };
    let cwd = std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
    let request = serde_json::to_vec(&Request { words, cwd }).map_err(|error| error.to_string())?;
    let length = u32::try_from(request.len()).map_err(|_| "the command is too long".to_owned())?;
    let closed = |error: io::Error| format!("the session has ended ({error})");
    let mut message = length.to_be_bytes().to_vec();
    message.extend_from_slice(&request);
    send_all(descriptor, &message).map_err(closed)?;
    let mut head = [0; 4];
    receive_all(descriptor, &mut head).map_err(closed)?;
    let length = usize::try_from(u32::from_be_bytes(head)).unwrap_or(usize::MAX);
    if length > MAX_REPLY_BYTES {
        return Err("the reply is too long".to_owned());
    }
    let mut body = vec![0; length];
    receive_all(descriptor, &mut body).map_err(closed)?;
    serde_json::from_slice(&body).map_err(|error| format!("invalid reply: {error}"))
}

fn send_all(descriptor: RawFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match send(descriptor, bytes, MsgFlags::MSG_NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn receive_all(descriptor: RawFd, buffer: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        match recv(descriptor, &mut buffer[filled..], MsgFlags::empty()) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(received) => filled += received,
            Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides() {
        assert!(is_client(Some("agent-browser".as_ref())));
        assert!(is_client(Some("/a/b/agent-browser".as_ref())));
        assert!(!is_client(Some("gannet".as_ref())));
        assert!(!is_client(None));
    }
}
