//! Which words of a page are the words of its gold text: a greedy tiling of the two token sequences.
//!
//! A bag of words would credit a menu entry with a word of the article; a plain longest common subsequence
//! would fail where the annotator reordered parts. So the longest common runs are taken first, each gold
//! word is used once, and only then are the gaps between accepted runs searched for short leftovers.

use std::collections::HashMap;

/// Run lengths tried in turn. Below the last one a run is accepted only inside a gap between longer runs.
const RUN_LENGTHS: [usize; 5] = [24, 12, 8, 5, 4];
/// Gaps whose table of comparisons would be larger than this are left alone.
const GAP_CELLS: usize = 400_000;
/// How many places of one gold run are considered for one place on the page.
const PLACES: usize = 64;

const FREE: u32 = u32::MAX;

/// For each page token, the gold token it was matched with, or `u32::MAX`.
pub fn align(page: &[u32], gold: &[u32]) -> Vec<u32> {
    let mut tiling =
        Tiling { page, gold, page_to_gold: vec![FREE; page.len()], gold_to_page: vec![FREE; gold.len()] };
    for length in RUN_LENGTHS {
        tiling.take_runs(length);
    }
    tiling.fill_gaps();
    tiling.page_to_gold
}

struct Tiling<'a> {
    page: &'a [u32],
    gold: &'a [u32],
    page_to_gold: Vec<u32>,
    gold_to_page: Vec<u32>,
}

struct Run {
    page: usize,
    gold: usize,
    length: usize,
}

impl Tiling<'_> {
    /// Accepts common runs of at least `length` free tokens, longest first.
    fn take_runs(&mut self, length: usize) {
        loop {
            let mut runs = self.find_runs(length);
            if runs.is_empty() {
                return;
            }
            // Equal lengths: the earlier place on the page wins, so repeated text is credited once, at the top.
            runs.sort_by(|a, b| b.length.cmp(&a.length).then(a.page.cmp(&b.page)).then(a.gold.cmp(&b.gold)));
            let mut accepted = false;
            for run in runs {
                let free = (0..run.length).all(|offset| {
                    self.page_to_gold[run.page + offset] == FREE
                        && self.gold_to_page[run.gold + offset] == FREE
                });
                if free {
                    self.accept(&run);
                    accepted = true;
                }
            }
            if !accepted {
                return;
            }
        }
    }

    fn find_runs(&self, length: usize) -> Vec<Run> {
        if self.gold.len() < length || self.page.len() < length {
            return Vec::new();
        }
        let mut places: HashMap<&[u32], Vec<usize>> = HashMap::new();
        for start in 0..=self.gold.len() - length {
            if self.gold_to_page[start..start + length].iter().all(|&m| m == FREE) {
                let list = places.entry(&self.gold[start..start + length]).or_default();
                if list.len() < PLACES {
                    list.push(start);
                }
            }
        }
        let mut runs = Vec::new();
        // The gold start that continues the run found at the previous page token; its later starts are parts of it.
        let mut inside: HashMap<usize, usize> = HashMap::new();
        for start in 0..=self.page.len() - length {
            if self.page_to_gold[start..start + length].iter().any(|&m| m != FREE) {
                inside.clear();
                continue;
            }
            let Some(list) = places.get(&self.page[start..start + length]) else {
                inside.clear();
                continue;
            };
            let mut next = HashMap::new();
            for &gold in list {
                next.insert(gold + 1, start);
                if !inside.contains_key(&gold) {
                    let run = self.extend(start, gold, length);
                    runs.push(run);
                }
            }
            inside = next;
        }
        runs
    }

    fn extend(&self, page: usize, gold: usize, mut length: usize) -> Run {
        while page + length < self.page.len()
            && gold + length < self.gold.len()
            && self.page[page + length] == self.gold[gold + length]
            && self.page_to_gold[page + length] == FREE
            && self.gold_to_page[gold + length] == FREE
        {
            length += 1;
        }
        Run { page, gold, length }
    }

    fn accept(&mut self, run: &Run) {
        for offset in 0..run.length {
            self.page_to_gold[run.page + offset] = u32::try_from(run.gold + offset).unwrap_or(FREE);
            self.gold_to_page[run.gold + offset] = u32::try_from(run.page + offset).unwrap_or(FREE);
        }
    }

    /// Between two neighbouring runs that keep their order on the page, matches what is left in order.
    fn fill_gaps(&mut self) {
        let mut gold = 0;
        while gold < self.gold.len() {
            if self.gold_to_page[gold] != FREE {
                gold += 1;
                continue;
            }
            let start = gold;
            while gold < self.gold.len() && self.gold_to_page[gold] == FREE {
                gold += 1;
            }
            let before = start.checked_sub(1).map(|g| self.gold_to_page[g] as usize);
            let after = (gold < self.gold.len()).then(|| self.gold_to_page[gold] as usize);
            let (from, to) = match (before, after) {
                (Some(before), Some(after)) if before < after => (before + 1, after),
                (Some(before), _) => (before + 1, self.run_end(before + 1, 4 * (gold - start) + 40)),
                (None, Some(after)) => (self.run_start(after, 4 * (gold - start) + 40), after),
                (None, None) => (0, self.page.len()),
            };
            self.fill_gap(from, to, start, gold);
        }
    }

    fn run_end(&self, from: usize, most: usize) -> usize {
        let end = (from + most).min(self.page.len());
        (from..end).find(|&p| self.page_to_gold[p] != FREE).unwrap_or(end)
    }

    fn run_start(&self, to: usize, most: usize) -> usize {
        let start = to.saturating_sub(most);
        (start..to).rev().find(|&p| self.page_to_gold[p] != FREE).map_or(start, |p| p + 1)
    }

    /// Longest common subsequence of the two stretches, over free tokens.
    fn fill_gap(&mut self, page_from: usize, page_to: usize, gold_from: usize, gold_to: usize) {
        if page_from >= page_to || gold_from >= gold_to {
            return;
        }
        let free: Vec<usize> = (page_from..page_to).filter(|&p| self.page_to_gold[p] == FREE).collect();
        let (rows, columns) = (free.len(), gold_to - gold_from);
        if rows == 0 || rows * columns > GAP_CELLS {
            return;
        }
        let width = columns + 1;
        let mut best = vec![0u16; (rows + 1) * width];
        for row in (0..rows).rev() {
            for column in (0..columns).rev() {
                best[row * width + column] = if self.page[free[row]] == self.gold[gold_from + column] {
                    best[(row + 1) * width + column + 1] + 1
                } else {
                    best[(row + 1) * width + column].max(best[row * width + column + 1])
                };
            }
        }
        let (mut row, mut column) = (0, 0);
        while row < rows && column < columns {
            if self.page[free[row]] == self.gold[gold_from + column] {
                self.accept(&Run { page: free[row], gold: gold_from + column, length: 1 });
                row += 1;
                column += 1;
            } else if best[(row + 1) * width + column] >= best[row * width + column + 1] {
                row += 1;
            } else {
                column += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<u32> {
        text.split(' ')
            .map(|word| word.bytes().fold(7u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b))))
            .collect()
    }

    #[test]
    fn repeated_menu_words_are_not_credited() {
        let page = ids("home about team the team that we built is about people and home is where it works");
        let gold = ids("the team that we built is about people and home is where it works");
        let matched = align(&page, &gold);
        assert!(matched[..3].iter().all(|&m| m == FREE));
        assert!(matched[3..].iter().all(|&m| m != FREE));
    }

    #[test]
    fn reordered_parts_are_both_found() {
        let page = ids("a b c d e f g h i j");
        let gold = ids("f g h i j a b c d e");
        assert!(align(&page, &gold).iter().all(|&m| m != FREE));
    }

    #[test]
    fn short_heading_between_runs_is_found() {
        let page = ids("one two three four five setup six seven eight nine ten setup");
        let gold = ids("one two three four five setup six seven eight nine ten");
        let matched = align(&page, &gold);
        assert_ne!(matched[5], FREE);
        assert_eq!(matched[11], FREE);
    }

    #[test]
    fn empty_sides_match_nothing() {
        assert!(align(&[], &ids("a b")).is_empty());
        assert!(align(&ids("a b"), &[]).iter().all(|&m| m == FREE));
    }
}
