//! The libraries in the folder of a build, and which of them are crates of ours. Reads no object.

use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// A compiled library.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Library {
    pub crate_name: String,
    pub file: PathBuf,
    /// Whether it is one of `crates/`.
    pub is_ours: bool,
}

/// All libraries of a folder. One that was built in several times holds older ones too: of each crate of ours
/// only the newest counts, of others all, as two versions of one crate may be in use.
pub fn find(folder: &Path) -> Result<Vec<Library>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let ours = our_crates(&cargo_metadata()?)?;
    let mut newest: HashMap<String, (SystemTime, PathBuf)> = HashMap::new();
    let mut libraries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let Some(crate_name) = crate_of_library(&file_name).map(str::to_owned) else { continue };
        if !ours.contains(&crate_name) {
            libraries.push(Library { crate_name, file: entry.path(), is_ours: false });
            continue;
        }
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).map_err(failed)?;
        if newest.get(&crate_name).is_none_or(|(known, _)| *known < modified) {
            newest.insert(crate_name, (modified, entry.path()));
        }
    }
    let newest = newest.into_iter();
    libraries.extend(newest.map(|(crate_name, (_, file))| Library { crate_name, file, is_ours: true }));
    libraries.sort();
    Ok(libraries)
}

/// `gannet_net` of `libgannet_net-4035ba89e2423ad6.rlib`.
fn crate_of_library(file_name: &str) -> Option<&str> {
    let (name, _hash) = file_name.strip_prefix("lib")?.strip_suffix(".rlib")?.rsplit_once('-')?;
    Some(name)
}

/// The names under which our crates are compiled: some have their package's name, some a shorter one.
fn our_crates(metadata: &str) -> Result<BTreeSet<String>, String> {
    let metadata: Value = serde_json::from_str(metadata).map_err(|error| error.to_string())?;
    let folder = format!("{}/crates/", metadata["workspace_root"].as_str().unwrap_or_default());
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages = packages
        .filter(|package| package["manifest_path"].as_str().is_some_and(|path| path.starts_with(&folder)));
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let is_library =
        |target: &&Value| target["kind"].as_array().is_some_and(|kinds| kinds.contains(&"lib".into()));
    Ok(targets
        .filter(is_library)
        .filter_map(|target| Some(target["name"].as_str()?.replace('-', "_")))
        .collect())
}

/// The manifests of the workspace as JSON. Reads files only: no network, no other packages.
fn cargo_metadata() -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--offline", "--format-version", "1", "--no-deps"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .map_err(|error| format!("could not start cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_names_its_crate() {
        assert_eq!(crate_of_library("libgannet_net-4035ba89e2423ad6.rlib"), Some("gannet_net"));
        assert_eq!(crate_of_library("libgannet_net-4035ba89e2423ad6.rmeta"), None);
        assert_eq!(crate_of_library("gannet_net-4035ba89e2423ad6.d"), None);
    }

    #[test]
    fn our_crates_are_the_libraries_under_crates() {
        let package = |path: &str, name: &str, kind: &str| {
            let target = format!(r#"{{"name":"{name}","kind":["{kind}"]}}"#);
            format!(r#"{{"manifest_path":"/w/{path}/Cargo.toml","targets":[{target}]}}"#)
        };
        let packages = [
            package("crates/net", "gannet-net", "lib"),
            package("crates/text", "text", "lib"),
            package("crates/gannet", "gannet", "bin"),
            package("bench/net", "bench-net", "lib"),
        ];
        let metadata = format!(r#"{{"workspace_root":"/w","packages":[{}]}}"#, packages.join(","));
        let ours: Vec<_> = our_crates(&metadata).unwrap().into_iter().collect();
        assert_eq!(ours, ["gannet_net", "text"]);
    }
}
