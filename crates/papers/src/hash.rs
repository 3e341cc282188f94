//! The stable hash of the index. Paper numbers and term numbers on disk depend on it, so it never changes
//! within a format version.

/// 64-bit FNV-1a with a final mix over the concatenation of several parts.
pub fn stable_hash(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in *part {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    // FNV mixes its low bits poorly into the high bits, which the hash tables use.
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_on_disk_stay_what_they_were() {
        assert_eq!(
            super::stable_hash(&[b"doi", b":", b"10.7554/elife.00003"]),
            super::stable_hash(&[b"doi:10.7554/elife.00003"])
        );
        assert_eq!(super::stable_hash(&[b""]), 0xefd0_1f60_ba99_2926);
    }
}
