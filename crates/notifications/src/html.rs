//! HTML and XML that are written piece by piece. Markup can only be text of this program ([`Markup::raw`]
//! takes `&'static str`); everything else is escaped, so no text of a page can become markup.

use crate::text::safe_url;

/// A piece of HTML or XML.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markup(String);

impl Markup {
    pub fn new() -> Self {
        Self::default()
    }

    /// Markup of this program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text, escaped for content and for attributes in double quotes. Characters that XML does not know are
    /// left out.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\u{0}'..='\u{8}' | '\u{B}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}' => {}
                _ => self.0.push(character),
            }
        }
        self
    }

    pub fn number(&mut self, number: usize) -> &mut Self {
        self.0.push_str(&number.to_string());
        self
    }

    pub fn markup(&mut self, other: &Markup) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// A link when the address is one of the web, the text alone otherwise. It opens without telling the
    /// other site where it was found, because the address of this page is a secret.
    pub fn link(&mut self, url: &str, text: &str) -> &mut Self {
        match safe_url(url) {
            None => self.text(text),
            Some(url) => self
                .raw("<a rel=\"noreferrer noopener\" href=\"")
                .text(&url)
                .raw("\">")
                .text(text)
                .raw("</a>"),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        let mut html = Markup::new();
        html.raw("<p>")
            .text("<b>&\"'\u{1}\u{0}")
            .raw("</p>")
            .link("javascript:x", "<i>")
            .link("http://a/\"", "\"");
        assert_eq!(
            html.as_str(),
            "<p>&lt;b&gt;&amp;&quot;&#39;</p>&lt;i&gt;\
             <a rel=\"noreferrer noopener\" href=\"http://a/%22\">&quot;</a>"
        );
    }
}
