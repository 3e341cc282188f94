//! The schema's migrations and how they are applied: all that are missing, in one transaction.

use super::{BEGIN, connection, create_private, retry_while_busy};
use crate::migration::{
    APPLIED, AppliedMigration, Inspection, Migration, MigrationReport, REMEMBER, Remembered, pending,
};
use crate::rows::Columns;
use crate::{StoreError, StoreOptions, StoreResult, clock};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Every SQLite file begins with it; an empty file is a database without tables.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Whether the database has the table of migrations.
const PRESENT: &str =
    "SELECT count(*) > 0 AS present FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'";

/// In order of version. Published ones never change: a checksum tells.
const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "ground", sql: include_str!("migrations/0001_ground.sql") },
    Migration { version: 2, name: "scrapes", sql: include_str!("migrations/0002_scrapes.sql") },
    Migration { version: 3, name: "crawls", sql: include_str!("migrations/0003_crawls.sql") },
    Migration { version: 4, name: "webhooks", sql: include_str!("migrations/0004_webhooks.sql") },
    Migration { version: 5, name: "search", sql: include_str!("migrations/0005_search.sql") },
    Migration { version: 6, name: "agents", sql: include_str!("migrations/0006_agents.sql") },
    Migration { version: 7, name: "claims", sql: include_str!("migrations/0007_claims.sql") },
    Migration { version: 8, name: "ceilings", sql: include_str!("migrations/0008_ceilings.sql") },
    Migration { version: 9, name: "secrets", sql: include_str!("migrations/0009_secrets.sql") },
    Migration { version: 10, name: "no_jobs", sql: include_str!("migrations/0010_no_jobs.sql") },
    Migration { version: 11, name: "plain_names", sql: include_str!("migrations/0011_plain_names.sql") },
    Migration { version: 12, name: "uploads", sql: include_str!("migrations/0012_uploads.sql") },
    Migration {
        version: 13,
        name: "browser_sessions",
        sql: include_str!("migrations/0013_browser_sessions.sql"),
    },
    Migration { version: 14, name: "monitors", sql: include_str!("migrations/0014_monitors.sql") },
    Migration { version: 15, name: "registrations", sql: include_str!("migrations/0015_registrations.sql") },
    Migration { version: 16, name: "sign_ins", sql: include_str!("migrations/0016_sign_ins.sql") },
    Migration { version: 17, name: "told_checks", sql: include_str!("migrations/0017_told_checks.sql") },
    Migration {
        version: 18,
        name: "authorizations",
        sql: include_str!("migrations/0018_authorizations.sql"),
    },
    Migration {
        version: 19,
        name: "replaced_secrets",
        sql: include_str!("migrations/0019_replaced_secrets.sql"),
    },
    Migration { version: 20, name: "audit_log", sql: include_str!("migrations/0020_audit_log.sql") },
    Migration { version: 21, name: "key_hosts", sql: include_str!("migrations/0021_key_hosts.sql") },
    Migration {
        version: 22,
        name: "activity_times",
        sql: include_str!("migrations/0022_activity_times.sql"),
    },
];

/// The version that has the list of keys for secrets.
pub(super) const WITH_SECRET_KEYS: i64 = 9;

/// Applies what is missing. The write lock of the file makes processes that start at once take turns;
/// the later ones find nothing left to do.
pub(crate) async fn migrate(path: &Path, options: &StoreOptions) -> StoreResult<MigrationReport> {
    create_private(path)?;
    refuse_other_files(path)?;
    retry_while_busy(options.wait, || apply(path, options)).await
}

/// While a store is open, "not a database" may be a disk that was mounted anew and passes. A file that begins
/// like something else before anything was opened is somebody's, and stays as it is.
fn refuse_other_files(path: &Path) -> StoreResult<()> {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut beginning));
    if read.is_ok() && !beginning.is_empty() && beginning != MAGIC {
        return Err(StoreError::Schema(format!("{} is not an SQLite database", path.display())));
    }
    Ok(())
}

/// How the file stands, without changing it: neither made nor migrated.
pub(crate) async fn inspect(path: &Path, options: &StoreOptions) -> StoreResult<Inspection> {
    let reading = SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(options.wait);
    let mut connection = reading.connect().await?;
    let present = sqlx::query(PRESENT).fetch_one(&mut connection).await?;
    let applied = if present.flag("present")? { remembered(&mut connection).await? } else { Vec::new() };
    let _ = connection.close().await;
    Inspection::new(MIGRATIONS, &applied)
}

async fn remembered(connection: &mut sqlx::SqliteConnection) -> StoreResult<Vec<Remembered>> {
    let rows = sqlx::query(APPLIED).fetch_all(connection).await?;
    rows.iter()
        .map(|row| Ok(Remembered { version: row.int("version")?, checksum: row.text("checksum")? }))
        .collect()
}

async fn apply(path: &Path, options: &StoreOptions) -> StoreResult<MigrationReport> {
    let mut connection = connection(path, options).connect().await?;
    let report = apply_on(&mut connection).await;
    // The last connection to leave a file writes its log back; an error there changes no answer.
    let _ = connection.close().await;
    report
}

async fn apply_on(connection: &mut sqlx::SqliteConnection) -> StoreResult<MigrationReport> {
    let mut tx = connection.begin_with(BEGIN).await?;
    sqlx::query(include_str!("migrations/schema_migrations.sql")).execute(&mut *tx).await?;
    let applied = remembered(&mut tx).await?;
    let from = applied.last().map_or(0, |row| row.version);
    let mut report = MigrationReport { from, to: from, applied: Vec::new() };
    for migration in pending(MIGRATIONS, &applied)? {
        sqlx::raw_sql(migration.sql).execute(&mut *tx).await?;
        sqlx::query(REMEMBER)
            .bind(migration.version)
            .bind(migration.name)
            .bind(migration.checksum())
            .bind(clock::now())
            .execute(&mut *tx)
            .await?;
        report.to = migration.version;
        report.applied.push(AppliedMigration { version: migration.version, name: migration.name.into() });
    }
    tx.commit().await?;
    Ok(report)
}
