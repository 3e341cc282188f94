//! Where each crate stands: one row for each layer, the ground at the bottom. An arrow that passes a row without
//! ending there gets a narrow lane in it, so that no arrow runs behind a box.

use crate::graph::Graph;

pub const BOX_WIDTH: f64 = 186.0;
pub const BOX_HEIGHT: f64 = 104.0;
const LANE_WIDTH: f64 = 10.0;
const GAP: f64 = 14.0;
const ROW_GAP: f64 = 58.0;
const MARGIN: f64 = 12.0;
/// Rounds of ordering; the picture with the fewest crossings is taken.
const ROUNDS: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Crate(usize),
    /// The lane of the arrow from the first crate to the second.
    Lane(usize, usize),
}

#[derive(Debug)]
pub struct Layout {
    /// By layer, from left to right, each cell with the middle of its place.
    pub rows: Vec<Vec<(Cell, f64)>>,
    pub width: f64,
    pub height: f64,
}

impl Layout {
    pub fn new(graph: &Graph) -> Self {
        let mut rows = cells(graph);
        let mut best = (usize::MAX, rows.clone());
        for round in 0..ROUNDS {
            // Down from the top and up from the ground in turns: each row is sorted by where its neighbours stand.
            let layers: Vec<usize> =
                if round % 2 == 0 { (0..rows.len()).rev().collect() } else { (0..rows.len()).collect() };
            for layer in layers {
                let placed = place(&rows);
                let middle = |cell: &Cell| {
                    let near = neighbours(graph, *cell, layer, round % 2 == 0, &placed);
                    if near.is_empty() {
                        position(&placed[layer], *cell)
                    } else {
                        near.iter().sum::<f64>() / near.len() as f64
                    }
                };
                rows[layer].sort_by(|one, other| middle(one).total_cmp(&middle(other)));
            }
            let crossings = count_crossings(graph, &rows);
            if crossings < best.0 {
                best = (crossings, rows.clone());
            }
        }
        let rows = place(&best.1);
        let width = best.1.iter().map(|row| row_width(row)).fold(0.0, f64::max) + 2.0 * MARGIN;
        let height = rows.len() as f64 * (BOX_HEIGHT + ROW_GAP) - ROW_GAP + 2.0 * MARGIN;
        let rows = rows
            .into_iter()
            .map(|row| row.into_iter().map(|(cell, middle)| (cell, middle + width / 2.0)).collect())
            .collect();
        Self { rows, width, height }
    }

    /// The upper edge of a row.
    pub fn top(&self, layer: usize) -> f64 {
        MARGIN + (self.rows.len() - 1 - layer) as f64 * (BOX_HEIGHT + ROW_GAP)
    }

    /// The pieces of an arrow from row to row: cells from the crate at its start to the one at its end.
    pub fn route(graph: &Graph, from: usize, to: usize) -> Vec<(usize, Cell)> {
        let (start, end) = (graph.crates[from].layer, graph.crates[to].layer);
        let mut route = vec![(start, Cell::Crate(from))];
        route.extend((end + 1..start).rev().map(|layer| (layer, Cell::Lane(from, to))));
        route.push((end, Cell::Crate(to)));
        route
    }
}

pub fn position(row: &[(Cell, f64)], cell: Cell) -> f64 {
    row.iter().find(|(known, _)| *known == cell).map_or(0.0, |(_, middle)| *middle)
}

fn cells(graph: &Graph) -> Vec<Vec<Cell>> {
    let layers = graph.crates.iter().map(|one| one.layer + 1).max().unwrap_or(0);
    let mut rows = vec![Vec::new(); layers];
    for (number, one) in graph.crates.iter().enumerate() {
        rows[one.layer].push(Cell::Crate(number));
        for used in &one.uses {
            for row in &mut rows[graph.crates[*used].layer + 1..one.layer] {
                row.push(Cell::Lane(number, *used));
            }
        }
    }
    rows
}

fn width_of(cell: Cell) -> f64 {
    match cell {
        Cell::Crate(_) => BOX_WIDTH,
        Cell::Lane(..) => LANE_WIDTH,
    }
}

fn row_width(row: &[Cell]) -> f64 {
    row.iter().map(|cell| width_of(*cell) + GAP).sum::<f64>() - GAP
}

/// Rows around a common middle at 0.
fn place(rows: &[Vec<Cell>]) -> Vec<Vec<(Cell, f64)>> {
    let mut placed = Vec::new();
    for row in rows {
        let mut left = -row_width(row) / 2.0;
        let mut cells = Vec::new();
        for cell in row {
            cells.push((*cell, left + width_of(*cell) / 2.0));
            left += width_of(*cell) + GAP;
        }
        placed.push(cells);
    }
    placed
}

/// Where the cells stand that a cell is joined to in the row above, or in the row below.
fn neighbours(graph: &Graph, cell: Cell, layer: usize, above: bool, placed: &[Vec<(Cell, f64)>]) -> Vec<f64> {
    let mut found = Vec::new();
    for (upper, lower, upper_layer) in joints(graph) {
        if above && lower == cell && upper_layer == layer + 1 {
            found.push(position(&placed[layer + 1], upper));
        } else if !above && upper == cell && upper_layer == layer {
            found.push(position(&placed[layer - 1], lower));
        }
    }
    found
}

/// Every piece of an arrow between two rows: the upper cell, the lower cell, the layer of the upper one.
fn joints(graph: &Graph) -> Vec<(Cell, Cell, usize)> {
    let mut joints = Vec::new();
    for (from, one) in graph.crates.iter().enumerate() {
        for to in &one.uses {
            let route = Layout::route(graph, from, *to);
            joints.extend(route.windows(2).map(|pair| (pair[0].1, pair[1].1, pair[0].0)));
        }
    }
    joints
}

fn count_crossings(graph: &Graph, rows: &[Vec<Cell>]) -> usize {
    let rank = |layer: usize, cell: Cell| rows[layer].iter().position(|known| *known == cell).unwrap_or(0);
    let joints: Vec<_> = joints(graph)
        .into_iter()
        .map(|(upper, lower, layer)| (layer, rank(layer, upper), rank(layer - 1, lower)))
        .collect();
    let mut crossings = 0;
    for (number, one) in joints.iter().enumerate() {
        for other in &joints[..number] {
            let crossed = (one.1 < other.1 && one.2 > other.2) || (one.1 > other.1 && one.2 < other.2);
            crossings += usize::from(one.0 == other.0 && crossed);
        }
    }
    crossings
}
