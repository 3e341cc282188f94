//! Carries out a prompt by rules, without a model: one step after the other, each on the page as it is then. What is not
//! clear is not done, and what was done before it is told.

mod calendar;
mod document;
mod fields;
mod find;
mod hidden;
mod look;
mod pointing;
mod scrolling;
mod search;
mod slider;
mod tabs;

pub(super) use look::look_at_page;

use super::parse::{Description, ParsedStep, Place, parse_prompt};
use super::{MODEL_NEEDED, PromptReply, PromptStatus, PromptStep, answer, wall};
use crate::cdp::BoxFuture;
use crate::commander::Commander;
use crate::page::CommandPage;
use hidden::Exploration;
use std::time::Duration;
use tabs::KnownTabs;
use tokio::time::Instant;

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
    /// What "it" means.
    named: Option<Description>,
    /// Where the next element is.
    scope: Option<Place>,
    exploration: Option<Exploration>,
    copied: Option<String>,
    tabs: KnownTabs,
}

/// Carries out a prompt by rules, within the time.
pub fn run_by_rules<'a>(
    commander: &'a Commander,
    prompt: &'a str,
    time: Duration,
) -> BoxFuture<'a, PromptReply> {
    Box::pin(async move {
        let deadline = Instant::now() + time;
        let mut run = PromptRun {
            commander,
            deadline,
            steps: Vec::new(),
            answers: Vec::new(),
            done: Vec::new(),
            named: None,
            scope: None,
            exploration: None,
            copied: None,
            tabs: KnownTabs::default(),
        };
        // All of it is understood before any of it is done.
        let steps = match parse_prompt(prompt) {
            Ok(steps) => steps,
            Err(reason) => {
                let output = format!("{MODEL_NEEDED}. Nothing was done: {reason}");
                return run.end(PromptStatus::ModelNeeded, output).await;
            }
        };
        for step in &steps {
            if Instant::now() >= deadline {
                return run.fail("The time for this prompt is over".to_owned()).await;
            }
            if let Err(message) = run.carry_out(step).await {
                return run.fail(message).await;
            }
        }
        let mut output = if run.answers.is_empty() { run.done.join("\n") } else { run.answers.join("\n") };
        if let Some(dialog) = run.open_dialog().await {
            output.extend(["\nA ", &dialog, " is open: say \"accept\" or \"dismiss\""]);
        }
        run.end(PromptStatus::Completed, output).await
    })
}

impl PromptRun<'_> {
    async fn fail(self, message: String) -> PromptReply {
        let mut output = message;
        if !self.done.is_empty() {
            output.extend(["\nDone before that: ", &self.done.join("; ")]);
        }
        let wall = match self.commander.page(self.deadline).await {
            Ok(page) => wall::find(&page).await,
            Err(_) => None,
        };
        match wall {
            Some(wall) => {
                output.extend(["\n", wall.message()]);
                self.end(PromptStatus::NeedsPerson, output).await
            }
            None => self.end(PromptStatus::Failed, output).await,
        }
    }

    async fn end(self, status: PromptStatus, output: String) -> PromptReply {
        let limit = Instant::now() + Duration::from_secs(5);
        let snapshot = match look_at_page(self.commander, limit).await {
            Ok((_, snapshot)) => snapshot.text,
            Err(_) => String::new(),
        };
        PromptReply { status, output, snapshot, steps: self.steps }
    }

    async fn carry_out(&mut self, step: &ParsedStep) -> Result<(), String> {
        self.follow_new_tab().await?;
        match step {
            ParsedStep::Point { how, target, times } => self.point(*how, target, *times).await,
            ParsedStep::Drag { from, to } => self.drag(from, to).await,
            ParsedStep::Fill { field, value } => self.fill(field, value).await,
            ParsedStep::Type { value, hint } => self.type_somewhere(value, hint.as_ref()).await,
            ParsedStep::FillWithoutValue(field) => Err(fields::no_value(field)),
            ParsedStep::Clear(field) => self.fill(field, "").await,
            ParsedStep::Select { values, list } => self.select(values, list.as_ref()).await,
            ParsedStep::SelectPath(path) => self.select_path(path).await,
            ParsedStep::SelectNothing => {
                self.done.push("Selected nothing".to_owned());
                Ok(())
            }
            ParsedStep::Check { boxes, wanted } => self.check(boxes, *wanted).await,
            ParsedStep::Upload { file, field } => self.upload(file, field.as_ref()).await,
            ParsedStep::Expand { target, wanted } => self.expand(target, *wanted).await,
            ParsedStep::Explore(parts) => {
                self.exploration = Some(Exploration::new(*parts));
                Ok(())
            }
            ParsedStep::Scope(place) => {
                self.scope = Some(place.clone());
                Ok(())
            }
            ParsedStep::Copy(target) => self.copy(target).await,
            ParsedStep::Highlight(target) => self.highlight(target).await,
            ParsedStep::Paste(field) => {
                let text = self.copied.clone().ok_or_else(|| "Nothing was copied before it".to_owned())?;
                self.fill(field, &text).await
            }
            ParsedStep::Scroll(step) => self.scroll(step).await,
            ParsedStep::Wait(step) => self.wait(step).await,
            ParsedStep::Dialog { accepts, text } => self.answer_dialog(*accepts, text.as_deref()).await,
            ParsedStep::Submit => self.submit().await,
            ParsedStep::Back => self.run(&["back"]).await,
            ParsedStep::Forward => self.run(&["forward"]).await,
            ParsedStep::Reload => self.run(&["reload"]).await,
            ParsedStep::Open(address) => self.run(&["open", address]).await,
            ParsedStep::NewestTab => self.show_newest_tab().await,
            ParsedStep::CloseTab => self.run(&["tab", "close"]).await,
            ParsedStep::Press { key, times } => {
                for _ in 0..*times {
                    self.run_quietly(&["press", key]).await?;
                }
                self.done.push(format!("Pressed {key}{}", told_times(*times)));
                Ok(())
            }
            ParsedStep::Search(query) => self.search(query).await,
            ParsedStep::Ask(question) => self.ask(question).await,
        }
    }

    async fn ask(&mut self, question: &str) -> Result<(), String> {
        let page = self.page().await?;
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

    async fn page(&self) -> Result<CommandPage, String> {
        self.commander.page(self.deadline).await.map_err(|error| error.to_string())
    }

    /// Runs a command, and tells of it as it was.
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

fn told_times(times: u32) -> String {
    if times == 1 { String::new() } else { format!(" {times} times") }
}
