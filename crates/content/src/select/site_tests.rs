//! Pages of the kinds that went wrong on real sites, written for the purpose, through the compiled-in model.

use super::tests::{kept, parse};
use super::*;

fn kept_pictures(html: &str) -> Vec<String> {
    let dom = parse(html);
    let selection = main_content(&dom, &SelectOptions::default());
    let images = selection.keep.iter().filter(|&node| dom.tag(node) == Tag::Img);
    images.filter_map(|node| dom.attr(node, html::dom::Attr::Src)).map(str::to_owned).collect()
}

const PROSE: [&str; 6] = [
    "A gannet folds its wings a moment before it meets the water, and by then it is falling at a hundred kilometres an hour.",
    "Air sacs under the skin of the face and chest take the blow, much as packing does in a parcel, and the nostrils are closed.",
    "Most dives are short, because the bird is so light that the sea pushes it back up within a few seconds of the plunge.",
    "Pairs return to the same ledge year after year, greet each other with raised beaks, and mend the nest with weed and feathers.",
    "The single egg is kept warm under the webs of the feet for six weeks, with the parents taking turns of a day or more.",
    "In September the young bird jumps from the cliff before it can fly, and swims south until it has grown light enough to rise.",
];

fn prose(count: usize) -> String {
    PROSE.iter().cycle().take(count).fold(String::new(), |all, text| all + &format!("<p>{text}</p>\n"))
}

/// Parts from the first up to before `end`, one after the other.
fn repeat(end: u32, part: impl Fn(u32) -> String) -> String {
    (1..end).fold(String::new(), |text, at| text + &part(at))
}

#[test]
fn a_long_thread_is_kept_to_its_end() {
    let post = |number: usize| {
        format!(
            "<a id=c{number}></a><div class='comment comment-published'><div class=picture><img src=a.png alt='Ann {number}'></div>\
             <h3 class=title>Re: Ledges in the north</h3><div class=submitted>Submitted by <a href=/user/{number}>Ann {number}</a> on \
             Wed, 04/12/2013 - 21:{number}.</div><div class=content><p>Reply number{number} says this. {}</p></div>\
             <div class=links><ul class=links><li><a href=/reply>Reply</a></li></ul></div></div>",
            PROSE[number % PROSE.len()]
        )
    };
    let posts: String = (10..90).map(post).collect();
    let html = format!(
        "<title>Ledges in the north | Seabird forum</title><div id=box><table id=header><tr><td><h1 class=site-name>\
         <a href=/>Seabird forum</a></h1></table><div id=main><div class=breadcrumb><a href=/>Home</a> » <a href=/f>Forums</a></div>\
         <div class=node><h3 class=title>Ledges in the north</h3><div class=content>{}</div></div><div id=comments>{posts}</div></div></div>",
        prose(1)
    );
    let text = kept(&html);
    let lost: Vec<usize> = (10..90).filter(|number| !text.contains(&format!("number{number} "))).collect();
    assert!(lost.is_empty(), "lost {lost:?}");
    assert!(text.contains("Ledges in the north"), "the title");
}

#[test]
fn a_title_that_is_no_h1_is_kept() {
    for title in [
        "<header><h2>On the ledges of Noss</h2></header>",
        "<div class=section_title>On the ledges of Noss</div>",
    ] {
        let html = format!(
            "<title>On the ledges of Noss | Seabird blog</title><nav><a href=/>Seabird blog</a><a href=/about>About us</a></nav>\
             <section>{title}<div class=post>{}</div></section>",
            prose(4)
        );
        assert!(kept(&html).contains("On the ledges of Noss"), "{title}");
    }
}

#[test]
fn the_menu_of_a_short_page_is_not_kept() {
    let chapters: String =
        repeat(60, |at| format!("<li class=chapter-item><a href=ch{at}.html>Chapter number{at}</a></li>"));
    let html = format!(
        "<title>Getting started - The gannet book</title><nav id=sidebar class=sidebar><ol class=chapter>{chapters}</ol></nav>\
         <div id=page-wrapper><div id=content><main><h1>Getting started</h1><p>Let us begin the journey. There is a lot to learn, \
         but every journey starts somewhere. In this chapter we look at:</p><ul><li>Finding a ledge above the sea</li>\
         <li>Building a nest of weed</li></ul></main></div></div>"
    );
    let text = kept(&html);
    assert!(text.contains("begin the journey") && text.contains("nest of weed"), "{text}");
    assert!(!text.contains("number7"), "{text}");
}

#[test]
fn a_chapter_that_is_a_list_of_links_keeps_them() {
    let sections: String =
        repeat(6, |at| format!("<li><a href=/s/{at}>§ 7–{at}. Duties of the keeper.</a></li>"));
    let html = format!(
        "<title>Chapter 24A. Keepers of seabirds | Law library</title><header><a href=/ class=logo><img src=seal.png></a></header>\
         <nav aria-label=Breadcrumb><ul><li><a href=/>Law library</a></li><li><a href=/7>Title 7</a></li></ul></nav>\
         <main><div>Code of the islands</div><article class=content><h1>Chapter 24A. Keepers of seabirds</h1>\
         <nav class=toc><ul class=toc__menu>{sections}</ul></nav></article></main>\
         <nav><a href=/24>Previous</a> <a href=/25>Next</a></nav>"
    );
    let text = kept(&html);
    assert!(text.contains("§ 7–1.") && text.contains("§ 7–5."), "{text}");
    assert!(!text.contains("Previous"), "{text}");
}

#[test]
fn the_logo_is_left_out_of_every_kind_of_header() {
    let headers = [
        "<header><a href=/><img src=logo.png alt='Seabird news'></a></header>",
        "<header class=site-header><div class=brand><img src=logo.svg alt=Seabirds></div><nav><a href=/a>About</a></nav></header>",
        "<div id=header><a href='https://birds.example/'><img src=head.png alt='Seabird news'></a></div>",
        "<div class=navbar><a class=navbar-brand href=/><img src=brand.png></a><ul><li><a href=/a>About</a></ul></div>",
        "<table><tr><td><a href=index.html><img src=top.gif></a><td><a href=/a>About</a></table>",
        "<div class=logo><img src=birds.png alt=Seabirds></div>",
        "<h1 class=site><a href=/><img src=name.png alt='Seabird news'></a></h1>",
        "<div class=top><div><div><div><img src=banner.jpg alt=''></div></div></div></div>",
        "<div role=banner><picture><source srcset=l.webp><img src=birds.png alt='Seabird news'></picture></div>",
        "<nav><img src=birds.png alt='Seabird news'><a href=/a>About</a></nav>",
    ];
    for header in headers {
        let html = format!(
            "<title>On ledges</title><body>{header}<div class=page><div class=story><h2>On ledges</h2>{}\
             <p><img src=ledge.jpg alt='A ledge'></p>{}</div></div><footer><img src=logo-small.png> © 2026</footer>",
            prose(3),
            prose(2)
        );
        assert_eq!(kept_pictures(&html), ["ledge.jpg"], "{header}");
    }
}

#[test]
fn pictures_of_the_article_stay() {
    let html = format!(
        "<title>On ledges</title><header><a href=/><img src=logo.png></a></header><main><article><figure><img src=lead.jpg></figure>\
         <h1>On ledges</h1>{}<img src=middle.jpg>{}<figure><img src='new-logo.png'></figure>{}\
         </article></main>",
        prose(2),
        prose(2),
        prose(2)
    );
    assert_eq!(kept_pictures(&html), ["lead.jpg", "middle.jpg", "new-logo.png"]);
}

#[test]
fn what_follows_the_last_paragraph_in_another_template_is_not_the_article() {
    let card = |at: usize| {
        format!(
            "<div class=card><a href=/s{at}><img src=c{at}.jpg></a><h3><a href=/s{at}>Puffins seen in number{at} places</a></h3>\
             <span class=time>{at} hours ago</span></div>"
        )
    };
    let cards: String = (2..8).map(card).collect();
    let comment = "<li class=comment><b>Ann</b><p>What a lovely bird this is, I saw one from the ferry myself.</p></li>";
    let html = format!(
        "<title>Gannets return | Seabird news</title><meta property=og:type content=article>\
         <header><nav><a href=/>Home</a><a href=/news>News</a></nav></header><main><article><h1>Gannets return</h1>\
         <div class=article-body>{}</div></article><section class=more><h2>Most popular</h2>{cards}</section>\
         <section id=comments><h2>Comments</h2><ul>{}</ul></section></main><footer>© 2026 Seabird news</footer>",
        prose(6),
        comment.repeat(3)
    );
    let text = kept(&html);
    assert!(text.contains("folds its wings") && text.contains("jumps from the cliff"), "{text}");
    assert!(!text.contains("Most popular") && !text.contains("Puffins seen"), "{text}");
}
