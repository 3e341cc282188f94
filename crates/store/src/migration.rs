//! Schema versions: which migrations a store has, and whether a database fits them. The decisions
//! only; each backend reads and writes its own `schema_migrations` table under its own lock.

use crate::{StoreError, StoreResult};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write as _};

/// The migrations that a database remembers, oldest first.
pub(crate) const APPLIED: &str = "SELECT version, checksum FROM schema_migrations ORDER BY version";

/// Remembers a migration.
pub(crate) const REMEMBER: &str =
    "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";

/// One forward step of a schema, compiled into the program.
#[derive(Debug)]
pub(crate) struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

impl Migration {
    /// SHA-256 of the text, in hex: shows when a migration that was applied is not the one we have.
    pub(crate) fn checksum(&self) -> String {
        Sha256::digest(self.sql.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// A migration as a database remembers it.
#[derive(Debug)]
pub(crate) struct Remembered {
    pub version: i64,
    pub checksum: String,
}

/// What bringing a database up to date took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MigrationReport {
    /// Version before; 0 for an empty database.
    pub from: i64,
    /// Version after.
    pub to: i64,
    pub applied: Vec<AppliedMigration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedMigration {
    pub version: i64,
    pub name: String,
}

impl fmt::Display for MigrationReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.applied.is_empty() {
            return write!(out, "nothing to do, the schema has version {}", self.to);
        }
        for (place, migration) in self.applied.iter().enumerate() {
            let separator = if place == 0 { "" } else { "\n" };
            write!(out, "{separator}applied {:04} {}", migration.version, migration.name)?;
        }
        Ok(())
    }
}

/// How a database stands beside this program; for `gannet doctor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inspection {
    /// The version it has; 0 when it is empty.
    pub version: i64,
    /// The version this program needs.
    pub newest: i64,
}

impl Inspection {
    pub(crate) fn new(known: &'static [Migration], applied: &[Remembered]) -> StoreResult<Self> {
        pending(known, applied)?;
        let version = applied.last().map_or(0, |row| row.version);
        Ok(Self { version, newest: known.last().map_or(0, |migration| migration.version) })
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.version, self.newest) {
            (0, _) => write!(out, "empty; the first start fills it"),
            (version, newest) if version < newest => {
                write!(out, "schema version {version}; the next start brings it to {newest}")
            }
            (version, _) => write!(out, "schema version {version}"),
        }
    }
}

/// Which migrations are still to be applied, in order. Refuses a database that is newer than this
/// program, or whose applied migrations are not the ones this program has.
pub(crate) fn pending(
    known: &'static [Migration],
    applied: &[Remembered],
) -> StoreResult<&'static [Migration]> {
    let newest = known.last().map_or(0, |migration| migration.version);
    if let Some(ahead) = applied.iter().map(|row| row.version).filter(|version| *version > newest).max() {
        return Err(StoreError::Schema(format!(
            "its schema has version {ahead} but this program knows versions up to {newest}; use a newer program"
        )));
    }
    for (position, row) in applied.iter().enumerate() {
        let ours = known.get(position).filter(|migration| migration.version == row.version);
        let Some(ours) = ours else {
            return Err(StoreError::Schema(format!(
                "its migration {} is not one this program has",
                row.version
            )));
        };
        if ours.checksum() != row.checksum {
            return Err(StoreError::Schema(format!(
                "its migration {} ({}) was applied in another form than this program has",
                ours.version, ours.name
            )));
        }
    }
    Ok(&known[applied.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Migration] = &[
        Migration { version: 1, name: "one", sql: "select 1" },
        Migration { version: 2, name: "two", sql: "select 2" },
    ];

    fn remembered(version: i64, checksum: String) -> Remembered {
        Remembered { version, checksum }
    }

    #[test]
    fn only_what_is_missing_is_pending() {
        assert_eq!(pending(KNOWN, &[]).unwrap().len(), 2);
        let rest = pending(KNOWN, &[remembered(1, KNOWN[0].checksum())]).unwrap();
        assert_eq!(rest.iter().map(|m| m.version).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn newer_changed_and_foreign_schemas_are_refused() {
        let both = || vec![remembered(1, KNOWN[0].checksum()), remembered(2, KNOWN[1].checksum())];
        let mut newer = both();
        newer.push(remembered(3, String::new()));
        assert!(pending(KNOWN, &newer).unwrap_err().to_string().contains("version 3"));
        let mut changed = both();
        changed[1].checksum.clear();
        assert!(pending(KNOWN, &changed).unwrap_err().to_string().contains("another form"));
        assert!(pending(KNOWN, &both()[1..]).is_err(), "a gap is refused");
    }
}
