//! The statements of all entities by name, as each database takes them.
//!
//! A file holds sections that start with `-- name: reserve`, or with `-- name: reserve (sqlite)` and
//! `-- name: reserve (postgres)` where the two need different texts. A section for PostgreSQL alone is a lock
//! or something else that SQLite does without.
//!
//! A section for both is written for PostgreSQL. For SQLite it is translated by these rules and no others:
//! casts (`::bigint`) and row locks (`FOR UPDATE SKIP LOCKED`) go, `greatest` and `least` become `max` and
//! `min`, and `= ANY ($1)` looks into a JSON list. In all sections for SQLite `gannet_now()` becomes one more
//! argument, which is bound when the statement runs.

use super::Dialect;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// The files by entity.
const FILES: &[(&str, &str)] = &[
    ("activity", include_str!("activity.sql")),
    ("agents", include_str!("agents.sql")),
    ("audit_log", include_str!("audit_log.sql")),
    ("authorizations", include_str!("authorizations.sql")),
    ("base", include_str!("base.sql")),
    ("browser_sessions", include_str!("browser_sessions.sql")),
    ("ceilings", include_str!("ceilings.sql")),
    ("crawls", include_str!("crawls.sql")),
    ("credits", include_str!("credits.sql")),
    ("idempotency", include_str!("idempotency.sql")),
    ("keys", include_str!("keys.sql")),
    ("limits", include_str!("limits.sql")),
    ("monitors", include_str!("monitors.sql")),
    ("objects", include_str!("objects.sql")),
    ("pages", include_str!("pages.sql")),
    ("profiles", include_str!("profiles.sql")),
    ("registrations", include_str!("registrations.sql")),
    ("scrapes", include_str!("scrapes.sql")),
    ("search", include_str!("search.sql")),
    ("secrets", include_str!("secrets.sql")),
    ("sign_ins", include_str!("sign_ins.sql")),
    ("snapshots", include_str!("snapshots.sql")),
    ("uploads", include_str!("uploads.sql")),
    ("webhooks", include_str!("webhooks.sql")),
    ("work", include_str!("work.sql")),
];

const NAME_LINE: &str = "-- name: ";

/// Row locks, which SQLite does without. Longer ones first, since one may start with another.
const ROW_LOCKS: [&str; 5] = [
    " FOR NO KEY UPDATE SKIP LOCKED",
    " FOR UPDATE SKIP LOCKED",
    " FOR NO KEY UPDATE",
    " FOR KEY SHARE",
    " FOR UPDATE",
];

/// Casts, which SQLite does without. Those of lists first.
const CASTS: [&str; 6] = ["::text[]", "::boolean", "::bigint", "::bytea", "::text", "::uuid"];

/// What SQLite calls otherwise.
const RENAMED: [(&str, &str); 2] = [("greatest(", "max("), ("least(", "min(")];

const NOW: &str = "gannet_now()";

/// A statement as a database takes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statement {
    pub text: &'static str,
    /// On SQLite: the time is one more argument, after all others.
    pub binds_now: bool,
}

#[derive(Debug, Default)]
struct Statements {
    sqlite: HashMap<String, Statement>,
    postgres: HashMap<String, Statement>,
}

/// Built once; a few hundred short texts, which stay for as long as the process.
static STATEMENTS: LazyLock<Statements> = LazyLock::new(Statements::read_all);

pub(super) fn find(dialect: Dialect, name: &str) -> Option<Statement> {
    STATEMENTS.for_dialect(dialect).get(name).copied()
}

impl Statements {
    fn for_dialect(&self, dialect: Dialect) -> &HashMap<String, Statement> {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Postgres => &self.postgres,
        }
    }

    fn read_all() -> Self {
        let mut statements = Self::default();
        for (entity, file) in FILES {
            for section in sections(file) {
                let name = format!("{entity}.{}", section.name);
                if section.only != Some(Dialect::Postgres) {
                    let text = match section.only {
                        Some(_) => section.text.to_owned(),
                        None => translated(section.text),
                    };
                    statements.sqlite.insert(name.clone(), with_time(text));
                }
                if section.only != Some(Dialect::Sqlite) {
                    let statement = Statement { text: section.text, binds_now: false };
                    statements.postgres.insert(name, statement);
                }
            }
        }
        statements
    }
}

#[derive(Debug)]
struct Section {
    name: &'static str,
    only: Option<Dialect>,
    text: &'static str,
}

fn sections(file: &'static str) -> impl Iterator<Item = Section> {
    // What stands before the first name is about the file.
    file.split(NAME_LINE).skip(1).map(|section| {
        let (head, text) = section.split_once('\n').unwrap_or((section, ""));
        let (name, only) = match head.split_once(" (") {
            Some((name, "sqlite)")) => (name, Some(Dialect::Sqlite)),
            Some((name, _)) => (name, Some(Dialect::Postgres)),
            None => (head, None),
        };
        Section { name: name.trim(), only, text: text.trim() }
    })
}

/// The words of PostgreSQL as SQLite says them.
fn translated(text: &str) -> String {
    let is_lock = |line: &&str| ROW_LOCKS.iter().any(|lock| line.trim_start().starts_with(lock.trim_start()));
    let mut text = text.lines().filter(|line| !is_lock(line)).collect::<Vec<_>>().join("\n");
    text = with_json_lists(&text);
    for removed in ROW_LOCKS.into_iter().chain(CASTS) {
        text = text.replace(removed, "");
    }
    for (postgres, sqlite) in RENAMED {
        text = text.replace(postgres, sqlite);
    }
    text
}

/// `= ANY ($1)` as a look into a JSON list; ids are hexadecimal digits there.
fn with_json_lists(text: &str) -> String {
    let mut parts = text.split("= ANY (");
    let mut translated = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (list, rest) = part.split_once(')').unwrap_or((part, ""));
        let (argument, kind) = list.split_once("::").unwrap_or((list, ""));
        let value = if kind == "uuid[]" { "unhex(value)" } else { "value" };
        let _ = write!(translated, "IN (SELECT {value} FROM json_each({argument})){rest}");
    }
    translated
}

/// The statement with the time as its last argument, if it asks for it.
fn with_time(text: String) -> Statement {
    let binds_now = text.contains(NOW);
    let text = if binds_now { text.replace(NOW, &format!("${}", last_argument(&text) + 1)) } else { text };
    Statement { text: text.leak(), binds_now }
}

fn last_argument(text: &str) -> u32 {
    let number = |part: &str| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse().ok()
    };
    text.split('$').skip(1).filter_map(number).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The names of statements in the sources of a folder, and whether each is asked for as a lock.
    fn names_in(folder: &Path, names: &mut BTreeSet<(String, bool)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                names_in(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("sql/statements.rs")
            {
                let source = std::fs::read_to_string(&path).unwrap();
                let parts: Vec<&str> = source.split('"').collect();
                names.extend(parts.windows(2).filter_map(|pair| {
                    let (entity, name) = pair[1].split_once('.')?;
                    let is_name =
                        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                    let is_entity = FILES.iter().any(|(known, _)| *known == entity);
                    (is_name && is_entity).then(|| (pair[1].to_owned(), pair[0].ends_with("lock(")))
                }));
            }
        }
    }

    #[test]
    fn every_statement_that_is_asked_for_is_there() {
        let mut all = BTreeSet::new();
        for (folder, dialects) in [
            ("sql", &[Dialect::Sqlite, Dialect::Postgres][..]),
            ("sqlite", &[Dialect::Sqlite]),
            ("postgres", &[Dialect::Postgres]),
        ] {
            let mut names = BTreeSet::new();
            names_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder), &mut names);
            for (name, is_lock) in names {
                // The time is asked for on PostgreSQL only.
                for dialect in dialects.iter().filter(|_| name != "base.now") {
                    let is_wanted = !is_lock || *dialect == Dialect::Postgres;
                    assert_eq!(find(*dialect, &name).is_some(), is_wanted, "{name} on {dialect:?}");
                }
                all.insert(name);
            }
        }
        let known = STATEMENTS.sqlite.keys().chain(STATEMENTS.postgres.keys());
        let unused: BTreeSet<_> = known.filter(|name| !all.contains(*name)).collect();
        assert!(unused.is_empty(), "nobody asks for {unused:?}");
    }

    #[test]
    fn sqlite_gets_its_own_words() {
        let text = "UPDATE t SET a = greatest($1::bigint, 2) WHERE b = ANY ($2) AND c = ANY ($3::uuid[])\n\
                    AND d IN (SELECT d FROM u LIMIT $4 FOR UPDATE SKIP LOCKED)\n    FOR NO KEY UPDATE\n)";
        assert_eq!(
            translated(text),
            "UPDATE t SET a = max($1, 2) WHERE b IN (SELECT value FROM json_each($2)) \
             AND c IN (SELECT unhex(value) FROM json_each($3))\nAND d IN (SELECT d FROM u LIMIT $4)\n)"
        );
        let timed = with_time("SELECT gannet_now() - $2, $10".into());
        assert_eq!((timed.text, timed.binds_now), ("SELECT $11 - $2, $10", true));
        assert!(!with_time("SELECT 1".into()).binds_now);
    }

    #[test]
    fn no_name_stands_twice() {
        for (entity, file) in FILES {
            let mut names = BTreeSet::new();
            for section in sections(file) {
                for dialect in [Dialect::Sqlite, Dialect::Postgres] {
                    if section.only.is_none_or(|only| only == dialect) {
                        let is_new = names.insert((format!("{dialect:?}"), section.name));
                        assert!(is_new, "{entity}.{} is there twice", section.name);
                    }
                }
                assert!(!section.text.is_empty(), "{entity}.{} is empty", section.name);
            }
        }
    }
}
