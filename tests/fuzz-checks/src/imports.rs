//! Importers of the research index.

use papers::{PaperSource, read_source};
use testkit::TempDir;

/// Every importer reads the file or says in which file the error is; none stops in the middle with a panic,
/// which the line importers would report as a line that cannot be read.
pub fn importers(bytes: &[u8]) {
    thread_local! {
        static FOLDER: TempDir = TempDir::new();
    }
    FOLDER.with(|folder| {
        let path = folder.join("input");
        std::fs::write(&path, bytes).expect("the input can be written");
        for (source, name) in PaperSource::ALL {
            let mut works = 0;
            let read = read_source(source, &path, &mut |batch| {
                works += batch.works;
                Ok(())
            });
            match read {
                Ok(report) => assert_eq!(report.works, works, "{name}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("input"), "{name}: {text}");
                    assert!(!text.contains("this line cannot be read"), "{name}: a parser panicked");
                }
            }
        }
    });
}
