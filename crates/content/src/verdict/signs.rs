//! Collects signs that a page may be a wall: its words by position, its forms, its scripts, its empty roots.

use super::{VerdictEvidence, VerdictKind};
use html::dom::{Attr, Dom, NodeId, Tag};
use html::visible;

/// Text searched for phrases; walls state their purpose early.
const MAX_TEXT_BYTES: usize = 12 << 10;

#[derive(Debug, Default)]
pub(super) struct Signs {
    pub title: String,
    pub headings: String,
    pub text: String,
    pub words: usize,
    pub longest_paragraph: usize,
    pub images: usize,
    scripts: usize,
    script_bytes: usize,
    password_fields: usize,
    challenge: Option<String>,
    consent: Option<String>,
    parking: Option<String>,
    empty_root: Option<String>,
    noscript_asks: bool,
    pub noscript_words: usize,
    refresh: Option<String>,
}

const CHALLENGES: &[&str] = &[
    "recaptcha",
    "hcaptcha",
    "turnstile",
    "cf-challenge",
    "cf_chl",
    "challenge-platform",
    "px-captcha",
    "perimeterx",
    "datadome",
    "captcha-delivery",
    "geetest",
    "arkoselabs",
    "funcaptcha",
    "awswaf",
    "aws-waf",
    "incapsula",
    "_incapsula_",
    "friendlycaptcha",
    "smartcaptcha",
    "slidercaptcha",
    "kasada",
    "distil_r_captcha",
    "g-recaptcha",
    "h-captcha",
];
const CONSENTS: &[&str] = &[
    "consent",
    "cookie-wall",
    "cookiewall",
    "gdpr",
    "onetrust",
    "sp_message",
    "didomi",
    "cmpbox",
    "age-gate",
    "agegate",
    "age-verification",
    "privacy-wall",
];
const PARKINGS: &[&str] = &[
    "parkingcrew",
    "sedoparking",
    "bodis.com",
    "parklogic",
    "domain-for-sale",
    "dan.com",
    "afternic",
    "hugedomains",
    "undeveloped.com",
    "above.com",
    "parked-domain",
    "domainparking",
    "cashparking",
    "parkweb",
    "skenzo",
];
/// Ids that app frameworks fill in.
const ROOTS: &[&str] = &[
    "root",
    "app",
    "__next",
    "__nuxt",
    "___gatsby",
    "main-app",
    "app-root",
    "react-root",
    "ember-root",
    "svelte",
    "mount",
    "application",
    "app-container",
    "vue-app",
    "q-app",
];

impl Signs {
    /// Collects signs; `None` as soon as the page has `enough` words, which for most pages is near their top.
    pub fn collect(dom: &Dom, enough: usize) -> Option<Self> {
        let mut signs = Self::default();
        if let Some(head) = dom.head() {
            for id in dom.descendants(head) {
                signs.note_element(dom, id);
            }
        }
        let Some(body) = dom.body() else { return Some(signs) };
        signs.note_attributes(dom, body);
        let mut hidden_end = NodeId(0);
        let mut paragraph = (NodeId(0), 0_usize);
        let mut heading_end = NodeId(0);
        for id in dom.descendants(body) {
            if !dom.is_text(id) {
                signs.note_element(dom, id);
                if id >= hidden_end && visible::is_hidden(dom, id) {
                    hidden_end = dom.subtree_end(id);
                }
                if dom.tag(id).heading_level().is_some_and(|level| level <= 3) {
                    heading_end = dom.subtree_end(id);
                }
                continue;
            }
            if id < hidden_end {
                continue;
            }
            let text = dom.text(id);
            budget::spend_on_text(text.len());
            let words = count_words(text);
            if words == 0 {
                continue;
            }
            signs.words += words;
            if signs.words >= enough {
                return None;
            }
            let holder = block_of(dom, id);
            paragraph = if paragraph.0 == holder { (holder, paragraph.1 + words) } else { (holder, words) };
            signs.longest_paragraph = signs.longest_paragraph.max(paragraph.1);
            let target = if id < heading_end { &mut signs.headings } else { &mut signs.text };
            if target.len() < MAX_TEXT_BYTES {
                append_lower(target, text);
            }
        }
        Some(signs)
    }

    fn note_element(&mut self, dom: &Dom, id: NodeId) {
        let tag = dom.tag(id);
        match tag {
            Tag::Title if self.title.is_empty() => append_lower(&mut self.title, &dom.text_content(id)),
            Tag::Img | Tag::Picture | Tag::Video => self.images += 1,
            Tag::Script => {
                self.scripts += 1;
                self.script_bytes += dom.children(id).map(|child| dom.text_len(child)).sum::<usize>();
                let inline = dom.first_child(id).map(|child| dom.text(child)).unwrap_or_default();
                let start = &inline[..inline.floor_char_boundary(4000)];
                // The script of a captcha widget on an ordinary form is not a wall; a challenge script is.
                if start.contains("_cf_chl_opt")
                    || start.contains("challenge-platform")
                    || start.contains("dd={'rt'")
                {
                    self.challenge.get_or_insert_with(|| "challenge script".to_owned());
                }
            }
            Tag::Noscript => {
                let text = dom.text_content(id).to_lowercase();
                self.noscript_words += count_words(&text);
                self.noscript_asks |= text.contains("javascript") || text.contains("java script");
            }
            Tag::Input => {
                let password =
                    dom.attr(id, Attr::Type).is_some_and(|kind| kind.eq_ignore_ascii_case("password"));
                self.password_fields += usize::from(password);
            }
            Tag::Meta => {
                let refresh =
                    dom.attr(id, Attr::HttpEquiv).is_some_and(|name| name.eq_ignore_ascii_case("refresh"));
                if refresh && let Some(content) = dom.attr(id, Attr::Content) {
                    self.refresh = Some(content.to_lowercase());
                }
            }
            _ => {}
        }
        if dom.is_element(id) {
            self.note_attributes(dom, id);
        }
    }

    fn note_attributes(&mut self, dom: &Dom, id: NodeId) {
        for attribute in [Attr::Id, Attr::Class, Attr::Src, Attr::Name] {
            let Some(value) = dom.attr(id, attribute) else { continue };
            if value.len() > 400 {
                continue;
            }
            let lower = value.to_ascii_lowercase();
            let find = |names: &[&str]| {
                names.iter().find(|name| lower.contains(*name)).map(|name| (*name).to_owned())
            };
            if self.challenge.is_none() {
                self.challenge = find(CHALLENGES);
            }
            if self.consent.is_none() && attribute != Attr::Src {
                self.consent = find(CONSENTS);
            }
            if self.parking.is_none() {
                self.parking = find(PARKINGS);
            }
            if attribute == Attr::Id && self.empty_root.is_none() && ROOTS.contains(&lower.as_str()) {
                let text: usize = dom
                    .descendants(id)
                    .filter(|&node| !in_script(dom, node))
                    .map(|node| dom.text(node).trim().len())
                    .sum();
                if text < 60 {
                    self.empty_root = Some(lower);
                }
            }
        }
    }

    /// Structural signs of one kind of wall.
    pub fn marks(&self, kind: VerdictKind) -> Vec<(&'static str, String)> {
        let mut marks = Vec::new();
        match kind {
            VerdictKind::Captcha => marks.extend(self.challenge.clone().map(|name| ("challenge", name))),
            VerdictKind::ConsentWall => marks.extend(self.consent.clone().map(|name| ("consent", name))),
            VerdictKind::Parked => {
                marks.extend(self.parking.clone().map(|name| ("parking", name)));
                marks.extend(
                    self.refresh
                        .clone()
                        .filter(|url| PARKINGS.iter().any(|name| url.contains(name)))
                        .map(|url| ("refresh", url)),
                );
            }
            VerdictKind::LoginWall if self.password_fields > 0 => {
                marks.push(("password field", self.password_fields.to_string()));
            }
            _ => {}
        }
        marks
    }

    /// The sign of an app shell that scripts would fill.
    pub fn app_shell(&self) -> Option<VerdictEvidence> {
        // Some applications give visitors without scripts the whole page.
        if self.noscript_words > 60 {
            return None;
        }
        let few = self.words < 40;
        let detail = match (&self.empty_root, self.noscript_asks) {
            (Some(root), _) if few && self.scripts > 0 => format!("empty #{root}, {} scripts", self.scripts),
            (None, true) if few && self.scripts > 0 => "noscript asks for scripts".to_owned(),
            _ if self.words < 12
                && self.images < 2
                && self.scripts > 0
                && (self.script_bytes > 2_000 || self.scripts >= 3) =>
            {
                format!("{} words, {} scripts", self.words, self.scripts)
            }
            _ => return None,
        };
        Some(VerdictEvidence { sign: "shell", detail })
    }
}

fn in_script(dom: &Dom, id: NodeId) -> bool {
    dom.parent(id).is_some_and(|parent| {
        matches!(dom.tag(parent), Tag::Script | Tag::Style | Tag::Noscript | Tag::Template)
    })
}

fn block_of(dom: &Dom, id: NodeId) -> NodeId {
    dom.ancestors(id).take(12).find(|&node| dom.tag(node).is_block()).unwrap_or(id)
}

/// Words separated by spaces; in scripts without spaces, two characters count as one.
fn count_words(text: &str) -> usize {
    let mut words = 0;
    for part in text.split_whitespace() {
        let dense = part
            .chars()
            .filter(|&c| ('\u{2e80}'..'\u{d7a4}').contains(&c) || ('\u{e00}'..'\u{e80}').contains(&c))
            .count();
        words += 1 + dense / 2;
    }
    words
}

/// Lower case, white space collapsed, typographic apostrophes plain: the form phrases are written in.
fn append_lower(target: &mut String, text: &str) {
    for word in text.split_whitespace() {
        if !target.is_empty() {
            target.push(' ');
        }
        // A huge word is cut, because searching phrases in it would take too long.
        for c in word.chars().take(MAX_TEXT_BYTES) {
            match c {
                '\u{2019}' | '\u{2018}' => target.push('\''),
                c if c.is_ascii() => target.push(c.to_ascii_lowercase()),
                c => target.extend(c.to_lowercase()),
            }
        }
        if target.len() > MAX_TEXT_BYTES {
            return;
        }
    }
}
