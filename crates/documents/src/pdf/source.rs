//! Bytes to raw pages: text runs, drawn lines, images and links of each page, in one coordinate system.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::{Document, LoadOptions, Object, ObjectId};
use pdf_inspector::types::ItemType;
use pdf_inspector::{PageRotation, TextItem};

use super::geometry::{Bounds, Rule, join_rules};
use super::options::{MAX_PAGES, PdfError, PdfOptions, StopSignal};
use super::owner_password::user_password;
use super::page_content::cut_text;
use super::paths::{Drawing, read_drawing};
use super::runs::{Run, is_drawn_line, run_from_item, split_leaders, split_wide_spaces};
use super::text_items::{TextOfPages, read_text};
use super::visual_order::{OUTSIDE_LEFT, add_signs};
use crate::block::Metadata;

/// More text items than this on one page are cut off.
const MAX_ITEMS_PER_PAGE: usize = 50_000;
/// Pieces of text that a page shows; those of a newspaper set letter by letter are fewer. The rest is cut off.
const MAX_TEXTS_PER_PAGE: usize = 30_000;
const MAX_OBJECT_STREAM_BYTES: usize = 8 << 20;
pub(super) const LETTER: (f32, f32) = (612.0, 792.0);

#[derive(Debug, Default)]
pub(super) struct RawPage {
    pub(super) number: u32,
    pub(super) width: f32,
    pub(super) height: f32,
    /// Degrees clockwise, see [`crate::Page::turned`].
    pub(super) turned: u16,
    pub(super) runs: Vec<Run>,
    /// Text that does not stand upright.
    pub(super) rotated: Vec<Run>,
    pub(super) horizontal: Vec<Rule>,
    pub(super) vertical: Vec<Rule>,
    pub(super) filled: Vec<Bounds>,
    pub(super) images: Vec<Bounds>,
    pub(super) failed: bool,
    pub(super) cut_off: bool,
}

#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) pages: Vec<RawPage>,
    pub(super) total_pages: u32,
    pub(super) metadata: Metadata,
    pub(super) outline: Vec<OutlineEntry>,
}

/// One entry of the table of contents that the file carries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OutlineEntry {
    pub(super) title: String,
    /// From 1.
    pub(super) level: u8,
}

pub(super) fn read_source(
    bytes: &[u8],
    options: &PdfOptions,
    stop: &StopSignal<'_>,
) -> Result<Source, PdfError> {
    if !looks_like_pdf(bytes) {
        return Err(PdfError::NotPdf);
    }
    let document = load(bytes, options.password.as_deref())?;
    // An encrypted file is handed on decrypted: the text reader takes no password.
    let decrypted = match &document {
        Some(document) if document.was_encrypted() => Some(save_decrypted(document)?),
        _ => None,
    };
    if stop.is_set() {
        return Err(PdfError::Stopped);
    }
    let page_ids: BTreeMap<u32, ObjectId> = document.as_ref().map(page_ids).unwrap_or_default();
    let limit = options.max_pages.unwrap_or(MAX_PAGES).min(MAX_PAGES);
    let mut drawings = BTreeMap::new();
    if let Some(document) = &document {
        for (number, page) in page_ids.iter().take(limit as usize) {
            if stop.is_set() {
                return Err(PdfError::Stopped);
            }
            let drawing = catch_unwind(AssertUnwindSafe(|| read_drawing(document, *page)));
            drawings.insert(*number, drawing.unwrap_or_default());
        }
    }
    let mut heavy: HashSet<u32> = HashSet::new();
    heavy.extend(
        drawings.iter().filter(|(_, drawing)| drawing.texts > MAX_TEXTS_PER_PAGE).map(|(page, _)| page),
    );
    let cut = document.as_ref().filter(|_| !heavy.is_empty());
    let cut = cut.map(|document| cut_pages(document, &page_ids, &heavy)).transpose()?;
    let readable = cut.as_ref().or(decrypted.as_ref()).map_or(bytes, |bytes| bytes);
    let mut text = read_text(readable, limit, &page_ids, stop)?;
    if let Some(document) = &document
        && heavy.is_empty()
        && reads_backwards(&text)
        && let Some(changed) = add_signs(document, &page_ids)
        && let Ok(mut again) = read_text(&changed, limit, &page_ids, stop)
    {
        again.items.retain(|item| item.x > OUTSIDE_LEFT);
        if !reads_backwards(&again) {
            text = again;
        }
    }
    let total = u32::try_from(page_ids.len()).unwrap_or(u32::MAX).max(text.last_page);
    if total == 0 {
        return Err(PdfError::NoPages);
    }
    let mut source = Source { total_pages: total, ..Source::default() };
    if let Some(document) = &document {
        source.metadata = super::metadata::read_metadata(document);
        source.outline = super::metadata::read_outline(document);
    }
    let mut by_page: HashMap<u32, Vec<TextItem>> = HashMap::new();
    for item in text.items {
        by_page.entry(item.page).or_default().push(item);
    }
    for number in 1..=total.min(limit) {
        if stop.is_set() {
            return Err(PdfError::Stopped);
        }
        let items = by_page.remove(&number).unwrap_or_default();
        let rotation = text.rotations.get(&number).copied().unwrap_or(PageRotation::Upright);
        let page = document.as_ref().zip(page_ids.get(&number).copied());
        let visible = page.and_then(|(document, id)| visible_box(document, id));
        let mut raw =
            build_page(number, items, rotation, visible, drawings.remove(&number).unwrap_or_default());
        raw.failed = text.failed_pages.contains(&number);
        raw.cut_off |= heavy.contains(&number);
        source.pages.push(raw);
    }
    Ok(source)
}

fn reads_backwards(text: &TextOfPages) -> bool {
    super::direction::reads_backwards(text.items.iter().map(|item| item.text.as_str()))
}

fn looks_like_pdf(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1024 * 8)];
    head.windows(5).any(|window| window == b"%PDF-")
}

/// `None` where this loader gives up but the text reader, which repairs more, may still succeed.
pub(super) fn load(bytes: &[u8], password: Option<&str>) -> Result<Option<Document>, PdfError> {
    let options = |password: Option<&str>| LoadOptions {
        password: password.map(ToOwned::to_owned),
        max_decompressed_size: Some(MAX_OBJECT_STREAM_BYTES),
        ..LoadOptions::default()
    };
    let load = |password: Option<&str>| {
        catch_unwind(AssertUnwindSafe(|| Document::load_mem_with_options(bytes, options(password)))).ok()
    };
    let locked = |error: &lopdf::Error| {
        matches!(
            error,
            lopdf::Error::Decryption(_)
                | lopdf::Error::InvalidPassword
                | lopdf::Error::UnsupportedSecurityHandler(_)
        )
    };
    let first = load(None);
    match first {
        Some(Ok(document)) if !document.is_encrypted() => Ok(Some(document)),
        Some(Ok(locked)) => {
            let user = password.and_then(|owner| user_password(&locked, owner));
            unlock(password, user.as_deref(), load)
        }
        Some(Err(ref error)) if locked(error) => unlock(password, None, load),
        _ => Ok(None),
    }
}

/// `user` is the password of the users, where `password` is that of the owner.
fn unlock(
    password: Option<&str>,
    user: Option<&str>,
    load: impl Fn(Option<&str>) -> Option<Result<Document, lopdf::Error>>,
) -> Result<Option<Document>, PdfError> {
    // Files that only restrict printing open with the empty password.
    for attempt in user.into_iter().chain([password.unwrap_or(""), ""]) {
        if let Some(Ok(document)) = load(Some(attempt))
            && !document.is_encrypted()
        {
            return Ok(Some(document));
        }
    }
    Err(if password.is_some() { PdfError::WrongPassword } else { PdfError::PasswordRequired })
}

fn save_decrypted(document: &Document) -> Result<Vec<u8>, PdfError> {
    let mut copy = document.clone();
    copy.trailer.remove(b"Encrypt");
    save(copy)
}

fn save(mut document: Document) -> Result<Vec<u8>, PdfError> {
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).map_err(|error| PdfError::Damaged(error.to_string()))?;
    Ok(bytes)
}

/// The file with less text on some pages: the parser needs time by the square of what a page holds, and cannot be
/// stopped meanwhile.
fn cut_pages(
    document: &Document,
    page_ids: &BTreeMap<u32, ObjectId>,
    pages: &HashSet<u32>,
) -> Result<Vec<u8>, PdfError> {
    let mut copy = document.clone();
    copy.trailer.remove(b"Encrypt");
    for page in pages.iter().filter_map(|number| page_ids.get(number)) {
        if cut_text(&mut copy, *page, MAX_TEXTS_PER_PAGE).is_none()
            && let Ok(Object::Dictionary(page)) = copy.get_object_mut(*page)
        {
            page.remove(b"Contents");
        }
    }
    save(copy)
}

/// The pages by their number. A page tree that contains itself names the same pages again: they count once.
pub(super) fn page_ids(document: &Document) -> BTreeMap<u32, ObjectId> {
    let mut seen = HashSet::new();
    let pages = document.page_iter().take(MAX_PAGES as usize * 2).zip(1..);
    pages.filter(|(id, _)| seen.insert(*id)).map(|(id, number)| (number, id)).collect()
}

fn build_page(
    number: u32,
    mut items: Vec<TextItem>,
    rotation: PageRotation,
    visible: Option<Bounds>,
    drawing: Drawing,
) -> RawPage {
    let (sheet_width, sheet_height) = visible.map_or(LETTER, |b| (b.width(), b.height()));
    let frame = PageFrame { rotation, width: sheet_width, height: sheet_height };
    let (width, height) = frame.size();
    let mut raw = RawPage { number, width, height, turned: frame.turned(), ..RawPage::default() };
    if items.len() > MAX_ITEMS_PER_PAGE {
        items.truncate(MAX_ITEMS_PER_PAGE);
        raw.cut_off = true;
    }
    let mut links: Vec<(Bounds, String)> = Vec::new();
    for item in &items {
        if ![item.x, item.y, item.width, item.height, item.font_size].iter().all(|v| v.is_finite()) {
            continue;
        }
        let (left, bottom) = frame.turned_point(item.x, item.y);
        let bounds = Bounds { left, top: bottom - item.height, right: left + item.width, bottom };
        match &item.item_type {
            ItemType::Image => raw.images.push(bounds),
            ItemType::Link(target) => links.push((bounds, target.clone())),
            ItemType::Text | ItemType::FormField => {
                let (_, baseline) = frame.turned_point(item.x, item.y);
                let Some(mut run) = run_from_item(item, left, baseline) else { continue };
                if item.is_upright() {
                    // A raised or lowered mark belongs to the line of the text beside it.
                    run.baseline += item.baseline_shift;
                    raw.runs.extend(split_wide_spaces(run).into_iter().flat_map(split_leaders));
                } else {
                    run.bounds = bounds;
                    raw.rotated.push(run);
                }
            }
        }
    }
    super::links::mark_links(&mut raw.runs, &links);
    let origin = visible.map_or((0.0, 0.0), |b| (b.left, b.top));
    frame.take_drawing(drawing, origin, &mut raw);
    take_drawn_lines(&mut raw);
    raw
}

/// Lines made of dashes are lines, not text.
fn take_drawn_lines(raw: &mut RawPage) {
    let (lines, runs): (Vec<Run>, Vec<Run>) =
        std::mem::take(&mut raw.runs).into_iter().partition(|run| is_drawn_line(&run.text));
    raw.runs = runs;
    raw.horizontal.extend(lines.iter().map(|run| Rule {
        at: run.baseline - run.size * 0.3,
        start: run.bounds.left,
        end: run.bounds.right,
    }));
}

/// How the coordinates of the parser map onto the page as it is read.
struct PageFrame {
    rotation: PageRotation,
    /// Of the sheet before it is turned.
    width: f32,
    height: f32,
}

impl PageFrame {
    fn size(&self) -> (f32, f32) {
        match self.rotation {
            PageRotation::Upright => (self.width, self.height),
            _ => (self.height, self.width),
        }
    }

    fn turned(&self) -> u16 {
        match self.rotation {
            PageRotation::Upright => 0,
            PageRotation::Ccw => 90,
            PageRotation::Cw => 270,
        }
    }

    /// A point that the text reader has turned already, with the origin moved to the top left.
    fn turned_point(&self, x: f32, y: f32) -> (f32, f32) {
        match self.rotation {
            PageRotation::Upright => (x, self.height - y),
            PageRotation::Ccw => (x, -y),
            PageRotation::Cw => (x + self.height, self.width - y),
        }
    }

    /// A point of the sheet as it is drawn (origin at the bottom left).
    fn sheet_point(&self, x: f32, y: f32) -> (f32, f32) {
        match self.rotation {
            PageRotation::Upright => (x, self.height - y),
            PageRotation::Ccw => (y, x),
            PageRotation::Cw => (self.height - y, self.width - x),
        }
    }

    fn sheet_box(&self, left: f32, top: f32, right: f32, bottom: f32) -> Bounds {
        let (a, b) = (self.sheet_point(left, top), self.sheet_point(right, bottom));
        Bounds { left: a.0.min(b.0), top: a.1.min(b.1), right: a.0.max(b.0), bottom: a.1.max(b.1) }
    }

    fn take_drawing(&self, drawing: Drawing, origin: (f32, f32), raw: &mut RawPage) {
        let (mut horizontal, mut vertical) = (Vec::new(), Vec::new());
        let mut add = |bounds: Bounds| {
            if bounds.width() >= bounds.height() {
                horizontal.push(Rule { at: bounds.top, start: bounds.left, end: bounds.right });
            } else {
                vertical.push(Rule { at: bounds.left, start: bounds.top, end: bounds.bottom });
            }
        };
        for rule in drawing.horizontal {
            let y = rule.at - origin.1;
            add(self.sheet_box(rule.start - origin.0, y, rule.end - origin.0, y));
        }
        for rule in drawing.vertical {
            let x = rule.at - origin.0;
            add(self.sheet_box(x, rule.start - origin.1, x, rule.end - origin.1));
        }
        raw.horizontal = join_rules(horizontal);
        raw.vertical = join_rules(vertical);
        raw.filled = drawing
            .filled
            .iter()
            .map(|b| {
                self.sheet_box(b.left - origin.0, b.top - origin.1, b.right - origin.0, b.bottom - origin.1)
            })
            .collect();
    }
}

/// The part of the sheet that is shown; its `top` is the lower edge here, as the file counts from the bottom.
pub(super) fn visible_box(document: &Document, page: ObjectId) -> Option<Bounds> {
    let media = inherited_box(document, page, b"MediaBox");
    let crop = inherited_box(document, page, b"CropBox");
    let letter = Bounds { left: 0.0, top: 0.0, right: LETTER.0, bottom: LETTER.1 };
    let whole = media.or(crop.map(|_| letter))?;
    let cut = crop.map(|crop| Bounds {
        left: whole.left.max(crop.left),
        top: whole.top.max(crop.top),
        right: whole.right.min(crop.right),
        bottom: whole.bottom.min(crop.bottom),
    });
    Some(cut.filter(|b| b.width() > 0.0 && b.height() > 0.0).unwrap_or(whole))
}

fn inherited_box(document: &Document, page: ObjectId, key: &[u8]) -> Option<Bounds> {
    let mut id = page;
    for _ in 0..32 {
        let dictionary = document.get_dictionary(id).ok()?;
        if let Some(bounds) = dictionary.get(key).ok().and_then(|object| read_box(document, object)) {
            return Some(bounds);
        }
        id = dictionary.get(b"Parent").ok()?.as_reference().ok()?;
    }
    None
}

fn read_box(document: &Document, object: &Object) -> Option<Bounds> {
    let array = document.dereference(object).ok()?.1.as_array().ok()?;
    let values: Vec<f32> = array
        .iter()
        .filter_map(|value| document.dereference(value).ok()?.1.as_float().ok())
        .filter(|value| value.is_finite())
        .take(4)
        .collect();
    let [a, b, c, d] = values[..] else { return None };
    let bounds = Bounds { left: a.min(c), top: b.min(d), right: a.max(c), bottom: b.max(d) };
    (bounds.width() > 0.0 && bounds.height() > 0.0).then_some(bounds)
}
