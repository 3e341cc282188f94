//! The pages of the site.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

pub const ARTICLE: &str = include_str!("article.html");
pub const MISSING: &str = include_str!("missing.html");
/// One empty page.
pub const PDF: &[u8] = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";
/// One pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\xdacd\xf8\xcfP\x0f\0\x03\x86\x01\x80Z4}k\0\0\0\0IEND\xaeB`\x82";

const HTML: &str = "text/html; charset=utf-8";

/// Paths with a fixed response.
const PAGES: &[(&str, u16, &str, &[u8])] = &[
    ("/article", 200, HTML, ARTICLE.as_bytes()),
    ("/missing", 404, HTML, MISSING.as_bytes()),
    ("/broken", 500, HTML, include_bytes!("broken.html")),
    ("/app", 200, HTML, include_bytes!("app.html")),
    ("/api/app.json", 200, "application/json", include_bytes!("app.json")),
    ("/form", 200, HTML, include_bytes!("form.html")),
    ("/product", 200, HTML, include_bytes!("product.html")),
    ("/menu", 200, HTML, include_bytes!("menu.html")),
    ("/brand", 200, HTML, include_bytes!("brand.html")),
    ("/injection", 200, HTML, include_bytes!("injection.html")),
    ("/private-data", 200, HTML, include_bytes!("private-data.html")),
    ("/banner", 200, HTML, include_bytes!("banner.html")),
    ("/device", 200, HTML, include_bytes!("device.html")),
    ("/diary", 200, HTML, include_bytes!("diary.html")),
    ("/blocked", 403, HTML, include_bytes!("blocked.html")),
    ("/captcha", 200, HTML, include_bytes!("captcha.html")),
    ("/login", 200, HTML, include_bytes!("login.html")),
    ("/member", 200, HTML, include_bytes!("member.html")),
    ("/empty", 200, HTML, b""),
    ("/json", 200, "application/json", br#"{"harbour":"Wick","berths":[1,2,3]}"#),
    ("/text", 200, "text/plain; charset=utf-8", b"# not a heading\n*stars* stay & <tags> stay\n"),
    ("/pdf", 200, "application/pdf", PDF),
    ("/archive", 200, "application/gzip", b"\x1f\x8b\x08\0\0\0\0\0 an archive"),
    ("/favicon.png", 200, "image/png", PNG),
    ("/images/logo.png", 200, "image/png", PNG),
    ("/images/dive.jpg", 200, "image/png", PNG),
    (
        "/latin-1",
        200,
        "text/html; charset=iso-8859-1",
        b"<title>Caf\xe9</title><main><h1>Caf\xe9 am Hafen</h1><p>Die K\xfcche \xf6ffnet um zw\xf6lf, und wer sp\xe4ter kommt, bekommt, was \xfcbrig ist.</p></main>",
    ),
    (
        "/shift-jis",
        200,
        "text/html; charset=Shift_JIS",
        b"<title>\x93\xfa\x96\x7b\x8c\xea</title><main><h1>\x93\xfa\x96\x7b\x8c\xea</h1><p>\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x79\x81\x5b\x83\x57</p></main>",
    ),
    (
        "/meta-charset",
        200,
        "text/html",
        b"<meta charset=windows-1251><title>\xcf\xf0\xe8\xe2\xe5\xf2</title><main><h1>\xcf\xf0\xe8\xe2\xe5\xf2</h1><p>\xcf\xf0\xe8\xe2\xe5\xf2, \xe3\xe0\xe2\xe0\xed\xfc</p></main>",
    ),
];

pub fn find(path: &str) -> Option<Response> {
    let (_, status, kind, body) = PAGES.iter().find(|(known, ..)| *known == path)?;
    let status = StatusCode::from_u16(*status).expect("a status");
    Some((status, [(header::CONTENT_TYPE, *kind)], *body).into_response())
}

pub fn html(status: u16, text: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    (status, [(header::CONTENT_TYPE, HTML)], text.to_owned()).into_response()
}

pub fn changing(text: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><title>Notices</title></head><body><main><h1>Notices to mariners</h1>\
         <p>Read every week, and whenever a light is moved. The notices stand in the order in which they came.</p>\
         <p>{text}</p></main></body></html>"
    )
}

/// One of any number of pages.
pub fn numbered(number: &str) -> String {
    let text = numbered_text(number);
    format!(
        "<!doctype html><html lang=en><head><title>Page {number}</title></head><body><nav><a href=/>Home</a></nav>\
         <main><h1>Page {number}</h1>{text}</main><footer>All rights reserved</footer></body></html>"
    )
}

pub fn numbered_text(number: &str) -> String {
    let line = "<p>Log of the lightship: the watch was quiet, the lamp was trimmed at dusk, and the fog came at four.</p>";
    format!("<p>This is pageword{number}, and no other page says so.</p>{}", line.repeat(20))
}

/// The same, written by a script.
pub fn scripted(number: &str) -> String {
    format!(
        "<!doctype html><html><head><title>App</title></head><body><div id=root></div><script>\
         fetch('/api/page/{number}').then(answer => answer.text()).then(text => {{\
         document.getElementById('root').innerHTML = '<main><h1>Page {number}</h1>' + text + '</main>' }})\
         </script></body></html>"
    )
}
