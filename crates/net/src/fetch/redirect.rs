//! Redirects: where a response leads, and what of the request is sent there. Pure; every new URL passes the
//! guard again before anything is sent.

use crate::credentials::take_login;
use crate::error::{BadUrl, FetchError};
use crate::guard::Destination;
use hyper::http::header::{HeaderMap, LOCATION};
use hyper::{Method, StatusCode};
use url::Url;

/// The redirect target of a response, if it has one.
pub(super) fn target(url: &Url, status: StatusCode, headers: &HeaderMap) -> Result<Option<Url>, FetchError> {
    let followed = matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = headers.get(LOCATION).filter(|_| followed) else {
        // Without a `Location` the response is final.
        return Ok(None);
    };
    // Not all servers percent-encode as they should; browsers read the bytes as UTF-8.
    let location = String::from_utf8_lossy(location.as_bytes());
    let mut target = url
        .join(location.trim())
        .map_err(|error| FetchError::BadRedirect(BadUrl::Invalid(error.to_string())))?;
    if target.fragment().is_none() {
        target.set_fragment(url.fragment());
    }
    Destination::from_url(&target).map_err(FetchError::BadRedirect)?;
    // A login that a server puts into a redirect URL is not the caller's to send.
    let _ = take_login(&mut target);
    Ok(Some(target))
}

/// The method of the next request, and whether the body is sent again.
pub(super) fn method(status: StatusCode, method: &Method) -> (Method, bool) {
    match status {
        StatusCode::SEE_OTHER if *method != Method::HEAD => (Method::GET, false),
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND if *method == Method::POST => (Method::GET, false),
        _ => (method.clone(), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead(from: &str, status: u16, location: &str) -> Result<Option<String>, FetchError> {
        let headers = HeaderMap::from_iter([(LOCATION, location.parse().unwrap())]);
        target(&Url::parse(from).unwrap(), StatusCode::from_u16(status).unwrap(), &headers)
            .map(|target| target.map(String::from))
    }

    #[test]
    fn targets_are_joined_and_cleaned() {
        for (location, expected) in [
            ("/b", "http://a.example/b#top"),
            ("c?x=1", "http://a.example/dir/c?x=1#top"),
            ("//b.example/", "http://b.example/#top"),
            ("https://b.example/#own", "https://b.example/#own"),
            (" /spaces ", "http://a.example/spaces#top"),
            ("http://me:secret@b.example/", "http://b.example/#top"),
            ("http://2130706433/", "http://127.0.0.1/#top"),
        ] {
            assert_eq!(lead("http://a.example/dir/a#top", 302, location).unwrap().unwrap(), expected);
        }
    }

    #[test]
    fn other_schemes_and_broken_addresses_are_errors() {
        for location in [
            "ftp://a.example/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:,x",
            "http://[::",
            "http://a.example:25/",
        ] {
            assert!(
                matches!(lead("http://a.example/", 301, location), Err(FetchError::BadRedirect(_))),
                "{location}"
            );
        }
        assert_eq!(lead("http://a.example/", 200, "/x"), Ok(None));
        assert_eq!(lead("http://a.example/", 304, "/x"), Ok(None));
        assert_eq!(lead("http://a.example/", 300, "/x"), Ok(None));
    }

    #[test]
    fn methods_change_as_the_web_does_it() {
        assert_eq!(method(StatusCode::FOUND, &Method::POST), (Method::GET, false));
        assert_eq!(method(StatusCode::SEE_OTHER, &Method::PUT), (Method::GET, false));
        assert_eq!(method(StatusCode::SEE_OTHER, &Method::HEAD), (Method::HEAD, true));
        assert_eq!(method(StatusCode::TEMPORARY_REDIRECT, &Method::POST), (Method::POST, true));
        assert_eq!(method(StatusCode::MOVED_PERMANENTLY, &Method::PUT), (Method::PUT, true));
    }
}
