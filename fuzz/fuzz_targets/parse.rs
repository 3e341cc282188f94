//! Any bytes become a sound tree: every link agrees with every other, and limits hold.
#![no_main]

use content::dom::{Dom, NodeId};
use content::{Limits, Page, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { bytes: 1 << 20, nodes: 20_000, depth: 64, attributes: 16 };
    let page = Page::read(&Source { bytes, ..Source::default() }, &limits);
    check(page.dom());
    // Text that is already decoded takes another way in.
    if let Ok(html) = std::str::from_utf8(bytes) {
        check(&Dom::parse(html, &limits));
    }
});

fn check(dom: &Dom) {
    for id in (0..dom.len() as u32).map(NodeId) {
        let end = dom.subtree_end(id);
        assert!(end > id && end.index() <= dom.len());
        let mut previous = None;
        for child in dom.children(id) {
            assert_eq!(dom.parent(child), Some(id));
            assert_eq!(dom.prev_sibling(child), previous);
            assert!(dom.contains(id, child));
            previous = Some(child);
        }
        assert!(dom.attrs(id).count() <= 16);
    }
}
