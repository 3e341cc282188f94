//! Four corners, and the smallest turned box around points.

/// A point in pixels, x to the right and y down.
pub(crate) type Point = (f32, f32);

/// A turned box: its corners clockwise, from the top left of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quad(pub(crate) [Point; 4]);

impl Quad {
    /// Length along the text.
    pub(crate) fn width(&self) -> f32 {
        distance(self.0[0], self.0[1])
    }

    pub(crate) fn height(&self) -> f32 {
        distance(self.0[0], self.0[3])
    }

    /// The same box, whose text begins at another corner.
    pub(crate) fn turned(self, quarters: usize) -> Self {
        let mut corners = self.0;
        corners.rotate_left(quarters % 4);
        Self(corners)
    }

    pub(crate) fn map(self, change: impl Fn(Point) -> Point) -> Self {
        Self(self.0.map(change))
    }

    /// The point at a share of the width and of the height.
    pub(crate) fn at(&self, across: f32, down: f32) -> Point {
        let [a, b, _, d] = self.0;
        (a.0 + (b.0 - a.0) * across + (d.0 - a.0) * down, a.1 + (b.1 - a.1) * across + (d.1 - a.1) * down)
    }

    /// The box moved outwards by `margin` on each side.
    pub(crate) fn grown(self, margin: f32) -> Self {
        let (width, height) = (self.width().max(1e-3), self.height().max(1e-3));
        let (x, y) = (margin / width, margin / height);
        Self([self.at(-x, -y), self.at(1.0 + x, -y), self.at(1.0 + x, 1.0 + y), self.at(-x, 1.0 + y)])
    }
}

fn distance(a: Point, b: Point) -> f32 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// The convex outline of points, without corners that lie on a straight side.
fn convex_hull(points: &mut [Point]) -> Vec<Point> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let turn = |o: Point, a: Point, b: Point| (a.0 - o.0) * (b.1 - o.1) - (a.1 - o.1) * (b.0 - o.0);
    let mut hull: Vec<Point> = Vec::new();
    for half in 0..2 {
        let start = hull.len();
        let mut add = |point: Point| {
            while hull.len() >= start + 2 && turn(hull[hull.len() - 2], hull[hull.len() - 1], point) <= 0.0 {
                hull.pop();
            }
            hull.push(point);
        };
        if half == 0 {
            points.iter().copied().for_each(&mut add);
        } else {
            points.iter().rev().copied().for_each(&mut add);
        }
        // The last point begins the other half.
        hull.pop();
    }
    if hull.is_empty() {
        hull.extend(points.first());
    }
    hull
}

/// The box of smallest area around points, in any direction. Its text is taken to run along the side that is nearest
/// to horizontal.
pub(crate) fn smallest_box(points: &mut [Point]) -> Option<Quad> {
    let hull = convex_hull(points);
    let first = *hull.first()?;
    let mut best: Option<(f32, Quad)> = None;
    for (index, point) in hull.iter().enumerate() {
        let next = hull[(index + 1) % hull.len()];
        let length = distance(*point, next);
        let along = if length > 0.0 {
            ((next.0 - point.0) / length, (next.1 - point.1) / length)
        } else {
            (1.0, 0.0)
        };
        let (mut low, mut high) = ((f32::MAX, f32::MAX), (f32::MIN, f32::MIN));
        for corner in &hull {
            let (dx, dy) = (corner.0 - first.0, corner.1 - first.1);
            let (u, v) = (dx * along.0 + dy * along.1, dy * along.0 - dx * along.1);
            low = (low.0.min(u), low.1.min(v));
            high = (high.0.max(u), high.1.max(v));
        }
        let area = (high.0 - low.0) * (high.1 - low.1);
        if best.as_ref().is_none_or(|(smallest, _)| area < *smallest) {
            let corner =
                |u: f32, v: f32| (first.0 + u * along.0 - v * along.1, first.1 + u * along.1 + v * along.0);
            let quad = Quad([
                corner(low.0, low.1),
                corner(high.0, low.1),
                corner(high.0, high.1),
                corner(low.0, high.1),
            ]);
            best = Some((area, quad));
        }
    }
    best.map(|(_, quad)| upright(quad))
}

/// Turns the box so that its text reads from left to right.
fn upright(quad: Quad) -> Quad {
    (0..4)
        .map(|quarters| quad.turned(quarters))
        .max_by(|a, b| {
            let rightwards = |quad: &Quad| (quad.0[1].0 - quad.0[0].0) / quad.width().max(1e-3);
            rightwards(a).total_cmp(&rightwards(b))
        })
        .unwrap_or(quad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn turned_text_gets_a_turned_box() {
        let mut points = Vec::new();
        for step in 0..100 {
            let along = step as f32;
            for across in [0.0, 10.0] {
                points.push((along * 0.8 - across * 0.6, along * 0.6 + across * 0.8));
            }
        }
        let quad = smallest_box(&mut points).expect("a box");
        assert!((quad.width() - 99.0).abs() < 0.1 && (quad.height() - 10.0).abs() < 0.1, "{quad:?}");
        assert!(quad.0[1].0 > quad.0[0].0 && quad.0[3].1 > quad.0[0].1);
    }

    #[test]
    fn one_point_is_a_box_without_area() {
        let quad = smallest_box(&mut [(3.0, 4.0)]).expect("a box");
        assert_eq!(quad.0, [(3.0, 4.0); 4]);
        assert!(smallest_box(&mut []).is_none());
    }

    proptest! {
        #[test]
        fn all_points_are_inside(points in proptest::collection::vec((0_i16..500, 0_i16..500), 1..60)) {
            let mut points: Vec<Point> = points.iter().map(|(x, y)| (f32::from(*x), f32::from(*y))).collect();
            let quad = smallest_box(&mut points).expect("a box");
            // A box without area has no direction to test along.
            prop_assume!(quad.width() > 1.0 && quad.height() > 1.0);
            let grown = quad.grown(0.5);
            let [origin, right, _, below] = grown.0;
            for point in points {
                let share = |end: Point, length: f32| {
                    let (dx, dy) = (point.0 - origin.0, point.1 - origin.1);
                    (dx * (end.0 - origin.0) + dy * (end.1 - origin.1)) / length.powi(2)
                };
                let (across, down) = (share(right, grown.width()), share(below, grown.height()));
                prop_assert!((0.0..=1.0).contains(&across) && (0.0..=1.0).contains(&down));
            }
        }
    }
}
