//! From a prompt to steps, by the form of its sentences. Knows nothing of the page. A prompt of which any part is none
//! of the known sentences gives no steps at all.

mod description;
mod fill;
mod nouns;
mod pointer;
mod scroll;
mod secret;
mod split;
mod tokens;
mod waiting;

pub(super) use description::{Amount, Description, Place, Reading};
pub(super) use nouns::ElementKind;
pub(super) use scroll::{ScrollStep, ScrollWay};
pub(super) use secret::is_secret_name;
pub(super) use waiting::WaitStep;

use description::{parse_description, parse_place};
use tokens::{Phrase, tokenize};

/// One step of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParsedStep {
    Point {
        how: PointerAction,
        target: Description,
        times: u32,
    },
    Drag {
        from: Description,
        to: Description,
    },
    Fill {
        field: Description,
        value: String,
    },
    /// A value without a field: into the field that has the focus, or the only one.
    Type {
        value: String,
        hint: Option<Description>,
    },
    /// A field was named but nothing to put into it.
    FillWithoutValue(String),
    Clear(Description),
    Select {
        values: NameList,
        list: Option<Description>,
    },
    /// The entries of a menu, from the outermost on.
    SelectPath(Vec<String>),
    SelectNothing,
    Check {
        boxes: NameList,
        wanted: bool,
    },
    Upload {
        file: String,
        field: Option<Description>,
    },
    /// Opens or closes parts of the page.
    Expand {
        target: Description,
        wanted: bool,
    },
    /// The next element may be looked for behind these.
    Explore(HiddenParts),
    /// Where the element of the next step is.
    Scope(Place),
    Copy(Description),
    /// Selects the text of an element, as dragging the mouse over it does.
    Highlight(Description),
    Paste(Description),
    Scroll(ScrollStep),
    Wait(WaitStep),
    /// A JavaScript dialog, or the one that the page draws.
    Dialog {
        accepts: bool,
        text: Option<String>,
    },
    Submit,
    Back,
    Forward,
    Reload,
    Open(String),
    /// The tab that was opened last.
    NewestTab,
    CloseTab,
    Search(String),
    Press {
        key: String,
        times: u32,
    },
    Ask(String),
}

/// Several names, or one with a comma or "and" in it; the page tells which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameList {
    pub(super) whole: Description,
    pub(super) parts: Vec<Description>,
}

/// What the mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointerAction {
    Click,
    DoubleClick,
    Hover,
    Focus,
}

/// What may hide an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenParts {
    Tabs,
    Sections,
    Tree,
}

const QUESTIONS: &[&str] = &[
    "what", "what's", "how", "who", "when", "where", "which", "tell me", "read", "get", "show me", "find out",
];
const MAX_STEPS: usize = 20;

/// The steps of a prompt, or the part of it that is none of the known sentences.
pub(super) fn parse_prompt(prompt: &str) -> Result<Vec<ParsedStep>, String> {
    let Some(tokens) = tokenize(prompt) else { return Err("it is too long".to_owned()) };
    let parts = split::split_steps(Phrase::new(prompt, &tokens));
    if parts.is_empty() || parts.len() > MAX_STEPS {
        return Err(format!("it has {} steps, and 1 to {MAX_STEPS} are understood", parts.len()));
    }
    let mut steps = Vec::new();
    for part in &parts {
        let parsed = parse_step(*part).filter(|steps| !steps.is_empty());
        steps.extend(parsed.ok_or_else(|| format!("\"{}\" is not understood", part.text()))?);
    }
    // Where the next element is says nothing without one.
    if matches!(steps.last(), Some(ParsedStep::Scope(_) | ParsedStep::Explore(_))) {
        return Err("it ends before it says what is to be done".to_owned());
    }
    Ok(steps)
}

fn parse_step(part: Phrase<'_>) -> Option<Vec<ParsedStep>> {
    // "Use the textbox to enter …"
    if let Some((tool, rest)) = part.strip(&["use", "using"]).and_then(|rest| rest.split_at(&["to"])) {
        return fill::parse_fill_with(rest, tool).map(|step| vec![step]);
    }
    if let Some(rest) = part.strip(&["for", "in", "on", "under"]) {
        // "For the user Ann, click …": without a verb in it, it says where the next element is.
        return parse_scope(rest).map(|place| vec![ParsedStep::Scope(place)]);
    }
    parse_plain(part)
        .map(|step| vec![step])
        .or_else(|| scroll::parse_scroll(part).map(|step| vec![ParsedStep::Scroll(step)]))
        .or_else(|| waiting::parse_wait(part).map(|step| vec![ParsedStep::Wait(step)]))
        .or_else(|| fill::parse_form(part))
        .or_else(|| pointer::parse_pointer(part))
}

fn parse_scope(rest: Phrase<'_>) -> Option<Place> {
    let (place, amount) = parse_place(rest)?;
    amount.is_none().then_some(place)
}

fn parse_plain(part: Phrase<'_>) -> Option<ParsedStep> {
    let step = match part.text().to_lowercase().as_str() {
        "go back" | "back" | "go to the previous page" | "go back to the previous page" => ParsedStep::Back,
        "go forward" | "forward" => ParsedStep::Forward,
        "reload" | "refresh" | "reload the page" | "refresh the page" | "reload this page" => {
            ParsedStep::Reload
        }
        "submit" | "submit the form" | "submit it" => ParsedStep::Submit,
        "switch to the new tab" | "go to the new tab" | "switch to the newest tab" => ParsedStep::NewestTab,
        "close the tab" | "close this tab" | "close the new tab" => ParsedStep::CloseTab,
        "select nothing" | "select none" | "check nothing" | "choose nothing" => ParsedStep::SelectNothing,
        _ => return parse_question(part).or_else(|| parse_going(part)),
    };
    Some(step)
}

fn parse_question(part: Phrase<'_>) -> Option<ParsedStep> {
    part.strip(QUESTIONS).filter(|rest| !rest.is_empty()).map(|_| ParsedStep::Ask(part.text()))
}

fn parse_going(part: Phrase<'_>) -> Option<ParsedStep> {
    if let Some(query) = part.strip(&["search for", "search"]) {
        return (!query.is_empty()).then(|| ParsedStep::Search(query.text()));
    }
    let rest = part.strip(&["go to", "open", "navigate to", "visit"])?;
    let typed = rest.text();
    let is_address = rest.len() == 1
        && (typed.contains("://")
            || typed.contains('.') && !typed.ends_with('.')
            || typed.starts_with("localhost"));
    if is_address {
        return Some(ParsedStep::Open(typed));
    }
    let target = parse_description(rest)?;
    Some(ParsedStep::Point { how: PointerAction::Click, target, times: 1 })
}

/// What is behind tabs, sections or a tree, by its noun.
fn parse_hidden_part(phrase: Phrase<'_>) -> Option<HiddenParts> {
    let phrase = phrase.strip_end(&["to find"]).unwrap_or(phrase).without_marks();
    let phrase = phrase.strip_end(&["below", "above"]).unwrap_or(phrase).without_marks();
    let bare = phrase.strip(&["all the", "the", "all"]).unwrap_or(phrase);
    match bare.text().to_lowercase().as_str() {
        "tabs" => Some(HiddenParts::Tabs),
        "section" | "sections" | "panels" | "accordion" => Some(HiddenParts::Sections),
        "tree" | "file tree" | "folder tree" | "folders" | "tree view" => Some(HiddenParts::Tree),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
