//! Workbooks that claim more cells than there are.

use std::fmt::Write as _;

use super::super::office::{open_document, relations, xlsx, zip_file};
use super::SampleFile;

pub(super) fn add(files: &mut Vec<SampleFile>) {
    let mut push = |name: &str, bytes: Vec<u8>| files.push(SampleFile::new(name, bytes));
    let sheet = |data: &str| xlsx(data, "hidden");
    push(
        "claims-every-cell.xlsx",
        sheet(
            "<dimension ref='A1:XFD1048576'/><sheetData><row r='1'><c r='A1'><v>1</v></c></row>\
             <row r='1048576'><c r='XFD1048576'><v>2</v></c></row></sheetData>",
        ),
    );
    push(
        "cells-outside.xlsx",
        sheet("<sheetData><row r='99999999999'><c r='ZZZZZZZ99999999999'><v>1</v></c></row></sheetData>"),
    );
    push(
        "cells-without-place.xlsx",
        sheet(&format!("<sheetData>{}</sheetData>", "<row><c><v>1</v></c></row>".repeat(50_000))),
    );
    push("empty-rows.xlsx", sheet(&format!("<sheetData>{}</sheetData>", "<row/>".repeat(1_000_000))));
    push("cells-on-the-diagonal.xlsx", sheet(&diagonal(15_000)));
    push(
        "merged-everything.xlsx",
        sheet(
            "<sheetData><row r='1'><c r='A1'><v>1</v></c></row></sheetData><mergeCells><mergeCell ref='A1:XFD1048576'/></mergeCells>",
        ),
    );
    push("merged-many.xlsx", sheet(&merged_many()));
    push(
        "numbers-absurd.xlsx",
        sheet(
            "<sheetData><row r='1'><c r='A1'><v>1e999</v></c><c r='B1'><v>-nan</v></c><c r='C1' t='d'><v>99999-99-99</v></c><c r='D1' t='s'><v>4294967295</v></c></row></sheetData>",
        ),
    );
    push("strings-count-huge.xlsx", strings_count_huge());
    push("sheets-many.xlsx", many_sheets());
    push(
        "empty-rows.ods",
        open_document(
            "spreadsheet",
            "<table:table table:name='S'><table:table-row table:number-rows-repeated='1000000000'>\
             <table:table-cell table:number-columns-repeated='16384'/></table:table-row><table:table-row>\
             <table:table-cell table:number-columns-repeated='4000000000'><text:p>x</text:p></table:table-cell>\
             </table:table-row></table:table>",
        ),
    );
    push(
        "filled-rows.ods",
        open_document(
            "spreadsheet",
            "<table:table table:name='S'><table:table-row table:number-rows-repeated='1000000000'>\
             <table:table-cell table:number-columns-repeated='1000'><text:p>x</text:p></table:table-cell>\
             </table:table-row></table:table>",
        ),
    );
    push("columns.csv", ",".repeat(5_000_000).into_bytes());
    push("rows.csv", "a,b,c\n".repeat(500_000).into_bytes());
    push("quote-open.csv", format!("a,b\n\"{}", "x,y\n".repeat(500_000)).into_bytes());
    push("ragged.csv", ragged().into_bytes());
}

/// Cells far apart, so that a full grid between them would be very large.
fn diagonal(count: u32) -> String {
    let mut out = String::from("<sheetData>");
    for number in 1..=count {
        let row = number * 60;
        let _ = write!(out, "<row r='{row}'><c r='{}{row}'><v>{number}</v></c></row>", column_name(number));
    }
    out.push_str("</sheetData>");
    out
}

fn column_name(mut number: u32) -> String {
    let mut name = Vec::new();
    while number > 0 {
        let letter = u8::try_from((number - 1) % 26).unwrap_or(0);
        name.insert(0, char::from(b'A' + letter));
        number = (number - 1) / 26;
    }
    name.into_iter().collect()
}

fn merged_many() -> String {
    let mut out = String::from("<sheetData><row r='1'><c r='A1'><v>1</v></c></row></sheetData><mergeCells>");
    for row in 1..50_000 {
        let _ = write!(out, "<mergeCell ref='A{row}:Z{}'/>", row + 10);
    }
    out.push_str("</mergeCells>");
    out
}

fn workbook(sheets: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let workbook = format!("<workbook xmlns:r='r'><sheets>{sheets}</sheets></workbook>");
    let office = relations(&[("rId1", "officeDocument", "xl/workbook.xml")]);
    let links = relations(&[
        ("rId1", "worksheet", "worksheets/sheet1.xml"),
        ("rId2", "sharedStrings", "sharedStrings.xml"),
    ]);
    let mut all = vec![
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", office.as_str()),
        ("xl/workbook.xml", workbook.as_str()),
        ("xl/_rels/workbook.xml.rels", links.as_str()),
    ];
    all.extend(parts);
    zip_file(&all)
}

fn strings_count_huge() -> Vec<u8> {
    workbook(
        "<sheet name='S' sheetId='1' r:id='rId1'/>",
        &[
            (
                "xl/sharedStrings.xml",
                "<sst count='4294967295' uniqueCount='4294967295'><si><t>a</t></si></sst>",
            ),
            (
                "xl/worksheets/sheet1.xml",
                "<worksheet><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c></row></sheetData></worksheet>",
            ),
        ],
    )
}

fn many_sheets() -> Vec<u8> {
    let mut sheets = String::new();
    for number in 0..5000 {
        let _ = write!(sheets, "<sheet name='S{number}' sheetId='{number}' r:id='rId1'/>");
    }
    let sheet = "<worksheet><sheetData><row r='1'><c r='A1'><v>1</v></c></row></sheetData></worksheet>";
    workbook(&sheets, &[("xl/worksheets/sheet1.xml", sheet)])
}

fn ragged() -> String {
    (0..3000).flat_map(|row| [",x".repeat(row % 1000), "\n".to_owned()]).collect()
}
