//! Lines that are drawn across each other, as a grid.

use std::collections::BTreeMap;

use super::super::geometry::{Bounds, Rule, overlap};

/// Lines this near are the same line of the grid.
const SNAP: f32 = 3.0;
/// Pairs of lines that are compared at most: a page with more is a drawing.
const MAX_PAIRS: usize = 4_000_000;
const MAX_GRID_CELLS: usize = 20_000;

/// Lines of a grid: `xs` from left to right, `ys` from top to bottom.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub(super) xs: Vec<f32>,
    pub(super) ys: Vec<f32>,
    horizontal: Vec<Rule>,
    vertical: Vec<Rule>,
    /// For each line of `ys` and `xs`: drawn down from there, drawn to the right from there.
    walls: Vec<bool>,
    floors: Vec<bool>,
}

impl Grid {
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            left: self.xs[0],
            top: self.ys[0],
            right: self.xs[self.xs.len() - 1],
            bottom: self.ys[self.ys.len() - 1],
        }
    }

    /// A line is drawn between the cells left and right of line `x` in the band `row`.
    pub(super) fn has_vertical(&self, row: usize, x: usize) -> bool {
        self.walls[row * self.xs.len() + x]
    }

    /// A line is drawn above the band `y` in this column.
    pub(super) fn has_horizontal(&self, y: usize, column: usize) -> bool {
        self.floors[y * self.xs.len() + column]
    }

    /// Looks up once, for every edge between two cells, whether a line is drawn there.
    pub(super) fn find_edges(&mut self) {
        let (width, height) = (self.xs.len(), self.ys.len());
        self.walls = vec![false; width * height];
        self.floors = vec![false; width * height];
        for (x, at) in self.xs.iter().enumerate() {
            let rules = rules_at(&self.vertical, *at);
            for (y, band) in self.ys.windows(2).enumerate() {
                self.walls[y * width + x] = is_drawn(&rules, band[0], band[1]);
            }
        }
        for (y, at) in self.ys.iter().enumerate() {
            let rules = rules_at(&self.horizontal, *at);
            for (x, band) in self.xs.windows(2).enumerate() {
                self.floors[y * width + x] = is_drawn(&rules, band[0], band[1]);
            }
        }
    }
}

/// The lines that are drawn at one line of the grid.
fn rules_at(rules: &[Rule], at: f32) -> Vec<Rule> {
    rules.iter().filter(|rule| (rule.at - at).abs() <= SNAP).copied().collect()
}

fn is_drawn(rules: &[Rule], from: f32, to: f32) -> bool {
    let covered: f32 = rules.iter().map(|rule| overlap((rule.start, rule.end), (from, to))).sum();
    covered >= (to - from) * 0.6
}

/// Lines that touch each other, gathered into grids with at least two lines each way.
pub(super) fn find_grids(horizontal: &[Rule], vertical: &[Rule]) -> Vec<Grid> {
    let horizontal: Vec<Rule> = horizontal.iter().filter(|rule| rule.length() >= 8.0).copied().collect();
    let vertical: Vec<Rule> = vertical.iter().filter(|rule| rule.length() >= 5.0).copied().collect();
    if horizontal.len() * vertical.len() > MAX_PAIRS {
        return Vec::new();
    }
    let count = horizontal.len();
    let mut parents: Vec<usize> = (0..count + vertical.len()).collect();
    for (h, flat) in horizontal.iter().enumerate() {
        for (v, upright) in vertical.iter().enumerate() {
            let meet = upright.at >= flat.start - SNAP
                && upright.at <= flat.end + SNAP
                && flat.at >= upright.start - SNAP
                && flat.at <= upright.end + SNAP;
            if meet {
                let (a, b) = (root(&mut parents, h), root(&mut parents, count + v));
                parents[a] = b;
            }
        }
    }
    let mut groups: BTreeMap<usize, (Vec<Rule>, Vec<Rule>)> = BTreeMap::new();
    for index in 0..parents.len() {
        let group = groups.entry(root(&mut parents, index)).or_default();
        if index < count {
            group.0.push(horizontal[index]);
        } else {
            group.1.push(vertical[index - count]);
        }
    }
    let mut grids: Vec<Grid> = groups.into_values().filter_map(|(h, v)| build_grid(h, v)).collect();
    grids.sort_by(|a, b| a.ys[0].total_cmp(&b.ys[0]));
    grids
}

fn root(parents: &mut [usize], mut index: usize) -> usize {
    while parents[index] != index {
        parents[index] = parents[parents[index]];
        index = parents[index];
    }
    index
}

fn build_grid(horizontal: Vec<Rule>, vertical: Vec<Rule>) -> Option<Grid> {
    if horizontal.len() < 2 || vertical.is_empty() {
        return None;
    }
    let left = horizontal.iter().map(|rule| rule.start).fold(f32::MAX, f32::min);
    let right = horizontal.iter().map(|rule| rule.end).fold(f32::MIN, f32::max);
    let top = vertical.iter().map(|rule| rule.start).fold(f32::MAX, f32::min);
    let bottom = vertical.iter().map(|rule| rule.end).fold(f32::MIN, f32::max);
    // A table may be open at its sides: the lines across say how far it reaches.
    let mut xs: Vec<f32> = vertical.iter().map(|rule| rule.at).collect();
    let mut ys: Vec<f32> = horizontal.iter().map(|rule| rule.at).collect();
    add_edge(&mut xs, left);
    add_edge(&mut xs, right);
    add_edge(&mut ys, top);
    add_edge(&mut ys, bottom);
    let (xs, ys) = (snap(xs), snap(ys));
    let cells = xs.len().saturating_sub(1) * ys.len().saturating_sub(1);
    if !(2..=MAX_GRID_CELLS).contains(&cells) {
        return None;
    }
    Some(Grid { xs, ys, horizontal, vertical, ..Grid::default() })
}

fn add_edge(lines: &mut Vec<f32>, edge: f32) {
    if lines.iter().all(|line| (line - edge).abs() > 8.0) {
        lines.push(edge);
    }
}

fn snap(mut lines: Vec<f32>) -> Vec<f32> {
    lines.sort_by(f32::total_cmp);
    let mut snapped: Vec<f32> = Vec::new();
    for line in lines {
        match snapped.last() {
            Some(last) if line - last <= SNAP => {}
            _ => snapped.push(line),
        }
    }
    snapped
}
