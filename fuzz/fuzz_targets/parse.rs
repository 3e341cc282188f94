#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gannet_fuzz_checks::parse_page(bytes));
