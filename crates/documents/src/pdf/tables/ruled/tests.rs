use super::*;
use crate::pdf::lines::plain_text;
use crate::pdf::runs::tests::run;

fn flat(at: f32, start: f32, end: f32) -> Rule {
    Rule { at, start, end }
}

fn grid_rules() -> (Vec<Rule>, Vec<Rule>) {
    let horizontal = [0.0, 20.0, 40.0, 60.0].map(|y| flat(y, 0.0, 300.0)).to_vec();
    let vertical =
        vec![flat(0.0, 0.0, 60.0), flat(100.0, 20.0, 60.0), flat(200.0, 0.0, 60.0), flat(300.0, 0.0, 60.0)];
    (horizontal, vertical)
}

#[test]
fn missing_line_makes_a_cell_that_spans() {
    let (horizontal, vertical) = grid_rules();
    let mut runs = vec![run("Both", 80.0, 14.0, 30.0), run("Last", 220.0, 14.0, 30.0)];
    for row in 1..3u8 {
        for column in 0..3u8 {
            runs.push(run("x", 20.0 + f32::from(column) * 100.0, 14.0 + f32::from(row) * 20.0, 10.0));
        }
    }
    let (tables, rest) = find_tables(runs, &horizontal, &vertical);
    assert!(rest.is_empty());
    let table = &tables[0].table;
    assert_eq!(table.rows.len(), 3);
    assert_eq!((table.rows[0][0].column_span, plain_text(&table.rows[0][0].text)), (2, "Both".to_owned()));
    assert_eq!(table.rows[1].len(), 3);
}

#[test]
fn frame_around_text_is_no_table() {
    let horizontal = vec![flat(0.0, 0.0, 300.0), flat(100.0, 0.0, 300.0)];
    let vertical = vec![flat(0.0, 0.0, 100.0), flat(300.0, 0.0, 100.0)];
    let (tables, rest) =
        find_tables(vec![run("Some words in a box", 20.0, 50.0, 100.0)], &horizontal, &vertical);
    assert!(tables.is_empty());
    assert_eq!(rest.len(), 1);
}

#[test]
fn stacked_numbers_between_column_lines_become_rows() {
    let horizontal = vec![flat(0.0, 0.0, 200.0), flat(20.0, 0.0, 200.0), flat(80.0, 0.0, 200.0)];
    let vertical = vec![flat(100.0, 0.0, 80.0)];
    let mut runs = vec![run("Name", 10.0, 14.0, 30.0), run("Count", 120.0, 14.0, 30.0)];
    for row in 0..4u8 {
        let y = 32.0 + f32::from(row) * 12.0;
        runs.extend([run(&format!("Row {row}"), 10.0, y, 40.0), run(&format!("{row}1"), 150.0, y, 12.0)]);
    }
    let (tables, _) = find_tables(runs, &horizontal, &vertical);
    assert_eq!(tables[0].table.rows.len(), 5);
}

#[test]
fn text_of_several_lines_stays_in_one_cell() {
    let (horizontal, vertical) = grid_rules();
    let tall: Vec<Rule> = vertical.iter().map(|rule| flat(rule.at, 0.0, 60.0)).collect();
    let mut runs: Vec<Run> = Vec::new();
    for row in 0..3u8 {
        for column in 0..3u8 {
            let (x, y) = (10.0 + f32::from(column) * 100.0, f32::from(row) * 20.0);
            runs.extend([run("first words", x, y + 9.0, 50.0), run("second words", x, y + 18.0, 50.0)]);
        }
    }
    let (tables, _) = find_tables(runs, &horizontal, &tall);
    assert_eq!(tables[0].table.rows.len(), 3);
    assert_eq!(plain_text(&tables[0].table.rows[0][0].text), "first words second words");
}
