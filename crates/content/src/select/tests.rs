//! What must hold for every page, and pages in several languages made for the purpose.

use super::*;
use html::dom::NodeId;

pub(super) fn parse(html: &str) -> Dom {
    Dom::parse(html, &Limits::default())
}

pub(super) fn kept(html: &str) -> String {
    let dom = parse(html);
    let selection = main_content(&dom, &SelectOptions::default());
    kept_text(&dom, &selection)
}

/// A page in the usual shape: menu, article of `paragraphs`, related links, footer.
fn page(title: &str, menu: &[&str], paragraphs: &[&str], footer: &str) -> String {
    let menu = menu
        .iter()
        .fold(String::new(), |all, entry| all + &format!("<li><a href='/{entry}'>{entry}</a></li>"));
    let body = paragraphs.iter().fold(String::new(), |all, text| all + &format!("<p>{text}</p>\n"));
    format!(
        "<!doctype html><title>{title}</title><header class='site-header'><nav class='main-menu'><ul>{menu}</ul></nav></header>\
         <main><article class='post'><h1 class='post-title'>{title}</h1><div class='post-content'>{body}</div></article></main>\
         <footer class='site-footer'><p>{footer}</p><ul>{menu}</ul></footer>"
    )
}

#[test]
fn english() {
    let html = page(
        "How gannets dive",
        &["Home", "Shop", "Login", "Newsletter"],
        &[
            "A gannet folds its wings a moment before it meets the water, and by then it is falling at a hundred kilometres an hour.",
            "Air sacs under the skin of the face and chest take the blow, much as packing does in a parcel.",
            "Most dives are short, because the bird is so light that the sea pushes it back up within seconds.",
        ],
        "© 2026 Seabird News. All rights reserved. Privacy policy",
    );
    let text = kept(&html);
    assert!(
        text.contains("folds its wings") && text.contains("Air sacs") && text.contains("Most dives"),
        "{text}"
    );
    assert!(!text.contains("All rights reserved") && !text.contains("Newsletter"), "{text}");
}

#[test]
fn german() {
    let html = page(
        "Der Basstölpel",
        &["Startseite", "Warenkorb", "Anmelden", "Kontakt"],
        &[
            "Der Basstölpel brütet in großen Kolonien an steilen Felsen, und jedes Paar kehrt Jahr für Jahr an denselben Platz zurück.",
            "Im Sommer fliegen die Vögel bis zu dreihundert Kilometer weit, um Makrelen und Heringe für ihr einziges Junges zu fangen.",
            "Nach etwa neunzig Tagen springt das Junge vom Felsen ins Meer, obwohl es noch gar nicht richtig fliegen kann.",
        ],
        "Impressum Datenschutz AGB © 2026",
    );
    let text = kept(&html);
    assert!(
        text.contains("steilen Felsen") && text.contains("Makrelen") && text.contains("neunzig Tagen"),
        "{text}"
    );
    assert!(!text.contains("Warenkorb"), "{text}");
}

#[test]
fn japanese() {
    let html = page(
        "カツオドリの生態",
        &["ホーム", "ニュース", "ログイン", "お問い合わせ"],
        &[
            "カツオドリは海の上を低く飛びながら魚の群れを探し、見つけると翼をたたんで水面に飛び込みます。",
            "巣は断崖の上に作られ、親鳥は交代で卵を温めます。ひなは約三か月で巣立ちを迎えます。",
            "近年は海水温の上昇により、餌となる魚の分布が変わり、繁殖に影響が出ていると研究者は述べています。",
        ],
        "© 2026 海鳥通信 無断転載を禁じます",
    );
    let text = kept(&html);
    assert!(
        text.contains("翼をたたんで") && text.contains("断崖の上") && text.contains("海水温の上昇"),
        "{text}"
    );
    assert!(!text.contains("ログイン"), "{text}");
}

#[test]
fn arabic() {
    let html = page(
        "طائر الأطيش",
        &["الرئيسية", "الأخبار", "اتصل بنا", "تسجيل الدخول"],
        &[
            "يعيش طائر الأطيش في مستعمرات كبيرة على المنحدرات الصخرية، ويعود كل زوج إلى المكان نفسه عاما بعد عام.",
            "يطير الطائر مسافات طويلة بحثا عن الأسماك، ثم يطوي جناحيه ويغوص في الماء بسرعة كبيرة جدا.",
            "بعد ثلاثة أشهر يقفز الفرخ من الصخرة إلى البحر، وهو لا يزال غير قادر على الطيران جيدا.",
        ],
        "جميع الحقوق محفوظة © 2026",
    );
    let text = kept(&html);
    assert!(
        text.contains("المنحدرات الصخرية") && text.contains("يطوي جناحيه") && text.contains("ثلاثة أشهر"),
        "{text}"
    );
    assert!(!text.contains("تسجيل الدخول"), "{text}");
}

#[test]
fn text_served_for_readers_without_scripts_is_content() {
    let post = "<div class='topic-body crawler-post'><div class='post' itemprop='text'><p>Reply number 1: I have kept bees \
         on the roof for three summers now, and the trick is to give them water early, before they find the neighbours' \
         pond and make enemies for you.</p></div></div>";
    let posts: String =
        ["number 1", "number 2", "number 3", "number 4"].map(|n| post.replace("number 1", n)).concat();
    let html = format!(
        "<title>Bees on a roof - Forum</title><body><noscript data-path='/t/bees/1'><header><a href='/'>Forum</a></header>\
         <div id='main-outlet' class='wrap'><div itemscope itemtype='http://schema.org/DiscussionForumPosting'>{posts}</div></div>\
         <footer><nav><a href='/tos'>Terms of Service</a></nav></footer></noscript>"
    );
    let text = kept(&html);
    assert!(text.contains("Reply number 1") && text.contains("Reply number 4"), "{text}");
}

#[test]
fn images_and_marks_go_with_their_text() {
    let html = page(
        "Ringing gannets",
        &["Home", "About"],
        &[
            "Each ring carries a number that is read again when the bird is found, sometimes decades later and an ocean away. \
             <img src='ring.jpg' alt='A ring'>",
            "Ringers work in pairs: one holds the bird, the other reads the number aloud and writes it down at once.",
            "The oldest bird on record wore its ring for thirty-seven years, five months and sixteen days before it was seen last.",
        ],
        "© 2026 <img src='logo.png'>",
    );
    let dom = parse(&html);
    let selection = main_content(&dom, &SelectOptions::default());
    let images: Vec<&str> = selection
        .keep
        .iter()
        .filter(|&node| dom.tag(node) == Tag::Img)
        .filter_map(|node| dom.attr(node, html::dom::Attr::Src))
        .collect();
    assert_eq!(images, ["ring.jpg"]);
}

#[test]
fn only_allowed_nodes_are_chosen() {
    let html = page(
        "Allowed",
        &["Home"],
        &[
            "The first paragraph of this page is long enough to be taken for what it is, a paragraph of running text.",
            "The second paragraph is just as long and would be chosen too, were it not for the caller who excluded it.",
        ],
        "footer",
    );
    let dom = parse(&html);
    let mut allowed = NodeSet::all(&dom);
    let paragraphs: Vec<NodeId> = dom.subtree(dom.root()).filter(|&node| dom.tag(node) == Tag::P).collect();
    allowed.remove_subtree(&dom, paragraphs[1]);
    let selection = main_content(&dom, &SelectOptions { allowed: Some(&allowed) });
    let text = kept_text(&dom, &selection);
    assert!(text.contains("first paragraph") && !text.contains("second paragraph"), "{text}");
}

#[test]
fn the_guard_widens_a_choice_that_lost_the_text() {
    let paragraph = "<p>Words of running text that stand in no menu and in no footer, enough of them to make a page rich.</p>";
    let dom = parse(&format!("<nav><a href=a>Menu entry</a></nav><div>{}</div>", paragraph.repeat(20)));
    let outline = Outline::from_dom(&dom);
    let chances: Vec<f32> =
        outline.blocks.iter().map(|block| if block.tally.link_words > 0 { 0.2 } else { 0.1 }).collect();
    let mut none = vec![false; chances.len()];
    assert!(coverage_guard::widen(&outline, &chances, &mut none));
    assert_eq!(none.iter().filter(|kept| **kept).count(), 20, "the menu stays out");
    let mut all: Vec<bool> = outline.blocks.iter().map(|block| block.tally.link_words == 0).collect();
    let before = all.clone();
    assert!(!coverage_guard::widen(&outline, &chances, &mut all));
    assert_eq!(all, before);
}

#[test]
fn a_row_of_a_data_table_is_one_block() {
    let dom = parse(
        "<table><tr><th>Bird</th><th>Span</th></tr><tr><td>Gannet</td><td>1.8<a href=x>m</a></td></tr></table>\
         <table><tr><td><div>Menu</div></td><td><p>Text of a page laid out by a table</p></td></tr></table>",
    );
    let outline = Outline::from_dom(&dom);
    let words: Vec<(u32, u32)> =
        outline.blocks.iter().map(|block| (block.tally.words, block.tally.link_words)).collect();
    assert_eq!(words, [(2, 0), (4, 1), (1, 0), (9, 0)]);
}

#[test]
fn a_page_without_text_gives_nothing() {
    for html in [
        "",
        "<body>",
        "<p> </p><img src=a>",
        "<script>var a = 'text'</script>",
        "<frameset><frame></frameset>",
    ] {
        let dom = parse(html);
        let selection = main_content(&dom, &SelectOptions::default());
        assert!(!selection.widened);
        assert!(selection.keep.iter().all(|node| !dom.is_text(node)), "{html}");
    }
}

/// A stream of tags, texts and broken pieces; `seed` decides all of it.
fn tag_soup(seed: u64) -> String {
    const PIECES: [&str; 34] = [
        "<div class='content post-body'>",
        "</div>",
        "<p>",
        "</p>",
        "<a href=x>",
        "</a>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<ul><li>",
        "</ul>",
        "<h2>",
        "</h2>",
        "<noscript>",
        "</noscript>",
        "<span hidden>",
        "</span>",
        "<pre>  x\n y",
        "</pre>",
        "<b>",
        "<script>a<b</script>",
        "<br>",
        "<img src=a alt=b>",
        " words of text, and more. ",
        "•",
        "東京は",
        "<select><option>one",
        "</select>",
        "<svg><text>t</text></svg>",
        "<template><p>t</template>",
        "<button role=button>Go",
        "\u{0}\u{fffd}&#xD800;",
        "<main><article>",
    ];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut html = String::new();
    for _ in 0..300 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        html.push_str(PIECES[usize::try_from(state % PIECES.len() as u64).unwrap()]);
    }
    html
}

#[test]
fn any_tag_soup_gives_a_repeatable_part_of_the_body() {
    for seed in 1..200 {
        let dom = parse(&tag_soup(seed));
        let once = main_content(&dom, &SelectOptions::default());
        let again = main_content(&dom, &SelectOptions::default());
        assert_eq!(once.keep, again.keep);
        let body = dom.body().unwrap();
        assert!(once.keep.iter().all(|node| dom.contains(body, node)));
        let outline = Outline::from_dom(&dom);
        for element in &outline.elements {
            assert!(
                element.first_block <= element.end_block
                    && element.end_block as usize <= outline.blocks.len()
            );
            assert!(element.end as usize <= outline.elements.len());
        }
        for block in &outline.blocks {
            assert!(block.tally.words > 0 && block.first_text < block.end_text);
        }
    }
}

#[test]
fn the_model_file_fits_the_columns() {
    let ([narrow, wide], fingerprint) = columns();
    let model = Model::parse(MODEL_FILE, fingerprint).expect("trained for these columns");
    assert_eq!(model.widths, [narrow, wide]);
    assert!(MODEL_FILE.len() < 400 << 10, "a few hundred kilobytes at most");
}
