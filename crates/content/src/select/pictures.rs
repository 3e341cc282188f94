//! Which pictures, rules and bare marks go with the kept text.
//!
//! A picture inside a block goes with the block. Any other goes with the nearest element around it that holds
//! text, when most of that text is kept; but the logo of a site stands in no text at all, and the nearest
//! element around it is then the whole page.

use super::marks::Marks;
use super::outline::{Attachment, Outline};
use super::sums::KeptWords;
use html::dom::{Attr, Dom, NodeId, Tag};

/// Elements above a picture whose names may say that it is a logo.
const MAX_NAME_STEPS: usize = 4;
/// A picture before or after all kept text must stand at most this deep in what holds the text, unless it is
/// in the main content by its markup.
const MAX_OUTER_STEPS: usize = 2;
/// Parts of a page whose pictures go with their own text alone.
const FRAME: u32 = Marks::NAV | Marks::FOOTER | Marks::ASIDE | Marks::DIALOG | Marks::BUTTON | Marks::HEADER;

/// The kept blocks as pictures see them.
#[derive(Debug)]
pub struct Pictures<'a> {
    dom: &'a Dom,
    outline: &'a Outline,
    kept: &'a [bool],
    counts: KeptWords,
    /// The first and the last kept block.
    first: usize,
    last: usize,
}

impl<'a> Pictures<'a> {
    pub fn new(dom: &'a Dom, outline: &'a Outline, kept: &'a [bool]) -> Self {
        Self {
            dom,
            outline,
            kept,
            counts: KeptWords::new(&outline.blocks, kept),
            first: kept.iter().position(|kept| *kept).unwrap_or(kept.len()),
            last: kept.iter().rposition(|kept| *kept).unwrap_or(0),
        }
    }

    /// Whether the attachment is kept.
    pub fn keeps(&self, attachment: &Attachment) -> bool {
        let block = attachment.block as usize;
        if attachment.inside {
            return self.kept.get(block).copied().unwrap_or(false);
        }
        let outline = self.outline;
        let holder = outline.chain(attachment.holder).enumerate().find(|(_, e)| e.end_block > e.first_block);
        let Some((steps, holder)) = holder else { return false };
        if !self.counts.is_mostly_kept(holder) {
            return false;
        }
        if !is_picture(self.dom.tag(attachment.node)) {
            return true;
        }
        let marks = outline.elements[attachment.holder as usize].marks;
        let in_main = marks.has(Marks::MAIN | Marks::ARTICLE | Marks::FIGURE);
        // The text that is kept is not in the frame where the picture is.
        let frame = if in_main { FRAME & !Marks::HEADER } else { FRAME };
        if marks.0 & frame & !holder.marks.0 != 0 {
            return false;
        }
        // `block` is the one that follows the picture.
        let is_between = block > self.first && block <= self.last;
        if is_between {
            return in_main || !self.is_logo(attachment);
        }
        (in_main || steps <= MAX_OUTER_STEPS) && !self.is_logo(attachment)
    }

    /// Whether a picture is the logo of the site: so named, or a link to the home page.
    fn is_logo(&self, attachment: &Attachment) -> bool {
        let (dom, node) = (self.dom, attachment.node);
        let named = [Attr::Alt, Attr::Src, Attr::Class, Attr::Id]
            .into_iter()
            .filter_map(|name| dom.attr(node, name))
            .any(says_logo);
        let around = || self.outline.chain(attachment.holder).take(MAX_NAME_STEPS);
        let called = |element: NodeId| {
            [Attr::Class, Attr::Id].into_iter().any(|name| dom.attr(element, name).is_some_and(says_logo))
        };
        let leads_home = |element: NodeId| {
            dom.tag(element) == Tag::A && dom.attr(element, Attr::Href).is_some_and(is_home)
        };
        named
            || around()
                .filter(|element| element.tag != Tag::Body)
                .any(|element| called(element.node) || leads_home(element.node))
    }
}

fn is_picture(tag: Tag) -> bool {
    matches!(tag, Tag::Img | Tag::Iframe | Tag::Video | Tag::Audio | Tag::Embed | Tag::Object)
}

/// Whether `logo` is a word of the text, in any spelling: `site-logo.png`, `headerLogo`, but not `logos` or
/// `logomachy`.
fn says_logo(text: &str) -> bool {
    let text = &text.as_bytes()[..text.len().min(300)];
    text.windows(4).enumerate().any(|(at, window)| {
        let starts = window[0] == b'L' || at == 0 || !text[at - 1].is_ascii_alphabetic();
        let ends = text.get(at + 4).is_none_or(|next| !next.is_ascii_lowercase());
        window.eq_ignore_ascii_case(b"logo") && starts && ends
    })
}

/// Whether an address is that of a site's first page.
fn is_home(href: &str) -> bool {
    let href = href.trim();
    let path = match href.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => href,
    };
    let name = path.trim_start_matches(['.', '/']);
    !href.is_empty() && (name.is_empty() || name == "index.html" || name == "index.php")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logo_is_known_as_a_word() {
        for text in ["logo", "site-logo.png", "headerLogo", "/img/LOGO@2x.svg", "The Logo of the site"] {
            assert!(says_logo(text), "{text}");
        }
        for text in ["logos", "logomachy", "analogo", "catalogo", ""] {
            assert!(!says_logo(text), "{text}");
        }
    }

    #[test]
    fn home_is_known_in_every_spelling() {
        for href in ["/", "./", "../../", "../index.html", "https://ex.org", "https://ex.org/", "//"] {
            assert!(is_home(href), "{href}");
        }
        for href in ["", "/about", "#top", "https://ex.org/a", "picture.jpg"] {
            assert!(!is_home(href), "{href}");
        }
    }
}
