//! The columns that describe a candidate for a field.

use crate::facts::{LABEL_SOURCES, LabelSource, Line, PageLines};
use crate::values::{ValueKind, date, is_sentence, number};

/// The names of the columns. Another name, or another order, needs another model.
pub const COLUMN_NAMES: [&str; COLUMNS] = [
    "wants name",
    "wants person",
    "wants organization",
    "wants place",
    "wants contact",
    "wants date",
    "wants money",
    "wants quantity",
    "wants identifier",
    "wants anything",
    "wants number",
    "label before",
    "label row",
    "label column",
    "label previous",
    "label heading",
    "label own name",
    "label outer name",
    "label next",
    "best near label",
    "best label",
    "label gap",
    "better labelled",
    "equally labelled before",
    "labels agreeing",
    "best near label of page",
    "rows below heading",
    "fit of kind",
    "fit of type",
    "characters",
    "words",
    "digit share",
    "capital share",
    "sentence",
    "colon",
    "is label",
    "link",
    "strong",
    "heading level",
    "part",
    "has form",
    "form share",
    "form order",
    "form count",
    "has money",
    "has date",
    "button",
    "position weight",
    "place on page",
    "rows after subject",
    "distance to subject",
    "alike",
    "same",
    "title contains",
    "title begins",
    "title part",
    "title share",
    "title words",
    "shared title",
    "subject row",
    "subject text",
    "rule score",
    "rule rank",
    "rule trust",
    "candidates with same text",
    "best label of same text",
    "candidates",
    "name within text",
    "no line",
    "other pages",
    "same text on other pages",
    "label on other pages",
    "place on other pages",
    "elements on other pages",
    "line before on other pages",
    "same text in place",
    "same text in elements",
    "same text after line before",
    "texts of place",
    "texts of elements",
    "texts after line before",
    "kind in place",
    "shared words",
];
pub const COLUMNS: usize = 83;
/// Columns that rules use too.
pub(crate) const FORM_ORDER: usize = 42;
pub(crate) const FORM_COUNT: usize = 43;
pub(crate) const ROWS_AFTER_SUBJECT: usize = 49;

pub type CandidateColumns = [f32; COLUMNS];

/// What is known of one candidate for one field.
#[derive(Debug, Clone)]
pub(crate) struct CandidateFacts<'p> {
    pub line: Option<&'p Line>,
    /// The text that the value was parsed from.
    pub text: &'p str,
    pub key: u64,
    /// The similarity of each kind of label to the field's name.
    pub labels: [f32; LABEL_SOURCES],
    /// How well the text fits the field's kind and type.
    pub kind_fit: f32,
    pub type_fit: f32,
    pub has_form: bool,
    /// Score, rank and trust of the rule that found it.
    pub rule: Option<(f32, usize, f32)>,
    /// The share of the field's words that the text contains.
    pub named_within: f32,
    /// Where no line has it: the weight of its position, and its place on the page from 0 to 1.
    pub position: (f32, f32),
    /// The share of the site's other pages that have this text.
    pub same_on_site: f32,
    /// Its place, for comparison with other pages of its site.
    pub place: u64,
}

impl CandidateFacts<'_> {
    fn label(&self, source: LabelSource) -> f32 {
        self.labels[source as usize]
    }

    /// The best label that stands directly with the value.
    pub(crate) fn near_label(&self) -> f32 {
        [LabelSource::Before, LabelSource::Row, LabelSource::Column, LabelSource::Previous]
            .into_iter()
            .map(|source| self.label(source))
            .fold(0.0, f32::max)
    }

    pub(crate) fn best_label(&self) -> f32 {
        self.labels.iter().copied().fold(0.0, f32::max)
    }
}

/// All candidates of a field on one page together.
#[derive(Debug, Default)]
pub(crate) struct FieldSurvey {
    best_label: f32,
    best_near_label: f32,
    /// Best labels, best first.
    ranked: Vec<f32>,
    /// For each candidate: equally labelled ones before it, and ones of the right form before it.
    before: Vec<(u32, u32)>,
    forms: u32,
    /// For each text: how many candidates have it, and their best label.
    texts: std::collections::HashMap<u64, (u32, f32)>,
}

impl FieldSurvey {
    pub(crate) fn new(candidates: &[CandidateFacts]) -> Self {
        let mut survey = Self::default();
        let mut seen: std::collections::HashMap<u32, u32> = std::collections::HashMap::new();
        for candidate in candidates {
            let best = candidate.best_label();
            survey.best_label = survey.best_label.max(best);
            survey.best_near_label = survey.best_near_label.max(candidate.near_label());
            survey.ranked.push(best);
            let equal = seen.entry(best.to_bits()).or_default();
            survey.before.push((*equal, survey.forms));
            *equal += 1;
            survey.forms += u32::from(candidate.has_form);
            let (count, most) = survey.texts.entry(candidate.key).or_default();
            *count += 1;
            *most = most.max(best);
        }
        survey.ranked.sort_by(|one, other| other.total_cmp(one));
        survey
    }
}

/// Describes a candidate. `at` is its number among the candidates of the survey.
#[expect(clippy::too_many_lines, reason = "one list of all columns")]
pub(crate) fn candidate_columns(
    kind: ValueKind,
    number: bool,
    candidate: &CandidateFacts,
    at: usize,
    survey: &FieldSurvey,
    page: &PageLines,
) -> CandidateColumns {
    let flag = |value: bool| f32::from(u8::from(value));
    let log = |value: u32| (value as f32 + 1.0).log2();
    let text = candidate.text;
    let words: Vec<&str> = text.split_whitespace().collect();
    let characters = text.chars().count().max(1) as f32;
    let digits = text.chars().filter(char::is_ascii_digit).count() as f32;
    let capitals = words.iter().filter(|word| word.starts_with(char::is_uppercase)).count() as f32;
    let line = candidate.line;
    let best = candidate.best_label();
    let better = survey.ranked.partition_point(|known| *known > best);
    let (equal_before, forms_before) = survey.before.get(at).copied().unwrap_or_default();
    let (same_count, same_best) = survey.texts.get(&candidate.key).copied().unwrap_or((1, 0.0));
    let title = line.map(|line| line.title).unwrap_or_default();
    let after_subject = match (line, page.subject) {
        (Some(line), Some(subject)) => (line.row as f32 - subject as f32).clamp(-60.0, 100.0),
        _ => 120.0,
    };
    let short = text.len() <= 120;
    let site = line.map(|line| line.site.clone()).unwrap_or_default();
    [
        flag(kind == ValueKind::Name),
        flag(kind == ValueKind::Person),
        flag(kind == ValueKind::Organization),
        flag(kind == ValueKind::Place),
        flag(matches!(kind, ValueKind::Address | ValueKind::Phone | ValueKind::Email | ValueKind::Url)),
        flag(matches!(kind, ValueKind::Date | ValueKind::Year)),
        flag(kind == ValueKind::Money),
        flag(matches!(kind, ValueKind::Measure | ValueKind::Count)),
        flag(kind == ValueKind::Identifier),
        flag(matches!(kind, ValueKind::Plain | ValueKind::Rating | ValueKind::Version)),
        flag(number),
        candidate.label(LabelSource::Before),
        candidate.label(LabelSource::Row),
        candidate.label(LabelSource::Column),
        candidate.label(LabelSource::Previous),
        candidate.label(LabelSource::Heading),
        candidate.label(LabelSource::Own),
        candidate.label(LabelSource::Outer),
        candidate.label(LabelSource::Next),
        candidate.near_label(),
        best,
        survey.best_label - best,
        log(u32::try_from(better).unwrap_or(u32::MAX)),
        log(equal_before),
        candidate.labels.iter().filter(|label| **label >= 0.6).count() as f32,
        survey.best_near_label,
        line.map_or(50.0, |line| line.below_heading as f32),
        candidate.kind_fit,
        candidate.type_fit,
        characters.log2(),
        words.len() as f32,
        digits / characters,
        capitals / words.len().max(1) as f32,
        flag(is_sentence(text, words.len())),
        flag(text.contains(':')),
        flag(line.is_some_and(|line| line.is_label)),
        flag(line.is_some_and(|line| line.link.is_some())),
        flag(line.is_some_and(|line| line.strong)),
        line.map_or(0.0, |line| if line.level == 0 { 0.0 } else { 7.0 - f32::from(line.level) }),
        flag(line.is_some_and(|line| line.part)),
        flag(candidate.has_form),
        kind.form_share(text),
        log(forms_before),
        log(survey.forms),
        flag(short && number::find_numbers(text, false, 3).iter().any(|number| number.money)),
        flag(short && date::is_date(text)),
        flag(line.is_some_and(|line| line.button)),
        line.map_or(candidate.position.0, |line| line.position_weight),
        line.map_or(candidate.position.1, |line| line.row as f32 / page.rows.max(1) as f32),
        after_subject,
        after_subject.abs(),
        line.map_or(0.0, |line| log(line.alike)),
        line.map_or(0.0, |line| log(line.same)),
        flag(title.within),
        flag(title.start),
        flag(title.segment),
        title.share,
        title.words,
        flag(title.shared),
        flag(line.is_some_and(|line| Some(line.row) == page.subject)),
        flag(candidate.key == page.subject_key && page.subject.is_some()),
        candidate.rule.map_or(0.0, |(score, ..)| score),
        candidate.rule.map_or(9.0, |(_, rank, _)| rank as f32),
        candidate.rule.map_or(0.0, |(.., trust)| trust),
        log(same_count),
        same_best,
        log(u32::try_from(survey.before.len()).unwrap_or(u32::MAX)),
        candidate.named_within,
        flag(line.is_none()),
        log(page.other_pages),
        candidate.same_on_site,
        site.label,
        site.has_place[0],
        site.has_place[1],
        site.has_place[2],
        site.same_here[0],
        site.same_here[1],
        site.same_here[2],
        site.varies[0],
        site.varies[1],
        site.varies[2],
        site.of_kind(kind),
        site.trimmed,
    ]
}
