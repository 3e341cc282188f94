//! Actions, each with exactly the fields that belong to it.

use super::{formats, nested};
use browser::{Action, PaperFormat};
use wire::Issues;
use wire::scrape::ActionInput;

const MAX_ACTIONS: usize = 50;
/// All waits of a request together, in milliseconds.
const MAX_TOTAL_WAIT_MS: i64 = 60_000;
/// What waiting for a selector counts for.
const SELECTOR_WAIT_MS: i64 = 1_000;
const MAX_TEXT_BYTES: usize = 100_000;

pub fn resolve(asked: &[ActionInput], issues: &mut Issues) -> Vec<Action> {
    if asked.len() > MAX_ACTIONS {
        issues.add("actions", &format!("must have at most {MAX_ACTIONS} entries"), "too_big");
        return Vec::new();
    }
    let mut waiting = 0_i64;
    let actions: Vec<_> = asked
        .iter()
        .enumerate()
        .filter_map(|(index, action)| one(action, index, &mut waiting, issues))
        .collect();
    if waiting > MAX_TOTAL_WAIT_MS {
        issues.add("actions", "must not wait for more than 60 seconds in all", "too_big");
    }
    actions
}

fn one(asked: &ActionInput, index: usize, waiting: &mut i64, issues: &mut Issues) -> Option<Action> {
    let kind = asked.kind.as_deref().unwrap_or_default();
    let known: &[&str] = match kind {
        "wait" => &["milliseconds", "selector"],
        "click" => &["selector", "all"],
        "write" => &["text"],
        "press" => &["key"],
        "scroll" => &["direction", "selector"],
        "screenshot" => &["fullPage", "quality", "viewport"],
        "scrape" => &[],
        "executeJavascript" => &["script"],
        "pdf" => &["format", "landscape", "scale"],
        _ => {
            let all =
                "must be wait, click, write, press, scroll, screenshot, scrape, executeJavascript or pdf";
            issues.push(nested("actions", index, "type", all));
            return None;
        }
    };
    for key in given(asked).filter(|key| !known.contains(key)) {
        issues.push(nested("actions", index, key, &format!("does not belong to `{kind}`")));
    }
    let mut text = |key: &str, value: &Option<String>| {
        let wrong = match value.as_deref() {
            None => "required".to_owned(),
            Some("") => "must not be empty".to_owned(),
            Some(text) if text.len() > MAX_TEXT_BYTES => format!("must have at most {MAX_TEXT_BYTES} bytes"),
            Some(_) => return value.clone(),
        };
        issues.push(nested("actions", index, key, &wrong));
        None
    };
    Some(match kind {
        "wait" => match (asked.milliseconds, &asked.selector) {
            (Some(milliseconds), None) if milliseconds >= 1 => {
                *waiting = waiting.saturating_add(milliseconds);
                Action::Wait { ms: u64::try_from(milliseconds).unwrap_or(0) }
            }
            (None, Some(_)) => {
                *waiting = waiting.saturating_add(SELECTOR_WAIT_MS);
                Action::WaitFor { selector: text("selector", &asked.selector)? }
            }
            _ => {
                let both = asked.milliseconds.is_some() && asked.selector.is_some();
                let why = if both {
                    "wait takes milliseconds or a selector, not both"
                } else {
                    "wait needs milliseconds, at least 1, or a selector"
                };
                issues.push(nested("actions", index, "milliseconds", why));
                return None;
            }
        },
        "click" => {
            Action::Click { selector: text("selector", &asked.selector)?, all: asked.all.unwrap_or(false) }
        }
        "write" => Action::Write { text: text("text", &asked.text)? },
        "press" => {
            let key = text("key", &asked.key)?;
            if browser::key_events(&key).is_none() {
                let why = "is no key; keys are Enter, Tab, Escape, ArrowDown, a, Control+a and so on";
                issues.push(nested("actions", index, "key", why));
                return None;
            }
            Action::Press { key }
        }
        "scroll" => {
            let up = match asked.direction.as_deref() {
                None | Some("down") => false,
                Some("up") => true,
                Some(_) => {
                    issues.push(nested("actions", index, "direction", "must be up or down"));
                    return None;
                }
            };
            Action::Scroll { up, selector: asked.selector.clone() }
        }
        "screenshot" => {
            let (full, place) = (asked.full_page.unwrap_or(false), ("actions", index));
            Action::Screenshot(formats::screenshot(full, asked.quality, asked.viewport, place, issues))
        }
        "executeJavascript" => Action::ExecuteJavascript { script: text("script", &asked.script)? },
        "pdf" => pdf(asked, index, issues)?,
        _ => Action::Scrape,
    })
}

fn pdf(asked: &ActionInput, index: usize, issues: &mut Issues) -> Option<Action> {
    let name = asked.format.as_deref().unwrap_or("Letter");
    let Some((_, format)) = PAPERS.into_iter().find(|(known, _)| *known == name) else {
        issues.push(nested("actions", index, "format", "must be A0 to A6, Letter, Legal, Tabloid or Ledger"));
        return None;
    };
    let scale = asked.scale.unwrap_or(1.0);
    if !(0.1..=2.0).contains(&scale) {
        issues.push(nested("actions", index, "scale", "must be 0.1 to 2"));
        return None;
    }
    Some(Action::Pdf { format, landscape: asked.landscape.unwrap_or(false), scale })
}

const PAPERS: [(&str, PaperFormat); 11] = [
    ("A0", PaperFormat::A0),
    ("A1", PaperFormat::A1),
    ("A2", PaperFormat::A2),
    ("A3", PaperFormat::A3),
    ("A4", PaperFormat::A4),
    ("A5", PaperFormat::A5),
    ("A6", PaperFormat::A6),
    ("Letter", PaperFormat::Letter),
    ("Legal", PaperFormat::Legal),
    ("Tabloid", PaperFormat::Tabloid),
    ("Ledger", PaperFormat::Ledger),
];

/// The fields that are set.
fn given(asked: &ActionInput) -> impl Iterator<Item = &'static str> {
    let set = [
        ("milliseconds", asked.milliseconds.is_some()),
        ("selector", asked.selector.is_some()),
        ("all", asked.all.is_some()),
        ("text", asked.text.is_some()),
        ("key", asked.key.is_some()),
        ("direction", asked.direction.is_some()),
        ("fullPage", asked.full_page.is_some()),
        ("quality", asked.quality.is_some()),
        ("viewport", asked.viewport.is_some()),
        ("script", asked.script.is_some()),
        ("format", asked.format.is_some()),
        ("landscape", asked.landscape.is_some()),
        ("scale", asked.scale.is_some()),
    ];
    set.into_iter().filter_map(|(name, set)| set.then_some(name))
}
