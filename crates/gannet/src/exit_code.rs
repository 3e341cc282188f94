//! The exit codes of all commands, in one table (docs/operate.md shows it), and how an error of the engine
//! becomes one of them and a message for whoever sits at the terminal: without the statuses and field names of
//! the HTTP API, which a command does not have.

use net::StatusCode;
use serde_json::Value;
use std::fmt;
use std::process::ExitCode;
use wire::{Kind, WireError};

/// It could not be done.
pub const FAILED: u8 = 1;
/// A mistake in the command or the settings; the same code as for errors of the command line parser.
pub const USAGE: u8 = 2;
/// Of several pages or files that were named some could not be had, or a crawl ended before its end. That links of
/// a site are dead is no failure of its crawl.
pub const SOME_FAILED: u8 = 3;
/// The site responded with a block page, a captcha or an empty page.
pub const BLOCKED: u8 = 4;
/// The address must not be fetched (private address).
pub const FORBIDDEN: u8 = 5;
pub const TIMED_OUT: u8 = 6;
/// Interrupted by a signal.
pub const STOPPED: u8 = 130;

/// Fields of requests that have another name on the command line.
const OPTIONS: [(&str, &str); 21] = [
    ("url", "URL"),
    ("query", "QUERY"),
    ("prompt", "PROMPT"),
    ("urls", "--url"),
    ("schema", "--schema"),
    ("question", "--question"),
    ("includePaths", "--include"),
    ("excludePaths", "--exclude"),
    ("strictConstrainToURLs", "--strict"),
    ("maxDiscoveryDepth", "--depth"),
    ("maxConcurrency", "--concurrency"),
    ("maxCredits", "--max-credits"),
    ("waitFor", "--wait-for"),
    ("headers", "--header"),
    ("formats", "--format"),
    ("sources", "--source"),
    ("categories", "--category"),
    ("limit", "--limit"),
    ("timeout", "--timeout"),
    ("delay", "--delay"),
    ("sitemap", "--sitemap"),
];

/// A mistake of whoever typed the command or wrote the settings.
#[derive(Debug)]
pub struct Mistake(pub anyhow::Error);

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:#}", self.0)
    }
}

impl std::error::Error for Mistake {}

/// What a server said no with.
#[derive(Debug)]
pub struct ApiRefusal {
    pub status: StatusCode,
    /// Of the catalogue of errors, if it has one.
    pub code: String,
    pub text: String,
}

impl fmt::Display for ApiRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for ApiRefusal {}

/// Prints what is wrong with the command.
pub fn usage_error(why: &str) -> ExitCode {
    print_line(None, why);
    ExitCode::from(USAGE)
}

/// Prints an error that ended a command.
pub fn print_error(error: &anyhow::Error) -> ExitCode {
    print_failure(None, error)
}

/// Prints why a request of a command came to nothing.
pub fn print_refusal(error: &WireError) -> ExitCode {
    print_refusal_of(None, error)
}

/// Prints an error, with the one of several things that it is about.
pub fn print_failure(named: Option<&str>, error: &anyhow::Error) -> ExitCode {
    if let Some(refusal) = error.downcast_ref::<WireError>() {
        return print_refusal_of(named, refusal);
    }
    print_line(named, &format!("{error:#}"));
    ExitCode::from(match error.downcast_ref::<ApiRefusal>() {
        Some(refusal) => from_api(refusal),
        None if error.is::<Mistake>() => USAGE,
        None => FAILED,
    })
}

fn print_refusal_of(named: Option<&str>, error: &WireError) -> ExitCode {
    for line in messages(error) {
        print_line(named, &line);
    }
    ExitCode::from(from_error(error))
}

fn print_line(named: Option<&str>, text: &str) {
    let named = named.map(|named| format!("{named}: ")).unwrap_or_default();
    eprintln!("gannet: {named}{}", without_error_numbers(text));
}

/// The numbers that the standard library adds to errors of the system say nothing to whoever reads their words.
pub fn without_error_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        plain.push_str(rest.strip_prefix(')').unwrap_or(rest));
    }
    plain
}

/// As [`from_error`], for what a running server said no with.
fn from_api(refusal: &ApiRefusal) -> u8 {
    match (refusal.code.as_str(), refusal.status.as_u16()) {
        ("SCRAPE_TIMEOUT", _) | (_, 408) => TIMED_OUT,
        ("SCRAPE_ALL_ENGINES_FAILED" | "SCRAPE_PROMPT_INJECTION_DETECTED", _) => BLOCKED,
        ("unsafe_domain_blocked", _) => FORBIDDEN,
        (_, 400) => USAGE,
        _ => FAILED,
    }
}

fn from_error(error: &WireError) -> u8 {
    let needs_browser = error.details().is_some_and(|details| details["browser"] == "missing");
    match error.kind {
        _ if needs_browser => FAILED,
        Kind::ScrapeTimeout | Kind::MapTimeout | Kind::RequestTimeout => TIMED_OUT,
        Kind::ScrapeAllFailed | Kind::PromptInjection | Kind::SiteRestricted => BLOCKED,
        Kind::UnsafeDomain => FORBIDDEN,
        _ if error.status() == 400 => USAGE,
        _ => FAILED,
    }
}

/// The message, or one for each option that is wrong.
fn messages(error: &WireError) -> Vec<String> {
    let issues = error.details().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = error.text();
    // Errors of fields have a text of their own where it is not only a list of these.
    let lines: Vec<String> = match text.strip_prefix("Bad Request") {
        Some(_) => issues.iter().filter_map(issue_line).collect(),
        None => issues
            .iter()
            .filter_map(|issue| Some(format!("{text}: {}", issue["message"].as_str()?)))
            .collect(),
    };
    if lines.is_empty() {
        return vec![text.strip_prefix("Bad Request: ").unwrap_or(text).to_owned()];
    }
    lines
}

fn issue_line(issue: &Value) -> Option<String> {
    let message = issue["message"].as_str()?;
    let keys: Vec<&str> = issue["path"].as_array()?.iter().filter_map(Value::as_str).collect();
    // The last key that the command line has a word for: `formats[0].schema` is `--schema`.
    let known = keys.iter().rev().find_map(|key| OPTIONS.iter().find(|(field, _)| field == key));
    let name = known.map(|(_, option)| *option).or(keys.first().copied());
    Some(match name {
        Some(name) => format!("{name}: {message}"),
        None => message.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Issue, PathPart};

    #[test]
    fn errors_of_the_system_are_words() {
        let text = "cannot read x: No such file or directory (os error 2); try (os error 98) again";
        assert_eq!(
            without_error_numbers(text),
            "cannot read x: No such file or directory; try again".to_owned()
        );
        assert_eq!(without_error_numbers("as it is"), "as it is");
    }

    #[test]
    fn errors_name_options_and_no_fields_or_statuses() {
        let path = vec![PathPart::Key("formats".into()), PathPart::Index(0), PathPart::Key("schema".into())];
        let error = WireError::invalid(&[
            Issue::new(path, "is no schema", "custom"),
            Issue::at("includePaths", "is not a regular expression", "custom"),
        ]);
        assert_eq!(messages(&error), ["--schema: is no schema", "--include: is not a regular expression"]);
        assert_eq!(from_error(&error), USAGE);
        let dns = WireError::because(Kind::ScrapeDns, "x.example does not exist");
        assert!(!messages(&dns)[0].contains("200"), "{:?}", messages(&dns));
        assert_eq!(from_error(&dns), FAILED);
        assert_eq!(from_error(&WireError::scrape_timeout("waiting", None)), TIMED_OUT);
    }
}
