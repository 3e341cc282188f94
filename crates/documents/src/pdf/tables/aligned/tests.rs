use super::*;
use crate::pdf::lines::{group_lines, plain_text};
use crate::pdf::runs::Run;
use crate::pdf::runs::tests::run;

fn statistics() -> Vec<Run> {
    let mut runs = vec![
        run("Table 1. Numbers of things by year and by kind of thing", 50.0, 80.0, 300.0),
        run("Year", 50.0, 110.0, 20.0),
        run("Men", 150.0, 110.0, 20.0),
        run("Women", 200.0, 110.0, 30.0),
    ];
    for row in 0..5u8 {
        let y = 130.0 + f32::from(row) * 12.0;
        runs.extend([
            run(&format!("{}", 2000 + u16::from(row)), 50.0, y, 20.0),
            run("12", 160.0, y, 10.0),
            run("345", 210.0, y, 15.0),
        ]);
    }
    runs.push(run("Note: all of these numbers were made up for the sake of this test.", 50.0, 210.0, 300.0));
    runs
}

fn tables(parts: &[ZonePart]) -> Vec<&FoundTable> {
    parts
        .iter()
        .filter_map(|part| if let ZonePart::Table(table) = part { Some(table) } else { None })
        .collect()
}

#[test]
fn table_of_numbers_without_rules_is_found() {
    let parts = find_tables(&group_lines(statistics()), &[]);
    let found = tables(&parts);
    assert_eq!(found.len(), 1);
    let table = &found[0].table;
    assert_eq!((table.rows.len(), table.rows[0].len(), table.header_rows), (6, 3, 1));
    assert_eq!(plain_text(&table.rows[0][2].text), "Women");
    assert!(matches!(parts.first(), Some(ZonePart::Line(_))));
    assert!(matches!(parts.last(), Some(ZonePart::Line(_))));
}

#[test]
fn prose_is_no_table() {
    let lines = (0..10u8)
        .map(|i| {
            run("Some words of a paragraph that goes on and on", 50.0, 100.0 + f32::from(i) * 12.0, 300.0)
        })
        .collect();
    assert!(tables(&find_tables(&group_lines(lines), &[])).is_empty());
}

#[test]
fn numbered_list_is_no_table() {
    let runs = (1..6u8)
        .flat_map(|i| {
            let y = 100.0 + f32::from(i) * 12.0;
            [run(&format!("{i}."), 50.0, y, 8.0), run("An item of the list with words", 75.0, y, 150.0)]
        })
        .collect();
    assert!(tables(&find_tables(&group_lines(runs), &[])).is_empty());
}
