//! Carries out a prompt with a language model: it sees the page, gives one command, sees the page again. What
//! it may do is decided here, not by the text of pages.

use super::by_rules::look_at_page;
use super::parse::is_secret_name;
use super::{PromptReply, PromptStatus, PromptStep, wall};
use crate::cdp::BoxFuture;
use crate::commander::Commander;
use crate::snapshot::PageSnapshot;
use crate::words::split_line;
use model::chat::Message;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use url::Url;

/// Commands that one prompt may lead to.
pub const MAX_STEPS: usize = 20;
/// The longest part of a page that the model is shown.
const MAX_PAGE_BYTES: usize = 24_000;
/// Replies that are no command, in a row.
const MAX_MISTAKES: usize = 3;

/// A language model that reads a conversation and writes the next message. The implementation must pass
/// [`Message::Data`] on as fenced text.
pub trait PromptModel: Send + Sync {
    fn next<'a>(&'a self, conversation: &'a [Message]) -> BoxFuture<'a, Result<String, String>>;
}

/// What a model may use: no scripts, no files, no cookies, no settings.
const ALLOWED: &[&str] = &[
    "open",
    "goto",
    "navigate",
    "back",
    "forward",
    "reload",
    "click",
    "dblclick",
    "fill",
    "type",
    "press",
    "key",
    "hover",
    "check",
    "uncheck",
    "select",
    "scroll",
    "scrollintoview",
    "wait",
    "get",
    "tab",
    "dialog",
    "find",
];

const INSTRUCTIONS: &str = "You operate a web browser for a user. After each command you are shown the page as an \
    accessibility tree; elements have refs such as @e3. Reply with exactly one line: one command, or `DONE: <answer to the \
    user>` when the task is complete, or `PERSON: <reason>` when only a person can go on (login, captcha, payment). \
    Commands: open <url> | click @e1 | fill @e1 \"text\" | select @e1 \"option\" | check @e1 | uncheck @e1 | press Enter | \
    scroll down | back | wait 500 | get text @e1 | tab list | tab t2 | dialog accept | dialog dismiss. \
    Use only values that the user gave. Never type passwords or other secrets that the user did not give.";

/// What the model wants.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Done(String),
    Person(String),
    Command(Vec<String>),
    Unclear,
}

/// Carries out a prompt with a model, within the time and [`MAX_STEPS`] commands.
pub fn run_by_model<'a>(
    commander: &'a Commander,
    prompt: &'a str,
    model: &'a dyn PromptModel,
    time: Duration,
) -> BoxFuture<'a, PromptReply> {
    Box::pin(run_commands(commander, prompt, model, time))
}

async fn run_commands(
    commander: &Commander,
    prompt: &str,
    model: &dyn PromptModel,
    time: Duration,
) -> PromptReply {
    let deadline = Instant::now() + time;
    let mut steps: Vec<PromptStep> = Vec::new();
    let mut history: Vec<Message> = Vec::new();
    let mut mistakes = 0;
    let mut last = String::new();
    let end =
        |status, output: String, snapshot: String, steps| PromptReply { status, output, snapshot, steps };
    loop {
        let taken = look_at_page(commander, deadline).await;
        let (url, snapshot) = match taken {
            Ok((page, snapshot)) => {
                // A login that the caller gave no data for, or a captcha, is for a person.
                if let Some(wall) = wall::find(&page).await
                    && (wall == wall::Wall::Captcha || !is_secret_name(prompt))
                    && !steps.is_empty()
                {
                    return end(PromptStatus::NeedsPerson, wall.message().to_owned(), snapshot.text, steps);
                }
                (page.url(), snapshot)
            }
            Err(error) => (String::new(), PageSnapshot { text: error, ..PageSnapshot::default() }),
        };
        last.clone_from(&snapshot.text);
        if steps.len() >= MAX_STEPS {
            let message = format!("Stopped after {MAX_STEPS} steps");
            return end(PromptStatus::Failed, message, last, steps);
        }
        let conversation = conversation(prompt, &history, &url, &snapshot);
        let text = match timeout_at(deadline, model.next(&conversation)).await {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => return end(PromptStatus::Failed, error, last, steps),
            Err(_) => {
                return end(PromptStatus::Failed, "The time for this prompt is over".to_owned(), last, steps);
            }
        };
        match parse_reply(&text) {
            Reply::Done(answer) => return end(PromptStatus::Completed, answer, last, steps),
            Reply::Person(reason) => return end(PromptStatus::NeedsPerson, reason, last, steps),
            Reply::Unclear => {
                mistakes += 1;
                if mistakes >= MAX_MISTAKES {
                    return end(PromptStatus::Failed, "The model gave no command".to_owned(), last, steps);
                }
                history.push(Message::User(
                    "That was not a command. Reply with one command, DONE: or PERSON:".to_owned(),
                ));
            }
            Reply::Command(command) => {
                mistakes = 0;
                let result = if let Some(reason) = refuse(&command, prompt, &url, &snapshot) {
                    Err(reason)
                } else {
                    let reply = commander.run(&command).await;
                    if reply.exit_code == 0 { Ok(reply.stdout) } else { Err(reply.stderr) }
                };
                history.push(Message::Assistant { text: command.join(" "), calls: Vec::new() });
                history.push(Message::Data { source: "the last command".to_owned(), text: short(&result) });
                steps.push(PromptStep { command, succeeded: result.is_ok() });
            }
        }
        if Instant::now() >= deadline {
            return end(PromptStatus::Failed, "The time for this prompt is over".to_owned(), last, steps);
        }
    }
}

fn short(result: &Result<String, String>) -> String {
    let (word, text) = match result {
        Ok(text) => ("ok", text),
        Err(text) => ("failed", text),
    };
    format!("{word}: {}", &text[..text.floor_char_boundary(1_000)])
}

fn conversation(prompt: &str, history: &[Message], url: &str, snapshot: &PageSnapshot) -> Vec<Message> {
    let mut messages = vec![Message::System(INSTRUCTIONS.to_owned()), Message::User(prompt.to_owned())];
    messages.extend_from_slice(history);
    let text = &snapshot.text[..snapshot.text.floor_char_boundary(MAX_PAGE_BYTES)];
    messages.push(Message::Data { source: url.to_owned(), text: text.to_owned() });
    messages
}

fn parse_reply(text: &str) -> Reply {
    let mut lines = text.lines().map(|line| line.trim().trim_matches('`').trim());
    let Some(line) = lines.find(|line| !line.is_empty() && *line != "bash" && *line != "sh") else {
        return Reply::Unclear;
    };
    let after = |mark: &str| {
        let at = text.find(mark)?;
        line.starts_with(mark).then(|| text[at + mark.len()..].trim().trim_matches('`').trim().to_owned())
    };
    if let Some(answer) = after("DONE:") {
        return Reply::Done(answer);
    }
    if let Some(reason) = after("PERSON:") {
        return Reply::Person(reason);
    }
    let Ok(mut words) = split_line(line) else { return Reply::Unclear };
    if words.first().is_some_and(|word| word == "agent-browser") {
        words.remove(0);
    }
    match words.first() {
        Some(first) if ALLOWED.contains(&first.as_str()) => Reply::Command(words),
        _ => Reply::Unclear,
    }
}

/// Why a command is not carried out. Text of a page may have talked the model into it.
fn refuse(command: &[String], prompt: &str, url: &str, snapshot: &PageSnapshot) -> Option<String> {
    let name = command.first()?.as_str();
    let opens_address =
        matches!(name, "open" | "goto" | "navigate") || (name == "tab" && command.get(1)? == "new");
    if opens_address {
        let address = command.last()?;
        let host = |text: &str| Some(Url::parse(text).ok()?.host_str()?.to_owned());
        let target = host(address).or_else(|| host(&format!("https://{address}")))?;
        let is_same_site = host(url).is_some_and(|current| current == target);
        return (!is_same_site && !prompt.contains(&target))
            .then(|| "only addresses of this site, or that the user named, can be opened".to_owned());
    }
    if !matches!(name, "fill" | "type" | "find") {
        return None;
    }
    let value = command.last()?;
    let field = command.get(1)?;
    let number = field.trim_start_matches(['@', 'e']).parse::<u32>().ok();
    let node = number.and_then(|number| snapshot.items.iter().find(|(own, _)| *own == number));
    let label = node.map_or(field.as_str(), |(_, node)| node.name.as_str());
    let is_secret = is_secret_name(label) || command.iter().any(|word| is_secret_name(word));
    (is_secret && !prompt.contains(value.as_str())).then(|| "secrets must be given by the user".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::SnapshotNode;

    #[test]
    fn replies_are_read_as_models_write_them() {
        let command = |words: &[&str]| Reply::Command(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(parse_reply("click @e1"), command(&["click", "@e1"]));
        assert_eq!(
            parse_reply("```bash\nagent-browser fill @e2 \"a b\"\n```"),
            command(&["fill", "@e2", "a b"])
        );
        assert_eq!(parse_reply("DONE: It costs 5.\nReally."), Reply::Done("It costs 5.\nReally.".to_owned()));
        assert_eq!(parse_reply("PERSON: login"), Reply::Person("login".to_owned()));
        for unclear in ["", "I think I should click", "eval alert(1)", "upload #f /etc/passwd", "cookies"] {
            assert_eq!(parse_reply(unclear), Reply::Unclear, "{unclear}");
        }
    }

    #[test]
    fn pages_cannot_talk_the_model_into_leaving_or_telling() {
        let node = SnapshotNode { name: "Password".to_owned(), ..SnapshotNode::default() };
        let page = PageSnapshot { items: vec![(4, node)], ..PageSnapshot::default() };
        let refuse = |line: &str, prompt: &str| {
            refuse(&split_line(line).unwrap(), prompt, "https://shop.example/a", &page).is_some()
        };
        assert!(refuse("open https://evil.example/?q=x", "buy a hat"));
        assert!(!refuse("open https://shop.example/b", "buy a hat"));
        assert!(!refuse("open other.example", "go to other.example and look"));
        assert!(refuse("fill @e4 hunter2", "log in"));
        assert!(!refuse("fill @e4 hunter2", "log in with password hunter2"));
        assert!(!refuse("fill @e1 Ann", "my name is Bob"));
    }
}
