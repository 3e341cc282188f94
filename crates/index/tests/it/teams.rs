//! Whose pages a team sees.

use crate::{Ground, NOW, key, page, query};
use index::{Entry, Query};
use uuid::Uuid;

#[test]
fn a_team_sees_its_own_pages_and_everybodys() {
    let mut ground = Ground::new();
    let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let mut entries = Vec::new();
    for (team, name) in [(Uuid::nil(), "everybody"), (one, "one"), (other, "other")] {
        let document = page(&format!("https://{name}.example/"), name, "The secret of the gannet.");
        entries.push(Entry { team, ..ground.entry(document) });
    }
    // One page, fetched by both: each sees its own.
    for (team, body) in [(one, "The gannet of one."), (other, "The gannet of the other.")] {
        let document = page("https://shared.example/", "shared", body);
        entries.push(Entry { team, ..ground.entry(document) });
    }
    let developer = page("https://docs.example/", "docs", "The gannet's interface.");
    entries.push(Entry { collection: "developer".into(), ..ground.entry(developer) });
    ground.index.feed(entries).unwrap();
    ground.index.commit().unwrap();

    for (team, name) in [(one, "one"), (other, "other")] {
        let found = ground.search(&Query { team, ..query("gannet") });
        let mut titles: Vec<&str> = found.hits.iter().map(|hit| hit.document.title.as_str()).collect();
        titles.sort_unstable();
        assert_eq!(titles, ["everybody", name, "shared"]);
        assert_eq!(found.searched, 3);
        let shared = found.hits.iter().find(|hit| hit.document.title == "shared").unwrap();
        assert!(shared.document.body.contains(name));
    }
    assert_eq!(ground.ask("gannet"), ["everybody"]);
    assert_eq!(ground.titles(&Query { collection: "developer".into(), ..query("gannet") }), ["docs"]);
    assert!(
        ground
            .titles(&Query { team: Uuid::from_u128(3), collection: "gov".into(), ..query("gannet") })
            .is_empty()
    );

    // What one team deletes is only its own.
    ground.seq += 1;
    let gone = Entry {
        seq: ground.seq,
        key: key("https://shared.example/"),
        team: one,
        collection: "web".into(),
        seen_at: NOW,
        document: None,
    };
    ground.index.feed(vec![gone]).unwrap();
    ground.index.commit().unwrap();
    assert_eq!(ground.search(&Query { team: one, ..query("gannet") }).hits.len(), 2);
    assert_eq!(ground.search(&Query { team: other, ..query("gannet") }).hits.len(), 3);
}

#[test]
fn a_page_of_a_team_and_of_everybody_is_one_hit() {
    let mut ground = Ground::new();
    let team = Uuid::from_u128(1);
    let everybodys = ground.entry(page("https://a.example/", "theirs", "The gannet dives."));
    let own = Entry { team, ..ground.entry(page("http://www.a.example", "ours", "The gannet dives.")) };
    ground.index.feed(vec![everybodys, own]).unwrap();
    ground.index.commit().unwrap();
    assert_eq!(ground.search(&Query { team, ..query("gannet") }).hits.len(), 1);
}
