use super::*;
use crate::dom::Limits;
use budget::WorkBudget;

fn found(html: &str, selector: &str) -> String {
    let dom = Dom::parse(html, &Limits::default());
    let set = Selector::parse(selector).unwrap().find(&dom).unwrap();
    set.iter().map(|id| dom.attr(id, Attr::Id).unwrap_or("-")).collect::<Vec<_>>().join(" ")
}

#[test]
fn real_selectors() {
    let html = "<div id=a class='x y'><p id=b lang=en>t<span id=c data-k='v w'></span></p><p id=d></p></div><P id=e>";
    for (selector, expected) in [
        ("p", "b d e"),
        ("P", "b d e"),
        (".x", "a"),
        ("#d", "d"),
        ("div > p:not(:first-child)", "d"),
        ("div p span", "c"),
        ("[data-k~=w]", "c"),
        ("[lang|=en], #e", "b e"),
        ("p:nth-child(2)", "d e"),
        ("p:has(span)", "b"),
        (":is(span, .y)", "a c"),
        ("body *:not(p)", "a c"),
        ("p + p", "d"),
        ("div ~ p", "e"),
        ("p:empty", "d e"),
    ] {
        assert_eq!(found(html, selector), expected, "{selector}");
    }
}

#[test]
fn what_cannot_be_used_is_refused() {
    for bad in ["", "p[", ":hover", "p::before", "..x", "a >"] {
        assert!(matches!(Selector::parse(bad), Err(SelectorError::Invalid(_))), "{bad}");
    }
    let nested = ":not(".repeat(5000) + "p" + &")".repeat(5000);
    assert_eq!(Selector::parse(&nested).unwrap_err(), SelectorError::TooLarge);
    let nested = ":not(".repeat(300) + "p" + &")".repeat(300);
    assert_eq!(Selector::parse(&nested).unwrap_err(), SelectorError::TooLarge);
}

/// What the selector engine says of each element by itself.
fn one_by_one(dom: &Dom, selector: &str) -> NodeSet {
    let selector = Selector::parse(selector).unwrap();
    let page = MatchedPage { dom, out: Cell::new(None) };
    let mut caches = SelectorCaches::default();
    let mut context = MatchingContext::new(
        MatchingMode::Normal,
        None,
        &mut caches,
        QuirksMode::NoQuirks,
        NeedsSelectorFlags::No,
        MatchingForInvalidation::No,
    );
    let mut found = NodeSet::new(dom);
    for id in dom.subtree(dom.root()).filter(|&id| dom.is_element(id)) {
        let place = ElementRef { page: &page, id };
        if selectors::matching::matches_selector_list(&selector.list, place, &mut context) {
            found.insert(id);
        }
    }
    found
}

/// Small numbers without a pattern, the same every time.
fn numbers() -> impl FnMut(u64) -> usize {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below).unwrap()
    }
}

#[test]
fn one_pass_finds_what_the_selector_engine_finds() {
    let mut number = numbers();
    for _ in 0..200 {
        let mut html = String::new();
        for _ in 0..60 {
            html.push_str(["<i>", "<b class=x>", "<u>", "<div>", "</i>", "</b>", "</div>", "t"][number(8)]);
        }
        let dom = Dom::parse(&html, &Limits::default());
        for _ in 0..10 {
            let mut selector = ["i", "b", "*", "div", ".x"][number(5)].to_owned();
            for _ in 0..number(5) {
                selector.push_str([" ", " > ", " + ", " ~ "][number(4)]);
                selector
                    .push_str(["i", "b", "*", "u", "div", ".x", ":not(b ~ i)", ":first-child"][number(8)]);
            }
            let found = Selector::parse(&selector).unwrap().find(&dom).unwrap();
            assert_eq!(found, one_by_one(&dom, &selector), "{selector} in {html}");
        }
    }
}

#[test]
fn more_parts_than_bits_still_match() {
    let html = "<i>".repeat(90);
    for (parts, expected) in [(3, 88), (64, 27), (65, 26), (90, 1), (91, 0)] {
        let selector = vec!["i"; parts].join(" ");
        let dom = Dom::parse(&html, &Limits::default());
        assert_eq!(Selector::parse(&selector).unwrap().find(&dom).unwrap().len(), expected, "{parts}");
    }
}

#[test]
fn siblings_cost_no_square() {
    let dom = Dom::parse(&("<i></i>".repeat(100_000) + "<b></b>"), &Limits::default());
    let budget = WorkBudget::new(1_000_000, None);
    let found = budget.run(|| Selector::parse("b ~ i ~ i + i").unwrap().find(&dom)).unwrap();
    assert!(found.unwrap().is_empty());
}

#[test]
fn selectors_of_a_request_share_its_steps() {
    let dom = Dom::parse(&"<i></i>".repeat(100_000), &Limits::default());
    let budget = WorkBudget::new(3_000_000, None);
    let hostile = ("i:is(b ~ i ~ i)".to_owned(), "id".to_owned());
    let refused = budget.run(|| attributes(&dom, std::slice::from_ref(&hostile))).unwrap();
    let unfinished = SelectorError::Unfinished { selector: hostile.0, why: OutOfBudget::Steps };
    assert_eq!(refused, Err(unfinished));
    let cheap = [("i".to_owned(), "id".to_owned())];
    let after = budget.run(|| attributes(&dom, &cheap)).unwrap();
    assert!(matches!(after, Err(SelectorError::Unfinished { .. })), "nothing is left: {after:?}");
    assert_eq!(WorkBudget::new(3_000_000, None).run(|| attributes(&dom, &cheap)).unwrap().unwrap().len(), 1);
}

#[test]
fn values_of_attributes() {
    let dom = Dom::parse("<a href=1>x</a><a>y</a><a href=2>", &Limits::default());
    let asked = [("a".to_owned(), "HREF".to_owned())];
    assert_eq!(attributes(&dom, &asked).unwrap()[0].values, ["1", "2"]);
    assert!(attributes(&dom, &[("!".to_owned(), "x".to_owned())]).is_err());
}
