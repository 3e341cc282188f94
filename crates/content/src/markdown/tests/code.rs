//! Code as highlighters mark it up.

use super::assert_cases;

#[test]
fn a_line_in_an_element_is_a_line() {
    assert_cases(&[
        // The style sheet breaks the lines.
        (
            "<pre class=language-tsx><code><span class=token-line>a</span><span class=token-line>  b</span></code></pre>",
            "```tsx\na\n  b\n```\n",
        ),
        // An empty line, with nothing in it and with its own break.
        (
            "<pre><span class=line>a</span><span class=line></span><span class=line>b</span></pre>",
            "```\na\n\nb\n```\n",
        ),
        (
            "<pre><code><span class='codeLine_x7Y'>a</span><span class='codeLine_x7Y'>\n</span><span class='codeLine_x7Y'>b</span></code></pre>",
            "```\na\n\nb\n```\n",
        ),
        // Breaks in the text as well are not doubled.
        (
            "<pre><span class=line>a</span>\n<span class=line></span>\n<span class=line>b</span>\n</pre>",
            "```\na\n\nb\n```\n",
        ),
        ("<pre><span class=line>a</span><br><span class=line>b</span><br></pre>", "```\na\nb\n```\n"),
        ("<pre><ol><li>a</li><li></li><li>b</li></ol></pre>", "```\na\n\nb\n```\n"),
        (
            "<pre><div class=row><div class=line>a</div></div><div class=row><div class=line>b</div></div></pre>",
            "```\na\nb\n```\n",
        ),
        (
            "<pre><span style='display: block'>a</span><span style='display: block'>b</span></pre>",
            "```\na\nb\n```\n",
        ),
        ("<pre>a\n<div>b</div>\n\nc<div>d</div>e</pre>", "```\na\nb\n\nc\nd\ne\n```\n"),
        ("<pre><code>a</code><code>b</code></pre>", "```\na\nb\n```\n"),
        // Names that only look like it.
        (
            "<pre>x <span class=line>y</span> <span class=inline>z</span><span class=line-through>w</span></pre>",
            "```\nx y zw\n```\n",
        ),
    ]);
}

#[test]
fn line_numbers_are_left_out() {
    assert_cases(&[
        (
            "<pre><code><span class=line><span class='blockLineNumber_q1'><span>1</span></span>a</span><span class=line><span class='blockLineNumber_q1'><span>2</span></span>b</span></code></pre>",
            "```\na\nb\n```\n",
        ),
        ("<pre><span class=linenos>1</span>a\n<span class=linenos>2</span>b</pre>", "```\na\nb\n```\n"),
        ("<pre><span class=ln>1</span>a = 1\n<span class=ln>2</span>b</pre>", "```\na = 1\nb\n```\n"),
        ("<div class=gutter><pre>1\n2</pre></div><div class=code><pre>a\nb</pre></div>", "```\na\nb\n```\n"),
        (
            "<pre><code><table><tr><td class='hljs-ln-line hljs-ln-numbers'>1</td><td class=hljs-ln-line>a</td></tr><tr><td class='hljs-ln-line hljs-ln-numbers'>2</td><td class=hljs-ln-line>b</td></tr></table></code></pre>",
            "```\na\nb\n```\n",
        ),
        // A number that is code.
        (
            "<pre>x = <span class=number>1</span>\n<span class=line-number>y</span></pre>",
            "```\nx = 1\ny\n```\n",
        ),
    ]);
}

#[test]
fn the_language_is_where_the_page_names_it() {
    assert_cases(&[
        (
            "<pre><pre class=playground><code class='language-rust editable'>x</code></pre></pre>",
            "```rust\nx\n```\n",
        ),
        ("<pre><code class='language-rust,ignore'>x</code></pre>", "```rust\nx\n```\n"),
        (
            "<figure class='highlight sql'><table><tr><td class=gutter><pre>1</pre><td class=code><pre>x</pre></table></figure>",
            "```sql\nx\n```\n",
        ),
        (
            "<div class='highlight-python3 notranslate'><div class=highlight><table><tr><td class=linenos><pre>1</pre><td class=code><div><pre>x</pre></div></table></div></div>",
            "```python3\nx\n```\n",
        ),
        ("<pre lang=ruby>x</pre><pre lang=en>y</pre>", "```ruby\nx\n```\n\n```\ny\n```\n"),
        (
            "<div class=lang-en><pre>x</pre></div><div class=highlight-default><pre>y</pre></div>",
            "```\nx\n```\n\n```\ny\n```\n",
        ),
    ]);
}

#[test]
fn spaces_at_the_edges_of_code_stay() {
    assert_cases(&[
        ("<pre>\n  a  \n    b  \n</pre>", "```\n  a  \n    b  \n```\n"),
        ("<pre>\n\n\na\n\n</pre><pre> \n </pre>", "```\na\n```\n"),
    ]);
}
