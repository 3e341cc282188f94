//! Terms, furniture of headings and signatures, empty cells, pictures.

use super::assert_cases;

#[test]
fn a_definition_needs_its_term() {
    assert_cases(&[
        // A list of attachments: the term is a picture that is not shown.
        (
            "<p>Doc.</p><dl class=file><dt><span class=icon></span></dt><dd><img src=/a.png alt=map></dd><dd>map.png (12 KiB)</dd></dl>",
            "Doc.\n\n![map](https://ex.org/a.png)\n\nmap.png (12 KiB)\n",
        ),
        (
            "<dl><dd>alone</dd><dt>T</dt><dd>D</dd></dl><p>x</p><dl><dd>y</dd></dl>",
            "alone\n\nT\n: D\n\nx\n\ny\n",
        ),
        ("<dl><dt><pre>code</pre></dt><dd>D</dd></dl>", "```\ncode\n```\n\nD\n"),
        ("<dl><dt>T</dt><dd><dl><dt>U</dt><dd>E</dd></dl></dd><dd>F</dd></dl>", "T\n: U\n  : E\n: F\n"),
    ]);
}

#[test]
fn parts_of_a_term_do_not_run_together() {
    assert_cases(&[
        (
            "<dl><dt><strong>n</strong><span class=classifier>int</span></dt><dd>D</dd></dl>",
            "**n** : int\n: D\n",
        ),
        ("<dl><dt><code>n</code><em>int</em></dt><dd>D</dd></dl>", "`n` *int*\n: D\n"),
        ("<dl><dt><b>f</b><span>(</span><em>x</em><span>)</span></dt><dd>D</dd></dl>", "**f**(*x*)\n: D\n"),
        ("<p><b>un</b><span>likely</span></p>", "**un**likely\n"),
    ]);
}

#[test]
fn furniture_of_headings_and_signatures() {
    assert_cases(&[
        (
            "<dl><dt>f(x) <a class='reference internal' href=/src><span class=viewcode-link>[source]</span></a><a class=headerlink href='#f' title='Link to this definition'>¶</a></dt><dd>D</dd></dl>",
            "f(x)\n: D\n",
        ),
        ("<h2>Title<a class=headerlink href='#t'>\u{f0c1}</a></h2>", "## Title\n"),
        (
            "<h2>Title<span class=mw-editsection><span>[</span><a href=/e>edit</a><span>]</span></span></h2>",
            "## Title\n",
        ),
        (
            "<section><a class='srclink rightside' href=/s>source</a><h4>fn f()</h4></section>",
            "#### fn f()\n",
        ),
        ("<p class=rubric>Notes<a class=headerlink href='#n'>¶</a></p>", "Notes\n"),
        (
            "<p>The <a href=/s>source</a>, and <a href='#n'>#</a></p>",
            "The [source](https://ex.org/s), and [#](https://ex.org/a/b.html#n)\n",
        ),
        ("<h2><a href=/s>Source</a></h2>", "## [Source](https://ex.org/s)\n"),
    ]);
}

#[test]
fn a_cell_that_only_looks_empty() {
    assert_cases(&[
        (
            "<table><tr><th>A<th>B<tr><td>x<td><i class=icon title=yes></i><tr><td>y<td><input type=checkbox checked></table>",
            "| A | B |\n| --- | --- |\n| x | yes |\n| y | [x] |\n",
        ),
        (
            "<table><tr><th>A<th>B<tr><td>x<td><button title=Sort></button></table>",
            "| A | B |\n| --- | --- |\n| x |  |\n",
        ),
    ]);
}

#[test]
fn a_picture_keeps_its_text_unless_the_caption_repeats_it() {
    assert_cases(&[
        (
            "<figure><img src=/i.png alt='A gannet dives'><figcaption>A <b>gannet</b>  dives</figcaption></figure>",
            "![](https://ex.org/i.png)\n\n*A **gannet** dives*\n",
        ),
        (
            "<figure><img src=/i.png alt='A gannet'><figcaption>A gannet dives</figcaption></figure>",
            "![A gannet](https://ex.org/i.png)\n\n*A gannet dives*\n",
        ),
        (
            "<a href=/c><img src=/i.png alt=Gannets></a><h3>Gannets</h3><p>Gannets dive. Gannets</p>",
            "[![](https://ex.org/i.png)](https://ex.org/c)\n\n### Gannets\n\nGannets dive. Gannets\n",
        ),
    ]);
}

#[test]
fn boxes_side_by_side_do_not_run_into_one_word() {
    assert_cases(&[
        ("<div><span class=label-room>Room</span><span>RB105</span></div>", "Room RB105\n"),
        ("<div><span>by</span><span class=speaker>Ant</span></div>", "by Ant\n"),
        ("<div><span class=state>尚有空位</span><span class=room>RB105</span></div>", "尚有空位 RB105\n"),
        ("<div><span class=speaker>Wasi</span><span class=speaker>陳家榜</span></div>", "Wasi 陳家榜\n"),
        ("<h6><span class='chip chip-today'>Heute</span>Donnerstag</h6>", "###### Heute Donnerstag\n"),
        ("<li>Donnerstag<span class=badge>heute</span></li>", "- Donnerstag heute\n"),
        // One word, a sign, prose: as they are.
        ("<div><span class=c1>G</span><span class=c2>Annet</span></div>", "GAnnet\n"),
        ("<div><span class=s1>gan</span><span class=s2>nets</span></div>", "gannets\n"),
        ("<div><span class=int>12</span><span class=unit>%</span></div>", "12%\n"),
        ("<p><span class=a>Java</span><span class=b>Script</span></p>", "JavaScript\n"),
        ("<div><span>Java</span><span>Script</span></div>", "JavaScript\n"),
    ]);
}

#[test]
fn a_custom_element_with_an_address_is_a_link() {
    assert_cases(&[
        (
            "<p>Read <x-link href='/a/c'>the recipe</x-link>, then <x-link>more</x-link>.</p>",
            "Read [the recipe](https://ex.org/a/c), then more .\n",
        ),
        ("<x-card href=/card><a href=/inner>Inner</a></x-card>", "[Inner](https://ex.org/inner)\n"),
        ("<p><x-link href='javascript:x()'>js</x-link></p>", "js\n"),
    ]);
}
