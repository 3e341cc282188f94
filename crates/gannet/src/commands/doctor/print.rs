//! The report of `gannet doctor`: as text in columns, which ends with what to do next, and as JSON.

use super::{CheckResult, CheckStatus, limits};
use crate::data_dir;
use crate::settings::Settings;
use anyhow::Result;

/// A value of a setting that is longer has a line of its own, so that it does not push the others aside.
const MAX_VALUE_COLUMN: usize = 26;

pub fn print_text(settings: &Settings, findings: &[CheckResult]) {
    println!("Parts");
    let names = width(findings.iter().map(|found| found.part));
    for CheckResult { part, verdict, text } in findings {
        let mark = match verdict {
            CheckStatus::Ok => "ok     ",
            CheckStatus::Missing => "missing",
            CheckStatus::Warning => "WARNING",
            CheckStatus::Broken => "BROKEN ",
        };
        println!("  {mark}  {part:<names$}  {text}");
    }
    println!("\nLimits in force");
    let limits = limits(settings);
    let names = width(limits.iter().map(|(name, _)| name.as_str()));
    for (name, text) in &limits {
        println!("  {name:<names$}  {text}");
    }
    println!("\nSettings");
    let rows: Vec<[String; 4]> = settings
        .given
        .iter()
        .map(|given| {
            let (name, help) = (given.setting.name.to_owned(), given.setting.help.to_owned());
            [name, given.shown(), given.source.to_string(), help]
        })
        .collect();
    let column = |index: usize| rows.iter().map(move |row| row[index].as_str());
    let (names, sources) = (width(column(0)), width(column(2)));
    let values = width(column(1).filter(|value| value.chars().count() <= MAX_VALUE_COLUMN));
    for [name, value, source, help] in &rows {
        if value.chars().count() > values {
            println!("  {name:<names$}  {value}");
            println!("  {:<names$}  {:<values$}  {source:<sources$}  {help}", "", "");
        } else {
            println!("  {name:<names$}  {value:<values$}  {source:<sources$}  {help}");
        }
    }
    println!("\n{}", next_step(settings, findings));
}

fn width<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

/// What to do now, in one line.
fn next_step(settings: &Settings, findings: &[CheckResult]) -> String {
    let named = |status: CheckStatus| -> String {
        let parts = findings.iter().filter(|found| found.verdict == status).map(|found| found.part);
        parts.collect::<Vec<_>>().join(", ")
    };
    let (broken, missing) = (named(CheckStatus::Broken), named(CheckStatus::Missing));
    if !broken.is_empty() {
        return format!(
            "Next: mend what is BROKEN ({broken}), as the lines above say; then run `gannet doctor` again."
        );
    }
    let is_new = data_dir::sqlite_file(&settings.database_url).is_some_and(|path| !path.exists());
    let start = if is_new { "`gannet serve` starts it and prints the first key" } else { "`gannet serve`" };
    match (missing.as_str(), named(CheckStatus::Warning).as_str()) {
        ("", "") => format!("Next: everything works; {start}."),
        ("", warned) => format!("Next: {start}; read the WARNING of {warned} first."),
        (missing, "") => format!("Next: {start}; {missing} can be added, as the lines above say."),
        (missing, warned) => {
            format!("Next: {start}; read the WARNING of {warned} first; {missing} can be added.")
        }
    }
}

pub fn print_json(settings: &Settings, findings: &[CheckResult]) -> Result<()> {
    let given: Vec<_> = settings
        .given
        .iter()
        .map(|given| {
            serde_json::json!({ "name": given.setting.name, "value": given.shown(), "source": given.source.to_string() })
        })
        .collect();
    let limits: serde_json::Map<_, _> =
        limits(settings).into_iter().map(|(name, text)| (name, serde_json::Value::from(text))).collect();
    let next = next_step(settings, findings);
    let report = serde_json::json!({ "parts": findings, "limits": limits, "settings": given, "next": next });
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
