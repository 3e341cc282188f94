use super::*;

/// Reads a file at once and byte by byte; both must give the same result.
fn read_sitemap(file: impl AsRef<[u8]>) -> (Vec<String>, SitemapSummary) {
    let (entries, summary) = read_entries(file.as_ref());
    (entries.into_iter().map(|entry| entry.url.into()).collect(), summary)
}

fn read_entries(file: &[u8]) -> (Vec<SitemapEntry>, SitemapSummary) {
    let base = Url::parse("https://a.com/deep/sitemap.xml").unwrap();
    let [at_once, in_bytes] = [file.len().max(1), 1].map(|size| {
        let mut sitemap = Sitemap::new(base.clone(), 1000);
        let mut entries: Vec<SitemapEntry> =
            file.chunks(size).flat_map(|chunk| sitemap.feed(chunk)).collect();
        let (rest, summary) = sitemap.finish();
        entries.extend(rest);
        (entries, summary)
    });
    assert_eq!(at_once, in_bytes);
    at_once
}

const SITEMAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- made by <hand> -- really -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
        xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc>https://a.com/one?x=1&amp;y=2&z=3</loc><lastmod>2026-05-01</lastmod><priority>0.8</priority>
    <image:image><image:loc>https://a.com/one.jpg</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de" href="https://a.com/de/one"/>
  </url>
  <url><loc>
      <![CDATA[https://a.com/two?a=1&b=2]]>
  </loc></url>
  <url><lastmod>2020</lastmod><loc>/three</loc></url>
  <url><loc>ftp://a.com/four</loc></url>
</urlset>"#;

#[test]
fn sitemaps() {
    let (entries, summary) = read_entries(SITEMAP.as_bytes());
    let found: Vec<_> = entries.iter().map(|entry| (entry.url.as_str(), entry.lastmod.as_deref())).collect();
    assert_eq!(
        found,
        [
            ("https://a.com/one?x=1&y=2&z=3", Some("2026-05-01")),
            ("https://a.com/de/one", None),
            ("https://a.com/two?a=1&b=2", None),
            ("https://a.com/three", Some("2020")),
        ]
    );
    assert!(entries.iter().all(|entry| entry.kind == EntryKind::Page));
    assert_eq!(
        summary,
        SitemapSummary { format: Some(Format::Pages), entries: 4, refused: 1, truncated: false }
    );
}

#[test]
fn indexes() {
    for file in [
        "<sitemapindex><sitemap><loc>https://a.com/s1.xml</loc><lastmod>2026</lastmod></sitemap></sitemapindex>",
        "<sm:sitemapindex xmlns:sm='x'><sm:sitemap><sm:loc>https://a.com/s1.xml</sm:loc></sm:sitemap></sm:sitemapindex>",
        "<sitemapindex><url><loc>https://a.com/s1.xml</loc></url></sitemapindex>",
        "<SITEMAPINDEX><SITEMAP><LOC>https://a.com/s1.xml</LOC></SITEMAP></SITEMAPINDEX>",
        "<sitemapindex><loc>https://a.com/s1.xml</loc></sitemapindex>",
        "<urlset><sitemap><loc>https://a.com/s1.xml</loc></sitemap></urlset>",
    ] {
        let (entries, _) = read_entries(file.as_bytes());
        assert_eq!(entries.len(), 1, "{file}");
        assert_eq!(
            (entries[0].url.as_str(), entries[0].kind),
            ("https://a.com/s1.xml", EntryKind::Sitemap),
            "{file}"
        );
    }
}

#[test]
fn sitemaps_listed_as_pages() {
    let file = "<urlset><url><loc>https://a.com/post-sitemap2.xml.gz</loc></url><url><loc>/sitemap/</loc></url></urlset>";
    let kinds: Vec<EntryKind> = read_entries(file.as_bytes()).0.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Sitemap, EntryKind::Page]);
}

#[test]
fn feeds() {
    let rss = r#"<rss version="2.0"><channel><link>https://a.com/</link><title>A &lt; B</title>
        <image><url>https://a.com/logo.png</url><link>https://a.com/</link></image>
        <atom:link rel="next" href="https://a.com/feed?page=2"/>
        <item><title>1</title><link>https://a.com/1</link><guid isPermaLink="false">77</guid>
            <pubDate>Mon, 06 Sep 2021 00:01:00 GMT</pubDate><source url="https://b.org/f">B <link>https://b.org/</link></source></item>
        <item><guid>https://a.com/2</guid></item></channel></rss>"#;
    let (entries, summary) = read_entries(rss.as_bytes());
    let found: Vec<_> = entries.iter().map(|entry| (entry.url.as_str(), entry.kind)).collect();
    assert_eq!(
        found,
        [
            ("https://a.com/feed?page=2", EntryKind::Feed),
            ("https://a.com/1", EntryKind::Page),
            ("https://a.com/2", EntryKind::Page)
        ]
    );
    assert_eq!(entries[1].lastmod.as_deref(), Some("Mon, 06 Sep 2021 00:01:00 GMT"));
    assert_eq!(summary.format, Some(Format::Feed));

    let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.com/"/><link rel="self" href="/f"/>
        <entry><link rel="edit" href="/edit"/><link title="a > b" href='/x?a=1&amp;b=2'/><updated>2026-01-02T03:04:05Z</updated>
        <source><link href="https://b.org/"/></source></entry></feed>"#;
    let (entries, _) = read_entries(atom.as_bytes());
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].url.as_str(), "https://a.com/x?a=1&b=2");
    assert_eq!(entries[0].lastmod.as_deref(), Some("2026-01-02T03:04:05Z"));

    let rdf = r#"<rdf:RDF><channel rdf:about="x"><link>https://a.com</link></channel>
        <item rdf:about="https://a.com/r"><link>https://a.com/r</link><dc:date>2026</dc:date></item></rdf:RDF>"#;
    assert_eq!(read_sitemap(rdf).0, ["https://a.com/r"]);
}

#[test]
fn lists() {
    let (urls, summary) = read_sitemap(
        "\u{feff}https://a.com/1\r\n\r\n  HTTP://a.com/2 \rnot one\nhttps://a.com/<3>\nhttps://a.com/4",
    );
    assert_eq!(urls, ["https://a.com/1", "http://a.com/2", "https://a.com/%3C3%3E", "https://a.com/4"]);
    assert_eq!(
        summary,
        SitemapSummary { format: Some(Format::Lines), entries: 4, refused: 1, truncated: false }
    );
    assert_eq!(read_sitemap("").1.format, None);
    assert_eq!(read_sitemap(" \n ").1.format, None);
    assert_eq!(read_sitemap(r#"{"error":"no"}"#).0.len(), 0);
    let long = format!("https://a.com/{}\nhttps://a.com/ok", "x".repeat(20_000));
    assert_eq!(read_sitemap(long).0, ["https://a.com/ok"]);
}

#[test]
fn broken_files_give_what_they_have() {
    for (file, urls) in [
        // Truncated in the middle of a URL, a tag, an entry.
        ("<urlset><url><loc>https://a.com/1</loc></url><url><loc>https://a.com/2", &["https://a.com/1"][..]),
        ("<urlset><url><loc>https://a.com/1</loc><last", &["https://a.com/1"]),
        // Never closed, closed wrongly, without a root, with another root.
        (
            "<urlset><url><loc>https://a.com/1<url><loc>https://a.com/2</x>",
            &["https://a.com/1", "https://a.com/2"],
        ),
        ("<url><loc>https://a.com/1</loc></url>", &["https://a.com/1"]),
        ("<data><url><loc>https://a.com/1</loc></url></data>", &["https://a.com/1"]),
        (
            "<urlset><loc>https://a.com/1</loc><loc>https://a.com/2</loc></urlset>",
            &["https://a.com/1", "https://a.com/2"],
        ),
        // A warning before it, an unescaped character, a URL over two lines.
        (
            "Notice: x on line 3\n<?xml version='1.0'?><urlset><url><loc>https://a.com/1</loc></url>",
            &["https://a.com/1"],
        ),
        (
            "<urlset><url><loc>https://a.com/?a<b=1</loc></url><url><loc>https://a.com/2</loc></url>",
            &["https://a.com/?a", "https://a.com/2"],
        ),
        ("<urlset><url><loc>https://a.com/\n  long</loc></url></urlset>", &["https://a.com/long"]),
    ] {
        assert_eq!(read_sitemap(file).0, urls, "{file}");
    }
}

#[test]
fn pages_are_no_sitemaps() {
    for file in [
        "<!DOCTYPE html><html><body><a href='/x'>x</a><url><loc>https://a.com/1</loc></url>",
        "<html lang=en><head><title>Not found</title>",
        "<h1>Not found</h1>",
    ] {
        let (urls, summary) = read_sitemap(file);
        assert_eq!((urls.len(), summary.format), (0, Some(Format::Html)), "{file}");
    }
}

#[test]
fn entities_are_never_expanded() {
    let file = r#"<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">
        <!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>https://a.com/?&b;&x;&#38;&#x41;&#0;</loc></url></urlset>"#;
    assert_eq!(read_sitemap(file).0, ["https://a.com/?&b;&x;&A&#0;"]);
}

#[test]
fn utf_16_is_read() {
    let mut file = b"\xff\xfe".to_vec();
    file.extend(
        "<urlset><url><loc>https://a.com/ü</loc></url></urlset>".encode_utf16().flat_map(u16::to_le_bytes),
    );
    assert_eq!(read_sitemap(file).0, ["https://a.com/%C3%BC"]);
}

#[test]
fn no_more_than_asked_for() {
    let mut sitemap = Sitemap::new(Url::parse("https://a.com/").unwrap(), 3);
    let mut entries = 0;
    for n in 0..10 {
        entries += sitemap.feed(format!("<url><loc>/{n}</loc></url>").as_bytes()).len();
        assert_eq!(sitemap.is_done(), n >= 3);
    }
    let (rest, summary) = sitemap.finish();
    assert_eq!((entries + rest.len(), summary.truncated), (3, true));
}
