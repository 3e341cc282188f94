//! What the pages of one site have in common. What stays the same over pages is furniture; what varies in one
//! place is a value. Kept as hashes and counts: a page is read once, however many others are compared with it.

mod place;
mod shared_words;
mod votes;

pub(crate) use place::{LineOnSite, LinePlaces, PlaceKeys, hash_of};
pub(crate) use votes::Votes;

use crate::PageView;
use crate::facts::{Line, PageFacts, PageLines};
use place::{FORMS, forms_of, mix};
use shared_words::SharedWords;
use std::collections::{HashMap, HashSet};
use url::Url;

/// Pages of one site that are compared; more would teach little.
const MAX_SITE_PAGES: usize = 20;
/// Sites of one job or request.
const MAX_SITES: usize = 64;
/// Lines of one page, and entries of each table of one site.
const MAX_PAGE_LINES: usize = 3_000;
const MAX_ENTRIES: usize = 40_000;
/// Tables are small when there are many sites.
const MAX_ENTRIES_OF_ALL: usize = 400_000;
/// Different texts in one place before the words that they share can be told from the words of a name.
const MIN_TEXTS_TO_TRIM: u32 = 3;

/// What is known of pages that were read, by their hosts.
#[derive(Debug, Default)]
pub struct SitePages {
    sites: HashMap<String, Site>,
}

/// What one page teaches about its site.
#[derive(Debug)]
pub(crate) struct PageLesson {
    host: String,
    url: u64,
    fingerprint: u64,
    /// Text, places and forms of its lines.
    lines: Vec<(u64, LinePlaces, u8)>,
    headings: Vec<(u64, SharedWords)>,
}

/// The pages of one site.
#[derive(Debug, Default)]
pub(crate) struct Site {
    host: String,
    pages: u32,
    urls: HashSet<u64>,
    fingerprints: HashSet<u64>,
    /// Pages that have a text.
    texts: HashMap<u64, u32>,
    places: HashMap<u64, Place>,
    /// Pages that have a text in a place.
    stated: HashMap<u64, u32>,
    headings: HashMap<u64, SharedWords>,
}

/// What the pages have in one place.
#[derive(Debug, Default)]
struct Place {
    pages: u32,
    texts: u32,
    forms: [u32; FORMS],
}

impl SitePages {
    /// Adds a page.
    pub fn add(&mut self, view: PageView) {
        if let Some(lesson) = PageLesson::new(view.url, &PageFacts::collect_lines(view)) {
            self.learn(&lesson);
        }
    }

    /// Adds what a page teaches; returns whether there was something new and room for it.
    pub(crate) fn learn(&mut self, lesson: &PageLesson) -> bool {
        let entries: usize = self.sites.values().map(|site| site.stated.len()).sum();
        let has_room = self.sites.len() < MAX_SITES && entries < MAX_ENTRIES_OF_ALL;
        if !self.sites.contains_key(&lesson.host) && !has_room {
            return false;
        }
        self.sites.entry(lesson.host.clone()).or_default().add(lesson)
    }

    pub(crate) fn site_of(&self, url: &str) -> Option<&Site> {
        self.sites.get(&host_of(url)?)
    }
}

impl PageLesson {
    pub(crate) fn new(url: &str, page: &PageLines) -> Option<Self> {
        let mut fingerprint = 0_u64;
        let mut lines = Vec::new();
        let mut headings = Vec::new();
        for line in page.lines.iter().filter(|line| line.site.trimmed <= 0.0).take(MAX_PAGE_LINES) {
            budget::spend(1);
            fingerprint = fingerprint.wrapping_add(line.key);
            lines.push((line.key, line.places, forms_of(line)));
            if shared_words::may_have_shared_words(line) {
                headings.push((line.places.exact, SharedWords::new(&line.text)));
            }
        }
        Some(Self { host: host_of(url)?, url: hash_of(url), fingerprint, lines, headings })
    }
}

impl Site {
    /// Adds a page; not one that is known already, under whatever address.
    fn add(&mut self, lesson: &PageLesson) -> bool {
        if self.pages as usize >= MAX_SITE_PAGES
            || self.urls.contains(&lesson.url)
            || !self.fingerprints.insert(lesson.fingerprint)
        {
            return false;
        }
        self.urls.insert(lesson.url);
        self.host.clone_from(&lesson.host);
        self.pages += 1;
        let mut seen: HashSet<u64> = HashSet::new();
        for (text, places, forms) in &lesson.lines {
            if seen.insert(*text) {
                count(&mut self.texts, *text);
            }
            for place in places.all() {
                let is_new_text =
                    seen.insert(mix(place, *text)) && count(&mut self.stated, mix(place, *text));
                let is_new_place = seen.insert(place);
                if !self.places.contains_key(&place) && self.places.len() >= MAX_ENTRIES {
                    continue;
                }
                let known = self.places.entry(place).or_default();
                known.texts += u32::from(is_new_text);
                known.pages += u32::from(is_new_place);
                if is_new_place {
                    for (at, sum) in known.forms.iter_mut().enumerate() {
                        *sum += u32::from(forms >> at & 1);
                    }
                }
            }
        }
        for (place, words) in &lesson.headings {
            if self.headings.contains_key(place) || self.headings.len() < MAX_ENTRIES {
                self.headings
                    .entry(*place)
                    .and_modify(|known| known.keep_shared(words))
                    .or_insert_with(|| words.clone());
            }
        }
        true
    }

    /// Whether a page is one of those that are known, and the number of the others.
    fn others(&self, url: &str, page: &PageLines) -> (bool, u32) {
        let fingerprint =
            page.lines.iter().take(MAX_PAGE_LINES).fold(0_u64, |sum, line| sum.wrapping_add(line.key));
        let is_known = self.urls.contains(&hash_of(url)) || self.fingerprints.contains(&fingerprint);
        (is_known, self.pages - u32::from(is_known))
    }

    /// Tells the lines of a page what the other pages of its site have, and adds headings without the words
    /// that those of the site share. Returns whether the page is one of those that are known.
    pub(crate) fn describe(&self, url: &str, page: &mut PageLines) -> bool {
        let (is_known, others) = self.others(url, page);
        if others == 0 {
            return is_known;
        }
        page.other_pages = others;
        let mut lines = Vec::with_capacity(page.lines.len());
        let mut text_before = (0_u32, 0_u64, 0_u64);
        for mut line in std::mem::take(&mut page.lines) {
            budget::spend(1);
            // The text of the row before is its label where it stays the same.
            if line.row != text_before.0 {
                text_before = (line.row, text_before.2, line.key);
            }
            line.site = self.describe_line(&line, is_known, others);
            line.site.label = share(self.texts.get(&text_before.1), is_known, others);
            let trimmed = self.trim(&mut line, page);
            lines.push(line);
            lines.extend(trimmed);
        }
        page.lines = lines;
        page.find_subject();
        is_known
    }

    fn describe_line(&self, line: &Line, is_known: bool, others: u32) -> LineOnSite {
        let own = u32::from(is_known);
        let mut found = LineOnSite {
            same_text: share(self.texts.get(&line.key), is_known, others),
            ..LineOnSite::default()
        };
        for (at, place) in line.places.all().into_iter().enumerate() {
            let Some(known) = self.places.get(&place) else { continue };
            let stated = self.stated.get(&mix(place, line.key)).copied().unwrap_or(own);
            let pages = known.pages.saturating_sub(own);
            found.has_place[at] = pages as f32 / others as f32;
            found.same_here[at] = stated.saturating_sub(own) as f32 / others as f32;
            found.varies[at] = known.texts as f32 / known.pages.max(1) as f32;
            if at == 0 {
                let forms = forms_of(line);
                for (form, share) in found.forms.iter_mut().enumerate() {
                    let own_form = own * u32::from(forms >> form & 1);
                    *share = known.forms[form].saturating_sub(own_form) as f32 / pages.max(1) as f32;
                }
            }
        }
        found
    }

    /// The share of other pages that have a text.
    pub(crate) fn text_share(&self, text: u64, is_known: bool) -> f32 {
        share(self.texts.get(&text), is_known, self.pages - u32::from(is_known))
    }

    /// The line without the words that all texts in its place share.
    fn trim(&self, line: &mut Line, page: &PageLines) -> Option<Line> {
        let known = self.places.get(&line.places.exact)?;
        let shared = self.headings.get(&line.places.exact)?;
        if known.texts < MIN_TEXTS_TO_TRIM || !shared_words::may_have_shared_words(line) {
            return None;
        }
        let (text, removed) = shared.trim(&line.text)?;
        line.site.trimmed = -(removed as f32);
        line.site.names_site = shared_words::names_site(&line.text, text, &self.host);
        let mut trimmed = line.clone();
        trimmed.site.trimmed = removed as f32;
        trimmed.site.same_text = 0.0;
        trimmed.part = true;
        trimmed.places = line.places.of_part();
        trimmed.set_text(text, &page.title);
        Some(trimmed)
    }
}

/// The share of other pages, where so many have it, the page itself included.
fn share(count: Option<&u32>, is_known: bool, others: u32) -> f32 {
    count.copied().unwrap_or(0).saturating_sub(u32::from(is_known)) as f32 / others.max(1) as f32
}

/// Counts a key while there is room; returns whether it is new.
fn count(counts: &mut HashMap<u64, u32>, key: u64) -> bool {
    if let Some(known) = counts.get_mut(&key) {
        *known += 1;
        return false;
    }
    if counts.len() < MAX_ENTRIES {
        counts.insert(key, 1);
    }
    true
}

pub(crate) fn host_of(url: &str) -> Option<String> {
    Some(Url::parse(url).ok()?.host_str()?.to_owned())
}
