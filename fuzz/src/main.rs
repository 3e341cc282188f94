//! Runs one fuzz target, which `GANNET_FUZZ_TARGET` names. What targets are, and what they check, is in
//! `tests/fuzz-checks`, which `make test` compiles and runs; here is only what libFuzzer needs.
#![no_main]

use gannet_fuzz_checks::{Check, abort_on_panic, find_check};
use std::sync::OnceLock;

static CHECK: OnceLock<Check> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        abort_on_panic();
        let name = std::env::var("GANNET_FUZZ_TARGET").expect("GANNET_FUZZ_TARGET; call fuzz/run");
        CHECK.set(find_check(&name)).expect("one target");
    },
    |bytes: &[u8]| CHECK.get().expect("the target")(bytes)
);
