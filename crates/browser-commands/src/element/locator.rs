//! How a caller names an element, and the script that finds it.

use crate::error::CommandError;
use serde_json::json;
use std::fmt;

const FIND_SCRIPT: &str = include_str!("find.js");

/// What an element is looked for by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FindBy {
    Css,
    XPath,
    Text,
    Label,
    Placeholder,
    AltText,
    Title,
    TestId,
}

impl FindBy {
    fn word(self) -> &'static str {
        match self {
            Self::Css => "css",
            Self::XPath => "xpath",
            Self::Text => "text",
            Self::Label => "label",
            Self::Placeholder => "placeholder",
            Self::AltText => "alt",
            Self::Title => "title",
            Self::TestId => "testid",
        }
    }
}

/// The name of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Locator {
    /// `@e1`
    Ref(u32),
    Find {
        by: FindBy,
        value: String,
        /// Which of several; `None` is the first visible one, -1 the last one.
        index: Option<i64>,
        exact: bool,
    },
}

impl Locator {
    /// A selector as typed: a ref, `text=…`, `xpath=…` or CSS.
    pub(crate) fn parse(typed: &str) -> Self {
        if let Some(number) = parse_ref(typed) {
            return Self::Ref(number);
        }
        let (by, value) = if let Some(text) = typed.strip_prefix("text=") {
            (FindBy::Text, text)
        } else if let Some(path) = typed.strip_prefix("xpath=") {
            (FindBy::XPath, path)
        } else if typed.starts_with("//") || typed.starts_with("(//") {
            (FindBy::XPath, typed)
        } else {
            (FindBy::Css, typed.strip_prefix("css=").unwrap_or(typed))
        };
        Self::find(by, value)
    }

    pub(crate) fn find(by: FindBy, value: &str) -> Self {
        Self::Find { by, value: value.to_owned(), index: None, exact: false }
    }

    pub(super) fn ref_number(&self) -> Option<u32> {
        match self {
            Self::Ref(number) => Some(*number),
            Self::Find { .. } => None,
        }
    }

    /// The script that gives the element, or the number of matches.
    pub(crate) fn script(&self, counts: bool) -> String {
        let Self::Find { by, value, index, exact } = self else { return "null".to_owned() };
        let arguments = [json!(by.word()), json!(value), json!(index), json!(exact), json!(counts)];
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        format!("({FIND_SCRIPT})({})", arguments.join(", "))
    }

    pub(super) fn not_found(&self) -> CommandError {
        CommandError::failed(format!(
            "Element not found: {self}. Verify the selector, role, or name; `snapshot -i` lists what is there"
        ))
    }

    /// The error of a selector that the browser does not understand.
    pub(crate) fn explain(&self, error: CommandError) -> CommandError {
        match &error {
            CommandError::Failed(message) if message.contains("SyntaxError") => {
                CommandError::failed(format!("Invalid selector: {self}"))
            }
            _ => error,
        }
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ref(number) => write!(formatter, "@e{number}"),
            Self::Find { by: FindBy::Css, value, .. } => formatter.write_str(value),
            Self::Find { by, value, .. } => write!(formatter, "{}={value}", by.word()),
        }
    }
}

/// The number of a ref: `@e1`, `ref=e1` or `e1`.
pub(crate) fn parse_ref(typed: &str) -> Option<u32> {
    let name = typed.strip_prefix('@').or_else(|| typed.strip_prefix("ref=")).unwrap_or(typed);
    let digits = name.strip_prefix('e').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_told_apart() {
        assert_eq!(Locator::parse("@e12"), Locator::Ref(12));
        assert_eq!(Locator::parse("ref=e3"), Locator::Ref(3));
        assert_eq!(Locator::parse("text=Buy"), Locator::find(FindBy::Text, "Buy"));
        assert_eq!(Locator::parse("//a"), Locator::find(FindBy::XPath, "//a"));
        assert_eq!(Locator::parse("em"), Locator::find(FindBy::Css, "em"));
        assert_eq!(parse_ref("e"), None);
        assert_eq!(parse_ref("@e99999999999"), None);
    }
}
