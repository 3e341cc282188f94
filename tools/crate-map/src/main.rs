//! Draws the crates of the workspace and their dependencies as `docs/crates.svg`.
//!
//! `cargo run -p gannet-crate-map` writes the picture; with `--check` it only compares and exits with 1 when the
//! committed picture is not current, or when top-level modules of a crate use each other in a circle ([`modules`]).
//! Tests do the same, so a changed dependency or description fails `make test` until the picture is drawn again.

mod graph;
mod layout;
mod modules;
mod svg;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const PICTURE: &str = "docs/crates.svg";

fn main() -> ExitCode {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => {
            eprintln!("usage: crate-map [--check]");
            return ExitCode::from(2);
        }
    };
    match run(check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("crate-map: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(check: bool) -> Result<(), String> {
    if check {
        check_picture()?;
        return check_modules();
    }
    let file = workspace_root().join(PICTURE);
    std::fs::write(&file, draw(&cargo_metadata()?)?).map_err(|error| format!("{}: {error}", file.display()))
}

fn check_picture() -> Result<(), String> {
    let committed = std::fs::read_to_string(workspace_root().join(PICTURE)).unwrap_or_default();
    if committed == draw(&cargo_metadata()?)? {
        return Ok(());
    }
    Err(format!("{PICTURE} is not current; run `cargo run -p gannet-crate-map` and commit it"))
}

/// Fails where top-level modules of a crate use each other in a circle.
fn check_modules() -> Result<(), String> {
    let folder = workspace_root().join("crates");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut circles = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (name, src) = (entry.file_name(), entry.path().join("src"));
        if src.is_dir() {
            let found = modules::find_circles(&src)?;
            circles.extend(found.into_iter().map(|circle| format!("{}: {circle}", name.display())));
        }
    }
    circles.sort();
    if circles.is_empty() {
        Ok(())
    } else {
        Err(format!("modules use each other in circles:\n{}", circles.join("\n")))
    }
}

fn draw(metadata: &str) -> Result<String, String> {
    let graph = graph::Graph::from_metadata(metadata)?;
    Ok(svg::write(&graph, &layout::Layout::new(&graph)))
}

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The manifests of the workspace as JSON. Reads files only: no network, no other packages.
fn cargo_metadata() -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--offline", "--format-version", "1", "--no-deps"])
        .current_dir(workspace_root())
        .output()
        .map_err(|error| format!("could not start cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_picture_is_current() {
        super::check_picture().unwrap();
    }

    #[test]
    fn modules_do_not_use_each_other_in_circles() {
        super::check_modules().unwrap();
    }

    /// Folders of the repository that documents name paths in.
    const FOLDERS: [&str; 10] =
        ["bench", "crates", "data", "docs", "examples", "fuzz", "scripts", "tests", "tools", "training"];

    /// Paths in backticks, from the root of the repository or, in the README of a crate, from `src` or `tests` of it.
    #[test]
    fn paths_that_documents_name_exist() {
        let root = super::workspace_root();
        let mut documents: Vec<_> =
            ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].map(|name| root.join(name)).into();
        let crates = std::fs::read_dir(root.join("crates")).unwrap();
        documents
            .extend(crates.map(|entry| entry.unwrap().path().join("README.md")).filter(|file| file.exists()));
        let mut missing = Vec::new();
        for document in documents {
            let text = std::fs::read_to_string(&document).unwrap();
            for path in text.split('`').skip(1).step_by(2) {
                let first = path.split('/').next().unwrap_or_default();
                let named = path.contains('/') && !path.contains(|letter: char| " *{}:…".contains(letter));
                let folder = document.parent().unwrap();
                let known = FOLDERS.contains(&first) && root.join(path).exists();
                let inside = folder != root && folder.join(path).exists();
                if named && (FOLDERS.contains(&first) || first == "src") && !known && !inside {
                    missing.push(format!("{}: {path}", document.display()));
                }
            }
        }
        assert!(missing.is_empty(), "documents name paths that do not exist:\n{}", missing.join("\n"));
    }

    #[test]
    fn every_crate_has_a_readme() {
        let crates = super::workspace_root().join("crates");
        let without: Vec<_> = std::fs::read_dir(crates)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|folder| folder.join("Cargo.toml").exists() && !folder.join("README.md").exists())
            .collect();
        assert!(without.is_empty(), "these crates have no README.md: {without:?}");
    }
}
