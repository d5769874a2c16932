//! Paths in SQL and in JSON: text where they are UTF-8, the raw bytes where not, so that a path
//! comes back as it was. Displaying them is somebody else's business.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::types::{FromSqlError, Value, ValueRef};
use rusqlite::{Row, RowIndex};

/// `path` as a value of an `ANY` column.
pub(crate) fn path_to_sql(path: &Path) -> Value {
    match path.to_str() {
        Some(text) => Value::Text(text.to_owned()),
        None => Value::Blob(path.as_os_str().as_bytes().to_vec()),
    }
}

/// The path in a column; `None` for NULL.
pub(crate) fn path_from_sql(
    row: &Row<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<Option<PathBuf>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Ok(Some(PathBuf::from(OsString::from_vec(bytes.to_vec()))))
        }
        ValueRef::Integer(_) | ValueRef::Real(_) => Err(FromSqlError::InvalidType.into()),
    }
}

/// For `#[serde(with)]` on a `PathBuf`: a string, or an array of bytes.
pub(crate) mod json {
    use super::*;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum PathJson {
        Text(String),
        Bytes(Vec<u8>),
    }

    impl PathJson {
        fn of(path: &Path) -> PathJson {
            match path.to_str() {
                Some(text) => PathJson::Text(text.to_owned()),
                None => PathJson::Bytes(path.as_os_str().as_bytes().to_vec()),
            }
        }

        fn path(self) -> PathBuf {
            match self {
                PathJson::Text(text) => PathBuf::from(text),
                PathJson::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
            }
        }
    }

    /// See the module.
    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        PathJson::of(path).serialize(to)
    }

    /// See the module.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        PathJson::deserialize(from).map(PathJson::path)
    }

    /// The same for an `Option<PathBuf>`.
    pub(crate) mod option {
        use super::*;

        /// See the module.
        pub(crate) fn serialize<S: Serializer>(
            path: &Option<PathBuf>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            path.as_deref().map(PathJson::of).serialize(to)
        }

        /// See the module.
        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<PathBuf>, D::Error> {
            Ok(Option::<PathJson>::deserialize(from)?.map(PathJson::path))
        }
    }
}
