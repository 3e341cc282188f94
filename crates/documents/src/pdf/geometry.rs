//! Boxes and ruling lines in points, with the origin at the top left of the page.

use crate::block::Rect;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bounds {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) right: f32,
    pub(super) bottom: f32,
}

impl Bounds {
    pub(super) fn width(&self) -> f32 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f32 {
        self.bottom - self.top
    }

    pub(super) fn center_x(&self) -> f32 {
        f32::midpoint(self.left, self.right)
    }

    pub(super) fn center_y(&self) -> f32 {
        f32::midpoint(self.top, self.bottom)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    pub(super) fn contains_point(&self, x: f32, y: f32) -> bool {
        x >= self.left && x <= self.right && y >= self.top && y <= self.bottom
    }

    /// The box as a share of the page, always inside 0 to 1.
    pub(super) fn normalized(&self, width: f32, height: f32) -> Rect {
        let share = |value: f32, whole: f32| {
            let share = value / whole;
            if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
        };
        let (left, top) = (share(self.left, width), share(self.top, height));
        Rect {
            left,
            top,
            right: share(self.right, width).max(left),
            bottom: share(self.bottom, height).max(top),
        }
    }
}

/// The smallest box around all of `boxes`.
pub(super) fn union_all<'a>(boxes: impl IntoIterator<Item = &'a Bounds>) -> Option<Bounds> {
    boxes.into_iter().copied().reduce(|a, b| a.union(&b))
}

/// Length of the common part of two intervals, 0 where they are apart.
pub(super) fn overlap(a: (f32, f32), b: (f32, f32)) -> f32 {
    (a.1.min(b.1) - a.0.max(b.0)).max(0.0)
}

/// A straight line drawn on the page: at `at` on the one axis, from `start` to `end` on the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    pub(super) at: f32,
    pub(super) start: f32,
    pub(super) end: f32,
}

impl Rule {
    pub(super) fn length(&self) -> f32 {
        self.end - self.start
    }

    pub(super) fn covers(&self, from: f32, to: f32, share: f32) -> bool {
        overlap((self.start, self.end), (from, to)) >= (to - from) * share
    }
}

/// Joins pieces of one line that were drawn apart: dashes, one stroke per table cell.
pub(super) fn join_rules(mut rules: Vec<Rule>) -> Vec<Rule> {
    const SAME_LINE: f32 = 1.5;
    const GAP: f32 = 3.0;
    rules.retain(|r| r.at.is_finite() && r.start.is_finite() && r.end.is_finite());
    rules.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.start.total_cmp(&b.start)));
    let mut joined: Vec<Rule> = Vec::new();
    let mut from = 0;
    while from < rules.len() {
        let mut to = from + 1;
        while to < rules.len()
            && rules[to].at - rules[to - 1].at <= SAME_LINE
            && rules[to].at - rules[from].at <= 2.0 * SAME_LINE
        {
            to += 1;
        }
        let mut level: Vec<Rule> = rules[from..to].to_vec();
        level.sort_by(|a, b| a.start.total_cmp(&b.start));
        let first = joined.len();
        for rule in level {
            match joined[first..].last_mut() {
                Some(last) if rule.start <= last.end + GAP => last.end = last.end.max(rule.end),
                _ => joined.push(rule),
            }
        }
        from = to;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_of_one_line_become_one_rule() {
        let dash = |start: f32| Rule { at: 100.0, start, end: start + 2.0 };
        let joined =
            join_rules(vec![dash(10.0), dash(14.0), dash(18.0), Rule { at: 120.0, start: 10.0, end: 20.0 }]);
        assert_eq!(joined.len(), 2);
        assert_eq!((joined[0].start, joined[0].end), (10.0, 20.0));
    }

    #[test]
    fn lines_far_apart_stay_two() {
        let joined = join_rules(vec![
            Rule { at: 100.0, start: 10.0, end: 60.0 },
            Rule { at: 100.0, start: 90.0, end: 160.0 },
        ]);
        assert_eq!(joined.len(), 2);
    }

    #[test]
    fn normalized_box_stays_inside_the_page() {
        let outside = Bounds { left: -20.0, top: 10.0, right: 900.0, bottom: 2000.0 };
        let rect = outside.normalized(600.0, 800.0);
        assert_eq!((rect.left, rect.right, rect.bottom), (0.0, 1.0, 1.0));
    }
}
