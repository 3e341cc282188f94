//! Lists the files of the folder `web`, so that `include_bytes!` embeds each of them.

use std::fmt::Write;
use std::path::PathBuf;

const KINDS: [&str; 4] = ["css", "html", "js", "svg"];

fn main() {
    let root = folder_of("CARGO_MANIFEST_DIR").join("../../web");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("the folder `web`").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .and_then(|kind| kind.to_str())
                .is_some_and(|kind| KINDS.contains(&kind))
            {
                println!("cargo::rerun-if-changed={}", path.display());
                files.push(path);
            }
        }
    }
    files.sort();
    let mut list = String::from("pub const FILES: &[(&str, &[u8])] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&root).expect("a file of the folder").display().to_string();
        let path = file.canonicalize().expect("a file that was listed").display().to_string();
        writeln!(list, "    ({name:?}, include_bytes!({path:?})),").expect("writing to a string");
    }
    list.push_str("];\n");
    std::fs::write(folder_of("OUT_DIR").join("files.rs"), list).expect("write the list of files");
}

/// Asked for when this runs: a folder that was compiled in would be the old one after the workspace was moved.
fn folder_of(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).expect("set by cargo"))
}
