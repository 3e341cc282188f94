//! Links to hash routes (`#/notes/HTTP`): pages of their own where scripts draw the page they stand on, places
//! in one document otherwise.

use content::link::Link;
use sites::find_hash_route;
use url::Url;

/// The word for a hash route of a page that came without scripts.
pub const HASH_ROUTE: &str = "hashRoute";

/// A link of a page, as it is judged.
#[derive(Debug)]
pub struct FoundLink {
    pub url: String,
    pub nofollow: bool,
    pub is_hash_route: bool,
}

/// A link is to a hash route where these are pages, and to a document otherwise. Those of the document itself
/// on a page from a server are accounted for as pages that were not seen.
pub fn found_links(link: Link, has_hash_routes: bool, here: &Url) -> impl Iterator<Item = FoundLink> {
    let Link { mut url, nofollow, .. } = link;
    let written = Url::parse(&url).ok().filter(|url| find_hash_route(url).is_some());
    let is_own = |url: &Url| url[..url::Position::AfterQuery] == here[..url::Position::AfterQuery];
    let own_route = written.as_ref().is_some_and(is_own).then(|| url.clone());
    let is_hash_route = has_hash_routes && written.is_some();
    if !is_hash_route && let Some(end) = url.find('#') {
        url.truncate(end);
    }
    let unseen = own_route.filter(|_| !has_hash_routes);
    let unseen = unseen.map(|url| FoundLink { url, nofollow, is_hash_route: true });
    std::iter::once(FoundLink { url, nofollow, is_hash_route }).chain(unseen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_a_page_only_where_scripts_draw_it() {
        let here = Url::parse("https://site.example/docs/?v=2").unwrap();
        let found = |url: &str, has_hash_routes: bool| {
            let link = Link { url: url.to_owned(), text: String::new(), nofollow: false };
            let links = found_links(link, has_hash_routes, &here);
            links.map(|link| (link.url, link.is_hash_route)).collect::<Vec<_>>()
        };
        let (page, route) = ("https://site.example/docs/?v=2", "https://site.example/docs/?v=2#/notes");
        assert_eq!(found(route, true), [(route.to_owned(), true)]);
        assert_eq!(found(route, false), [(page.to_owned(), false), (route.to_owned(), true)]);
        let other = "https://site.example/app";
        assert_eq!(
            found("https://site.example/app#/x", false),
            [(other.to_owned(), false)],
            "of another page"
        );
        for has_hash_routes in [true, false] {
            assert_eq!(found("https://site.example/app#top", has_hash_routes), [(other.to_owned(), false)]);
            assert_eq!(found("https://site.example/app#/", has_hash_routes), [(other.to_owned(), false)]);
        }
    }
}
