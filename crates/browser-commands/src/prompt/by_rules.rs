//! Carries out a prompt by rules, without a model.

use super::parse::{ParsedStep, is_secret_name, parse_prompt};
use super::target::{self, Purpose};
use super::{MODEL_NEEDED, PromptReply, PromptStatus, PromptStep, answer, wall};
use crate::cdp::BoxFuture;
use crate::commander::Commander;
use crate::page::CommandPage;
use crate::snapshot::{self, NodeKind, PageSnapshot, SnapshotOptions};
use std::time::Duration;
use tokio::time::Instant;

const SCROLL_PIXELS: &str = "600";
const READ_TEXT: &str = "(() => ({ title: document.title, \
    headings: [...document.querySelectorAll('h1,h2')].slice(0, 20).map((h) => h.innerText.trim()), \
    text: (document.body?.innerText ?? '').slice(0, 500000) }))()";

/// One prompt under way.
struct PromptRun<'a> {
    commander: &'a Commander,
    deadline: Instant,
    steps: Vec<PromptStep>,
    answers: Vec<String>,
    done: Vec<String>,
}

/// Carries out a prompt by rules, within the time.
pub fn run_by_rules<'a>(
    commander: &'a Commander,
    prompt: &'a str,
    time: Duration,
) -> BoxFuture<'a, PromptReply> {
    Box::pin(async move {
        let deadline = Instant::now() + time;
        let mut run =
            PromptRun { commander, deadline, steps: Vec::new(), answers: Vec::new(), done: Vec::new() };
        let Some(steps) = parse_prompt(prompt) else {
            return run.end(PromptStatus::ModelNeeded, MODEL_NEEDED.to_owned()).await;
        };
        for step in &steps {
            if Instant::now() >= deadline {
                return run.end(PromptStatus::Failed, "The time for this prompt is over".to_owned()).await;
            }
            if let Err(message) = run.carry_out(step).await {
                let wall = match commander.page(deadline).await {
                    Ok(page) => wall::find(&page).await,
                    Err(_) => None,
                };
                let Some(wall) = wall else { return run.end(PromptStatus::Failed, message).await };
                return run.end(PromptStatus::NeedsPerson, format!("{message}\n{}", wall.message())).await;
            }
        }
        let output = if run.answers.is_empty() { run.done.join("\n") } else { run.answers.join("\n") };
        run.end(PromptStatus::Completed, output).await
    })
}

impl PromptRun<'_> {
    async fn end(self, status: PromptStatus, output: String) -> PromptReply {
        let limit = Instant::now() + Duration::from_secs(5);
        let snapshot = match look_at_page(self.commander, limit).await {
            Ok((_, snapshot)) => snapshot.text,
            Err(_) => String::new(),
        };
        PromptReply { status, output, snapshot, steps: self.steps }
    }

    async fn carry_out(&mut self, step: &ParsedStep) -> Result<(), String> {
        match step {
            ParsedStep::Click(name) => self.act(name, Purpose::Click, &["click"], None, "Clicked").await,
            ParsedStep::Fill { field, value } => {
                self.act(field, Purpose::Fill, &["fill"], Some(value), "Filled").await
            }
            ParsedStep::FillWithoutValue(field) => {
                let reason = if is_secret_name(field) {
                    "secrets are never made up or looked up"
                } else {
                    "say what to put there"
                };
                Err(format!(
                    "Nothing was typed: the prompt names \"{field}\" but gives no value for it; {reason}"
                ))
            }
            ParsedStep::Select { value, field: Some(field) } => {
                self.act(field, Purpose::Select, &["select"], Some(value), "Selected in").await
            }
            ParsedStep::Select { value, field: None } => self.select_option(value).await,
            ParsedStep::Check { name, wanted: true } => {
                self.act(name, Purpose::Check, &["check"], None, "Checked").await
            }
            ParsedStep::Check { name, wanted: false } => {
                self.act(name, Purpose::Check, &["uncheck"], None, "Unchecked").await
            }
            ParsedStep::Scroll(direction) => self.run(&["scroll", direction, SCROLL_PIXELS]).await,
            ParsedStep::Back => self.run(&["back"]).await,
            ParsedStep::Forward => self.run(&["forward"]).await,
            ParsedStep::Reload => self.run(&["reload"]).await,
            ParsedStep::Open(address) => self.run(&["open", address]).await,
            ParsedStep::Press(key) => self.run(&["press", key]).await,
            ParsedStep::Search(query) => self.search(query).await,
            ParsedStep::Ask(question) => self.ask(question).await,
        }
    }

    /// Finds the element and runs a command on it.
    async fn act(
        &mut self,
        name: &str,
        purpose: Purpose,
        command: &[&str],
        value: Option<&String>,
        verb: &str,
    ) -> Result<(), String> {
        let (_, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let number = target::find(&snapshot, name, purpose)?;
        let reference = format!("@e{number}");
        let mut words = command.to_vec();
        words.push(&reference);
        words.extend(value.map(String::as_str));
        self.run_quietly(&words).await?;
        let node = snapshot.items.iter().find(|(own, _)| *own == number).map(|(_, node)| node);
        let described = node.map(|node| format!("{} \"{}\"", node.role, node.name)).unwrap_or_default();
        self.done.push(format!("{verb} {described}"));
        Ok(())
    }

    /// Chooses an option by its name alone, in whatever list it is.
    async fn select_option(&mut self, value: &str) -> Result<(), String> {
        let (_, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let options: Vec<&(u32, snapshot::SnapshotNode)> =
            snapshot.items.iter().filter(|(_, node)| node.role == "option").collect();
        let found = options.iter().find(|(_, node)| node.name.eq_ignore_ascii_case(value));
        let Some((number, node)) = found else {
            // Tabs, radio buttons and menus are selected as well.
            return self.act(value, Purpose::Check, &["check"], None, "Selected").await.map_err(|_| {
                let names: Vec<&str> = options.iter().take(15).map(|(_, node)| node.name.as_str()).collect();
                format!("There is no option \"{value}\" on this page. Options: {}", names.join(", "))
            });
        };
        self.run_quietly(&["click", &format!("@e{number}")]).await?;
        self.done.push(format!("Selected \"{}\"", node.name));
        Ok(())
    }

    async fn search(&mut self, query: &str) -> Result<(), String> {
        let (_, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let by_role = snapshot.items.iter().find(|(_, node)| node.role == "searchbox");
        let by_name = || {
            snapshot.items.iter().find(|(_, node)| {
                let is_field = node.role == "textbox" || node.role == "combobox";
                is_field && node.kind == NodeKind::Interactive && node.name.to_lowercase().contains("search")
            })
        };
        let Some((number, _)) = by_role.or_else(by_name) else {
            return Err("There is no search field on this page".to_owned());
        };
        self.run_quietly(&["fill", &format!("@e{number}"), query]).await?;
        self.run_quietly(&["press", "Enter"]).await?;
        self.done.push(format!("Searched for \"{query}\""));
        Ok(())
    }

    async fn ask(&mut self, question: &str) -> Result<(), String> {
        let page = self.commander.page(self.deadline).await.map_err(|error| error.to_string())?;
        let mut texts = Vec::new();
        for frame in page.frames().await.map_err(|error| error.to_string())? {
            let Ok(world) = page.world(&frame).await else { continue };
            texts.extend(page.evaluate(&world, READ_TEXT).await);
        }
        let found = texts.iter().find_map(|read| {
            let headings: Vec<String> = serde_json::from_value(read["headings"].clone()).unwrap_or_default();
            let text = |name: &str| read[name].as_str().unwrap_or_default();
            answer::answer(question, text("title"), &headings, text("text"))
        });
        let found = found.ok_or_else(|| format!("This page does not say: {question} {MODEL_NEEDED}"))?;
        self.answers.push(found);
        Ok(())
    }

    async fn run(&mut self, words: &[&str]) -> Result<(), String> {
        let output = self.run_quietly(words).await?;
        let line =
            output.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        self.done.push(format!("{}: {line}", words.join(" ")));
        Ok(())
    }

    async fn run_quietly(&mut self, words: &[&str]) -> Result<String, String> {
        let command: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let reply = self.commander.run(&command).await;
        let succeeded = reply.exit_code == 0;
        self.steps.push(PromptStep { command, succeeded });
        if succeeded { Ok(reply.stdout) } else { Err(reply.stderr.trim().to_owned()) }
    }
}

/// The page and a snapshot of it, with all elements that one can act on.
pub(super) async fn look_at_page(
    commander: &Commander,
    deadline: Instant,
) -> Result<(CommandPage, PageSnapshot), String> {
    let taken = async {
        let page = commander.page(deadline).await?;
        let snapshot =
            snapshot::take_snapshot(&page, &SnapshotOptions { compact: true, ..SnapshotOptions::default() })
                .await?;
        Ok::<_, crate::error::CommandError>((page, snapshot))
    };
    taken.await.map_err(|error| error.to_string())
}
