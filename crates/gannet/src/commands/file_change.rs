//! A change to a file of the user: shown, asked for, and written with a copy of what was there. For commands
//! that set up other programs.

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Whether the user is asked.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Consent {
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Show what would be changed, and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// Shows what changes in `path`, which messages call `shown`; asks, and writes.
pub fn apply(path: &Path, shown: &str, before: &str, after: &str, consent: Consent) -> Result<()> {
    if before == after {
        println!("{shown}: already there");
        return Ok(());
    }
    println!("{shown}:");
    for line in changed_lines(before, after) {
        println!("  {line}");
    }
    if consent.dry_run || !(consent.yes || confirmed()?) {
        println!("  not written");
        return Ok(());
    }
    match write_with_copy(path, after)? {
        Some(copy) => println!("  written; the file before: {}", copy.display()),
        None => println!("  written"),
    }
    Ok(())
}

fn confirmed() -> Result<bool> {
    ensure!(std::io::stdin().is_terminal(), "there is nobody to ask; --yes writes without asking");
    eprintln!("  Write this? [y/N]");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// The lines that are new, and those that are gone.
fn changed_lines(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - same;
    let end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let removed = old[same..old.len() - end].iter().map(|line| format!("- {line}"));
    removed.chain(new[same..new.len() - end].iter().map(|line| format!("+ {line}"))).collect()
}

/// Replaces the file in one step and keeps what it was beside it.
fn write_with_copy(path: &Path, text: &str) -> Result<Option<PathBuf>> {
    // A link stays a link: what it names is written.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().context("the file has no folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let copy = if path.exists() {
        let now = jiff::Timestamp::now().strftime("%Y%m%d%H%M%S").to_string();
        let copy = path.with_file_name(format!(
            "{}.before-gannet-{now}",
            path.file_name().unwrap_or_default().to_string_lossy()
        ));
        ensure!(!copy.exists(), "{} is already there", copy.display());
        std::fs::copy(&path, &copy).with_context(|| format!("cannot write {}", copy.display()))?;
        Some(copy)
    } else {
        None
    };
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(text.as_bytes())?;
    draft.as_file().sync_all()?;
    if let Ok(facts) = std::fs::metadata(&path) {
        draft.as_file().set_permissions(facts.permissions())?;
    }
    if let Err(error) = draft.persist(&path) {
        bail!("cannot write {}: {}", path.display(), error.error);
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_are_shown() {
        assert_eq!(changed_lines("a\nb\nc", "a\nx\nb\nc"), ["+ x"]);
        assert_eq!(changed_lines("a\nb", "a\nc"), ["- b", "+ c"]);
        assert_eq!(changed_lines("", "a"), ["+ a"]);
    }

    #[test]
    fn a_file_is_replaced_with_a_copy_of_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/settings.json");
        assert_eq!(write_with_copy(&path, "{}").unwrap(), None);
        let copy = write_with_copy(&path, "{ }").unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(copy).unwrap(), "{}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "{ }");
    }
}
