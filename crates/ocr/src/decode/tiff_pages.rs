//! Where the pages of a TIFF file are. The decoder reads the first page only, so that each page is given to it as the
//! first one.

/// The places of the descriptions of all pages, in order. A list that runs in a circle ends where it meets itself.
pub(super) fn find_pages(bytes: &[u8]) -> Vec<u32> {
    /// A file with more is not looked at to its end.
    const MAX_FOUND: usize = 10_000;
    let little = bytes.starts_with(b"II");
    let number = |at: usize, length: usize| -> Option<u32> {
        let part = bytes.get(at..at.checked_add(length)?)?;
        let fold = |sum: u32, byte: &u8| (sum << 8) | u32::from(*byte);
        Some(if little { part.iter().rev().fold(0, fold) } else { part.iter().fold(0, fold) })
    };
    let mut pages: Vec<u32> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut place = number(4, 4);
    while let Some(at) = place.filter(|at| *at != 0 && seen.insert(*at)) {
        let Some(entries) = number(at as usize, 2) else { break };
        pages.push(at);
        if pages.len() == MAX_FOUND {
            break;
        }
        place = number(at as usize + 2 + entries as usize * 12, 4);
    }
    pages
}

/// The same file with another page as its first.
pub(super) fn with_first_page(bytes: &[u8], place: u32) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    let number = if bytes.starts_with(b"II") { place.to_le_bytes() } else { place.to_be_bytes() };
    if let Some(first) = copy.get_mut(4..8) {
        first.copy_from_slice(&number);
    }
    copy
}
