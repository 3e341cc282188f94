//! From a piece of an import to a page that is kept for search.

use crate::search_page::plain_text::{PlainText, plain};
use crate::search_page::{key_of, moment, primary_language, to_new_search_page};
use crate::{Body, Import, Piece};
use content::Limits;
use content::page::{ContentScope, Page, PageSource};
use content::verdict::VerdictKind;
use index::{Document, Image};
use store::search::{NewSearchPage, SearchKey};
use stored_data::hashed_keys::KeyHasher;
use url::Url;

/// None when there is nothing to find in it.
pub fn to_search_page(piece: &Piece, import: &Import) -> Option<NewSearchPage> {
    let mut document = match &piece.body {
        Body::Html { bytes, content_type } => of_html(bytes, content_type.as_deref(), &piece.url)?,
        Body::Markdown(markdown) => of_plain(plain(markdown)),
        Body::Text(text) => Document { body: text.clone(), ..Document::default() },
    };
    document.url.clone_from(&piece.url);
    if let Some(title) = &piece.title {
        document.title.clone_from(title);
    }
    if let Some(description) = &piece.description {
        document.description.clone_from(description);
    }
    document.kind = piece.kind.clone().or(document.kind);
    document.language = piece.language.as_deref().map(primary_language).or(document.language);
    document.published = piece.published.or(document.published);
    document.attributes.clone_from(&piece.attributes);
    for (name, value) in &import.attributes {
        document.attributes.entry(name.clone()).or_insert_with(|| value.clone());
    }
    if let Some(source) = &import.source {
        document.attributes.entry("source".to_owned()).or_insert_with(|| source.clone());
    }
    to_new_search_page(&import.collection, &key(&piece.url), document)
}

fn key(url: &str) -> SearchKey {
    let of_web = Url::parse(url).ok().as_ref().and_then(key_of);
    of_web.unwrap_or_else(|| {
        let mut fields = KeyHasher::new("imported");
        fields.add(url);
        let mut key = [0; 16];
        key.copy_from_slice(&fields.finish()[..16]);
        key
    })
}

fn of_plain(PlainText { text, headings, links, images }: PlainText) -> Document {
    Document {
        title: headings.first().cloned().unwrap_or_default(),
        headings,
        body: text,
        links: links.iter().filter_map(|link| index::address_number(link)).collect(),
        images: images
            .into_iter()
            .map(|(url, text)| Image { url, text, width: None, height: None })
            .collect(),
        ..Document::default()
    }
}

fn of_html(bytes: &[u8], content_type: Option<&str>, url: &str) -> Option<Document> {
    let url = Url::parse(url).ok();
    let page =
        Page::parse(&PageSource { bytes, content_type, url: url.as_ref(), status: None }, &Limits::default());
    if matches!(page.verdict().kind, VerdictKind::Binary | VerdictKind::Empty) {
        return None;
    }
    let selection = page.select(&ContentScope::default()).ok()?;
    let mut document = of_plain(plain(&page.markdown(&selection, true)));
    let metadata = page.metadata();
    document.title = metadata.title.unwrap_or(document.title);
    document.description = metadata.description.unwrap_or_default();
    document.language = metadata.language.map(|language| primary_language(&language.value));
    document.published = metadata.modified.or(metadata.published).and_then(|date| moment(&date.value));
    Some(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_page::unpacked;

    fn document(piece: &Piece, import: &Import) -> Document {
        unpacked(&to_search_page(piece, import).unwrap().document).unwrap()
    }

    #[test]
    fn every_form_of_body_is_read() {
        let import = Import {
            collection: "developer".into(),
            source: Some("docs".into()),
            attributes: [("license".to_owned(), "MIT".to_owned())].into(),
            ..Import::default()
        };
        let html = "<html lang=de-AT><title>Tölpel</title><main><h2>Tauchen</h2><p>Sie tauchen aus dreißig Metern Höhe.</p></main>";
        let body = Body::Html { bytes: html.as_bytes().to_vec(), content_type: None };
        let read = document(&Piece { url: "https://a.test/".into(), body, ..Piece::default() }, &import);
        assert_eq!((&*read.title, read.language.as_deref()), ("Tölpel", Some("de")));
        assert!(read.body.contains("dreißig Metern") && read.headings == ["Tauchen"]);
        assert_eq!((&*read.attributes["source"], &*read.attributes["license"]), ("docs", "MIT"));
        let body = Body::Markdown("# Gannets\n[dive](https://b.test/)".into());
        let own = [("license".to_owned(), "ISC".to_owned())].into();
        let piece = Piece { url: "import:///d-1/a.md".into(), body, attributes: own, ..Piece::default() };
        let read = document(&piece, &import);
        assert_eq!((&*read.title, read.links.len(), &*read.attributes["license"]), ("Gannets", 1, "ISC"));
        let body = Body::Html { bytes: b"\x89PNG\r\n\x1a\n\0\0".to_vec(), content_type: None };
        assert!(to_search_page(&Piece { body, ..Piece::default() }, &import).is_none());
    }

    #[test]
    fn one_thing_has_one_key() {
        assert_eq!(key("https://a.test/x#part"), key("http://www.a.test/x/"));
        assert_eq!(key("import:///d-1/a.md"), key("import:///d-1/a.md"));
        assert_ne!(key("import:///d-1/a.md"), key("import:///d-1/b.md"));
    }
}
