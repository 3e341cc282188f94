use crate::fixtures::{comment_texts, markdown, open_document, relations, xlsx, zip_file};
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

fn file_with_comments() -> Vec<u8> {
    let workbook =
        "<workbook xmlns:r='r'><sheets><sheet name='First' sheetId='1' r:id='rId1'/></sheets></workbook>";
    let sheet =
        format!("<worksheet><sheetData>{}</sheetData></worksheet>", row(1, &[("A", "a"), ("B", "b")]));
    let notes = "<comments><authors><author>Ann</author><author>tc={1}</author></authors><commentList>\
        <comment ref='A1' authorId='0'><text><r><t>From the </t></r><r><t>old list</t></r></text></comment>\
        <comment ref='B1' authorId='1'><text><t>[Threaded comment] Why?</t></text></comment></commentList></comments>";
    let conversations = "<ThreadedComments>\
        <threadedComment ref='B1' dT='2024-05-01T10:00:00.00' personId='{P}' id='{1}'><text>Why?</text></threadedComment>\
        <threadedComment ref='B1' dT='2024-05-02T10:00:00.00' personId='{Q}' parentId='{1}'><text>So</text>\
        </threadedComment></ThreadedComments>";
    zip_file(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("rId1", "officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", workbook),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[
                ("rId1", "worksheet", "worksheets/sheet1.xml"),
                ("rId2", "person", "persons/person.xml"),
            ]),
        ),
        ("xl/worksheets/sheet1.xml", &sheet),
        (
            "xl/worksheets/_rels/sheet1.xml.rels",
            &relations(&[
                ("rId1", "comments", "../comments1.xml"),
                ("rId2", "threadedComment", "../threadedComments/threadedComment1.xml"),
            ]),
        ),
        ("xl/comments1.xml", notes),
        ("xl/threadedComments/threadedComment1.xml", conversations),
        ("xl/persons/person.xml", "<personList><person displayName='Bob' id='{P}'/></personList>"),
    ])
}

#[test]
fn comments_on_cells_are_blocks_with_place_author_and_time() {
    let file = file_with_comments();
    let document = parse(&file, FileHint::default(), &ParseOptions::default()).expect("a workbook");
    let expected = [
        "Comment on B1 by Bob, 2024-05-01T10:00:00.00: Why?",
        "Comment on B1, 2024-05-02T10:00:00.00: So",
        "Comment on A1 by Ann: From the old list",
    ];
    assert_eq!(comment_texts(&document.pages[0]), expected);
    assert_eq!(document.warnings, ["3 comments are not part of the text; they are among the blocks."]);
    assert_eq!(markdown(&file), "## First\n\n| a | b |\n| --- | --- |");
}

#[test]
fn comments_on_cells_of_open_document_are_blocks_too() {
    let body = "<table:table table:name='Ducks'><table:table-row table:number-rows-repeated='9'><table:table-cell/>\
        </table:table-row><table:table-row><table:table-cell table:number-columns-repeated='27'/><table:table-cell>\
        <office:annotation><dc:creator>Ann</dc:creator><dc:date>2024-05-01T10:00:00</dc:date><text:p>Sure?</text:p>\
        </office:annotation><text:p>120</text:p></table:table-cell></table:table-row></table:table>";
    let file = open_document("spreadsheet", body);
    let document = parse(&file, FileHint::default(), &ParseOptions::default()).expect("sheets");
    assert_eq!(comment_texts(&document.pages[0]), ["Comment on AB10 by Ann, 2024-05-01T10:00:00: Sure?"]);
    assert_eq!(markdown(&file), "## Ducks\n\n120");
}

#[test]
fn cells_merged_below_other_tables_of_open_document_span() {
    let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
    let cells = |texts: &[&str]| {
        let cells: String = texts.iter().map(|text| cell(text)).collect();
        format!("<table:table-row>{cells}</table:table-row>")
    };
    let body = format!(
        "<table:table table:name='Two'>{}{}<table:table-row table:number-rows-repeated='9'><table:table-cell/>\
         </table:table-row><table:table-row><table:table-cell table:number-columns-spanned='2'><text:p>Sum</text:p>\
         </table:table-cell><table:covered-table-cell/>{}</table:table-row>{}</table:table>",
        cells(&["a", "b"]),
        cells(&["1", "2"]),
        cell("c"),
        cells(&["3", "4", "5"]),
    );
    assert_eq!(
        markdown(&open_document("spreadsheet", &body)),
        "## Two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n<table>\n<tr><th colspan=\"2\">Sum</th><th>c</th></tr>\n\
         <tr><td>3</td><td>4</td><td>5</td></tr>\n</table>"
    );
}
