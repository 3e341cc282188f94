use crate::fixtures::{comment_texts, markdown, open_document};
use crate::{FileHint, ParseOptions, parse};

#[test]
fn headings_lists_and_white_space_of_texts() {
    let body = "<text:h text:outline-level='2'>Head<text:s text:c='2'/>line</text:h>\
        <text:p>one\n   two<text:line-break/>three <text:a xlink:href='https://example.org'>link</text:a></text:p>\
        <text:list><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item>\
        </text:list></text:list-item><text:list-item><text:p>c</text:p></text:list-item></text:list>";
    assert_eq!(
        markdown(&open_document("text", body)),
        "## Head line\n\none two  \nthree [link](https://example.org)\n\n- a\n  - b\n- c"
    );
}

#[test]
fn notes_stand_at_the_end_and_comments_are_blocks() {
    let body = "<text:p>text<text:note><text:note-citation>1</text:note-citation><text:note-body>\
        <text:p>the note</text:p></text:note-body></text:note><office:annotation><text:p>comment</text:p>\
        </office:annotation></text:p><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>";
    let file = open_document("text", body);
    assert_eq!(markdown(&file), "text<sup>1</sup>\n\n1. the note");
    let document = parse(&file, FileHint::default(), &ParseOptions::default()).expect("a text");
    assert_eq!(comment_texts(&document.pages[0]), ["Comment: comment"]);
}

#[test]
fn merged_cells_span_and_empty_rows_at_the_end_are_left_out() {
    let body = "<table:table><table:table-row><table:table-cell table:number-columns-spanned='2'><text:p>wide</text:p>\
        </table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:table-cell>\
        <text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>\
        <table:table-row table:number-rows-repeated='9'><table:table-cell/><table:table-cell/></table:table-row>\
        </table:table>";
    let expected = "<table>\n<tr><td colspan=\"2\">wide</td></tr>\n<tr><td>a</td><td>b</td></tr>\n</table>";
    assert_eq!(markdown(&open_document("text", body)), expected);
}

#[test]
fn slides_are_pages_and_a_short_first_line_is_a_title() {
    let body = "<draw:page><draw:custom-shape><text:p>Photo</text:p></draw:custom-shape>\
        <draw:frame><draw:text-box><text:list><text:list-item><text:p>x</text:p></text:list-item></text:list>\
        </draw:text-box></draw:frame></draw:page>\
        <draw:page><draw:frame><draw:text-box><text:p>body</text:p></draw:text-box></draw:frame>\
        <draw:frame presentation:class='title'><draw:text-box><text:p>Title</text:p></draw:text-box></draw:frame>\
        <presentation:notes><draw:frame><draw:text-box><text:p>spoken</text:p></draw:text-box></draw:frame>\
        </presentation:notes></draw:page>";
    assert_eq!(markdown(&open_document("presentation", body)), "# Photo\n\n- x\n\n# Title\n\nbody");
}
