//! The password of an owner opens what the password of a user opens. Up to revision 4 of the format the file holds the
//! user's password, encrypted with the owner's, and its text is encrypted with the user's alone.

use lopdf::Document;
use md5::{Digest, Md5};

/// What a password is filled up with to 32 bytes.
const PADDING: [u8; 32] = [
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08, 0x2e,
    0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];

/// The password of the users, if `owner` is the password of the owner (else something that opens nothing).
pub(super) fn user_password(document: &Document, owner: &str) -> Option<String> {
    let dictionary = document.get_encrypted().ok()?;
    let number = |name: &[u8]| dictionary.get(name).and_then(lopdf::Object::as_i64).ok();
    let revision = number(b"R").filter(|revision| (2..=4).contains(revision))?;
    let key_bytes = if revision == 2 { 5 } else { number(b"Length").unwrap_or(40) / 8 };
    let key_bytes = usize::try_from(key_bytes).ok()?.clamp(5, 16);
    let mut stored: Vec<u8> = dictionary.get(b"O").and_then(|value| value.as_str()).ok()?.to_vec();
    let owner: Vec<u8> = owner.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    let padded: Vec<u8> = owner.into_iter().chain(PADDING).take(PADDING.len()).collect();
    let mut digest = Md5::digest(padded);
    let rounds = if revision == 2 { 1 } else { 20 };
    if revision > 2 {
        for _ in 0..50 {
            digest = Md5::digest(digest);
        }
    }
    for round in (0..rounds).rev() {
        let key: Vec<u8> = digest[..key_bytes].iter().map(|byte| byte ^ round).collect();
        apply_rc4(&key, &mut stored);
    }
    let length = (0..=stored.len()).find(|&length| PADDING.starts_with(&stored[length..]))?;
    Some(stored[..length].iter().copied().map(char::from).collect())
}

fn apply_rc4(key: &[u8], data: &mut [u8]) {
    let mut state: [u8; 256] = std::array::from_fn(|index| u8::try_from(index).unwrap_or(0));
    let mut j = 0_u8;
    for i in 0..256 {
        j = j.wrapping_add(state[i]).wrapping_add(key[i % key.len()]);
        state.swap(i, usize::from(j));
    }
    let (mut i, mut j) = (0_u8, 0_u8);
    for byte in data {
        i = i.wrapping_add(1);
        j = j.wrapping_add(state[usize::from(i)]);
        state.swap(usize::from(i), usize::from(j));
        let sum = state[usize::from(i)].wrapping_add(state[usize::from(j)]);
        *byte ^= state[usize::from(sum)];
    }
}

#[cfg(test)]
mod tests {
    use super::apply_rc4;

    #[test]
    fn the_cipher_agrees_with_its_published_example() {
        let mut data = b"Plaintext".to_vec();
        apply_rc4(b"Key", &mut data);
        assert_eq!(data, [0xbb, 0xf3, 0x16, 0xe8, 0xd9, 0x40, 0xaf, 0x0a, 0xd3]);
    }
}
