//! How the client in the sandbox and the server talk: a big-endian length of four bytes, then JSON.

use serde::{Deserialize, Serialize};

/// The environment variable with the number of the inherited descriptor, a Unix stream.
pub const COMMANDS_FD: &str = "GANNET_COMMANDS_FD";
/// The environment variable with the path of the file whose lock makes clients take turns.
pub const COMMANDS_LOCK: &str = "GANNET_COMMANDS_LOCK";
pub(crate) const MAX_REQUEST_BYTES: usize = 2 << 20;
pub(crate) const MAX_REPLY_BYTES: usize = 64 << 20;

/// A command of a client.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) words: Vec<String>,
    /// The working directory of the client; relative paths start there.
    pub(crate) cwd: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reply {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit_code: i32,
}
