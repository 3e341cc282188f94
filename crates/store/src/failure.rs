//! What a database error means for the caller (try again, never, or your mistake), and for the connections: after some errors a
//! connection cannot be trusted any more and is replaced before it is used again.

use crate::error::FullDisk;
use crate::{StoreError, StoreResult};
use parking_lot::Mutex;
use sqlx::error::{DatabaseError, ErrorKind};
use std::time::{Duration, Instant};

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
            // The connection believes that it is still inside of an earlier transaction, which the database has undone long ago.
            | E::InvalidSavePointStatement
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
    let meaning = if sqlite { sqlite_meaning(&code) } else { postgres_meaning(&code) };
    match meaning {
        Meaning::Passes => StoreError::Unavailable(text),
        Meaning::Suspicious => {
            SUSPICION.raise();
            StoreError::Unavailable(text)
        }
        Meaning::Full => {
            let disk = if sqlite { FullDisk::Database } else { FullDisk::DatabaseServer };
            StoreError::Full { disk, text }
        }
        Meaning::Stays => StoreError::Database(text),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Another try may work, on the same connection.
    Passes,
    /// Another try may work, on a new connection.
    Suspicious,
    /// There is no room on the disk.
    Full,
    /// Another try gives the same.
    Stays,
}

/// By SQLite's result codes; the low byte is the primary code. Busy and locked pass. After an input or output error, a lost write
/// permission, a file that cannot be opened or does not look like a database, the file may have been replaced or its disk
/// mounted anew: a connection that was opened on a read-only disk stays read-only for ever.
fn sqlite_meaning(code: &str) -> Meaning {
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(5 | 6) => Meaning::Passes,
        Ok(8 | 10 | 11 | 14 | 26) => Meaning::Suspicious,
        Ok(13) => Meaning::Full,
        _ => Meaning::Stays,
    }
}

/// By SQLSTATE. What may pass: connection, transaction rollback (deadlock, serialisation), not enough resources, lock not
/// available, an operator or a crash, system error. A server that is read-only may have become a standby: a new connection
/// finds the one that took its place, where a name or a pooler leads to it.
fn postgres_meaning(code: &str) -> Meaning {
    match code {
        "53100" => Meaning::Full,
        "25006" => Meaning::Suspicious,
        "55P03" => Meaning::Passes,
        _ if matches!(code.get(..2), Some("08" | "57" | "58")) => Meaning::Suspicious,
        _ if matches!(code.get(..2), Some("40" | "53")) => Meaning::Passes,
        _ => Meaning::Stays,
    }
}

/// When something last happened after which no connection of that age is to be trusted. One for all stores of the process: a
/// disk or server in trouble usually has all of them, and a new connection costs little.
static SUSPICION: Suspicion = Suspicion(Mutex::new(None));

#[derive(Debug)]
struct Suspicion(Mutex<Option<Instant>>);

impl Suspicion {
    fn raise(&self) {
        *self.0.lock() = Some(Instant::now());
    }

    fn covers(&self, age: Duration) -> bool {
        let raised = *self.0.lock();
        raised.is_some_and(|raised| raised.elapsed() < age)
    }
}

/// No connection that is open now is to be used again.
pub(crate) fn raise_suspicion() {
    SUSPICION.raise();
}

/// Whether a connection of this age was there when one was last found to be in doubt.
pub(crate) fn is_suspicious(age: Duration) -> bool {
    SUSPICION.covers(age)
}

/// The same for errors of the file system. Numbers of Linux: no space, quota exceeded, file too large.
pub(crate) fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as K;
    matches!(error.kind(), K::StorageFull | K::QuotaExceeded | K::FileTooLarge)
}

/// An error of the file with the database.
pub(crate) fn of_file<T>(what: &str, done: std::io::Result<T>) -> StoreResult<T> {
    done.map_err(|error| {
        let text = format!("{what}: {error}");
        if is_full(&error) {
            StoreError::Full { disk: FullDisk::Database, text }
        } else {
            StoreError::Unavailable(text)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_what_to_do() {
        for (codes, meaning) in [
            (&["5", "517", "6"][..], Meaning::Passes),
            (&["10", "778", "3850", "8", "1032", "11", "14", "26"], Meaning::Suspicious),
            (&["13"], Meaning::Full),
            (&["1", "19", "2067", "x"], Meaning::Stays),
        ] {
            for code in codes {
                assert_eq!(sqlite_meaning(code), meaning, "{code}");
            }
        }
        for (codes, meaning) in [
            (&["40P01", "53300", "55P03", "53200"][..], Meaning::Passes),
            (&["57P01", "57P03", "08006", "25006", "58030"], Meaning::Suspicious),
            (&["53100"], Meaning::Full),
            (&["42601", "23505", "", "5"], Meaning::Stays),
        ] {
            for code in codes {
                assert_eq!(postgres_meaning(code), meaning, "{code}");
            }
        }
    }

    #[test]
    fn connections_from_before_a_suspicion_are_covered_by_it() {
        let suspicion = Suspicion(Mutex::new(None));
        assert!(!suspicion.covers(Duration::MAX));
        suspicion.raise();
        assert!(suspicion.covers(Duration::from_mins(1)));
        assert!(!suspicion.covers(Duration::ZERO));
    }

    #[test]
    fn a_connection_that_lost_count_of_its_transactions_may_be_replaced() {
        assert!(StoreError::from(sqlx::Error::InvalidSavePointStatement).is_retryable());
    }
}
