//! Packs the addresses that are corrected when the program starts: a tenth of its size. The C library of the machine that
//! builds says whether it can read them; one that cannot refuses to start the program and says why.

use std::env;
use std::process::Command;

/// The first glibc that reads packed addresses.
const MIN_GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let is_glibc = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_own = variable("HOST") == variable("TARGET");
    if is_glibc && is_own && glibc_version().is_some_and(|version| version >= MIN_GLIBC) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
