//! Importers with realistic and broken files; merging; continuing after a crash.

use crate::{Fixture, node, work};
use flate2::Compression;
use flate2::write::GzEncoder;
use papers::{BuildOptions, PaperSource};
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const JATS: &str = r#"<?xml version="1.0"?><!DOCTYPE article PUBLIC "x" "y.dtd"><article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>
<article-id pub-id-type="doi">10.7554/eLife.00007</article-id><article-id pub-id-type="pmid">23</article-id>
<title-group><article-title>Volatiles of <italic>Nicotiana</italic> &amp; others</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Schuman</surname><given-names>Meredith C</given-names></name></contrib><contrib contrib-type="editor"><name><surname>Ed</surname></name></contrib></contrib-group>
<pub-date><day>15</day><month>10</month><year>2012</year></pub-date>
<abstract><p>From an herbivore's first bite.</p><p><bold>DOI:</bold> http://dx.doi.org/10.7554/eLife.00007.001</p></abstract>
<abstract abstract-type="executive-summary"><p>Digest.</p></abstract></article-meta></front>
<body><sec><title>Introduction</title><p>A first paragraph about volatiles <xref ref-type="bibr">Doe, 2000</xref>.</p></sec></body>
<back><ref-list><ref><element-citation><article-title>An old work that was cited by link</article-title><ext-link xlink:href="http://dx.doi.org/10.1038/OLD">x</ext-link></element-citation></ref>
<ref><element-citation><pub-id pub-id-type="pmid">99</pub-id></element-citation></ref></ref-list></back></article>"#;

const PUBMED: &str = r#"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">23</PMID><Article><Journal><JournalIssue><PubDate><Year>2012</Year><Month>Oct</Month></PubDate></JournalIssue></Journal>
<ArticleTitle>Volatiles of Nicotiana.</ArticleTitle><Abstract><AbstractText Label="AIM">One &lt; two.</AbstractText><AbstractText>More.</AbstractText></Abstract>
<AuthorList><Author><LastName>Schuman</LastName><ForeName>Meredith</ForeName></Author></AuthorList></Article></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">23</ArticleId><ArticleId IdType="doi">10.7554/eLife.00007</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId IdType="pubmed">99</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>
<DeleteCitation><PMID>5</PMID></DeleteCitation></PubmedArticleSet>"#;

#[test]
fn jats_and_pubmed_records_become_one_work() {
    let fixture = Fixture::new();
    fixture.import(PaperSource::Jats, &fixture.file("a.xml", JATS)).unwrap();
    let facts =
        fixture.import(PaperSource::PubMed, &fixture.file("b.xml.gz", gzip(PUBMED.as_bytes()))).unwrap();
    let index = fixture.index();
    let paper = index.paper(node(&index, "10.7554/elife.00007").unwrap()).unwrap();
    assert_eq!(node(&index, "pmid:23"), Some(paper.node));
    assert_eq!(paper.title, "Volatiles of Nicotiana & others");
    assert_eq!(paper.abstract_text, "From an herbivore's first bite.");
    assert_eq!(paper.authors, ["Meredith C Schuman"]);
    assert_eq!(paper.provenance.title, Some(PaperSource::Jats));
    assert_eq!(paper.created.unwrap().to_string(), "2012-10-01");
    assert_eq!(index.references().count(paper.node), 2, "pmid:99 is one work, told twice");
    assert!(index.passages(paper.node, "volatiles", 1)[0].text.starts_with("A first paragraph"));
    let old = index.paper(node(&index, "10.1038/old").unwrap()).unwrap();
    assert_eq!(old.title, "An old work that was cited by link");
    assert_eq!(facts.sources, [("jats".to_owned(), 1), ("pubmed".to_owned(), 2)]);
}

#[test]
fn equal_titles_are_one_work_unless_other_data_disagrees() {
    let fixture = Fixture::new();
    let title = "A sufficiently long title for two sources";
    let line = |ids: &str, year: u32| format!(r#"{{"ids":{ids},"title":"{title}","created":"{year}"}}"#);
    let lines = [
        line(r#"{"doi":["10.1/a"]}"#, 2020),
        line(r#"{"arxiv":["2001.00001"]}"#, 2019),
        line(r#"{"doi":["10.1/b"]}"#, 2020),
        line(r#"{"pmid":["9"]}"#, 1990),
    ];
    fixture.import(PaperSource::Jsonl, &fixture.file("a.jsonl", lines.join("\n"))).unwrap();
    let index = fixture.index();
    let [a, preprint, b, old] =
        ["10.1/a", "2001.00001", "10.1/b", "pmid:9"].map(|name| node(&index, name).unwrap());
    assert_eq!(a, preprint, "a preprint and its article");
    assert_ne!(a, b, "two DOIs are two works");
    assert_ne!(a, old, "thirty years apart");
}

#[test]
fn broken_files_name_the_line_and_leave_the_old_index() {
    let fixture = Fixture::with_works(&[work(1, "one", "", &[])]);
    let good = work(2, "two", "", &[]);
    let packed = gzip(format!("{good}\n").repeat(1).as_bytes());
    let cases: [(&str, PaperSource, Vec<u8>, &str); 9] = [
        ("cut.jsonl", PaperSource::Jsonl, format!("{good}\n\n{}", &good[..30]).into_bytes(), "cut.jsonl:3:"),
        ("cut.gz", PaperSource::Jsonl, packed[..packed.len() - 10].to_vec(), "cut.gz:"),
        (
            "latin.jsonl",
            PaperSource::Jsonl,
            b"{\"ids\":{\"doi\":[\"10.1/x\"]},\"title\":\"caf\xe9\"}".to_vec(),
            "latin.jsonl:1:",
        ),
        ("cut.xml", PaperSource::Jats, JATS.as_bytes()[..JATS.len() - 40].to_vec(), "cut.xml:"),
        (
            "bomb.xml",
            PaperSource::PubMed,
            format!("<PubmedArticleSet><PubmedArticle>{}", "<a>".repeat(5_000)).into_bytes(),
            "nested deeper",
        ),
        ("none.xml", PaperSource::PubMed, b"<html></html>".to_vec(), "no PubmedArticle"),
        ("cut.ris", PaperSource::Ris, b"TY  - JOUR\nTI  - x\n".to_vec(), "cut.ris:1:"),
        ("bad.json", PaperSource::Crossref, b"{\"items\":[{\"DOI\":3}]}".to_vec(), "bad.json:1:"),
        (
            "works.json",
            PaperSource::OpenAlex,
            b"{\"id\":\"https://openalex.org/A5\"}".to_vec(),
            "not an OpenAlex work",
        ),
    ];
    for (name, source, bytes, told) in cases {
        let error = fixture.import(source, &fixture.file(name, bytes)).unwrap_err().to_string();
        assert!(error.contains(told), "{name}: {error}");
        assert_eq!(fixture.index().facts().works, 1, "{name}");
    }
    let missing =
        fixture.import(PaperSource::Jsonl, &fixture.folder.path().join("missing")).unwrap_err().to_string();
    assert!(missing.contains("missing"), "{missing}");
    fixture.import(PaperSource::Jsonl, &fixture.file("good.jsonl", &good)).unwrap();
    assert_eq!(fixture.index().facts().works, 2, "and the next good import works");
}

#[test]
fn entities_are_never_expanded() {
    let fixture = Fixture::new();
    let bomb = r#"<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "boom"><!ENTITY y "&x;&x;&x;"><!ENTITY f SYSTEM "file:///etc/hostname">]>"#;
    let text = JATS
        .replacen("<?xml version=\"1.0\"?><!DOCTYPE article PUBLIC \"x\" \"y.dtd\">", bomb, 1)
        .replace("others", "o&y;t&f;h");
    fixture.import(PaperSource::Jats, &fixture.file("a.xml", text)).unwrap();
    let index = fixture.index();
    assert_eq!(index.paper(node(&index, "pmid:23").unwrap()).unwrap().title, "Volatiles of Nicotiana & oth");
}

#[test]
fn an_interrupted_import_continues_without_duplicates() {
    let fixture = Fixture::new();
    let first = fixture.file("1.jsonl", work(1, "one", "", &[]));
    let second = fixture.folder.path().join("2.jsonl");
    let files = [first, second.clone()];
    let import =
        || fixture.library.import(PaperSource::Jsonl, &files, &BuildOptions::default(), &|_, _, _| {});
    assert!(import().is_err());
    assert!(fixture.library.current().is_none());
    std::fs::write(&second, work(2, "two", "", &[1])).unwrap();
    let facts = import().unwrap();
    assert_eq!((facts.works, facts.edges), (2, 1));
    assert_eq!(facts.sources, [("jsonl".to_owned(), 2)]);
}

#[test]
fn a_later_record_replaces_and_a_withdrawal_leaves_a_cited_node() {
    let fixture = Fixture::new();
    fixture.import(PaperSource::PubMed, &fixture.file("1.xml", PUBMED)).unwrap();
    let update = PUBMED
        .replace("Volatiles of Nicotiana.", "Corrected title")
        .replace("<PMID>5</PMID>", "<PMID>6</PMID>");
    fixture.import(PaperSource::PubMed, &fixture.file("2.xml", update)).unwrap();
    let title = |fixture: &Fixture| {
        let index = fixture.index();
        index.paper(node(&index, "pmid:23").unwrap()).unwrap().title
    };
    assert_eq!(title(&fixture), "Corrected title");
    fixture
        .import(
            PaperSource::PubMed,
            &fixture.file("3.xml", "<S><DeleteCitation><PMID>23</PMID></DeleteCitation></S>"),
        )
        .unwrap();
    assert_eq!(title(&fixture), "");
}
