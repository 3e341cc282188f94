//! Markdown that a site sends as its page: whether it is markdown at all, and what a page needs of it. It is
//! read as the HTML it stands for, which gives its links and metadata; its text stays as it was written.

use html::address::Base;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use std::fmt::Write as _;
use std::ops::Range;

/// As much of a body as decides whether it is markdown.
const MAX_JUDGED_BYTES: usize = 16 << 10;
/// A text of which more than this share, in percent, is tags is HTML with the label of markdown.
const MAX_TAG_PERCENT: usize = 30;
const MAX_FRONT_MATTER_BYTES: usize = 16 << 10;
/// Where the address of a link is looked for, from its end: after it stands a title at most.
const MAX_LINK_END_BYTES: usize = 10 << 10;

/// Names in front matter and the tags of a page that say the same.
const HEAD_TAGS: [(&str, &str, &str); 12] = [
    ("description", "name", "description"),
    ("author", "name", "author"),
    ("keywords", "name", "keywords"),
    ("robots", "name", "robots"),
    ("image", "property", "og:image"),
    ("date", "property", "article:published_time"),
    ("published", "property", "article:published_time"),
    ("publishedAt", "property", "article:published_time"),
    ("modified", "property", "article:modified_time"),
    ("updated", "property", "article:modified_time"),
    ("lastmod", "property", "article:modified_time"),
    ("updatedAt", "property", "article:modified_time"),
];

/// Whether a body that is labelled as markdown is HTML all the same.
pub(crate) fn is_html_in_disguise(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_JUDGED_BYTES)]);
    let (_, body) = split_front_matter(&text);
    let start: String = body.trim_start().chars().take(20).collect::<String>().to_ascii_lowercase();
    if ["<!doctype", "<html", "<head", "<body", "<?xml"].iter().any(|tag| start.starts_with(tag)) {
        return true;
    }
    let (mut tag_bytes, mut in_code) = (0, false);
    for line in body.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            in_code = !in_code;
        } else if !in_code {
            tag_bytes += bytes_in_tags(line);
        }
    }
    tag_bytes * 100 > body.len() * MAX_TAG_PERCENT
}

/// Bytes of `<name …>` and `</name>`; an address in angle brackets is no tag.
fn bytes_in_tags(line: &str) -> usize {
    let mut parts = line.split('<');
    parts.next();
    let tag = |part: &str| {
        let (inside, _) = part.split_once('>')?;
        let name = inside.strip_prefix('/').unwrap_or(inside);
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !inside.contains(':');
        is_tag.then_some(inside.len() + 2)
    };
    parts.filter_map(tag).sum()
}

/// The front matter, without its marks, and the text after it.
fn split_front_matter(text: &str) -> (&str, &str) {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let opened = bare.strip_prefix("---\n").or_else(|| bare.strip_prefix("---\r\n"));
    let Some(opened) = opened else { return ("", bare) };
    let searched = &opened[..opened.floor_char_boundary(MAX_FRONT_MATTER_BYTES)];
    let mut at = 0;
    for line in searched.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return (&opened[..at], &opened[at + line.len()..]);
        }
        at += line.len();
    }
    ("", bare)
}

/// The values of front matter that stand on one line.
fn front_matter_values(front_matter: &str) -> impl Iterator<Item = (&str, &str)> {
    front_matter.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        let value = value.trim();
        let value = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
            .unwrap_or(value);
        (is_name && !value.is_empty() && !value.starts_with(['|', '>', '[', '{'])).then_some((name, value))
    })
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
}

/// The page that the markdown stands for, with its front matter in the head.
pub(crate) fn to_html(text: &str) -> String {
    let (front_matter, body) = split_front_matter(text);
    let (mut title, mut language, mut head) = (None, None, String::new());
    for (name, value) in front_matter_values(front_matter) {
        let value = escape(value);
        match name {
            "title" => title = Some(value),
            "lang" | "language" => language = Some(value),
            "canonical" | "canonicalUrl" => {
                let _ = write!(head, "<link rel=\"canonical\" href=\"{value}\">");
            }
            _ => {
                if let Some((_, attribute, tag)) = HEAD_TAGS.iter().find(|(known, ..)| *known == name) {
                    let _ = write!(head, "<meta {attribute}=\"{tag}\" content=\"{value}\">");
                }
            }
        }
    }
    let mut heading = FirstHeading::default();
    let events = Parser::new_ext(body, options()).inspect(|event| {
        budget::spend(1);
        heading.see(event);
    });
    let mut html = String::with_capacity(body.len() + body.len() / 4);
    pulldown_cmark::html::push_html(&mut html, events);
    let title = title.or_else(|| (!heading.text.is_empty()).then(|| escape(heading.text.trim())));
    let title = title.map(|title| format!("<title>{title}</title>")).unwrap_or_default();
    let language = language.map(|language| format!(" lang=\"{language}\"")).unwrap_or_default();
    format!("<!DOCTYPE html><html{language}><head>{title}{head}</head><body>{html}</body></html>")
}

/// The text of the first heading of any level.
#[derive(Default)]
struct FirstHeading {
    text: String,
    is_open: bool,
    is_done: bool,
}

impl FirstHeading {
    fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. }) if !self.is_done => self.is_open = true,
            Event::End(TagEnd::Heading(_)) if self.is_open => {
                (self.is_open, self.is_done) = (false, !self.text.trim().is_empty());
            }
            Event::Text(text) | Event::Code(text) if self.is_open => self.text.push_str(text),
            Event::SoftBreak | Event::HardBreak if self.is_open => self.text.push(' '),
            _ => {}
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The text with the addresses of its links and images made absolute, as those of every page are, and
/// without images that stand in the text itself where these are not wanted.
pub(crate) fn with_absolute_links(text: &str, base: &Base, remove_base64_images: bool) -> String {
    let (_, body) = split_front_matter(text);
    let parser = Parser::new_ext(body, options());
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut add = |within: Range<usize>, mark: &str, written: &str| {
        if let Some(place) = find_address(body, within, mark, written)
            && !written.starts_with('#')
            && let Some(url) = base.resolve(written)
            && url != written
        {
            edits.push((place, url.into_owned()));
        }
    };
    for (_, definition) in parser.reference_definitions().iter() {
        add(definition.span.clone(), "]:", &definition.dest);
    }
    let mut removed = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        budget::spend(1);
        match event {
            Event::Start(Tag::Image { dest_url, .. })
                if remove_base64_images && dest_url.starts_with("data:") =>
            {
                removed.push((range, String::new()));
            }
            Event::Start(
                Tag::Link { link_type: LinkType::Inline, dest_url, .. }
                | Tag::Image { link_type: LinkType::Inline, dest_url, .. },
            ) => add(range, "](", &dest_url),
            _ => {}
        }
    }
    edits.extend(removed);
    edits.sort_by_key(|(range, _)| range.start);
    let front_matter = &text[..text.len() - body.len()];
    let mut written = String::with_capacity(text.len() + edits.len() * 32);
    written.push_str(front_matter.strip_prefix('\u{feff}').unwrap_or(front_matter));
    let mut at = 0;
    for (range, replacement) in edits {
        // What stands inside of a removed image goes with it.
        if range.start >= at {
            written.push_str(&body[at..range.start]);
            written.push_str(&replacement);
            at = range.end;
        }
    }
    written.push_str(&body[at..]);
    written
}

/// Where the address of a link stands in its source, after the last `mark`. None where it is written in
/// another way than it is read, with escapes in it.
fn find_address(text: &str, within: Range<usize>, mark: &str, written: &str) -> Option<Range<usize>> {
    if written.is_empty() {
        return None;
    }
    let source = &text[within.clone()];
    let from = source.ceil_char_boundary(source.len().saturating_sub(MAX_LINK_END_BYTES + written.len()));
    source[from..].rmatch_indices(mark).find_map(|(at, _)| {
        let rest = &source[from + at + mark.len()..];
        let trimmed = rest.trim_start_matches([' ', '\n', '<']);
        let start = within.start + source.len() - trimmed.len();
        trimmed.starts_with(written).then(|| start..start + written.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::{Dom, Limits};
    use url::Url;

    fn base() -> Base {
        let dom = Dom::parse("", &Limits::default());
        Base::from_dom(&dom, Url::parse("https://a.example/docs/one").ok().as_ref())
    }

    #[test]
    fn html_with_the_label_of_markdown_is_told_from_markdown() {
        for html in [
            "<!doctype html><p>x",
            "\n<HTML><body>",
            "---\ntitle: x\n---\n<html>",
            "<div class=\"a\"><p>one</p><p>two</p></div>",
        ] {
            assert!(is_html_in_disguise(html.as_bytes()), "{html}");
        }
        let badges = "<p align=\"center\"><img src=\"logo.png\"></p>\n\n# Name\n\nWhat it does, in as many words as \
                      such a text has, and then some more of them, because nobody says it in one line.\n";
        for markdown in [
            "# Title\n\ntext <https://a.example/very/long/address/in/angle/brackets>",
            badges,
            "```html\n<div><p>code</p></div>\n```\n\ntext that is longer",
            "",
        ] {
            assert!(!is_html_in_disguise(markdown.as_bytes()), "{markdown}");
        }
    }

    #[test]
    fn front_matter_becomes_the_head_and_a_heading_the_title() {
        let html =
            to_html("---\ntitle: \"Birds & <seas>\"\nlang: de\ndescription: 'All'\ntags: [a]\n---\n# One\n");
        assert!(
            html.contains("<title>Birds &amp; &lt;seas&gt;</title>") && html.contains("lang=\"de\""),
            "{html}"
        );
        assert!(
            html.contains("<meta name=\"description\" content=\"All\">") && html.contains("<h1>One</h1>")
        );
        assert!(to_html("text\n\n## The `first` one\n\n# Other").contains("<title>The first one</title>"));
        assert!(to_html("---\nno end").contains("no end"));
    }

    #[test]
    fn links_become_absolute_and_everything_else_stays() {
        let text = "---\na: b\n---\n[x](/y \"/y\") ![i](i.png) [r][d] [s](#s) <b>[t](<t u>)</b> `[c](/c)` [o](https://b.example/)\n\n[d]: ../e 'E'\n";
        assert_eq!(
            with_absolute_links(text, &base(), true),
            "---\na: b\n---\n[x](https://a.example/y \"/y\") ![i](https://a.example/docs/i.png) [r][d] [s](#s) \
             <b>[t](<https://a.example/docs/t%20u>)</b> `[c](/c)` [o](https://b.example/)\n\n[d]: https://a.example/e 'E'\n"
        );
        let picture = "a ![p](data:image/png;base64,AA) [![l](/l.png)](/m)";
        let linked = "[![l](https://a.example/l.png)](https://a.example/m)";
        assert_eq!(with_absolute_links(picture, &base(), true), format!("a  {linked}"));
        assert!(with_absolute_links(picture, &base(), false).contains("data:image/png"));
    }
}
