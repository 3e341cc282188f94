//! Merges several records into one work. A later record of a source replaces its earlier one; between sources
//! the longer text wins, lists are united, and each field keeps its source.

use crate::work::{PaperSource, Provenance, Work};

/// Merges the records of one work, given in the order of import.
pub fn merge(mut records: Vec<(PaperSource, Work)>) -> (Work, Provenance) {
    // The latest record of a source counts; withdrawn works are removed.
    let mut kept: Vec<(PaperSource, Work)> = Vec::with_capacity(records.len());
    for (source, work) in records.drain(..) {
        // Checked first, because a work may have thousands of records with one citation each.
        let may_replace = work.withdrawn || !work.title.is_empty();
        let before = kept
            .iter_mut()
            .filter(|_| may_replace)
            .find(|(known, before)| *known == source && replaces(&work, before));
        if let Some(before) = before {
            let ids = std::mem::take(&mut before.1.ids);
            before.1 = work;
            before.1.ids.extend(ids);
        } else {
            kept.push((source, work));
        }
    }
    let mut whole = Work::default();
    let mut provenance = Provenance::default();
    for (source, mut work) in kept {
        whole.ids.append(&mut work.ids);
        if work.withdrawn {
            continue;
        }
        whole.retracted |= work.retracted;
        if whole.title.is_empty() && !work.title.is_empty() {
            whole.title = work.title;
            provenance.title = Some(source);
        }
        if work.abstract_text.len() > whole.abstract_text.len() {
            whole.abstract_text = work.abstract_text;
            provenance.abstract_text = Some(source);
        }
        if work.authors.len() > whole.authors.len() {
            whole.authors = work.authors;
            provenance.authors = Some(source);
        }
        if whole.created.is_none_or(|known| work.created.is_some_and(|other| other < known))
            && work.created.is_some()
        {
            whole.created = work.created;
            provenance.dates = Some(source);
        }
        whole.updated = whole.updated.max(work.updated);
        if work.references.len() > whole.references.len() {
            provenance.references = Some(source);
        }
        whole.references.append(&mut work.references);
        for category in work.categories {
            if !whole.categories.contains(&category) {
                whole.categories.push(category);
            }
        }
        if work.passages.len() > whole.passages.len() {
            whole.passages = work.passages;
        }
    }
    (whole.bounded(), provenance)
}

/// A record with nothing but references adds to the previous one; any other replaces it. (Semantic Scholar
/// has papers, abstracts and citations in three tables.)
fn replaces(later: &Work, before: &Work) -> bool {
    later.withdrawn || !before.title.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Identifier;

    fn work(title: &str, abstract_text: &str) -> Work {
        Work {
            title: title.into(),
            abstract_text: abstract_text.into(),
            ids: vec![Identifier::new("doi", "10.1/x").unwrap()],
            ..Work::default()
        }
    }

    #[test]
    fn the_longer_text_wins_and_is_attributed() {
        let (merged, provenance) =
            merge(vec![(PaperSource::Crossref, work("T", "")), (PaperSource::PubMed, work("T.", "long"))]);
        assert_eq!((merged.title.as_str(), merged.abstract_text.as_str()), ("T", "long"));
        assert_eq!(
            (provenance.title, provenance.abstract_text),
            (Some(PaperSource::Crossref), Some(PaperSource::PubMed))
        );
        assert_eq!(merged.ids.len(), 1);
    }

    #[test]
    fn a_later_record_of_a_source_replaces() {
        let (merged, _) = merge(vec![
            (PaperSource::OpenAlex, work("Old", "longer text")),
            (PaperSource::OpenAlex, work("New", "text")),
        ]);
        assert_eq!((merged.title.as_str(), merged.abstract_text.as_str()), ("New", "text"));
    }

    #[test]
    fn withdrawal_leaves_other_sources() {
        let gone = Work { withdrawn: true, ..work("", "") };
        let (merged, _) =
            merge(vec![(PaperSource::PubMed, work("A", "a")), (PaperSource::PubMed, gone.clone())]);
        assert!(merged.title.is_empty() && !merged.ids.is_empty());
        let (merged, _) = merge(vec![
            (PaperSource::PubMed, work("A", "a")),
            (PaperSource::Crossref, work("B", "")),
            (PaperSource::PubMed, gone),
        ]);
        assert_eq!(merged.title, "B");
    }
}
