//! SQLite as the common code of the store sees it.

use super::{SqliteStore, Tx, secrets};
use crate::StoreResult;
use crate::secrets::Sealer;
use crate::sql::{Backend, Dialect, SqlConnection, SqlQuery, SqlRow, Transaction};
use sqlx::sqlite::SqlitePool;
use tokio::sync::watch;
use tracing::Span;

impl SqlConnection for Tx {
    const DIALECT: Dialect = Dialect::Sqlite;

    fn span(&mut self, statement: &'static str) -> Span {
        self.1.as_mut().map_or_else(Span::none, |span| span.note(statement))
    }

    async fn execute(&mut self, query: SqlQuery) -> sqlx::Result<u64> {
        Ok(query.into_sqlite()?.execute(&mut **self).await?.rows_affected())
    }

    async fn fetch_all(&mut self, query: SqlQuery) -> sqlx::Result<Vec<SqlRow>> {
        let found = query.into_sqlite()?.fetch_all(&mut **self).await?;
        Ok(found.into_iter().map(SqlRow::Sqlite).collect())
    }

    async fn fetch_optional(&mut self, query: SqlQuery) -> sqlx::Result<Option<SqlRow>> {
        Ok(query.into_sqlite()?.fetch_optional(&mut **self).await?.map(SqlRow::Sqlite))
    }
}

impl Transaction for Tx {
    async fn commit(self) -> StoreResult<()> {
        Ok(Tx::commit(self).await?)
    }

    async fn overwrite_freed_pages(&mut self, on: bool) -> StoreResult<()> {
        secrets::overwrite_freed_pages(self, on).await
    }
}

/// The readers, any of which runs the next statement.
struct Readers<'s>(&'s SqlitePool);

impl SqlConnection for Readers<'_> {
    const DIALECT: Dialect = Dialect::Sqlite;

    async fn execute(&mut self, query: SqlQuery) -> sqlx::Result<u64> {
        Ok(query.into_sqlite()?.execute(self.0).await?.rows_affected())
    }

    async fn fetch_all(&mut self, query: SqlQuery) -> sqlx::Result<Vec<SqlRow>> {
        let found = query.into_sqlite()?.fetch_all(self.0).await?;
        Ok(found.into_iter().map(SqlRow::Sqlite).collect())
    }

    async fn fetch_optional(&mut self, query: SqlQuery) -> sqlx::Result<Option<SqlRow>> {
        Ok(query.into_sqlite()?.fetch_optional(self.0).await?.map(SqlRow::Sqlite))
    }
}

/// The writer, which runs each statement as a transaction of its own.
struct SingleWrites<'s>(&'s SqlitePool);

impl SqlConnection for SingleWrites<'_> {
    const DIALECT: Dialect = Dialect::Sqlite;

    async fn execute(&mut self, query: SqlQuery) -> sqlx::Result<u64> {
        let mut tx = Tx::begin(self.0).await?;
        let changed = SqlConnection::execute(&mut tx, query).await?;
        tx.commit().await?;
        Ok(changed)
    }

    async fn fetch_all(&mut self, query: SqlQuery) -> sqlx::Result<Vec<SqlRow>> {
        let mut tx = Tx::begin(self.0).await?;
        let found = SqlConnection::fetch_all(&mut tx, query).await?;
        tx.commit().await?;
        Ok(found)
    }

    async fn fetch_optional(&mut self, query: SqlQuery) -> sqlx::Result<Option<SqlRow>> {
        let mut tx = Tx::begin(self.0).await?;
        let found = SqlConnection::fetch_optional(&mut tx, query).await?;
        tx.commit().await?;
        Ok(found)
    }
}

impl Backend for SqliteStore {
    type Tx = Tx;

    async fn begin(&self) -> StoreResult<Tx> {
        self.write().await
    }

    fn reader(&self) -> impl SqlConnection {
        Readers(&self.readers)
    }

    fn single(&self) -> impl SqlConnection {
        SingleWrites(&self.writer)
    }

    fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    fn wake(&self) {
        SqliteStore::wake(self);
    }

    fn work_signal(&self) -> watch::Receiver<u64> {
        self.work.subscribe()
    }
}
