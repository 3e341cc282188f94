//! What becomes of a command of a client, as far as its text alone decides: it is answered at once, ends the session, or
//! goes on to the browser.

use super::message::{ClientCommand, SERVER_ERROR, command, empty_reply, error_reply, parse_command};
use super::policy::{Decision, Policy};
use super::uploads::Uploads;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::PathBuf;

pub(super) enum CommandOutcome<'a> {
    Answer(String),
    /// The answer, after which the session ends.
    EndSession(String),
    /// Goes to the browser with these parameters.
    Forward(ClientCommand<'a>, Option<Cow<'a, str>>),
}

pub(super) fn judge<'a>(policy: &Policy, text: &'a str) -> CommandOutcome<'a> {
    let parsed = match parse_command(text) {
        Ok(parsed) => parsed,
        Err(reply) => return CommandOutcome::Answer(reply),
    };
    let named = parsed.session.as_deref();
    match policy.decide(&parsed.method, parsed.params) {
        Decision::Refuse(reason) => {
            CommandOutcome::Answer(error_reply(parsed.id, named, SERVER_ERROR, &reason))
        }
        Decision::EndSession => CommandOutcome::EndSession(empty_reply(parsed.id, named)),
        Decision::Forward => {
            let params = parsed.params.map(|params| Cow::Borrowed(RawValue::get(params)));
            CommandOutcome::Forward(parsed, params)
        }
        Decision::ForwardWith(params) => CommandOutcome::Forward(parsed, Some(Cow::Owned(params))),
    }
}

/// What [`judge_command`] says of a command.
#[derive(Debug, PartialEq, Eq)]
pub enum JudgedCommand {
    Answered(String),
    EndsSession(String),
    /// What the browser is sent.
    Sent(Vec<u8>),
}

/// What a session whose files are in this folder does with the text of a command, without a browser: for tests of hostile
/// clients. `id` and `session` are those that the browser would know it by.
pub fn judge_command(text: &str, files: PathBuf, id: u64, session: &str) -> JudgedCommand {
    match judge(&Policy { uploads: Uploads::new(files, None) }, text) {
        CommandOutcome::Answer(reply) => JudgedCommand::Answered(reply),
        CommandOutcome::EndSession(reply) => JudgedCommand::EndsSession(reply),
        CommandOutcome::Forward(parsed, params) => {
            JudgedCommand::Sent(command(id, session, &parsed.method, params.as_deref()))
        }
    }
}
