//! Columns of rows, for both databases at once: they use the same column names. Each entity makes its own types
//! from them, in its own module.

use crate::{StoreError, StoreResult};
use sqlx::{ColumnIndex, Decode, Row, Type};
use uuid::Uuid;

/// A row whose columns have the few types we use.
pub(crate) trait Columns {
    fn id(&self, column: &'static str) -> StoreResult<Uuid>;
    fn id_or_none(&self, column: &'static str) -> StoreResult<Option<Uuid>>;
    fn int(&self, column: &'static str) -> StoreResult<i64>;
    fn int_or_none(&self, column: &'static str) -> StoreResult<Option<i64>>;
    fn flag(&self, column: &'static str) -> StoreResult<bool>;
    fn text(&self, column: &'static str) -> StoreResult<String>;
    fn text_or_none(&self, column: &'static str) -> StoreResult<Option<String>>;
    fn bytes(&self, column: &'static str) -> StoreResult<Vec<u8>>;
    fn bytes_or_none(&self, column: &'static str) -> StoreResult<Option<Vec<u8>>>;

    /// A count, which is never negative.
    fn count(&self, column: &'static str) -> StoreResult<u64> {
        let value = self.int(column)?;
        u64::try_from(value).map_err(|_| StoreError::Database(format!("{column} is negative: {value}")))
    }

    /// A count that fits the contract's small numbers.
    fn small(&self, column: &'static str) -> StoreResult<u32> {
        let value = self.int(column)?;
        u32::try_from(value).map_err(|_| StoreError::Database(format!("{column} is out of range: {value}")))
    }
}

impl<R> Columns for R
where
    R: Row,
    &'static str: ColumnIndex<R>,
    for<'r> Uuid: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> i64: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> bool: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> String: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> Vec<u8>: Decode<'r, R::Database> + Type<R::Database>,
{
    fn id(&self, column: &'static str) -> StoreResult<Uuid> {
        Ok(self.try_get(column)?)
    }
    fn id_or_none(&self, column: &'static str) -> StoreResult<Option<Uuid>> {
        Ok(self.try_get(column)?)
    }
    fn int(&self, column: &'static str) -> StoreResult<i64> {
        Ok(self.try_get(column)?)
    }
    fn int_or_none(&self, column: &'static str) -> StoreResult<Option<i64>> {
        Ok(self.try_get(column)?)
    }
    fn flag(&self, column: &'static str) -> StoreResult<bool> {
        Ok(self.try_get(column)?)
    }
    fn text(&self, column: &'static str) -> StoreResult<String> {
        Ok(self.try_get(column)?)
    }
    fn text_or_none(&self, column: &'static str) -> StoreResult<Option<String>> {
        Ok(self.try_get(column)?)
    }
    fn bytes(&self, column: &'static str) -> StoreResult<Vec<u8>> {
        Ok(self.try_get(column)?)
    }
    fn bytes_or_none(&self, column: &'static str) -> StoreResult<Option<Vec<u8>>> {
        Ok(self.try_get(column)?)
    }
}
