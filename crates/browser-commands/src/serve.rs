//! The server's side of the client in the sandbox. What arrives there was written by the code of a session,
//! so it is checked like any input.

use crate::commander::Commander;
use crate::frames::{MAX_REQUEST_BYTES, Reply, Request};
use std::io;
use std::path::Path;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Answers the commands that arrive on a stream, until it is closed or breaks the rules.
pub async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, commander: Commander) -> io::Result<()> {
    loop {
        let length = match stream.read_u32().await {
            Ok(length) => usize::try_from(length).unwrap_or(usize::MAX),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        };
        if length > MAX_REQUEST_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the command is too long"));
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let reply = match serde_json::from_slice::<Request>(&body) {
            Ok(request) => {
                let reply = commander.run_in(&request.words, request.cwd.as_deref().map(Path::new)).await;
                Reply { stdout: reply.stdout, stderr: reply.stderr, exit_code: reply.exit_code }
            }
            Err(error) => {
                Reply { stdout: String::new(), stderr: format!("invalid request: {error}\n"), exit_code: 1 }
            }
        };
        let body = serde_json::to_vec(&reply)?;
        stream.write_u32(u32::try_from(body.len()).map_err(io::Error::other)?).await?;
        stream.write_all(&body).await?;
        stream.flush().await?;
    }
}
