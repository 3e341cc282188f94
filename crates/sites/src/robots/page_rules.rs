//! Robots rules of a single page: `<meta name="robots">` and `X-Robots-Tag`.

/// What a page allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRules {
    /// Its links may be followed.
    pub follow: bool,
    /// It may be indexed. A crawl that somebody requested scrapes it all the same; a shared index should not
    /// contain it.
    pub index: bool,
}

/// Directives with a value after a colon; any other word before a colon is a user agent.
const VALUED_DIRECTIVES: [&str; 4] =
    ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"];

/// Parses the robots meta tags of a page (those for all agents or for this one) and its `X-Robots-Tag`
/// headers, which may be for one agent (`otherbot: nofollow`).
pub fn page_rules(meta: &[&str], headers: &[&str], agent: &str) -> PageRules {
    let mut rules = PageRules { follow: true, index: true };
    for text in meta {
        text.split([',', ' ', ';']).for_each(|word| rules.apply_directive(word));
    }
    let us = agent.split(['/', ' ']).next().unwrap_or_default();
    for header in headers {
        let mut for_us = true;
        for part in header.split(',') {
            let directive = match part.split_once(':') {
                Some((name, _))
                    if VALUED_DIRECTIVES.iter().any(|valued| name.trim().eq_ignore_ascii_case(valued)) =>
                {
                    continue;
                }
                // A time in a date has colons too, but no user agent has spaces in its name.
                Some((name, _)) if name.trim().contains(char::is_whitespace) => continue,
                Some((name, directive)) => {
                    let name = name.trim();
                    for_us = name == "*" || name.eq_ignore_ascii_case(us);
                    directive
                }
                None => part,
            };
            if for_us {
                rules.apply_directive(directive);
            }
        }
    }
    rules
}

impl PageRules {
    fn apply_directive(&mut self, directive: &str) {
        let is = |word: &str| directive.trim().eq_ignore_ascii_case(word);
        self.follow &= !(is("nofollow") || is("none"));
        self.index &= !(is("noindex") || is("none"));
    }
}
