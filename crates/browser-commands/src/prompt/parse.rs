//! From a prompt to steps, by the form of its sentences. Knows nothing of the page.

use super::phrase::{
    split_at_word, split_steps, strip_any, strip_article, strip_kind, strip_polite, unquote,
};

/// One step of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParsedStep {
    Click(String),
    Fill {
        field: String,
        value: String,
    },
    /// A field was named but nothing to put into it.
    FillWithoutValue(String),
    Select {
        value: String,
        field: Option<String>,
    },
    Check {
        name: String,
        wanted: bool,
    },
    Scroll(&'static str),
    Back,
    Forward,
    Reload,
    Open(String),
    Search(String),
    Press(String),
    Ask(String),
}

const QUESTIONS: &[&str] = &[
    "what ",
    "what's ",
    "how ",
    "who ",
    "when ",
    "where ",
    "which ",
    "tell me ",
    "read ",
    "get ",
    "show me ",
    "find out ",
];
const MAX_STEPS: usize = 20;

/// The steps of a prompt; `None` when a part of it is none of the known sentences.
pub(super) fn parse_prompt(prompt: &str) -> Option<Vec<ParsedStep>> {
    let parts = split_steps(prompt);
    if parts.is_empty() || parts.len() > MAX_STEPS {
        return None;
    }
    parts.iter().map(|part| parse_step(part)).collect()
}

fn parse_step(part: &str) -> Option<ParsedStep> {
    let text = strip_polite(part);
    let text = text.trim_end_matches(['.', '!']).trim();
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "go back" | "back" | "go to the previous page" => return Some(ParsedStep::Back),
        "go forward" | "forward" => return Some(ParsedStep::Forward),
        "reload" | "refresh" | "reload the page" | "refresh the page" => return Some(ParsedStep::Reload),
        "submit" | "submit the form" => return Some(ParsedStep::Click("submit".to_owned())),
        _ => {}
    }
    if let Some(rest) = strip_any(&lower, &["scroll"]) {
        return Some(ParsedStep::Scroll(if rest.contains("up") || rest.contains("top") {
            "up"
        } else {
            "down"
        }));
    }
    if QUESTIONS.iter().any(|start| lower.starts_with(start)) {
        return Some(ParsedStep::Ask(text.to_owned()));
    }
    if let Some(rest) = strip_any(text, &["search for ", "search "]) {
        return Some(ParsedStep::Search(unquote(rest)));
    }
    if let Some(rest) = strip_any(text, &["go to ", "open ", "navigate to ", "visit "]) {
        let target = unquote(strip_article(rest));
        let is_address = !target.contains(' ')
            && (target.contains("://") || target.contains('.') || target.contains("localhost"));
        return Some(if is_address {
            ParsedStep::Open(target)
        } else {
            ParsedStep::Click(strip_kind(&target, &["page"]))
        });
    }
    parse_form_step(text).or_else(|| parse_click(text))
}

fn parse_form_step(text: &str) -> Option<ParsedStep> {
    const FIELD_KINDS: &[&str] = &["field", "box", "input", "textbox", "form field"];
    let field = |text: &str| strip_kind(&unquote(strip_article(text)), FIELD_KINDS);
    if let Some(rest) = strip_any(text, &["fill in ", "fill out ", "fill ", "set "]) {
        return Some(match split_at_word(rest, &[" with ", " to "]) {
            Some((name, value)) => ParsedStep::Fill { field: field(name), value: unquote(value) },
            None => ParsedStep::FillWithoutValue(field(rest)),
        });
    }
    if let Some(rest) = strip_any(text, &["type in ", "type ", "enter ", "write ", "put "]) {
        return Some(match split_at_word(rest, &[" into ", " in ", " as "]) {
            Some((value, name)) if is_value(value) => {
                ParsedStep::Fill { field: field(name), value: unquote(value) }
            }
            Some((_, name)) => ParsedStep::FillWithoutValue(field(name)),
            None => ParsedStep::FillWithoutValue(field(rest)),
        });
    }
    if let Some(rest) = strip_any(text, &["select ", "choose ", "pick "]) {
        let (value, name) = match split_at_word(rest, &[" from ", " in ", " as "]) {
            Some((value, name)) => (value, Some(strip_kind(&field(name), &["list", "dropdown", "menu"]))),
            None => (rest, None),
        };
        return Some(ParsedStep::Select {
            value: strip_kind(&unquote(strip_article(value)), &["option"]),
            field: name,
        });
    }
    for (starts, wanted) in [(["uncheck ", "untick "], false), (["check ", "tick "], true)] {
        if let Some(rest) = strip_any(text, &starts) {
            let name = strip_kind(&unquote(strip_article(rest)), &["checkbox", "check box", "box", "option"]);
            return Some(ParsedStep::Check { name, wanted });
        }
    }
    None
}

/// "my password" names a secret and gives none.
fn is_value(text: &str) -> bool {
    let lower = text.trim().to_ascii_lowercase();
    let names_it = ["my ", "the ", "your ", "a "].iter().any(|start| lower.starts_with(start));
    !(names_it && is_secret_name(&lower))
}

/// Whether a field holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    [
        "password",
        "passwort",
        "passphrase",
        "passcode",
        "secret",
        "api key",
        "token",
        "pin",
        "otp",
        "cvv",
        "cvc",
        "card number",
    ]
    .iter()
    .any(|word| {
        lower
            .split(|c: char| !c.is_alphanumeric() && c != ' ')
            .any(|part| part == *word || format!(" {part} ").contains(&format!(" {word} ")))
    })
}

fn parse_click(text: &str) -> Option<ParsedStep> {
    if let Some(rest) = strip_any(text, &["press ", "hit "]) {
        let key = strip_kind(&unquote(strip_article(rest)), &["key"]);
        let is_key =
            ["enter", "return", "tab", "escape", "esc", "space", "backspace", "delete", "home", "end"]
                .contains(&key.to_ascii_lowercase().as_str())
                || key.to_ascii_lowercase().starts_with("arrow")
                || key.to_ascii_lowercase().starts_with("page")
                || key.contains('+');
        return Some(if is_key { ParsedStep::Press(key) } else { ParsedStep::Click(click_target(rest)) });
    }
    let rest = strip_any(text, &["click on ", "click ", "tap on ", "tap "])?;
    Some(ParsedStep::Click(click_target(rest)))
}

fn click_target(text: &str) -> String {
    strip_kind(&unquote(strip_article(text)), &["button", "link", "tab", "menu item", "icon"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(prompt: &str) -> ParsedStep {
        let steps = parse_prompt(prompt).unwrap_or_else(|| panic!("{prompt}"));
        assert_eq!(steps.len(), 1, "{prompt}: {steps:?}");
        steps.into_iter().next().unwrap()
    }

    #[test]
    fn the_usual_sentences_are_understood() {
        assert_eq!(one("Click the Buy now button."), ParsedStep::Click("Buy now".to_owned()));
        assert_eq!(
            one("please click on \"Sign up and save\""),
            ParsedStep::Click("Sign up and save".to_owned())
        );
        let fill = ParsedStep::Fill { field: "name".to_owned(), value: "Ann Lee".to_owned() };
        assert_eq!(one("fill the name field with Ann Lee"), fill);
        assert_eq!(one("Type 'Ann Lee' into the name box"), fill);
        assert_eq!(one("enter Ann Lee in the name field"), fill);
        let select = ParsedStep::Select { value: "Medium".to_owned(), field: Some("size".to_owned()) };
        assert_eq!(one("select Medium from the size list"), select);
        assert_eq!(one("scroll down"), ParsedStep::Scroll("down"));
        assert_eq!(one("scroll to the top"), ParsedStep::Scroll("up"));
        assert_eq!(one("go back"), ParsedStep::Back);
        assert_eq!(one("go to example.com/a"), ParsedStep::Open("example.com/a".to_owned()));
        assert_eq!(one("go to the About page"), ParsedStep::Click("About".to_owned()));
        assert_eq!(
            one("search for red shoes and boots"),
            ParsedStep::Search("red shoes and boots".to_owned())
        );
        assert_eq!(one("press enter"), ParsedStep::Press("enter".to_owned()));
        assert_eq!(one("press the Buy button"), ParsedStep::Click("Buy".to_owned()));
        assert_eq!(one("What is the price?"), ParsedStep::Ask("What is the price?".to_owned()));
        assert_eq!(
            one("uncheck the newsletter checkbox"),
            ParsedStep::Check { name: "newsletter".to_owned(), wanted: false }
        );
    }

    #[test]
    fn several_steps_are_taken_apart() {
        let steps =
            parse_prompt("fill name with Ann, click Send then scroll down and tell me how much it costs")
                .unwrap();
        assert_eq!(steps.len(), 4, "{steps:?}");
        assert_eq!(steps[1], ParsedStep::Click("Send".to_owned()));
        assert_eq!(steps[2], ParsedStep::Scroll("down"));
        assert!(matches!(steps[3], ParsedStep::Ask(_)));
    }

    #[test]
    fn secrets_without_a_value_are_recognized() {
        assert_eq!(one("fill in the password"), ParsedStep::FillWithoutValue("password".to_owned()));
        assert_eq!(one("enter my password"), ParsedStep::FillWithoutValue("password".to_owned()));
        assert_eq!(
            one("type my password into the password field"),
            ParsedStep::FillWithoutValue("password".to_owned())
        );
        assert!(is_secret_name("Your password") && is_secret_name("PIN") && !is_secret_name("shipping"));
    }

    #[test]
    fn anything_else_needs_a_model() {
        for prompt in ["book me a flight to Oslo", "log in", "summarize this page", "", "click x then dance"]
        {
            assert_eq!(parse_prompt(prompt), None, "{prompt}");
        }
        assert!(parse_prompt(&"click a then ".repeat(500)).is_none());
    }
}
