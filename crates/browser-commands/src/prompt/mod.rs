//! Prompts: what a caller wants in plain words, carried out as commands. By rules for the usual sentences, or
//! by a language model that is asked for one command at a time.

mod answer;
mod by_model;
mod by_rules;
mod parse;
mod restricted;
mod target;
mod wall;

pub use by_model::{MAX_STEPS, PromptModel, run_by_model};
pub use by_rules::run_by_rules;
pub use restricted::{PageElement, PageView, RestrictedBrowser};

/// Why a prompt was not carried out when no model is configured and the rules do not know it.
pub const MODEL_NEEDED: &str = "A model is needed for this prompt. Without one these are understood: \"click …\", \
    \"hover over …\", \"fill … with …\", \"type … into …\", \"select … from …\", \"check …\", \"scroll down\", \
    \"scroll down until … shows up\", \"wait …\", \"go back\", \"go to …\", \"search for …\", \"press …\", \"accept\", \
    \"upload …\", \"drag … to …\", and questions such as \"what is the price?\", several of them joined by \"then\"; \
    elements may be counted and placed: \"the second result\", \"the Edit link in the row of Ann\"";

/// How a prompt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptStatus {
    Completed,
    /// Something was not found, or a command failed.
    Failed,
    /// A login or a captcha is in the way; a person can go on in the live view.
    NeedsPerson,
    /// The rules do not understand the prompt, and there is no model.
    ModelNeeded,
}

/// A command that a prompt has led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptStep {
    pub command: Vec<String>,
    pub succeeded: bool,
}

/// The reply to a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptReply {
    pub status: PromptStatus,
    /// The answer, or what was done, or why it was not.
    pub output: String,
    /// The page at the end.
    pub snapshot: String,
    pub steps: Vec<PromptStep>,
}

/// The words of a text that mean something, in lower case and stemmed.
fn content_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for piece in text::pieces(text).take(500) {
        let mut lower = String::new();
        text::lower(piece.text, &mut lower);
        if !text::stop_words::QUESTIONS.contains(&lower) {
            words.push(text::stem::crude(&lower));
        }
    }
    words
}

/// One line with single blanks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
