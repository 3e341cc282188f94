//! The part of `cargo deny` that `make test` runs on every machine: licences, banned crates, wildcard versions and
//! sources of dependencies, held against `deny.toml`. cargo-deny itself takes minutes to compile and no package
//! index offers a current binary of it; `make deny` runs it for what only it can do (licence texts, advisories).
//!
//! Everything here is a function of text; `tests/workspace.rs` runs it over this repository.

mod licence;

pub use licence::is_allowed;

use toml::Table;

/// The rules of `deny.toml`.
#[derive(Debug)]
pub struct Rules {
    pub licences: Vec<String>,
    pub banned: Vec<String>,
}

impl Rules {
    /// # Panics
    /// Where `deny.toml` is not TOML or lacks one of the lists: rules that cannot be read must not pass.
    pub fn from_toml(text: &str) -> Self {
        let table: Table = text.parse().expect("deny.toml is TOML");
        let licences = table["licenses"]["allow"].as_array().expect("[licenses] allow");
        let banned = table["bans"]["deny"].as_array().expect("[bans] deny");
        let name = |value: &toml::Value| value.as_str().expect("a name").to_owned();
        Self {
            licences: licences.iter().map(name).collect(),
            banned: banned.iter().map(|entry| name(&entry["name"])).collect(),
        }
    }
}

/// A package that is compiled, with the licence that its manifest names.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub licence: String,
}

/// Reads lines of `cargo tree --prefix none --format "{p}|{l}"`: `name v1.2.3 (proc-macro)|MIT OR Apache-2.0 (*)`.
pub fn parse_tree(output: &str) -> Vec<Package> {
    let mut packages = Vec::new();
    for line in output.lines() {
        let Some((package, licence)) = line.split_once('|') else { continue };
        let mut words = package.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        packages.push(Package {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: licence.trim_end_matches(" (*)").to_owned(),
        });
    }
    packages.sort();
    packages.dedup();
    packages
}

/// What is wrong with the packages, one line each.
pub fn check_packages(packages: &[Package], rules: &Rules) -> Vec<String> {
    let mut problems = Vec::new();
    for Package { name, version, licence } in packages {
        if rules.banned.contains(name) {
            problems.push(format!("{name} {version}: banned by deny.toml"));
        }
        if !is_allowed(licence, &rules.licences) {
            problems.push(format!("{name} {version}: licence \"{licence}\" is not allowed by deny.toml"));
        }
    }
    problems
}

/// Packages in `Cargo.lock` that come from anywhere but crates.io, for whatever platform.
pub fn check_sources(lock: &str) -> Vec<String> {
    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
    let table: Table = lock.parse().expect("Cargo.lock is TOML");
    let packages = table["package"].as_array().expect("packages");
    let mut problems = Vec::new();
    for package in packages {
        // A package without a source is part of the workspace.
        let source = package.get("source").map(|source| source.as_str().unwrap_or_default());
        if let Some(source) = source.filter(|source| *source != REGISTRY) {
            let name = package["name"].as_str().unwrap_or_default();
            problems.push(format!("{name}: comes from {source}, not from crates.io"));
        }
    }
    problems
}

/// Dependencies on any version at all, but for those on a crate of the workspace. Takes `cargo metadata --no-deps`.
pub fn check_wildcards(metadata: &str) -> Vec<String> {
    let metadata: serde_json::Value = serde_json::from_str(metadata).expect("cargo metadata is JSON");
    let mut problems = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            if dependency["req"] == "*" && dependency["path"].is_null() {
                problems.push(format!("{}: any version of {} will do", package["name"], dependency["name"]));
            }
        }
    }
    problems
}

/// Dependencies of the workspace that `ARCHITECTURE.md` gives no reason for.
pub fn check_reasons(manifest: &str, architecture: &str) -> Vec<String> {
    let table: Table = manifest.parse().expect("Cargo.toml is TOML");
    let dependencies = table["workspace"]["dependencies"].as_table().expect("[workspace.dependencies]");
    let chapter =
        architecture.split("\n## ").find(|chapter| chapter.starts_with("Dependencies")).unwrap_or_default();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let reasons: Vec<&str> = chapter.split(|letter: char| !is_part(letter)).collect();
    let ours = |value: &toml::Value| value.get("path").is_some();
    let without =
        dependencies.iter().filter(|(name, value)| !ours(value) && !reasons.contains(&name.as_str()));
    without
        .map(|(name, _)| format!("{name}: ARCHITECTURE.md, \"Dependencies\", has no line for it"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules::from_toml("[licenses]\nallow = [\"MIT\"]\n[bans]\ndeny = [{ name = \"openssl\" }]\n")
    }

    #[test]
    fn banned_crates_and_unknown_licences_are_found() {
        let tree = "a v1.0.0|MIT (*)\na v1.0.0|MIT\nopenssl v0.10.1 (proc-macro)|MIT\nb v2.0.0|GPL-3.0\n\nc v1.0.0|\n";
        let packages = parse_tree(tree);
        assert_eq!(packages.len(), 4);
        assert_eq!(
            check_packages(&packages, &rules()),
            [
                "b v2.0.0: licence \"GPL-3.0\" is not allowed by deny.toml",
                "c v1.0.0: licence \"\" is not allowed by deny.toml",
                "openssl v0.10.1: banned by deny.toml",
            ]
        );
    }

    #[test]
    fn other_sources_are_found() {
        let lock = "[[package]]\nname = \"ours\"\n[[package]]\nname = \"theirs\"\nsource = \"git+https://example.com/x\"\n";
        assert_eq!(check_sources(lock).len(), 1);
    }

    #[test]
    fn wildcards_are_found() {
        let metadata = r#"{"packages": [{"name": "a", "dependencies": [
            {"name": "b", "req": "*", "path": null}, {"name": "c", "req": "*", "path": "/c"}, {"name": "d", "req": "^1"}]}]}"#;
        assert_eq!(check_wildcards(metadata), ["\"a\": any version of \"b\" will do"]);
    }

    #[test]
    fn dependencies_without_a_reason_are_found() {
        let manifest =
            "[workspace.dependencies]\nbytes = \"1\"\nserde_json = \"1\"\nours = { path = \"x\" }\n";
        let architecture =
            "# A\n\n## Dependencies, one reason each\n| serde, serde_json | JSON |\n## bytes\n";
        assert_eq!(check_reasons(manifest, architecture).len(), 1);
    }
}
