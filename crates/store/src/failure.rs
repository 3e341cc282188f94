//! What a database error means for the caller: try again, never, or your mistake.

use crate::StoreError;
use sqlx::error::{DatabaseError, ErrorKind};

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        match error {
            E::Database(error) => from_database(&*error),
            E::Io(_)
            | E::Tls(_)
            | E::Protocol(_)
            | E::PoolTimedOut
            | E::PoolClosed
            | E::WorkerCrashed
            | E::BeginFailed => Self::Unavailable(error.to_string()),
            E::Configuration(error) => Self::Misuse(format!("the database URL is wrong: {error}")),
            other => Self::Database(other.to_string()),
        }
    }
}

fn from_database(error: &dyn DatabaseError) -> StoreError {
    let text = error.message().to_owned();
    match error.kind() {
        ErrorKind::UniqueViolation => return StoreError::Misuse(format!("exists already: {text}")),
        ErrorKind::ForeignKeyViolation => {
            return StoreError::Misuse(format!("belongs to something that does not exist: {text}"));
        }
        _ => {}
    }
    let Some(code) = error.code() else { return StoreError::Database(text) };
    let sqlite = error.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some();
    let again = if sqlite { sqlite_may_pass(&code) } else { postgres_may_pass(&code) };
    if again { StoreError::Unavailable(text) } else { StoreError::Database(text) }
}

/// SQLite result codes that may pass: busy, locked, an input or output error, a full disk, a file that
/// cannot be opened, and lost write permission. The low byte is the primary code.
fn sqlite_may_pass(code: &str) -> bool {
    code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 8 | 10 | 13 | 14))
}

/// SQLSTATE classes that may pass: connection, transaction rollback (deadlock, serialisation), not
/// enough resources, lock not available, an operator or a crash, system error, and a server that is
/// read-only just now.
fn postgres_may_pass(code: &str) -> bool {
    matches!(code.get(..2), Some("08" | "40" | "53" | "57" | "58")) || matches!(code, "55P03" | "25006")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_may_pass() {
        assert!(["5", "517", "13", "778"].into_iter().all(sqlite_may_pass));
        assert!(!["1", "19", "2067", "x"].into_iter().any(sqlite_may_pass));
        assert!(["57P01", "08006", "40P01", "53300", "25006"].into_iter().all(postgres_may_pass));
        assert!(!["42601", "23505", "", "5"].into_iter().any(postgres_may_pass));
    }
}
