//! Chooses single values on whole pages: lines and facts are candidates, the ranker judges them, and what it
//! does not find good enough is no value.

use super::named_values::{NAMED_SCORE, find_named_values};
use super::object::ChosenValue;
use super::{Evidence, FieldCandidate, FillScope, Filler};
use crate::facts::site::hash_of;
use crate::facts::{self, EvidenceKind, LABEL_SOURCES, LabelId, LabelSource, Line, hash_text};
use crate::ranking::{self, CandidateColumns, CandidateFacts, CandidateRow, FieldSurvey, candidate_columns};
use crate::schema::FieldKind;
use crate::values::{FoundText, ValueKind};
use html::dom::NodeId;
use serde_json::Value;
use std::collections::HashMap;

/// Fields of one object that are ranked; the rules choose for the rest.
const MAX_RANKED_FIELDS: usize = 60;
/// Candidates for one field on one page.
const MAX_PAGE_CANDIDATES: usize = 500;
/// Rows above and below the page's subject whose lines are candidates without a label.
const ROWS_BEFORE_SUBJECT: i64 = 3;
const ROWS_AFTER_SUBJECT: i64 = 12;
/// A heading names the rows directly below it.
const MAX_ROWS_BELOW_HEADING: u32 = 30;
/// The least score of a value from JSON-LD or microdata that needs no further judgement.
const MIN_DECLARED_SCORE: f32 = 0.55;
/// From this similarity on, a text may serve two fields: both have its name.
const EXACT_SIMILARITY: f32 = 0.92;
/// What a label of a part of the name counts.
const PART_OF_NAME: f32 = 0.4;
/// Share of a title's words from which on a line may be the page's name.
const MIN_TITLE_WORDS: f32 = 0.6;

/// The least similarity of a label for telephone numbers, addresses and links, and their least score.
const MIN_CONTACT_LABEL: f32 = 0.6;
const MIN_CONTACT_SCORE: f32 = 0.5;
/// Other pages of a site, and the share of them, that have the same text as furniture.
const MIN_OTHER_PAGES: u32 = 2;
const MIN_FURNITURE_SHARE: f32 = 0.8;

/// A judged candidate.
struct Judged<'p> {
    field: usize,
    page: usize,
    key: u64,
    similarity: f32,
    score: f32,
    choice: ChosenValue<'p>,
}

/// A candidate of a page with what the ranker sees of it.
pub(super) struct PageCandidate<'p> {
    pub field: usize,
    pub facts: CandidateFacts<'p>,
    value: Value,
    fact: Option<FieldCandidate<'p>>,
    pub columns: CandidateColumns,
}

type FieldCandidates<'p> = HashMap<usize, Vec<FieldCandidate<'p>>>;

impl<'p> Filler<'_, 'p> {
    /// The best value of each field on these pages.
    pub(super) fn choose_on_pages(
        &mut self,
        leaves: &[usize],
        pages: &[usize],
        found: FieldCandidates<'p>,
    ) -> HashMap<usize, ChosenValue<'p>> {
        let ranked = self.ranked_leaves(leaves);
        self.vote(&ranked);
        let mut judged: Vec<Judged<'p>> = Vec::new();
        for (number, &page) in pages.iter().enumerate() {
            let later = 1.0 - 0.02 * (number.min(10) as f32);
            let candidates = self.candidates_of_page(&ranked, page, &found);
            let named = find_named_values(&candidates, &self.matcher.kinds);
            for (at, candidate) in candidates.into_iter().enumerate() {
                let kind = self.matcher.kinds[candidate.field];
                let score = if kind.is_contact() {
                    contact_score(kind, &candidate)
                } else {
                    let pointer = &self.shape.fields[candidate.field].pointer;
                    let sum = self.ranker.judge(&candidate.columns);
                    let sum = self.sites.moderate(page, pointer, candidate.facts.place, sum);
                    let judged = (sum >= self.least_sum(page)).then(|| probability(sum));
                    let certain = named.contains(&at) && !self.is_furniture(page, &candidate)
                        || self.is_heading_without_site(&candidate);
                    if certain { Some(judged.unwrap_or(0.0).max(NAMED_SCORE)) } else { judged }
                };
                if let Some(score) = score {
                    judged.push(self.judged(page, candidate, score * later));
                }
            }
        }
        let least = probability(self.ranker.least);
        for (field, candidates) in found {
            for candidate in candidates {
                let score = match candidate.fact.how {
                    _ if !ranked.contains(&field) || is_declared(&candidate) => candidate.score,
                    _ if self.is_struck(&candidate) => candidate.score,
                    // Only where the page shows nothing better.
                    EvidenceKind::Embedded => candidate.score.min(least) * 0.9,
                    _ => continue,
                };
                judged.push(Judged {
                    field,
                    page: candidate.page,
                    key: hash_text(&candidate.fact.text),
                    similarity: candidate.similarity,
                    score,
                    choice: ChosenValue::Fact(candidate),
                });
            }
        }
        // The sort is stable and candidates are in document order, but fields are not.
        judged.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.field.cmp(&other.field)));
        let mut chosen: HashMap<usize, ChosenValue<'p>> = HashMap::new();
        // Which field has taken a text, and whether the text is labelled with the name of that field.
        let mut used: HashMap<(usize, u64), (usize, bool)> = HashMap::new();
        for candidate in judged {
            let (field, text) = (candidate.field, (candidate.page, candidate.key));
            // A heading or a label that is the name of the field itself.
            if candidate.choice.text().is_some_and(|text| self.matcher.is_own_name(field, text)) {
                continue;
            }
            // The same words may stand in another element, or be a part of another text.
            let value = candidate.choice.numbered_text().map(|value| (candidate.page, hash_text(value)));
            let keys = || [Some(text), value].into_iter().flatten();
            let is_exact = candidate.similarity >= EXACT_SIMILARITY;
            let taken: Vec<(usize, bool)> = keys()
                .filter_map(|key| used.get(&key).copied())
                .filter(|&(by, _)| by != field && self.share_values(by, field))
                .collect();
            if chosen.contains_key(&field) || (!taken.is_empty() && !is_exact) {
                continue;
            }
            // "Party fee" is no label for what stands beside "fee".
            for (by, was_exact) in taken {
                if value.is_some() && !was_exact {
                    chosen.remove(&by);
                }
            }
            for key in keys() {
                let known = used.entry(key).or_insert((field, is_exact));
                if is_exact && !known.1 {
                    *known = (field, true);
                }
            }
            chosen.insert(field, candidate.choice);
        }
        chosen
    }

    /// The fields that the ranker judges.
    pub(super) fn ranked_leaves(&self, leaves: &[usize]) -> Vec<usize> {
        leaves.iter().copied().filter(|&leaf| self.is_ranked(leaf)).take(MAX_RANKED_FIELDS).collect()
    }

    /// The least sum of a value on a page.
    fn least_sum(&self, page: usize) -> f32 {
        match self.pages[page].lines.other_pages {
            0 => self.ranker.least,
            _ => self.ranker.least_on_site,
        }
    }

    /// Whether a candidate is the same on nearly all pages of its site; the ranker then decides.
    fn is_furniture(&self, page: usize, candidate: &PageCandidate) -> bool {
        self.pages[page].lines.other_pages >= MIN_OTHER_PAGES
            && candidate.facts.same_on_site >= MIN_FURNITURE_SHARE
    }

    /// Whether a candidate is a heading less the words that name its site: what differs from page to page there is
    /// the page's own name, which needs no further judgement.
    fn is_heading_without_site(&self, candidate: &PageCandidate) -> bool {
        let own_name = &self.matcher.names[candidate.field].own;
        let is_heading = |line: &Line| line.level > 0 && line.site.names_site && line.site.trimmed > 0.0;
        self.matcher.kinds[candidate.field] == ValueKind::Name
            && (own_name.has("title") || own_name.has("name"))
            && candidate.facts.line.is_some_and(is_heading)
    }

    /// Candidates as training sees them.
    pub(crate) fn candidate_rows(&mut self) -> Vec<CandidateRow> {
        let leaves = self.leaves_of(0);
        let leaves: Vec<usize> = leaves.into_iter().filter(|&leaf| self.is_ranked(leaf)).collect();
        let found = self.gather(&leaves, &FillScope::Pages(vec![0]));
        let candidates = self.candidates_of_page(&leaves, 0, &found);
        candidates
            .into_iter()
            .map(|candidate| CandidateRow {
                pointer: self.shape.fields[candidate.field].pointer.clone(),
                value: candidate.value,
                columns: candidate.columns,
            })
            .collect()
    }

    /// Whether the ranker judges this field: long texts, choices and yes or no are left to the rules.
    fn is_ranked(&self, leaf: usize) -> bool {
        let field = &self.shape.fields[leaf];
        field.choices.is_empty()
            && matches!(field.kind, FieldKind::Text | FieldKind::Any | FieldKind::Number | FieldKind::Integer)
            && !matches!(self.matcher.kinds[leaf], ValueKind::Prose | ValueKind::Image)
            && !self.matcher.names[leaf].own.is_empty()
    }

    /// Whether a candidate is what the page has struck out, and the field asks for just that.
    fn is_struck(&self, candidate: &FieldCandidate) -> bool {
        let dom = self.pages[candidate.page].view.page.dom();
        candidate.fact.end > 0
            && candidate.similarity >= EXACT_SIMILARITY
            && facts::text::is_struck(dom.tag(NodeId(candidate.fact.at)))
    }

    fn judged(&self, page: usize, candidate: PageCandidate<'p>, score: f32) -> Judged<'p> {
        let PageCandidate { field, facts, value, fact, .. } = candidate;
        let choice = match fact {
            Some(fact) => ChosenValue::Fact(FieldCandidate { score, ..fact }),
            None => ChosenValue::Text(
                value,
                Evidence {
                    pointer: String::new(),
                    url: self.pages[page].view.url.to_owned(),
                    quote: facts.text.to_owned(),
                    how: evidence_kind(&facts),
                    confidence: score,
                },
            ),
        };
        Judged { field, page, key: facts.key, similarity: facts.best_label(), score, choice }
    }

    /// All candidates of a page for some fields.
    pub(super) fn candidates_of_page(
        &mut self,
        leaves: &[usize],
        page: usize,
        found: &FieldCandidates<'p>,
    ) -> Vec<PageCandidate<'p>> {
        let lines = &self.pages[page].lines.lines;
        let labels = self.label_similarities(leaves, page);
        let mut all = Vec::new();
        for (number, &leaf) in leaves.iter().enumerate() {
            let own = &labels[number * lines.len()..(number + 1) * lines.len()];
            let rules = found.get(&leaf).map_or(&[][..], Vec::as_slice);
            all.extend(self.candidates_of_field(leaf, page, own, rules));
        }
        all
    }

    /// For each field and line, the similarity of each kind of label.
    fn label_similarities(&mut self, leaves: &[usize], page: usize) -> Vec<[f32; LABEL_SOURCES]> {
        let lines = &self.pages[page].lines.lines;
        let places: HashMap<usize, usize> = leaves.iter().enumerate().map(|(at, &leaf)| (leaf, at)).collect();
        let mut labels = vec![[0.0_f32; LABEL_SOURCES]; leaves.len() * lines.len()];
        for (number, line) in lines.iter().enumerate() {
            for &(source, label) in &line.labels {
                if source == LabelSource::Heading && line.below_heading > MAX_ROWS_BELOW_HEADING {
                    continue;
                }
                let matching = self.matcher.matching_fields(label);
                for (field, similarity) in matching.iter() {
                    budget::spend(1);
                    if let Some(at) = places.get(field) {
                        let whole = if self.is_part_of_name(*field, label) { PART_OF_NAME } else { 1.0 };
                        let known = &mut labels[at * lines.len() + number][source as usize];
                        *known = known.max(*similarity * whole);
                    }
                }
            }
        }
        labels
    }

    /// Whether a label names a part of what is wanted: the name of a camera is more than what "Model" labels.
    fn is_part_of_name(&self, field: usize, label: LabelId) -> bool {
        self.matcher.kinds[field] == ValueKind::Name
            && self.matcher.names[field].own.0 != ["name"]
            && !self.matcher.words(label).has("name")
    }

    #[expect(clippy::too_many_lines, reason = "one list of all columns")]
    fn candidates_of_field(
        &self,
        leaf: usize,
        page: usize,
        labels: &[[f32; LABEL_SOURCES]],
        rules: &[FieldCandidate<'p>],
    ) -> Vec<PageCandidate<'p>> {
        let facts = &self.pages[page];
        let kind = self.matcher.kinds[leaf];
        let name: Vec<String> = self.shape.fields[leaf]
            .name
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .map(str::to_lowercase)
            .collect();
        let here: Vec<(usize, &FieldCandidate<'p>)> = rules
            .iter()
            .filter(|rule| rule.page == page && !self.is_part_of_name(leaf, rule.fact.label))
            .enumerate()
            .collect();
        let mut by_text: HashMap<u64, (usize, &FieldCandidate<'p>)> = HashMap::new();
        for &(rank, rule) in &here {
            by_text.entry(hash_text(&rule.fact.text)).or_insert((rank, rule));
        }
        let mut found: Vec<(CandidateFacts<'p>, Value, Option<FieldCandidate<'p>>)> = Vec::new();
        let mut on_lines: Vec<u64> = Vec::new();
        for (line, own) in facts.lines.lines.iter().zip(labels) {
            // Of two parts of the title the shorter or the later one is the name of the site or of its section.
            let other_part = line.title.segment
                && line.key != facts.lines.subject_key
                && (line.title.share < facts.lines.subject_share
                    || (facts.lines.subject_starts && !line.title.start));
            if kind == ValueKind::Name && other_part {
                continue;
            }
            // The name with the site's own words around it; without them it is a candidate too.
            if kind == ValueKind::Name && line.site.names_site && line.site.trimmed < 0.0 {
                on_lines.push(line.key);
                continue;
            }
            let rule = by_text.get(&line.key).copied();
            let labelled = own.iter().any(|label| *label > 0.0);
            let has_form = kind.has_form(&line.text) || is_link_of(kind, line.link.as_deref());
            if !(labelled || rule.is_some() || has_form || self.is_near_subject(kind, page, line)) {
                continue;
            }
            if found.len() == MAX_PAGE_CANDIDATES {
                break;
            }
            let stated = kind.trim_line(&line.text);
            let text = FoundText { text: stated, machine: None, link: line.link.as_deref() };
            let Some((value, type_fit, kind_fit)) = self.parse_found(leaf, page, text) else { continue };
            let mut fact = rule.map(|(_, rule)| rule.clone());
            if let Some(fact) = fact.as_mut().filter(|_| value.is_string() && stated.len() < line.text.len())
            {
                fact.value.clone_from(&value);
            }
            if rule.is_some() {
                on_lines.push(line.key);
            }
            found.push((
                CandidateFacts {
                    line: Some(line),
                    text: &line.text,
                    key: line.key,
                    labels: *own,
                    kind_fit,
                    type_fit,
                    has_form,
                    rule: rule.map(|(rank, rule)| (rule.score, rank, rule.fact.how.trust())),
                    named_within: share_within(&name, &line.text),
                    position: (1.0, 0.0),
                    same_on_site: line.site.same_text,
                    place: line.places.exact,
                },
                value,
                fact,
            ));
        }
        for (rank, rule) in here {
            let key = hash_text(&rule.fact.text);
            if on_lines.contains(&key) {
                continue;
            }
            let text: &'p str = &rule.fact.text;
            let nodes = facts.view.page.dom().len().max(1) as f32;
            found.push((
                CandidateFacts {
                    line: None,
                    text,
                    key,
                    labels: [0.0; LABEL_SOURCES],
                    kind_fit: kind.fit(rule.value.as_str().unwrap_or(text)),
                    type_fit: 1.0,
                    has_form: kind.has_form(text),
                    rule: Some((rule.score, rank, rule.fact.how.trust())),
                    named_within: share_within(&name, text),
                    position: (rule.fact.position_weight, rule.fact.at as f32 / nodes),
                    same_on_site: self.sites.text_share(page, key),
                    place: hash_of(&(rule.fact.how, &self.matcher.words(rule.fact.label).0)),
                },
                rule.value.clone(),
                Some(rule.clone()),
            ));
        }
        let number = matches!(self.shape.fields[leaf].kind, FieldKind::Number | FieldKind::Integer);
        let (all, values): (Vec<CandidateFacts<'p>>, Vec<_>) =
            found.into_iter().map(|(facts, value, fact)| (facts, (value, fact))).unzip();
        let survey = FieldSurvey::new(&all);
        let columns: Vec<CandidateColumns> = all
            .iter()
            .enumerate()
            .map(|(at, candidate)| {
                budget::spend(4);
                candidate_columns(kind, number, candidate, at, &survey, &facts.lines)
            })
            .collect();
        all.into_iter()
            .zip(values)
            .zip(columns)
            .map(|((facts, (value, fact)), columns)| PageCandidate {
                field: leaf,
                facts,
                value,
                fact,
                columns,
            })
            .collect()
    }

    /// Whether a line without a label may be a value: beside the page's subject, or the subject itself.
    fn is_near_subject(&self, kind: ValueKind, page: usize, line: &Line) -> bool {
        let subject = self.pages[page].lines.subject;
        let near = subject.is_some_and(|subject| {
            (-ROWS_BEFORE_SUBJECT..=ROWS_AFTER_SUBJECT).contains(&(i64::from(line.row) - i64::from(subject)))
        });
        near || kind == ValueKind::Name
            && (line.level > 0 || line.title.within || line.title.words >= MIN_TITLE_WORDS)
    }
}

/// Whether a link says what kind its text is.
fn is_link_of(kind: ValueKind, link: Option<&str>) -> bool {
    match kind {
        ValueKind::Email => link.is_some_and(|link| link.starts_with("mailto:")),
        ValueKind::Phone => link.is_some_and(|link| link.starts_with("tel:")),
        _ => false,
    }
}

/// The score of a telephone number, an address, a link. Their form says more than the words around them, and
/// the pages that the ranker was trained on mark none, so this is by rule: a label, or the right form near
/// the page's subject, or the only one of its form.
fn contact_score(kind: ValueKind, candidate: &PageCandidate) -> Option<f32> {
    let facts = &candidate.facts;
    let column = |name: usize| candidate.columns[name];
    let named = facts.labels[LabelSource::Own as usize].max(facts.labels[LabelSource::Outer as usize] * 0.9);
    let label = facts.near_label().max(named * 0.95).max(facts.rule.map_or(0.0, |(score, ..)| score * 0.8));
    let after = column(ranking::ROWS_AFTER_SUBJECT);
    let near = (0.0..=25.0).contains(&after);
    let first = column(ranking::FORM_ORDER) < 0.5;
    let only = column(ranking::FORM_COUNT) <= 1.0;
    let formed = match kind {
        // Every page has links, so only what reads like one counts without a label.
        ValueKind::Url | ValueKind::Address if label < MIN_CONTACT_LABEL => near && first,
        _ => true,
    };
    let base = match () {
        () if facts.has_form && label >= MIN_CONTACT_LABEL => 0.75 + 0.2 * label,
        () if facts.has_form && formed && near && first => 0.72,
        () if facts.has_form && formed && only => 0.7,
        () if facts.has_form && formed && first => 0.6,
        () if label >= 0.8 && kind != ValueKind::Url => 0.6 * label,
        () if label >= 0.9 => 0.6,
        () => return None,
    };
    let place = facts.line.map_or(facts.position.0, |line| line.position_weight);
    let score = base * (0.7 + 0.3 * place) * (0.5 + 0.5 * facts.kind_fit);
    (score >= MIN_CONTACT_SCORE).then_some(score)
}

/// Data that the page states for machines about its own subject.
fn is_declared(candidate: &FieldCandidate) -> bool {
    let how = candidate.fact.how;
    matches!(how, EvidenceKind::JsonLd | EvidenceKind::Microdata)
        && candidate.fact.end == 0
        && candidate.score >= MIN_DECLARED_SCORE
}

/// The share of a field's words that a text contains.
fn share_within(name: &[String], text: &str) -> f32 {
    if name.is_empty() {
        return 0.0;
    }
    let text = text.to_lowercase();
    name.iter().filter(|word| text.contains(word.as_str())).count() as f32 / name.len() as f32
}

/// How a line was found, by its best label.
fn evidence_kind(facts: &CandidateFacts) -> EvidenceKind {
    let sources = [
        (LabelSource::Before, EvidenceKind::Label),
        (LabelSource::Row, EvidenceKind::Table),
        (LabelSource::Column, EvidenceKind::Table),
        (LabelSource::Previous, EvidenceKind::Label),
        (LabelSource::Next, EvidenceKind::Label),
        (LabelSource::Own, EvidenceKind::Class),
        (LabelSource::Heading, EvidenceKind::Section),
        (LabelSource::Outer, EvidenceKind::Class),
    ];
    let mut best: Option<(f32, EvidenceKind)> = None;
    for (source, how) in sources {
        let label = facts.labels[source as usize];
        if label > best.map_or(0.0, |(most, _)| most) {
            best = Some((label, how));
        }
    }
    match (best, facts.line) {
        (Some((_, how)), _) => how,
        (None, Some(line)) if line.level > 0 => EvidenceKind::Heading,
        _ => EvidenceKind::Look,
    }
}

/// A sum of trees as a probability, in thousandths.
fn probability(sum: f32) -> f32 {
    ((1.0 / (1.0 + (-sum).exp())) * 1000.0).round() / 1000.0
}
