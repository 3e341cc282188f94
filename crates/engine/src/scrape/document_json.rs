//! The JSON of a document on its way to its caller. A caller may take minutes to read it, so a long one waits
//! compressed.

use super::cache;
use crate::Error;
use bytes::Bytes;
use stored_data::compression::{Pieces, unpacked_bytes};

/// Longer JSON is kept compressed.
const MAX_PLAIN_BYTES: usize = 1 << 20;

/// A document as JSON.
#[derive(Debug, Clone)]
pub enum DocumentJson {
    Plain(Vec<u8>),
    /// As [`cache::pack`] makes it.
    Packed {
        packed: Bytes,
        bytes: usize,
    },
}

impl DocumentJson {
    /// The JSON, and as it is stored, where it is.
    pub(super) fn pack(json: Vec<u8>, is_stored: bool) -> Result<(Self, Option<Vec<u8>>), Error> {
        let bytes = json.len();
        if bytes <= MAX_PLAIN_BYTES {
            let stored = if is_stored { Some(cache::pack(&json).map_err(Error::internal)?) } else { None };
            return Ok((Self::Plain(json), stored));
        }
        let mut packed = cache::pack(&json).map_err(Error::internal)?;
        // It was made for the worst case.
        packed.shrink_to_fit();
        let stored = is_stored.then(|| packed.clone());
        Ok((Self::Packed { packed: packed.into(), bytes }, stored))
    }

    /// What was stored.
    pub(super) fn from_stored(packed: Vec<u8>) -> Result<Self, Error> {
        match unpacked_bytes(&packed) {
            Some(bytes) if bytes > MAX_PLAIN_BYTES => Ok(Self::Packed { packed: packed.into(), bytes }),
            _ => cache::unpack(&packed).map(Self::Plain).map_err(Error::internal),
        }
    }

    /// Its length as JSON.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Plain(json) => json.len(),
            Self::Packed { bytes, .. } => *bytes,
        }
    }

    /// All of it.
    pub fn into_json(self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Plain(json) => Ok(json),
            Self::Packed { packed, .. } => cache::unpack(&packed).map_err(Error::internal),
        }
    }

    /// Reads a compressed one piece by piece.
    pub fn pieces(packed: Bytes) -> Result<Pieces<Bytes>, Error> {
        Pieces::new(packed).map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_documents_wait_compressed_and_short_ones_as_they_are() {
        for (bytes, is_packed) in [(0, false), (MAX_PLAIN_BYTES, false), (MAX_PLAIN_BYTES + 1, true)] {
            let text = vec![b'x'; bytes];
            let (json, stored) = DocumentJson::pack(text.clone(), true).unwrap();
            assert_eq!((json.bytes(), matches!(json, DocumentJson::Packed { .. })), (bytes, is_packed));
            let again = DocumentJson::from_stored(stored.unwrap()).unwrap();
            assert_eq!(matches!(again, DocumentJson::Packed { .. }), is_packed);
            assert_eq!((json.into_json().unwrap(), again.into_json().unwrap()), (text.clone(), text));
            assert!(DocumentJson::pack(vec![b'x'; bytes], false).unwrap().1.is_none());
        }
    }
}
