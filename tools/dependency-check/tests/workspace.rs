//! The dependencies of this repository against `deny.toml`, and against the reasons that `ARCHITECTURE.md` gives.

use gannet_dependency_check::{
    Rules, check_packages, check_reasons, check_sources, check_wildcards, parse_tree,
};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read_file(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn cargo(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("start cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Of everything that is compiled on this platform, tests and benchmarks included. `cargo tree` and not `cargo
/// metadata`, which also lists optional packages that no feature turns on.
#[test]
fn licences_and_bans() {
    let arguments = ["tree", "--workspace", "--locked", "--offline", "--edges", "normal,build,dev"];
    let packages =
        parse_tree(&cargo(&[&arguments[..], &["--prefix", "none", "--format", "{p}|{l}"]].concat()));
    assert!(packages.len() > 100, "only {} packages in the tree", packages.len());
    assert_none(&check_packages(&packages, &Rules::from_toml(&read_file("deny.toml"))));
}

/// OCR is a program of its own: what it is made of must not come back into `gannet` through another crate.
#[test]
fn gannet_is_built_without_ocr() {
    let arguments = ["tree", "--package", "gannet", "--locked", "--offline", "--edges", "normal"];
    let packages =
        parse_tree(&cargo(&[&arguments[..], &["--prefix", "none", "--format", "{p}|{l}"]].concat()));
    assert!(packages.len() > 100, "only {} packages in the tree", packages.len());
    let of_ocr = ["gannet-ocr", "hayro", "hayro-jpeg2000", "image", "rten", "rten-tensor"];
    let packages_of_ocr: Vec<_> =
        packages.iter().filter(|package| of_ocr.contains(&package.name.as_str())).collect();
    assert!(packages_of_ocr.is_empty(), "{packages_of_ocr:?}");
}

#[test]
fn sources() {
    assert_none(&check_sources(&read_file("Cargo.lock")));
}

#[test]
fn wildcards() {
    assert_none(&check_wildcards(&cargo(&["metadata", "--offline", "--format-version", "1", "--no-deps"])));
}

#[test]
fn every_dependency_has_its_reason() {
    assert_none(&check_reasons(&read_file("Cargo.toml"), &read_file("ARCHITECTURE.md")));
}
