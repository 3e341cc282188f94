//! SQLite as the common code of the store sees it.

use super::{SqliteStore, Tx, secrets};
use crate::StoreResult;
use crate::secrets::Sealer;
use crate::sql::{Backend, Connection, Dialect, Query, Row, Transaction};
use sqlx::sqlite::SqlitePool;
use tokio::sync::watch;

impl Connection for Tx {
    const DIALECT: Dialect = Dialect::Sqlite;

    async fn execute(&mut self, query: Query) -> sqlx::Result<u64> {
        Ok(query.into_sqlite()?.execute(&mut **self).await?.rows_affected())
    }

    async fn fetch_all(&mut self, query: Query) -> sqlx::Result<Vec<Row>> {
        let found = query.into_sqlite()?.fetch_all(&mut **self).await?;
        Ok(found.into_iter().map(Row::Sqlite).collect())
    }

    async fn fetch_optional(&mut self, query: Query) -> sqlx::Result<Option<Row>> {
        Ok(query.into_sqlite()?.fetch_optional(&mut **self).await?.map(Row::Sqlite))
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

impl Connection for Readers<'_> {
    const DIALECT: Dialect = Dialect::Sqlite;

    async fn execute(&mut self, query: Query) -> sqlx::Result<u64> {
        Ok(query.into_sqlite()?.execute(self.0).await?.rows_affected())
    }

    async fn fetch_all(&mut self, query: Query) -> sqlx::Result<Vec<Row>> {
        let found = query.into_sqlite()?.fetch_all(self.0).await?;
        Ok(found.into_iter().map(Row::Sqlite).collect())
    }

    async fn fetch_optional(&mut self, query: Query) -> sqlx::Result<Option<Row>> {
        Ok(query.into_sqlite()?.fetch_optional(self.0).await?.map(Row::Sqlite))
    }
}

/// The writer, which runs each statement as a transaction of its own.
struct SingleWrites<'s>(&'s SqlitePool);

impl Connection for SingleWrites<'_> {
    const DIALECT: Dialect = Dialect::Sqlite;

    async fn execute(&mut self, query: Query) -> sqlx::Result<u64> {
        let mut tx = Tx::begin(self.0).await?;
        let changed = Connection::execute(&mut tx, query).await?;
        tx.commit().await?;
        Ok(changed)
    }

    async fn fetch_all(&mut self, query: Query) -> sqlx::Result<Vec<Row>> {
        let mut tx = Tx::begin(self.0).await?;
        let found = Connection::fetch_all(&mut tx, query).await?;
        tx.commit().await?;
        Ok(found)
    }

    async fn fetch_optional(&mut self, query: Query) -> sqlx::Result<Option<Row>> {
        let mut tx = Tx::begin(self.0).await?;
        let found = Connection::fetch_optional(&mut tx, query).await?;
        tx.commit().await?;
        Ok(found)
    }
}

impl Backend for SqliteStore {
    type Tx = Tx;

    async fn begin(&self) -> StoreResult<Tx> {
        self.write().await
    }

    fn reader(&self) -> impl Connection {
        Readers(&self.readers)
    }

    fn single(&self) -> impl Connection {
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
