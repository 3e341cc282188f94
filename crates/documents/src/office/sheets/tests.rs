use crate::fixtures::{markdown, open_document, xlsx};
use crate::{FileHint, ParseOptions, parse};

fn row(number: u32, cells: &[(&str, &str)]) -> String {
    let cells: Vec<String> = cells
        .iter()
        .map(|(column, text)| format!("<c r='{column}{number}' t='inlineStr'><is><t>{text}</t></is></c>"))
        .collect();
    format!("<row r='{number}'>{}</row>", cells.concat())
}

#[test]
fn tables_are_separated_by_empty_rows_and_columns() {
    let rows = [
        row(1, &[("A", "a"), ("B", "b"), ("D", "x"), ("E", "y")]),
        row(2, &[("A", "1"), ("B", "2"), ("D", "3"), ("E", "4")]),
        row(4, &[("A", "c"), ("B", "d")]),
        row(5, &[("B", "6")]),
    ];
    let file = xlsx(&format!("<sheetData>{}</sheetData>", rows.concat()), "hidden");
    let tables = "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| x | y |\n| --- | --- |\n| 3 | 4 |\n\n\
                  | c | d |\n| --- | --- |\n|  | 6 |";
    assert_eq!(markdown(&file), format!("## First\n\n{tables}"));
    let document = parse(&file, FileHint::default(), &ParseOptions::default()).expect("a workbook");
    assert_eq!(document.warnings, ["Hidden sheets were left out: Second."]);
}

#[test]
fn a_merged_line_above_a_table_is_its_title_and_other_merged_cells_span() {
    let rows = [
        row(1, &[("A", "Reading list")]),
        row(2, &[("A", "Book"), ("C", "Year")]),
        row(3, &[("A", "x"), ("B", "y"), ("C", "1902")]),
    ];
    let merged = "<mergeCells><mergeCell ref='A1:C1'/><mergeCell ref='A2:B2'/></mergeCells>";
    let file = xlsx(&format!("<sheetData>{}</sheetData>{merged}", rows.concat()), "hidden");
    assert_eq!(
        markdown(&file),
        "## First\n\nReading list\n\n<table>\n<tr><th colspan=\"2\">Book</th><th>Year</th></tr>\n\
         <tr><td>x</td><td>y</td><td>1902</td></tr>\n</table>"
    );
}

#[test]
fn cells_merged_in_one_table_leave_the_others_alone() {
    let rows = [
        row(1, &[("A", "a"), ("B", "b")]),
        row(2, &[("A", "1"), ("B", "2")]),
        row(20, &[("A", "Sum"), ("C", "c")]),
        row(21, &[("A", "3"), ("B", "4"), ("C", "5")]),
    ];
    let merged = "<mergeCells><mergeCell ref='A20:B20'/></mergeCells>";
    let file = xlsx(&format!("<sheetData>{}</sheetData>{merged}", rows.concat()), "hidden");
    assert_eq!(
        markdown(&file),
        "## First\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n<table>\n<tr><th colspan=\"2\">Sum</th><th>c</th></tr>\n\
         <tr><td>3</td><td>4</td><td>5</td></tr>\n</table>"
    );
}

#[test]
fn formulas_show_their_value() {
    let sheet = "<sheetData><row r='1'><c r='A1'><f>1+1</f><v>2</v></c><c r='B1' t='b'><v>1</v></c></row></sheetData>";
    assert_eq!(markdown(&xlsx(sheet, "hidden")), "## First\n\n| 2 | TRUE |\n| --- | --- |");
}

#[test]
fn sheets_of_open_document_show_what_the_cells_show() {
    let body = "<table:table table:name='Ducks'><table:table-row><table:table-cell><text:p>Year</text:p>\
        </table:table-cell><table:table-cell><text:p>Ducks</text:p></table:table-cell></table:table-row>\
        <table:table-row><table:table-cell office:value='2019'><text:p>2019</text:p></table:table-cell>\
        <table:table-cell><text:p>120</text:p></table:table-cell></table:table-row></table:table>";
    let expected = "## Ducks\n\n| Year | Ducks |\n| --- | --- |\n| 2019 | 120 |";
    assert_eq!(markdown(&open_document("spreadsheet", body)), expected);
}
