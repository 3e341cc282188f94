//! How data that goes into the store is compressed.

use std::cell::RefCell;
use std::io::{self, Read};
use zstd::bulk::Compressor;

/// Fast rather than small: pages shrink to a quarter at any level, and every scrape pays for this.
const COMPRESSION_LEVEL: i32 = -1;

thread_local! {
    /// Its tables are large and would be made and cleared anew for every page.
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses what goes into the store.
pub fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| match packer {
        Some(packer) => packer.compress(bytes),
        None => packer.insert(Compressor::new(COMPRESSION_LEVEL)?).compress(bytes),
    })
}

/// The reverse of [`pack`], bounded by what we ever put in.
pub fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let most = store::scrapes::MAX_SCRAPE_BYTES;
    let mut plain = Vec::new();
    zstd::stream::Decoder::new(bytes)?.take(most as u64 + 1).read_to_end(&mut plain)?;
    // Half a document would be read as a broken one.
    if plain.len() > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "larger than anything that is kept"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        for text in ["", "a", &"<p>gannets dive</p>".repeat(5_000)] {
            let packed = pack(text.as_bytes()).unwrap();
            assert!(packed.len() < text.len() / 10 + 32);
            assert_eq!(unpack(&packed).unwrap(), text.as_bytes());
        }
        assert!(unpack(b"no such thing").is_err());
        let too_much = vec![0; store::scrapes::MAX_SCRAPE_BYTES + 1];
        assert!(unpack(&pack(&too_much).unwrap()).is_err(), "never cut in silence");
    }
}
