//! How the OpenAPI document describes a file.

use utoipa::ToSchema;

/// The bytes of a file
#[derive(Debug, ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "describes bodies that are read and written as they are")]
pub struct FileBytes(Vec<u8>);
