//! Folders that are shared, of another version, or broken.

use crate::{Fixture, page, query, small};
use index::{Index, IndexError, OpenState, Options};
use std::fs;

#[test]
fn one_process_writes_and_others_may_read() {
    let mut fixture = Fixture::with_pages([page("https://a.example/", "first", "gannet")]);
    let options = || small(Options::default());
    let second = Index::open(fixture.folder.path(), options()).unwrap_err();
    assert!(
        matches!(second, IndexError::Busy { .. }) && second.to_string().contains("another process"),
        "{second}"
    );
    let reader = Index::open_read_only(fixture.folder.path(), options()).unwrap();
    assert_eq!(reader.search(&query("gannet")).unwrap().hits.len(), 1);
    assert!(matches!(reader.commit().unwrap_err(), IndexError::ReadOnly));
    fixture.add([page("https://b.example/", "second", "gannet")]);
    assert_eq!(fixture.ask("gannet").len(), 2);
    let later = Index::open_read_only(fixture.folder.path(), options()).unwrap();
    assert_eq!(later.search(&query("gannet")).unwrap().hits.len(), 2);
    assert_eq!(later.last_seq().unwrap(), 2);
}

#[test]
fn another_version_is_set_aside_and_filled_again() {
    let fixture = Fixture::with_pages([page("https://a.example/", "a", "gannet")]);
    let Fixture { folder, index, .. } = fixture;
    assert_eq!(index.opened(), &OpenState::Fresh);
    drop(index);
    let about = folder.path().join("about.json");
    fs::write(&about, r#"{"version":0,"created":0}"#).unwrap();
    assert!(matches!(
        Index::open_read_only(folder.path(), Options::default()),
        Err(IndexError::Unreadable { .. })
    ));
    let index = Index::open(folder.path(), small(Options::default())).unwrap();
    let OpenState::SetAside { path, reason } = index.opened() else { panic!("{:?}", index.opened()) };
    assert!(path.join("meta.json").exists() && reason.contains("version 0"), "{reason}");
    assert_eq!(index.last_seq().unwrap(), 0);
    assert!(index.search(&query("gannet")).unwrap().hits.is_empty());
    drop(index);
    let index = Index::open(folder.path(), small(Options::default())).unwrap();
    assert_eq!(index.opened(), &OpenState::Existing);
}

#[test]
fn a_broken_index_is_set_aside() {
    for broken in ["meta.json", "store"] {
        let fixture = Fixture::with_pages([page("https://a.example/", "a", "gannet")]);
        let Fixture { folder, index, .. } = fixture;
        drop(index);
        for file in fs::read_dir(folder.path().join("current")).unwrap() {
            let path = file.unwrap().path();
            if path.to_string_lossy().ends_with(broken) {
                fs::write(&path, "nonsense").unwrap();
            }
        }
        let index = Index::open(folder.path(), small(Options::default())).unwrap();
        assert!(matches!(index.opened(), OpenState::SetAside { .. }), "{broken}: {:?}", index.opened());
        assert_eq!(index.last_seq().unwrap(), 0);
    }
}

#[test]
fn an_empty_folder_cannot_be_opened_for_reading() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Index::open_read_only(&folder.path().join("none"), Options::default()).unwrap_err();
    assert!(matches!(missing, IndexError::Unreadable { .. }), "{missing}");
}
