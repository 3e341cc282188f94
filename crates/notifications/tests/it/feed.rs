//! The Atom feed, read back by an XML parser.

use crate::fixtures::{HOSTILE, hostile_message, long_message, message, time};
use notifications::feed::{FeedHead, MAX_ENTRIES, atom_feed};
use notifications::message::CheckMessage;
use quick_xml::Reader;
use quick_xml::events::Event;
use uuid::Uuid;

fn head(name: &str) -> FeedHead<'_> {
    FeedHead {
        monitor_id: Uuid::from_u128(1),
        monitor_name: name,
        feed_url: "https://gannet.example/monitor/feed.xml?token=abc&x=1",
        page_url: "https://gannet.example/monitor/timeline?token=abc",
        updated_at: time(),
    }
}

/// The names of all elements; fails on anything that is not well-formed XML.
fn elements(xml: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {xml}")) {
            Event::Start(tag) | Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    attribute.unwrap();
                }
                names.push(tag.name().as_ref().to_owned());
            }
            Event::DocType(_) | Event::PI(_) | Event::CData(_) | Event::Comment(_) => panic!("{xml}"),
            Event::Eof => return names,
            _ => {}
        }
    }
}

const KNOWN: [&str; 11] =
    ["feed", "id", "title", "updated", "author", "name", "link", "entry", "published", "content", "summary"];

#[test]
fn a_feed_has_an_entry_for_each_check() {
    let xml = atom_feed(head("Shop prices"), [&message(), &message()]);
    let names = elements(&xml);
    assert_eq!(names.iter().filter(|name| *name == "entry").count(), 2);
    assert!(
        xml.contains("<updated>2026-11-18T09:30:00Z</updated>") && xml.contains("urn:uuid:00000000-"),
        "{xml}"
    );
    assert!(xml.contains("$39 a month"), "{xml}");
}

#[test]
fn hostile_text_is_text() {
    for hostile in HOSTILE {
        let checks = [hostile_message(hostile)];
        let xml = atom_feed(head(hostile), &checks);
        let names = elements(&xml);
        assert!(names.iter().all(|name| KNOWN.contains(&name.as_str())), "{names:?}");
        // Readers show the content as HTML, so its text is escaped twice.
        for content in xml.split("<content type=\"html\">").skip(1) {
            let content = content.split("</content>").next().unwrap();
            assert!(!content.contains("&lt;script") && !content.contains("&lt;img"), "{content}");
        }
    }
}

#[test]
fn a_feed_is_bounded() {
    let checks: Vec<CheckMessage> = vec![long_message(); 2 * MAX_ENTRIES];
    let xml = atom_feed(head("long"), &checks);
    assert!(xml.len() < 4 << 20, "{} bytes", xml.len());
    assert_eq!(elements(&xml).iter().filter(|name| *name == "entry").count(), MAX_ENTRIES);
}
