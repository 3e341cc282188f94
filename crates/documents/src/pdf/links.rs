//! Link areas of a page, put on the words they cover.

use super::geometry::Bounds;
use super::runs::{Run, is_right_to_left, words_of};

/// Longest address that is kept.
const MAX_LINK_BYTES: usize = 2048;
const MAX_LINKS_PER_PAGE: usize = 1000;

pub(super) fn mark_links(runs: &mut Vec<Run>, links: &[(Bounds, String)]) {
    for (area, target) in links.iter().take(MAX_LINKS_PER_PAGE) {
        if target.is_empty() || target.len() > MAX_LINK_BYTES || !is_web_target(target) {
            continue;
        }
        let mut marked = Vec::with_capacity(runs.len());
        for run in runs.drain(..) {
            let level = area.top - 2.0 <= run.bounds.center_y() && run.bounds.center_y() <= area.bottom + 2.0;
            let share =
                super::geometry::overlap(run.x(), (area.left, area.right)) / run.bounds.width().max(0.1);
            if !level || share < 0.05 || run.link.is_some() {
                marked.push(run);
            } else if share >= 0.8 {
                marked.push(Run { link: Some(target.clone()), ..run });
            } else if is_right_to_left(&run.text) {
                marked.push(run);
            } else {
                marked.extend(split_at_area(&run, area, target));
            }
        }
        *runs = marked;
    }
}

fn is_web_target(target: &str) -> bool {
    let lower = target.get(..8).unwrap_or(target).to_ascii_lowercase();
    ["http://", "https://", "mailto:", "ftp://"].iter().any(|scheme| lower.starts_with(scheme))
}

/// The words of a run outside and inside of the area, neighbours of the same kind together.
fn split_at_area(run: &Run, area: &Bounds, target: &str) -> Vec<Run> {
    let mut parts: Vec<Run> = Vec::new();
    for mut word in words_of(run) {
        let inside = word.bounds.center_x() >= area.left && word.bounds.center_x() <= area.right;
        word.link = inside.then(|| target.to_owned());
        match parts.last_mut() {
            Some(last) if last.link == word.link => {
                last.text.push(' ');
                last.text.push_str(&word.text);
                last.bounds = last.bounds.union(&word.bounds);
                last.space_after = word.space_after;
            }
            _ => {
                word.space_before |= !parts.is_empty();
                parts.push(word);
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::runs::tests::run;

    #[test]
    fn only_the_covered_words_become_a_link() {
        let mut runs = vec![run("see the manual for more", 0.0, 50.0, 115.0)];
        let area = Bounds { left: 38.0, top: 42.0, right: 74.0, bottom: 52.0 };
        mark_links(&mut runs, &[(area, "https://example.org/m".to_owned())]);
        let linked: Vec<_> = runs.iter().filter(|r| r.link.is_some()).map(|r| r.text.as_str()).collect();
        assert_eq!(linked, ["manual"]);
        assert_eq!(
            runs.iter().map(|r| r.text.as_str()).collect::<Vec<_>>().join(" "),
            "see the manual for more"
        );
    }

    #[test]
    fn scripts_are_not_links() {
        let mut runs = vec![run("press", 0.0, 50.0, 30.0)];
        let area = Bounds { left: 0.0, top: 40.0, right: 30.0, bottom: 52.0 };
        mark_links(&mut runs, &[(area, "javascript:alert(1)".to_owned())]);
        assert_eq!(runs[0].link, None);
    }
}
