//! How data that goes into the store is compressed.

use std::cell::RefCell;
use std::io::{self, Cursor, Read};
use zstd::bulk::{Compressor, Decompressor};
use zstd::stream::read::Decoder;
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

/// How long the reverse of [`pack`] is, bounded by what we ever put in; `None` where it does not say.
pub fn unpacked_bytes(packed: &[u8]) -> Option<usize> {
    let length = get_frame_content_size(packed).ok()??;
    usize::try_from(length).ok().filter(|length| *length <= store::scrapes::MAX_SCRAPE_BYTES)
}

/// The reverse of [`pack`] piece by piece, so that what nobody has asked for yet stays small.
pub struct Pieces<B>(Decoder<'static, Cursor<B>>);

impl<B> std::fmt::Debug for Pieces<B> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Pieces").finish_non_exhaustive()
    }
}

impl<B: AsRef<[u8]>> Pieces<B> {
    pub fn new(packed: B) -> io::Result<Self> {
        Decoder::with_buffer(Cursor::new(packed)).map(Self)
    }

    /// The next piece, of so many bytes but for the last one; empty at the end.
    pub fn next_piece(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut piece = Vec::with_capacity(bytes);
        (&mut self.0).take(bytes as u64).read_to_end(&mut piece)?;
        Ok(piece)
    }
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
        assert_eq!((unpacked_bytes(&packed), unpacked_bytes(&of_unknown_length)), (Some(1000), None));
        let too_much = vec![0; store::scrapes::MAX_SCRAPE_BYTES + 1];
        assert!(unpack(&pack(&too_much).unwrap()).is_err(), "never cut in silence");
    }

    #[test]
    fn pieces_are_the_whole_and_a_cut_one_is_an_error() {
        let text = "gannets dive for fish ".repeat(9_000);
        let packed = pack(text.as_bytes()).unwrap();
        let mut pieces = Pieces::new(packed.as_slice()).unwrap();
        let mut whole = Vec::new();
        loop {
            let piece = pieces.next_piece(10_000).unwrap();
            if piece.is_empty() {
                break;
            }
            assert!(piece.len() == 10_000 || whole.len() + piece.len() == text.len());
            whole.extend(piece);
        }
        assert_eq!(whole, text.as_bytes());
        let mut cut = Pieces::new(&packed[..packed.len() - 5]).unwrap();
        let failed = (0..100).find_map(|_| cut.next_piece(10_000).err());
        assert!(failed.is_some(), "half a text is not taken for the whole");
    }
}
