//! Valid files with random damage: bits turned, bytes changed, parts cut, repeated and exchanged, numbers edited.

use super::{SampleFile, valid_files};
use crate::mutations::Random;

/// So many mutated files, each from one of the valid ones in turn.
pub fn mutated_files(count: usize) -> Vec<SampleFile> {
    let valid = valid_files();
    let mut random = Random::new(0x5851_f42d_4c95_7f2d);
    (0..count)
        .map(|number| {
            let SampleFile { name, mut bytes } = valid[number % valid.len()].clone();
            for _ in 0..=random.below(8) {
                mutate(&mut bytes, &valid, &mut random);
            }
            SampleFile::new(format!("mutated-{number}-{name}"), bytes)
        })
        .collect()
}

fn mutate(bytes: &mut Vec<u8>, valid: &[SampleFile], random: &mut Random) {
    let from = random.below(bytes.len());
    let to = bytes.len().min(from + 1 + random.below(200));
    match random.below(8) {
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(from) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => {
            if let Some(byte) = bytes.get_mut(from) {
                *byte = u8::try_from(random.below(256)).unwrap_or(0);
            }
        }
        3 => bytes.truncate(from),
        4 => drop(bytes.drain(from..to)),
        5 => {
            let repeated = bytes[from..to].repeat(1 + random.below(50));
            bytes.splice(from..from, repeated).for_each(drop);
        }
        6 => {
            let other = &valid[random.below(valid.len())].bytes;
            let start = random.below(other.len());
            let part = &other[start..other.len().min(start + random.below(400))];
            bytes.splice(from..to, part.iter().copied()).for_each(drop);
        }
        _ => edit_number(bytes, from, random),
    }
}

/// Puts an extreme value in the place of the first number after `from`.
fn edit_number(bytes: &mut Vec<u8>, from: usize, random: &mut Random) {
    const EXTREMES: [&[u8]; 8] =
        [b"0", b"-1", b"65535", b"2147483647", b"4294967295", b"99999999999999999999", b"1e38", b"0.000001"];
    let Some(start) = bytes.iter().skip(from).position(u8::is_ascii_digit).map(|at| at + from) else {
        return;
    };
    let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let extreme = EXTREMES[random.below(EXTREMES.len())];
    bytes.splice(start..start + digits, extreme.iter().copied()).for_each(drop);
}
