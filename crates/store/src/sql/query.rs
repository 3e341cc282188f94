//! Statements with their arguments, and rows, for either database.

use super::spans::note_failure;
use super::{Dialect, SqlConnection, statements};
use crate::rows::Columns;
use crate::{StoreResult, clock};
use sqlx::postgres::{PgArguments, PgHasArrayType, PgRow};
use sqlx::query::Query as SqlxQuery;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Decode, Encode, Postgres, Row as _, Sqlite, Type};
use std::fmt::Write as _;
use tracing::Instrument as _;
use uuid::Uuid;

/// A value that both databases take as an argument.
pub(crate) trait Value<'v>:
    Encode<'v, Sqlite> + Type<Sqlite> + Encode<'v, Postgres> + Type<Postgres>
{
}

impl<'v, T> Value<'v> for T where T: Encode<'v, Sqlite> + Type<Sqlite> + Encode<'v, Postgres> + Type<Postgres> {}

type SqliteQuery = SqlxQuery<'static, Sqlite, SqliteArguments>;
type PostgresQuery = SqlxQuery<'static, Postgres, PgArguments>;

/// A statement with its arguments, and its name.
#[must_use = "a statement does nothing until it is run"]
pub(crate) struct SqlQuery(Inner, &'static str);

enum Inner {
    Sqlite {
        query: SqliteQuery,
        /// The time is its last argument.
        binds_now: bool,
    },
    Postgres(PostgresQuery),
    /// Runs nothing.
    Nothing,
    /// There is no statement of that name.
    Missing(&'static str),
}

impl SqlQuery {
    pub(super) fn named(dialect: Dialect, name: &'static str) -> Self {
        let Some(statement) = statements::find(dialect, name) else {
            return Self(Inner::Missing(name), name);
        };
        let inner = match dialect {
            Dialect::Sqlite => {
                Inner::Sqlite { query: sqlx::query(statement.text), binds_now: statement.binds_now }
            }
            Dialect::Postgres => Inner::Postgres(sqlx::query(statement.text)),
        };
        Self(inner, name)
    }

    pub(super) fn nothing() -> Self {
        Self(Inner::Nothing, "")
    }

    /// The next argument.
    pub(crate) fn bind<'v>(self, value: impl Value<'v>) -> Self {
        let inner = match self.0 {
            Inner::Sqlite { query, binds_now } => Inner::Sqlite { query: query.bind(value), binds_now },
            Inner::Postgres(query) => Inner::Postgres(query.bind(value)),
            inner => inner,
        };
        Self(inner, self.1)
    }

    /// The next argument, a list for `= ANY ($1)`: an array on PostgreSQL, JSON on SQLite.
    pub(crate) fn bind_list<'v, T>(self, list: Vec<T>) -> Self
    where
        T: ListItem + Encode<'v, Postgres> + Type<Postgres> + PgHasArrayType + 'v,
    {
        self.bind_list_or_none(Some(list))
    }

    pub(crate) fn bind_list_or_none<'v, T>(self, list: Option<Vec<T>>) -> Self
    where
        T: ListItem + Encode<'v, Postgres> + Type<Postgres> + PgHasArrayType + 'v,
    {
        let inner = match self.0 {
            Inner::Sqlite { query, binds_now } => {
                let json = list.map(|list| {
                    list.iter().map(ListItem::to_json).collect::<serde_json::Value>().to_string()
                });
                Inner::Sqlite { query: query.bind(json), binds_now }
            }
            Inner::Postgres(query) => Inner::Postgres(query.bind(list)),
            inner => inner,
        };
        Self(inner, self.1)
    }

    pub(crate) async fn execute(self, connection: &mut impl SqlConnection) -> sqlx::Result<u64> {
        if matches!(self.0, Inner::Nothing) {
            return Ok(0);
        }
        let span = connection.span(self.1);
        connection.execute(self).instrument(span.clone()).await.inspect_err(|_| note_failure(&span))
    }

    pub(crate) async fn fetch_all(self, connection: &mut impl SqlConnection) -> sqlx::Result<Vec<SqlRow>> {
        let span = connection.span(self.1);
        connection.fetch_all(self).instrument(span.clone()).await.inspect_err(|_| note_failure(&span))
    }

    pub(crate) async fn fetch_optional(
        self,
        connection: &mut impl SqlConnection,
    ) -> sqlx::Result<Option<SqlRow>> {
        let span = connection.span(self.1);
        connection.fetch_optional(self).instrument(span.clone()).await.inspect_err(|_| note_failure(&span))
    }

    pub(crate) async fn fetch_one(self, connection: &mut impl SqlConnection) -> sqlx::Result<SqlRow> {
        self.fetch_optional(connection).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// For the driver of SQLite.
    pub(crate) fn into_sqlite(self) -> sqlx::Result<SqliteQuery> {
        match self.0 {
            Inner::Sqlite { query, binds_now: true } => Ok(query.bind(clock::now())),
            Inner::Sqlite { query, binds_now: false } => Ok(query),
            inner => Err(inner.not_for("SQLite")),
        }
    }

    /// For the driver of PostgreSQL.
    pub(crate) fn into_postgres(self) -> sqlx::Result<PostgresQuery> {
        match self.0 {
            Inner::Postgres(query) => Ok(query),
            inner => Err(inner.not_for("PostgreSQL")),
        }
    }
}

impl Inner {
    fn not_for(self, database: &str) -> sqlx::Error {
        let name = if let Self::Missing(name) = self { name } else { "of the other database" };
        sqlx::Error::InvalidArgument(format!("{database} has no statement {name}"))
    }
}

/// A value that a list of [`SqlQuery::bind_list`] is made of.
pub(crate) trait ListItem {
    fn to_json(&self) -> serde_json::Value;
}

impl ListItem for i64 {
    fn to_json(&self) -> serde_json::Value {
        (*self).into()
    }
}

impl ListItem for &str {
    fn to_json(&self) -> serde_json::Value {
        (*self).into()
    }
}

impl ListItem for String {
    fn to_json(&self) -> serde_json::Value {
        self.as_str().into()
    }
}

/// Hexadecimal digits, which the statement turns into bytes again: `= ANY ($1::uuid[])`.
impl ListItem for Uuid {
    fn to_json(&self) -> serde_json::Value {
        self.simple().to_string().into()
    }
}

/// The same for keys and hashes.
impl ListItem for &[u8] {
    fn to_json(&self) -> serde_json::Value {
        hex(self).into()
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A statement for many rows, argument by argument: on PostgreSQL it runs once, with an array per column; on
/// SQLite once for each row, since that costs no round trip. It has a text for each database.
#[must_use = "a statement does nothing until it is run"]
pub(crate) struct BatchQuery<'r, R> {
    rows: &'r [R],
    /// One for all rows, or one for each.
    queries: Vec<SqlQuery>,
}

impl<'r, R> BatchQuery<'r, R> {
    pub(super) fn new(dialect: Dialect, name: &'static str, rows: &'r [R]) -> Self {
        let count = match dialect {
            Dialect::Sqlite => rows.len(),
            Dialect::Postgres => rows.len().min(1),
        };
        Self { rows, queries: (0..count).map(|_| SqlQuery::named(dialect, name)).collect() }
    }

    /// The next argument, which each row has its own of.
    pub(crate) fn column<'v, T>(mut self, value: impl Fn(&'r R) -> T) -> Self
    where
        T: Value<'v> + PgHasArrayType,
    {
        if let [SqlQuery(Inner::Postgres(_), _)] = &self.queries[..] {
            let column: Vec<T> = self.rows.iter().map(value).collect();
            self.queries = self
                .queries
                .into_iter()
                .map(|SqlQuery(inner, name)| match inner {
                    Inner::Postgres(query) => SqlQuery(Inner::Postgres(query.bind(&column)), name),
                    inner => SqlQuery(inner, name),
                })
                .collect();
            return self;
        }
        self.queries =
            self.queries.into_iter().zip(self.rows).map(|(query, row)| query.bind(value(row))).collect();
        self
    }

    /// The next argument, which is the same for all rows.
    pub(crate) fn bind<'v>(mut self, value: impl Value<'v> + Clone) -> Self {
        self.queries = self.queries.into_iter().map(|query| query.bind(value.clone())).collect();
        self
    }

    /// The next argument, a list that is the same for all rows.
    pub(crate) fn bind_list<'v, T>(mut self, list: &[T]) -> Self
    where
        T: ListItem + Encode<'v, Postgres> + Type<Postgres> + PgHasArrayType + Clone + 'v,
    {
        self.queries = self.queries.into_iter().map(|query| query.bind_list(list.to_vec())).collect();
        self
    }

    /// Runs it; how many rows were changed.
    pub(crate) async fn execute(self, connection: &mut impl SqlConnection) -> sqlx::Result<u64> {
        let mut changed = 0;
        for query in self.queries {
            changed += query.execute(connection).await?;
        }
        Ok(changed)
    }

    /// Runs it; the rows it returns, in the order of its rows on SQLite and in any on PostgreSQL.
    pub(crate) async fn fetch_all(self, connection: &mut impl SqlConnection) -> sqlx::Result<Vec<SqlRow>> {
        let mut found = Vec::new();
        for query in self.queries {
            found.append(&mut query.fetch_all(connection).await?);
        }
        Ok(found)
    }
}

/// A row of either database.
pub(crate) enum SqlRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl SqlRow {
    fn get<T>(&self, column: &'static str) -> StoreResult<T>
    where
        for<'r> T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>,
    {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }
}

impl Columns for SqlRow {
    fn id(&self, column: &'static str) -> StoreResult<Uuid> {
        self.get(column)
    }
    fn id_or_none(&self, column: &'static str) -> StoreResult<Option<Uuid>> {
        self.get(column)
    }
    fn int(&self, column: &'static str) -> StoreResult<i64> {
        self.get(column)
    }
    fn int_or_none(&self, column: &'static str) -> StoreResult<Option<i64>> {
        self.get(column)
    }
    fn flag(&self, column: &'static str) -> StoreResult<bool> {
        self.get(column)
    }
    fn text(&self, column: &'static str) -> StoreResult<String> {
        self.get(column)
    }
    fn text_or_none(&self, column: &'static str) -> StoreResult<Option<String>> {
        self.get(column)
    }
    fn bytes(&self, column: &'static str) -> StoreResult<Vec<u8>> {
        self.get(column)
    }
    fn bytes_or_none(&self, column: &'static str) -> StoreResult<Option<Vec<u8>>> {
        self.get(column)
    }
}
