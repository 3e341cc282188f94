//! How data that goes into the store is compressed.

use std::cell::RefCell;
use std::io::{self, Read};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

/// Fast rather than small: pages shrink to a quarter at any level, and every scrape pays for this.
const COMPRESSION_LEVEL: i32 = -1;

thread_local! {
    /// Its tables are large and would be made and cleared anew for every page.
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static UNPACKER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
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
    // Half a document would be read as a broken one.
    let too_large = || io::Error::new(io::ErrorKind::InvalidData, "larger than anything that is kept");
    // What `pack` makes says how long it is.
    let Ok(Some(length)) = get_frame_content_size(bytes) else {
        let mut plain = Vec::new();
        zstd::stream::Decoder::new(bytes)?.take(most as u64 + 1).read_to_end(&mut plain)?;
        return if plain.len() > most { Err(too_large()) } else { Ok(plain) };
    };
    let length = usize::try_from(length).ok().filter(|length| *length <= most).ok_or_else(too_large)?;
    UNPACKER.with_borrow_mut(|unpacker| match unpacker {
        Some(unpacker) => unpacker.decompress(bytes, length),
        None => unpacker.insert(Decompressor::new()?).decompress(bytes, length),
    })
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
        assert!(unpack(&[]).is_err());
        let packed = pack(&[7; 1000]).unwrap();
        assert!(unpack(&packed[..packed.len() - 1]).is_err(), "cut off");
        let of_unknown_length = zstd::stream::encode_all(&b"gannets"[..], 1).unwrap();
        assert_eq!(unpack(&of_unknown_length).unwrap(), b"gannets");
        let too_much = vec![0; store::scrapes::MAX_SCRAPE_BYTES + 1];
        assert!(unpack(&pack(&too_much).unwrap()).is_err(), "never cut in silence");
    }
}
