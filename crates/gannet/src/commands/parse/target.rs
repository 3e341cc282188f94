//! The folder that outputs are written to: one file for each input, complete or not there at all, and never one of the
//! inputs.

use super::is_standard_input;
use anyhow::{Context as _, Result};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Where the output of each input goes.
#[derive(Debug)]
pub struct OutputFolder {
    folder: PathBuf,
    /// One for each input, in the same order.
    files: Vec<PathBuf>,
}

impl OutputFolder {
    /// Makes the folder, and names the outputs after the inputs: `a.pdf` becomes `a.pdf.md`.
    pub fn create(folder: &Path, inputs: &[PathBuf], extension: &str) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        // Other spellings of the same file are recognised by where it really is.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut used: HashSet<PathBuf> = inputs.iter().map(|input| real(input)).collect();
        let folder = real(folder);
        let files = inputs
            .iter()
            .map(|input| {
                let name = if is_standard_input(input) {
                    OsStr::new("stdin")
                } else {
                    input.file_name().unwrap_or(OsStr::new("file"))
                };
                let mut names = (1u32..).map(|number| folder.join(output_name(name, number, extension)));
                let free = names.find(|path| !used.contains(&real(path)));
                // There are more numbers than files.
                let free = free.unwrap_or_else(|| folder.join(name));
                used.insert(free.clone());
                free
            })
            .collect();
        Ok(Self { folder, files })
    }

    /// Writes the output of an input: all of it or, where that fails, none.
    pub fn write(&self, input: usize, text: &str) -> Result<()> {
        let path = self.files.get(input).context("an output without its input")?;
        write_whole(&self.folder, path, text.as_bytes())?;
        // Of several the folder is named at the end.
        if self.files.len() == 1 {
            note!("wrote {}", path.display());
        }
        Ok(())
    }
}

/// `a.pdf.md`, and `a.pdf-2.md` for another file of that name.
fn output_name(input: &OsStr, number: u32, extension: &str) -> OsString {
    let mut name = input.to_owned();
    if number > 1 {
        name.push(format!("-{number}"));
    }
    name.push(".");
    name.push(extension);
    name
}

/// Writes next to the place and moves it there, so that nobody sees half of it.
pub fn write_whole(folder: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    let shown = || format!("cannot write {}", path.display());
    let mut builder = tempfile::Builder::new();
    // As any other new file: what the user's mask leaves.
    builder.prefix(".gannet-").permissions(std::fs::Permissions::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).with_context(shown)?;
    file.write_all(bytes).with_context(shown)?;
    file.persist(path).with_context(shown)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::TempDir;

    fn names(out: &OutputFolder) -> Vec<&str> {
        out.files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn inputs_of_the_same_name_get_files_of_their_own() {
        let dir = TempDir::new();
        let inputs = ["a.pdf", "a.docx", "x/a.pdf", "-", "y/a.pdf"].map(PathBuf::from);
        let out = OutputFolder::create(&dir.join("out"), &inputs, "md").unwrap();
        assert_eq!(names(&out), ["a.pdf.md", "a.docx.md", "a.pdf-2.md", "stdin.md", "a.pdf-3.md"]);
    }

    #[test]
    fn an_input_is_never_overwritten_and_an_older_output_is() {
        let dir = TempDir::new();
        let (input, trap) = (dir.join("a"), dir.join("a.md"));
        std::fs::write(&input, "x").unwrap();
        std::fs::write(&trap, "kept").unwrap();
        let spelled = dir.join("./a.md");
        let out = OutputFolder::create(dir.path(), &[input.clone(), spelled], "md").unwrap();
        assert_eq!(names(&out), ["a-2.md", "a.md.md"]);
        for text in ["first", "second"] {
            out.write(0, text).unwrap();
            assert_eq!(std::fs::read_to_string(dir.join("a-2.md")).unwrap(), text);
        }
        assert_eq!(std::fs::read_to_string(&trap).unwrap(), "kept");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3, "nothing else is left");
    }
}
