//! Formulas as renderers want or leave them.

use super::assert_cases;

#[test]
fn sources_of_renderers() {
    assert_cases(&[
        (
            "<p>so:</p><script type='math/tex; mode=display'>\n\\begin{matrix} a & b \\\\ % top\n c & d \\end{matrix}\n</script><p>and</p>",
            "so:\n\n$$\\begin{matrix} a & b \\\\ c & d \\end{matrix}$$\n\nand\n",
        ),
        ("<p>a <script type='math/tex'>x_1*y</script> b</p>", "a $x_1*y$ b\n"),
        (
            "<p>a <span class=MathJax_Preview>x1</span><span class=MathJax id=M-1-Frame><nobr>x1</nobr></span><script type=math/tex id=M-1>x_1</script></p>",
            "a $x_1$\n",
        ),
        (
            "<p><span class=katex-display><span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation encoding=application/x-tex>x_1</annotation></semantics></math></span><span class=katex-html><span>x</span>1</span></span></span></p>",
            "$$x_1$$\n",
        ),
        (
            "<p><span class=mwe><math><semantics><mi>x</mi><annotation encoding=application/x-tex>{\\displaystyle x_1}</annotation></semantics></math><img class=mwe-math-fallback-image-inline src=/x.svg alt='{\\displaystyle x_1}'></span>.</p>",
            "$x_1$.\n",
        ),
    ]);
}

#[test]
fn elements_for_renderers() {
    assert_cases(&[
        (
            "<p>of <span class='math notranslate nohighlight'>\\(G_{n,p}\\)</span>.</p><div class='math notranslate nohighlight'>\n\\[a_1 *\nb_1\\]</div>",
            "of $G_{n,p}$.\n\n$$a_1 * b_1$$\n",
        ),
        ("<p><span class=arithmatex>\\(a\\)</span><span class=arithmatex>\\(b\\)</span></p>", "$a$ $b$\n"),
        ("<p class=math>The lesson of the day</p>", "The lesson of the day\n"),
    ]);
}

#[test]
fn formulas_in_the_text_of_pages_that_render_them() {
    let page = "<script src=https://x.io/mathjax@3/tex-chtml.js></script>";
    let with = |html: &str| super::markdown(&format!("{page}{html}"));
    assert_eq!(with("<p>if \\(a_{1} * b\\) or $c_{2}*$, $5</p>"), "if $a_{1} * b$ or $c_{2}*$, \\$5\n");
    assert_eq!(with("<p>\\[ x_{1} \\]</p><p>$5 or $6</p>"), "$$x_{1}$$\n\n$5 or $6\n");
    assert_eq!(
        with("<table><tr><th>A<th>B<tr><td>$|a|$<td>b</table>"),
        "| A | B |\n| --- | --- |\n| $\\vert a\\vert$ | b |\n"
    );
    // Without a renderer the signs are text.
    assert_cases(&[("<p>\\(a_{1}\\) $c_{2}*$</p>", "\\\\(a\\_{1}\\\\) $c\\_{2}\\*$\n")]);
}
