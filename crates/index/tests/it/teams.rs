//! Which pages a team sees.

use crate::{Fixture, NOW, key, page, query};
use index::{IndexEntry, Query};
use uuid::Uuid;

#[test]
fn a_team_sees_its_own_and_shared_pages() {
    let mut fixture = Fixture::new();
    let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let mut entries = Vec::new();
    for (team, name) in [(Uuid::nil(), "everybody"), (one, "one"), (other, "other")] {
        let document = page(&format!("https://{name}.example/"), name, "The secret of the gannet.");
        entries.push(IndexEntry { team, ..fixture.entry(document) });
    }
    // A page fetched by both teams: each sees its own.
    for (team, body) in [(one, "The gannet of one."), (other, "The gannet of the other.")] {
        let document = page("https://shared.example/", "shared", body);
        entries.push(IndexEntry { team, ..fixture.entry(document) });
    }
    let developer = page("https://docs.example/", "docs", "The gannet's interface.");
    entries.push(IndexEntry { collection: "developer".into(), ..fixture.entry(developer) });
    fixture.index.feed(entries).unwrap();
    fixture.index.commit().unwrap();

    for (team, name) in [(one, "one"), (other, "other")] {
        let found = fixture.search(&Query { team, ..query("gannet") });
        let mut titles: Vec<&str> = found.hits.iter().map(|hit| hit.document.title.as_str()).collect();
        titles.sort_unstable();
        assert_eq!(titles, ["everybody", name, "shared"]);
        assert_eq!(found.searched, 3);
        let shared = found.hits.iter().find(|hit| hit.document.title == "shared").unwrap();
        assert!(shared.document.body.contains(name));
    }
    assert_eq!(fixture.ask("gannet"), ["everybody"]);
    assert_eq!(fixture.titles(&Query { collection: "developer".into(), ..query("gannet") }), ["docs"]);
    assert!(
        fixture
            .titles(&Query { team: Uuid::from_u128(3), collection: "gov".into(), ..query("gannet") })
            .is_empty()
    );

    // A team deletes only its own pages.
    fixture.seq += 1;
    let gone = IndexEntry {
        seq: fixture.seq,
        key: key("https://shared.example/"),
        team: one,
        collection: "web".into(),
        seen_at: NOW,
        document: None,
    };
    fixture.index.feed(vec![gone]).unwrap();
    fixture.index.commit().unwrap();
    assert_eq!(fixture.search(&Query { team: one, ..query("gannet") }).hits.len(), 2);
    assert_eq!(fixture.search(&Query { team: other, ..query("gannet") }).hits.len(), 3);
}

#[test]
fn a_page_of_a_team_and_of_everybody_is_one_hit() {
    let mut fixture = Fixture::new();
    let team = Uuid::from_u128(1);
    let everybodys = fixture.entry(page("https://a.example/", "theirs", "The gannet dives."));
    let own = IndexEntry { team, ..fixture.entry(page("http://www.a.example", "ours", "The gannet dives.")) };
    fixture.index.feed(vec![everybodys, own]).unwrap();
    fixture.index.commit().unwrap();
    assert_eq!(fixture.search(&Query { team, ..query("gannet") }).hits.len(), 1);
}
