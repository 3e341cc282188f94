//! `--overlay`: the blocks of a file drawn over its pages. The drawing is made in a sandboxed process too.

use super::target::write_whole;
use anyhow::{Context as _, Result, bail};
use document_process::overlay::{MAX_MARKS, OverlayFormat, OverlayJob, draw_overlay, needs_converter};
use document_process::{OcrProgram, ParsedFile};
use documents::pdf::MarkedPage;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is drawn, and where it is written.
#[derive(Debug)]
pub struct Overlay<'a> {
    pub path: &'a Path,
    /// The page of a picture.
    pub page: u32,
    pub password: Option<&'a str>,
}

/// Why the drawing cannot be written there, in words.
pub fn find_conflict(path: &Path, inputs: &[PathBuf]) -> Option<String> {
    if format_of(path).is_none() {
        return Some("--overlay must name a .pdf or a .png file".to_owned());
    }
    let real = path.canonicalize().ok()?;
    let is_input = inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == real));
    is_input.then(|| format!("--overlay would overwrite {}", path.display()))
}

fn format_of(path: &Path) -> Option<OverlayFormat> {
    let extension = path.extension()?;
    let known = [("pdf", OverlayFormat::Pdf), ("png", OverlayFormat::Png)];
    known.into_iter().find(|(ending, _)| extension.eq_ignore_ascii_case(ending)).map(|(_, format)| format)
}

impl Overlay<'_> {
    pub async fn draw(&self, source: &File, parsed: &ParsedFile, time_limit: Duration) -> Result<()> {
        let Some(format) = format_of(self.path) else { bail!("--overlay must name a .pdf or a .png file") };
        let mut pages: Vec<MarkedPage> = parsed.document.pages.iter().map(MarkedPage::from_page).collect();
        if format == OverlayFormat::Png {
            pages.retain(|page| page.number == self.page);
            if pages.is_empty() {
                bail!("it has no page {}, or the page was not read", self.page);
            }
        }
        if pages.iter().all(|page| page.marks.is_empty()) {
            bail!("{} files have no places to draw", parsed.kind.name());
        }
        let drawn = OverlayJob::keep_within_limit(&mut pages);
        if !drawn {
            eprintln!("gannet: only the first {MAX_MARKS} blocks are drawn");
        }
        let job = OverlayJob { format, page: self.page, password: self.password.map(str::to_owned), pages };
        let program = needs_converter(parsed.kind, format).then(OcrProgram::find).transpose();
        let program = program.context("Could not draw a picture")?;
        let bytes = draw_overlay(program, source, &job, time_limit).await?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        write_whole(folder.unwrap_or(Path::new(".")), self.path, &bytes)?;
        note!("wrote {}", self.path.display());
        Ok(())
    }
}
