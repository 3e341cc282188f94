//! Check digits.

use sha2::{Digest, Sha256};

/// The check of card numbers.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(digit - b'0') << (place % 2);
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The check of international bank account numbers, written without spaces.
pub(super) fn mod_97(iban: &[u8]) -> bool {
    let mut rest = 0_u32;
    for byte in iban[4..].iter().chain(&iban[..4]) {
        rest = match byte {
            b'0'..=b'9' => rest * 10 + u32::from(byte - b'0'),
            b'A'..=b'Z' => rest * 100 + u32::from(byte - b'A') + 10,
            _ => return false,
        } % 97;
    }
    rest == 1
}

/// The check of bank routing numbers of the United States.
pub(super) fn routing(digits: &[u8]) -> bool {
    let weights = [3, 7, 1, 3, 7, 1, 3, 7, 1];
    let sum: u32 = digits.iter().zip(weights).map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
    digits.len() == 9 && sum.is_multiple_of(10) && sum > 0
}

/// Whether a text is a payload of 21 bytes with its check in base 58, as wallets write their addresses.
pub(super) fn base58(text: &[u8]) -> bool {
    const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut number = [0_u8; 25];
    for byte in text {
        let Some(digit) = ALPHABET.iter().position(|known| known == byte) else { return false };
        let mut carry = u32::try_from(digit).unwrap_or(0);
        for place in number.iter_mut().rev() {
            carry += u32::from(*place) * 58;
            *place = u8::try_from(carry & 0xff).unwrap_or(0);
            carry >>= 8;
        }
        if carry != 0 {
            return false;
        }
    }
    let check = Sha256::digest(Sha256::digest(&number[..21]));
    check[..4] == number[21..]
}

/// Whether a text is an address of the `bc1` kind with a right check.
pub(super) fn bech32(text: &str) -> bool {
    const ALPHABET: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    let lower = text.to_ascii_lowercase();
    let Some((prefix, data)) = lower.rsplit_once('1') else { return false };
    let mut sum = 1_u32;
    let mut step = |value: u8| {
        let top = sum >> 25;
        sum = ((sum & 0x1ff_ffff) << 5) ^ u32::from(value);
        for (bit, generator) in
            [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3].iter().enumerate()
        {
            if top >> bit & 1 == 1 {
                sum ^= generator;
            }
        }
    };
    prefix.bytes().for_each(|byte| step(byte >> 5));
    step(0);
    prefix.bytes().for_each(|byte| step(byte & 31));
    for byte in data.bytes() {
        let Some(value) = ALPHABET.iter().position(|known| *known == byte) else { return false };
        step(u8::try_from(value).unwrap_or(0));
    }
    data.len() >= 6 && (sum == 1 || sum == 0x2bc8_30a3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_examples_prove_themselves() {
        assert!(luhn(b"4111111111111111") && luhn(b"378282246310005") && !luhn(b"4111111111111112"));
        assert!(mod_97(b"GB82WEST12345698765432") && !mod_97(b"GB82WEST12345698765433"));
        assert!(routing(b"021000021") && !routing(b"021000022") && !routing(b"000000000"));
        assert!(
            base58(b"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa") && !base58(b"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb")
        );
        assert!(
            bech32("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
                && !bech32("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5")
        );
    }
}
