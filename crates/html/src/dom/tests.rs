use super::*;
use testkit::growth::assert_linear;

fn parse(html: &str) -> Dom {
    Dom::parse(html, &Limits::default())
}

/// Checks every link of the arena against every other.
fn check(dom: &Dom) {
    for id in (0..u32::try_from(dom.len()).unwrap()).map(NodeId) {
        let end = dom.subtree_end(id);
        assert!(end > id && end.index() <= dom.len());
        let mut previous = None;
        for child in dom.children(id) {
            assert_eq!(dom.parent(child), Some(id));
            assert_eq!(dom.prev_sibling(child), previous);
            assert!(dom.contains(id, child));
            previous = Some(child);
        }
        if dom.is_text(id) {
            assert_eq!(dom.first_child(id), None);
        }
    }
}

fn outline(dom: &Dom) -> String {
    let mut out = String::new();
    let mut open: Vec<NodeId> = Vec::new();
    for id in dom.descendants(dom.root()) {
        while open.last().is_some_and(|&last| !dom.contains(last, id)) {
            open.pop();
            out.push(')');
        }
        if dom.is_text(id) {
            out.push_str(dom.text(id));
        } else {
            out.push_str(dom.local_name(id));
            out.push('(');
            open.push(id);
        }
    }
    out.extend(open.iter().map(|_| ')'));
    out
}

#[test]
fn tree_in_document_order() {
    let dom =
        parse("<!doctype html><title>T</title><p class=a id=b>x<b>y</b>z<!-- c --> w<ul><li>1<li>2</ul>");
    check(&dom);
    assert_eq!(outline(&dom), "html(head(title(T))body(p(xb(y)z w)ul(li(1)li(2))))");
    let p = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::P).unwrap();
    assert_eq!(dom.attr(p, Attr::Class), Some("a"));
    assert_eq!(dom.attr_named(p, "id"), Some("b"));
    assert_eq!(dom.attrs(p).collect::<Vec<_>>(), [("class", "a"), ("id", "b")]);
    assert_eq!(dom.text_content(p), "xyz w");
    assert_eq!(dom.body(), dom.parent(p));
}

#[test]
fn misnested_and_fostered_markup_keeps_its_text() {
    let dom = parse("<b>1<p>2</b>3</p><table>4<tr><td>5</table><a>6<div>7</a>8</div>");
    check(&dom);
    assert_eq!(outline(&dom), "html(head()body(b(1)p(b(2)3)4table(tbody(tr(td(5))))a(6)div(a(7)8)))");
}

#[test]
fn other_namespaces_and_unknown_names() {
    let dom = parse(
        "<x-card data-k=v>a</x-card><svg viewBox='0 0 1 1'><title>t</title></svg><math><mi>x</mi></math>",
    );
    check(&dom);
    assert_eq!(outline(&dom), "html(head()body(x-card(a)svg(title(t))math(mi(x))))");
    let tags: Vec<Tag> = dom.descendants(dom.body().unwrap()).map(|id| dom.tag(id)).collect();
    assert_eq!(
        tags,
        [Tag::Other, Tag::Text, Tag::Svg, Tag::Other, Tag::Text, Tag::Math, Tag::Other, Tag::Text]
    );
    let card = NodeId(dom.body().unwrap().0 + 1);
    assert_eq!(dom.attr_named(card, "data-k"), Some("v"));
}

#[test]
fn template_and_noscript_contents_are_in_the_tree() {
    let dom = parse("<template><p>t</p></template><noscript><img src=a></noscript>");
    check(&dom);
    assert_eq!(outline(&dom), "html(head(template(p(t))noscript())body(img()))");
    let dom = parse("<body><p>x<noscript><img src=a></noscript>");
    assert_eq!(outline(&dom), "html(head()body(p(xnoscript(img()))))");
}

#[test]
fn empty_input_is_an_empty_page() {
    let dom = parse("");
    check(&dom);
    assert!(dom.body().is_some());
    assert!(!dom.truncated());
}

/// Parses pages of two sizes in proportional time; returns the larger one.
fn parse_linear(name: &str, n: usize, html: impl Fn(usize) -> String) -> Dom {
    let dom = assert_linear(name, n, html, |html| parse(html));
    check(&dom);
    dom
}

fn parse_checked(html: &str) -> Dom {
    let dom = parse(html);
    check(&dom);
    dom
}

#[test]
fn a_million_nested_tags() {
    let dom = parse_linear("div", 500_000, |n| "<div>".repeat(n));
    assert!(dom.truncated());
    let deepest = dom.subtree(dom.root()).map(|id| dom.depth(id)).max().unwrap();
    assert!((500..=514).contains(&deepest), "{deepest}");
    let dom =
        parse_linear("span", 50_000, |n| "<span>".repeat(n) + "deep" + &"</span>".repeat(n) + "<p>after");
    assert!(dom.text_content(dom.root()).ends_with("deepafter"));
    let dom = parse_linear("formatting", 25_000, |n| "<b><i><font color=red>".repeat(n));
    assert!(dom.truncated());
}

#[test]
fn depth_recovers_after_the_deep_part() {
    let dom = parse_checked(&("<div>".repeat(2000) + "x" + &"</div>".repeat(2000) + "<ul><li>after</ul>"));
    let li = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::Li).unwrap();
    assert!(dom.depth(li) < 10);
}

#[test]
fn attributes_past_counting() {
    let dom = parse_linear("attributes", 50_000, |n| {
        let attributes: Vec<String> = (0..n).map(|n| format!("a{n}=\"{n}>\"")).collect();
        format!("<p {}>inside</p><p>after", attributes.join(" "))
    });
    assert!(dom.truncated());
    assert!(dom.text_content(dom.root()).ends_with("after"));
    let p = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::P).unwrap();
    assert_eq!(dom.attrs(p).count(), 256);
}

#[test]
fn a_tag_of_letters_without_end_is_cut_between_letters() {
    // Wherever a look back begins, some of these have the middle of a letter there.
    for shift in 0..3 {
        let dom =
            parse_linear("endless tag", 20_000, |n| format!("<p{} {}", "x".repeat(shift), "支".repeat(n)));
        assert!(dom.subtree(dom.root()).all(|id| dom.tag(id) != Tag::P), "a tag that never ends is none");
    }
}

#[test]
fn a_long_attribute_value_is_no_endless_tag() {
    let long = "A b/".repeat(100_000);
    let dom = parse_checked(&format!("<p title=\"{long}\">text</p>"));
    assert!(!dom.truncated());
    let p = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::P).unwrap();
    assert_eq!(dom.attr(p, Attr::Title), Some(&*long));
}

#[test]
fn rebuilt_formatting_cannot_multiply_memory() {
    let bold: Vec<String> = (0..90).map(|n| format!("<b class=\"{n}{}\">", "c".repeat(5000))).collect();
    let html = ["<p>", &bold.concat(), "</p>", &"<p>x".repeat(5_000)].concat();
    let dom = parse_checked(&html);
    assert!(dom.truncated());
    assert!(dom.attribute_text.len() < 3 * html.len() + (64 << 10));
}

#[test]
fn node_and_byte_limits() {
    let limits = Limits { nodes: 1000, ..Limits::default() };
    let dom = Dom::parse(&"<br>x".repeat(100_000), &limits);
    assert!(dom.truncated() && dom.len() < 1100);
    let limits = Limits { bytes: 10, ..Limits::default() };
    let dom = Dom::parse("<p>ééééééééééé", &limits);
    assert!(dom.truncated());
    assert_eq!(dom.text_content(dom.root()), "ééé");
}

#[test]
fn bodies_of_scripts_are_stepped_over_and_nothing_else_is() {
    let long = "x < y && '</b>' ".repeat(1000);
    let html = format!(
        "<p>a<script>{long}</script>b<STYLE>{long}</STYLE >c<script type=application/json>{long}</script>d<!-- <script> -->e\
         <textarea><script></textarea>f<p title='<script>'>g</p><script>{long}<!-- <script> </script> --></script>h<script src=x>{long}"
    );
    let dom = parse_checked(&html);
    let seen: String = dom
        .subtree(dom.body().unwrap())
        .filter(|&id| {
            !dom.parent(id).is_some_and(|parent| matches!(dom.tag(parent), Tag::Script | Tag::Style))
        })
        .map(|id| dom.text(id))
        .collect();
    assert_eq!(seen, "abcde<script>fgh");
    let lengths: Vec<usize> = dom
        .subtree(dom.root())
        .filter(|&id| matches!(dom.tag(id), Tag::Script | Tag::Style))
        .map(|id| dom.children(id).map(|child| dom.text_len(child)).sum())
        .collect();
    assert_eq!(lengths[..3], [2048, 2048, long.len()]);
    assert!(!dom.truncated());
}

#[test]
fn the_start_of_a_tag_at_the_end_of_a_page_is_no_text() {
    for end in ["</", "</\n", "</html></ \n"] {
        let dom = Dom::parse(&format!("<p>one{end}"), &Limits::default());
        assert_eq!(dom.text_content(dom.root()).trim(), "one", "{end:?}");
    }
    let dom = Dom::parse("<p>a &lt;/", &Limits::default());
    assert_eq!(dom.text_content(dom.root()), "a </", "written out");
}
