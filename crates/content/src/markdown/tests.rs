mod code;
mod formulas;
mod texts;

use super::*;
use html::dom::Limits;
use url::Url;

fn markdown(body: &str) -> String {
    let dom = Dom::parse(&format!("<!doctype html><body>{body}"), &Limits::default());
    let base = Base::from_dom(&dom, Url::parse("https://ex.org/a/b.html").ok().as_ref());
    let options = MarkdownOptions { base: &base, remove_base64_images: true };
    write_markdown(&dom, &html::visible::visible_nodes(&dom), &options)
}

/// HTML in, markdown out, to the byte.
const CASES: &[(&str, &str)] = &[
    ("<h1>One</h1><h2>Two <em>x</em></h2><h6>Six</h6>", "# One\n\n## Two *x*\n\n###### Six\n"),
    (
        "<h2><a href='#s'>Setup</a> <a class=anchor href='#s'>#</a></h2>",
        "## [Setup](https://ex.org/a/b.html#s)\n",
    ),
    ("<h2></h2><h3><b>Bold</b><br>two #</h3>", "### Bold two \\#\n"),
    ("<h1>##</h1><h2>two ##</h2><h3>C##</h3>", "# \\##\n\n## two \\##\n\n### C##\n"),
    ("<p>a\n   b\t c&nbsp; d</p><p>e</p>", "a b c d\n\ne\n"),
    ("<p>x<b> bold </b>y and <i>it</i>.</p>", "x **bold** y and *it*.\n"),
    ("<p><b>a</b><b>b</b> <b></b><i><i>c</i></i></p>", "**ab** *c*\n"),
    ("<p>x<b>\"q\"</b>y <b>(k)</b> z</p>", "x\"q\"y **(k)** z\n"),
    ("<b><p>one</p><p>two</p></b>", "**one**\n\n**two**\n"),
    ("<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>", "- a\n  - b\n    - c\n- d\n"),
    ("<ol start=3><li>x</li><li value=9>y</li><li>z</ol>", "3. x\n9. y\n10. z\n"),
    ("<ol reversed start=2><li>x<li>y</ol>", "2. x\n1. y\n"),
    ("<ul><li>a<ol><li>one</li><li>two</li></ol></li></ul>", "- a\n  1. one\n  2. two\n"),
    ("<ul><li><p>p1</p><p>p2</p></li><li><p>q</p></li></ul>", "- p1\n\n  p2\n- q\n"),
    ("<ul><li>a</li></ul><ul><li>b</li></ul><p>t", "- a\n\n* b\n\nt\n"),
    ("<ul><li>a</li><ul><li>b</li></ul><li>c</ul>", "- a\n  - b\n- c\n"),
    ("<ul><li></li><li>b</li><li><ul><li>n</ul></ul>", "- b\n- - n\n"),
    (
        "<ol><li>run<pre><code class='language-sh'>ls -l\n\ncd</code></pre></li><li>z</li></ol>",
        "1. run\n\n   ```sh\n   ls -l\n\n   cd\n   ```\n2. z\n",
    ),
    (
        "<ul><li><input type=checkbox checked> done</li><li><input type=checkbox> open</li></ul>",
        "- [x] done\n- [ ] open\n",
    ),
    ("<ul><li>[x] text</ul><p>[x] text", "- \\[x] text\n\n[x] text\n"),
    (
        "<pre><code class='language-rust'>fn main() {\n    a &lt; b;\n}\n</code></pre>",
        "```rust\nfn main() {\n    a < b;\n}\n```\n",
    ),
    (
        "<pre class='highlight python'><span>def</span> <span>f</span>():\n  pass</pre>",
        "```python\ndef f():\n  pass\n```\n",
    ),
    ("<div class='highlight-source-js'><pre>let x = 1;</pre></div>", "```js\nlet x = 1;\n```\n"),
    ("<pre class='brush: php; gutter: true'>echo</pre>", "```php\necho\n```\n"),
    ("<pre>a<br>b<div>c</div><div>d</div></pre>", "```\na\nb\nc\nd\n```\n"),
    ("<pre><code>```\nx\n```</code></pre>", "````\n```\nx\n```\n````\n"),
    (
        "<table><tr><td class=gutter><pre>1\n2</pre><td><pre class=lang-c>int x;\nint y;</pre></table>",
        "```c\nint x;\nint y;\n```\n",
    ),
    ("<p>use <code>a`b</code>, <code>`c</code> <code> </code></p>", "use ``a`b``, `` `c ``\n"),
    ("<p><code>a <b>x</b> *y*</code></p>", "`a x *y*`\n"),
    ("<p><code><a href=/d>f()</a></code></p>", "[`f()`](https://ex.org/d)\n"),
    ("<p><a href='https://x.io/p?q=1&amp;r=2'>t</a></p>", "[t](https://x.io/p?q=1&r=2)\n"),
    (
        "<p><a href=/c/d>t</a><a href=e.html>u</a></p>",
        "[t](https://ex.org/c/d) [u](https://ex.org/a/e.html)\n",
    ),
    ("<p><a href=https://x.io title='A \"tip\"'>t</a></p>", "[t](https://x.io \"A \\\"tip\\\"\")\n"),
    ("<a href=https://x.io><div><h3>Card</h3><p>body</p></div></a>", "### [Card](https://x.io)\n\nbody\n"),
    (
        "<a href=/x><div><img src=/i.png alt=I></div><div>Text</div></a>",
        "![I](https://ex.org/i.png)\n\n[Text](https://ex.org/x)\n",
    ),
    ("<p>a<a href=https://x.io></a>b <a href='javascript:x()'>js</a></p>", "ab js\n"),
    ("<p><a href='https://x.io/a_(b)'>[t]</a>!</p>", "[\\[t\\]](https://x.io/a_%28b%29)!\n"),
    ("<p>wow!<a href=/x>t</a></p>", "wow\\![t](https://ex.org/x)\n"),
    ("<p><a href=/x><b>t</b> </a>u</p>", "[**t**](https://ex.org/x) u\n"),
    ("<p><img src=/i.png alt='A [t]'></p>", "![A \\[t\\]](https://ex.org/i.png)\n"),
    (
        "<p><img src='data:image/gif;base64,R0' data-src=https://x.io/r.jpg alt=A></p>",
        "![A](https://x.io/r.jpg)\n",
    ),
    (
        "<ol><li>a</li>\u{3000}<li>b</li></ol><p>\u{3000}</p><p>\u{3000}c\u{3000}d",
        "1. a\n2. b\n\nc\u{3000}d\n",
    ),
    ("<p>x<img src='data:image/gif;base64,R0' alt=A><img src=/p.gif width=1 height=1></p>", "x\n"),
    ("<img src='data:,x' alt=L><noscript><img src=/r.png alt=R></noscript>", "![R](https://ex.org/r.png)\n"),
    (
        "<a href=/c><img src=/i.png alt='A cliff'></a><h3><a href=/c>Gannets</a></h3><a href=/d><img src=/j.png alt=Sea></a>",
        "[![A cliff](https://ex.org/i.png)](https://ex.org/c)\n\n### [Gannets](https://ex.org/c)\n\n[![Sea](https://ex.org/j.png)](https://ex.org/d)\n",
    ),
    (
        "<a href=https://x.io><img src=https://x.io/i.png alt=A></a>",
        "[![A](https://x.io/i.png)](https://x.io)\n",
    ),
    (
        "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        "| A | B |\n| --- | --- |\n| 1 | 2 |\n",
    ),
    ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n"),
    (
        "<table><tr><th>A</th></tr><tr><td>x|y <code>a|b</code></td></tr></table>",
        "| A |\n| --- |\n| x\\|y `a\\|b` |\n",
    ),
    (
        "<table><tr><th>A</th><th>B</th></tr><tr><td>x<br>y</td><td><p>p</p><p>q</p></td></tr></table>",
        "| A | B |\n| --- | --- |\n| x<br>y | p<br>q |\n",
    ),
    (
        "<table><tr><th colspan=2>H</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "| H |  |\n| --- | --- |\n| 1 | 2 |\n",
    ),
    (
        "<table><tr><th>A<th>B</tr><tr><td rowspan=2>r<td>1</tr><tr><td>2</tr></table>",
        "| A | B |\n| --- | --- |\n| r | 1 |\n|  | 2 |\n",
    ),
    (
        "<table><tr><th style='text-align:right'>A</th><th align=center>B</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "| A | B |\n| ---: | :---: |\n| 1 | 2 |\n",
    ),
    ("<table><tr><td><table><tr><td>in</td></tr></table></td><td>out</td></tr></table>", "in\n\nout\n"),
    ("<table><caption>Cap</caption><tr><th>A<tr><td>1</table>", "Cap\n\n| A |\n| --- |\n| 1 |\n"),
    ("<p>a<table><tr><th></table><p>b", "a\n\nb\n"),
    ("<ul><li>t<table><tr><th>A<tr><td>1</table></ul>", "- t\n\n  | A |\n  | --- |\n  | 1 |\n"),
    ("<blockquote><p>a</p><p>b</p></blockquote><p>c", "> a\n>\n> b\n\nc\n"),
    ("<p>x<blockquote>a<ul><li>i</ul></blockquote><blockquote>b</blockquote>", "x\n\n> a\n>\n> - i\n\n> b\n"),
    ("<p>a<br>b<br></p><hr><p>c<br><br>d</p>", "a  \nb\n\n---\n\nc\n\nd\n"),
    ("<p><del>x</del> <s>y</s></p>", "~~x~~ ~~y~~\n"),
    (
        "<p>1. not list * a_b_c # h</p><p># nohead</p><p>+ x</p>",
        "1\\. not list * a_b_c # h\n\n\\# nohead\n\n\\+ x\n",
    ),
    (
        "<p>*a* _b_ `c` [d](e) &lt;i> &amp;amp; \\* ~~s~~</p>",
        "\\*a\\* \\_b\\_ \\`c\\` [d\\](e) \\<i> \\&amp; \\\\\\* \\~\\~s\\~\\~\n",
    ),
    ("<p>---</p><p>a<br>===</p><p>> q</p><p>- x</p>", "\\---\n\na  \n\\===\n\n\\> q\n\n\\- x\n"),
    ("<p>&amp;lt; &copy; &#8212; R&amp;D</p>", "\\&lt; © — R&D\n"),
    (
        "<style>p{}</style><script>var q=1</script><noscript>ns</noscript><p>t</p><svg><title>icon</title></svg>",
        "t\n",
    ),
    (
        "<dl><dt>T</dt><dd>D</dd><dd>E</dd><dt>U</dt><dd><p>F</p><p>G</p></dd></dl>",
        "T\n: D\n: E\n\nU\n: F\n\n  G\n",
    ),
    (
        "<figure><img src=https://x.io/i.png alt=A><figcaption>Cap</figcaption></figure><p>n",
        "![A](https://x.io/i.png)\n\n*Cap*\n\nn\n",
    ),
    (
        "<p><math><semantics><mi>x</mi><annotation encoding='application/x-tex'>{\\displaystyle x^2}</annotation></semantics></math></p>",
        "$x^2$\n",
    ),
    ("<p>a <script type='math/tex; mode=display'>y_1</script></p>", "a $$y_1$$\n"),
    ("<details><summary>S</summary><p>body</p></details>", "**S**\n\nbody\n"),
    ("<div>a</div><div>b</div><span>c</span><span>d</span>", "a\n\nb\n\ncd\n"),
    (
        "<p>x</p><select><option>o1<option>o2</select><p>y <button>B</button><button>C</button></p>",
        "x\n\ny B C\n",
    ),
    (
        "<p>E=mc<sup>2</sup>, the 1<sup>st</sup>, H<sub>2</sub>O, x<sup><a href=/n>n</a></sup></p>",
        "E=mc^2, the 1st, H2O, x[n](https://ex.org/n)\n",
    ),
    (
        "<p>t<sup><a href='#fn1' id=fnref1>1</a></sup>.</p><ol><li id=fn1><p>Note <a href='#fnref1'>↩</a></p></li></ol>",
        "t[^1].\n\n[^1]: Note\n",
    ),
    ("<p><q>so</q> <x-a>one</x-a><x-a>two</x-a></p>", "“so” one two\n"),
    ("", ""),
];

#[track_caller]
fn assert_cases(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (html, expected) in cases {
        let written = markdown(html);
        if written != *expected {
            wrong.push(format!("{html}\n  expected {expected:?}\n  written  {written:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn cases() {
    assert_cases(CASES);
}

#[test]
fn base64_images_stay_when_asked() {
    let dom = Dom::parse("<img src='data:image/png;base64,AAAA' alt=A>", &Limits::default());
    let base = Base::from_dom(&dom, None);
    let options = MarkdownOptions { base: &base, remove_base64_images: false };
    assert_eq!(write_markdown(&dom, &NodeSet::all(&dom), &options), "![A](data:image/png;base64,AAAA)\n");
}

#[test]
fn only_kept_nodes_are_written() {
    let dom = Dom::parse("<p>one</p><div><p>two <b>three</b></p></div>", &Limits::default());
    let base = Base::from_dom(&dom, None);
    let mut keep = NodeSet::new(&dom);
    for id in dom.subtree(dom.root()).filter(|&id| matches!(dom.text(id), "three")) {
        keep.insert(id);
    }
    let options = MarkdownOptions { base: &base, remove_base64_images: true };
    assert_eq!(write_markdown(&dom, &keep, &options), "**three**\n");
}

#[test]
fn depth_does_not_multiply_output() {
    let html = "<blockquote><ul><li>".repeat(150) + &"<p>x".repeat(1000);
    let written = markdown(&html);
    assert!(written.len() < 1000 * 120, "{}", written.len());
}
