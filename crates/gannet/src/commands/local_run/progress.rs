//! Progress of an agent run: a line for every event, and on a terminal a status line below them.

use crate::output::{is_quiet, shows_progress, to_line};
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, Instant};
use uuid::Uuid;
use wire::agent::{ToolCallResult, TraceEvent, TraceFact};

const SPINNER: [char; 4] = ['|', '/', '-', '\\'];
/// Update interval of the status line.
const STATUS_INTERVAL: Duration = Duration::from_millis(100);
/// Longer lines are cut.
const MAX_LINE_CHARS: usize = 110;

#[derive(Debug)]
pub struct RunProgress {
    terminal: bool,
    colours: bool,
    begun: Instant,
    moved: Instant,
    turn: usize,
    phase: String,
    calls: usize,
    /// Tool calls without a result yet.
    open: HashMap<Uuid, String>,
}

impl RunProgress {
    pub fn start() -> Self {
        let terminal = shows_progress();
        let now = Instant::now();
        Self {
            terminal,
            colours: terminal && std::env::var_os("NO_COLOR").is_none(),
            begun: now,
            moved: now,
            turn: 0,
            phase: "starting".to_owned(),
            calls: 0,
            open: HashMap::new(),
        }
    }

    /// Prints an event of the trace.
    pub fn show(&mut self, json: &str) {
        if is_quiet() {
            return;
        }
        let Ok(event) = serde_json::from_str::<TraceEvent>(json) else { return };
        let Some((word, colour, text)) = self.line(&event) else { return };
        let agent = &event.body.agent;
        let who = if agent.role == "subagent" { format!("  [{}] ", agent.name) } else { String::new() };
        let text = to_line(&format!("{who}{text}"), MAX_LINE_CHARS);
        self.clear();
        let line = if self.colours {
            format!("\x1b[{colour}m{word:<9}\x1b[0m {text}\n")
        } else {
            format!("{word:<9} {text}\n")
        };
        write(&line);
        self.draw_status();
    }

    /// Updates the status line.
    pub fn tick(&mut self) {
        if self.terminal && self.moved.elapsed() >= STATUS_INTERVAL {
            self.draw_status();
        }
    }

    pub fn end(&mut self) {
        self.clear();
    }

    /// Label, colour and text of an event; none for events that are not shown.
    fn line(&mut self, event: &TraceEvent) -> Option<(String, u8, String)> {
        match &event.body.fact {
            TraceFact::ProgressReported { phase, message } => {
                self.phase.clone_from(phase);
                Some(("plan".to_owned(), 36, message.clone()))
            }
            TraceFact::ReasoningSummary { text } => Some(("think".to_owned(), 2, text.clone())),
            TraceFact::ToolCallStarted { tool_call_id, tool_name, parameters } => {
                self.calls += 1;
                self.open.insert(*tool_call_id, target(parameters));
                self.phase = format!("{tool_name} {}", target(parameters));
                None
            }
            TraceFact::ToolCallFinished { tool_call_id, tool_name, result } => {
                let asked = self.open.remove(tool_call_id).unwrap_or_default();
                let (colour, answer) = match result {
                    ToolCallResult::Error { error } => (33, format!("  — {error}")),
                    ToolCallResult::Output(_) => (32, String::new()),
                };
                Some((tool_word(tool_name), colour, format!("{asked}{answer}")))
            }
            TraceFact::ArtifactUpdated { artifact } => {
                let items = artifact.item_count.map(|count| format!("{count} items  ")).unwrap_or_default();
                Some(("found".to_owned(), 35, format!("{items}{}", artifact.changed_fields.join(", "))))
            }
            TraceFact::ErrorOccurred { error } => Some(("error".to_owned(), 31, error.message.clone())),
            TraceFact::RunFinished { outcome, error } => {
                let why = error.as_ref().map(|error| format!("  — {}", error.message)).unwrap_or_default();
                let seconds = self.begun.elapsed().as_secs_f64();
                let text = format!("{outcome} in {seconds:.1} s, {} calls{why}", self.calls);
                Some(("done".to_owned(), if error.is_some() { 31 } else { 32 }, text))
            }
            _ => None,
        }
    }

    fn clear(&self) {
        if self.terminal {
            write("\r\x1b[2K");
        }
    }

    fn draw_status(&mut self) {
        if !self.terminal {
            return;
        }
        self.moved = Instant::now();
        self.turn = (self.turn + 1) % SPINNER.len();
        let seconds = self.begun.elapsed().as_secs();
        let status = format!("{} {seconds:>3} s  {} calls  {}", SPINNER[self.turn], self.calls, self.phase);
        write(&format!("\r\x1b[2K{}", to_line(&status, MAX_LINE_CHARS)));
    }
}

/// Ignores a closed terminal.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The main parameter of a tool call.
fn target(parameters: &Value) -> String {
    let named = ["url", "query", "expression", "name"].iter().find_map(|key| parameters.get(key)?.as_str());
    named.map_or_else(|| parameters.to_string(), str::to_owned)
}

fn tool_word(name: &str) -> String {
    if name == "scrape" { "read".to_owned() } else { name.to_owned() }
}
