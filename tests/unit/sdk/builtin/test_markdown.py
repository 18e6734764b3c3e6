"""What becomes of a page: its meaning stays, its machinery goes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.sdk.builtin.isolated.markdown import to_markdown


def converted(html: str) -> str:
    return to_markdown(html, "https://ex.org/dir/page", 10_000)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>Title</h2>text", "## Title\n\ntext"),
        ("<p>one\n two</p><p>three", "one two\n\nthree"),
        ("a<br>b<hr>c", "a\nb\n\n---\n\nc"),
        ("x <b>bold</b> and <i> it </i>.", "x **bold** and *it* ."),
        ("<b></b>x<b> </b>", "x"),
        ("<b>one<p>two</b>", "one\n\ntwo"),
        ('<a href="/x">A</a> <a href="y y">B</a>', "[A](https://ex.org/x) [B](https://ex.org/dir/y%20y)"),
        ('<a href="#top">top</a> <a href="javascript:x()">js</a> <a>none</a>', "top js none"),
        ('<a href="/x"><h3>Block</h3></a>', "[### Block](https://ex.org/x)"),
        ('<img alt="A picture" src="p.png"><img src="q.png">', "![A picture](https://ex.org/dir/p.png)"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>d", "- a\n- b\n  - c\n\nd"),
        ('<ol start="3"><li><p>a</p></li><li>b</ol>', "3. a\n\n4. b"),
        ("<ul><li></li></ul><p>x</p>", "x"),
        ("<blockquote>q<p>r</p></blockquote>s", "> q\n\n> r\n\ns"),
        ("<code>a &lt; b</code>", "`a < b`"),
        (
            '<pre><code class="language-py">if x:\n    y\n</code></pre>z',
            "```py\nif x:\n    y\n```\n\nz",
        ),
        ("<pre>a</pre><pre>b", "```\na\n```\n\n```\nb"),
        (
            "<table><tr><th>n<th>v|x</tr><tr><td>1<td><p>a</p><p>b</p></table>c",
            "| n | v\\|x |\n| --- | --- |\n| 1 | a b |\n\nc",
        ),
        ("a<script>x</script><style>y</style><noscript>z</noscript><svg><text>w</text></svg>b", "ab"),
        ('<div hidden>no</div><p style="display: none">no</p>yes', "yes"),
        ("<head><title>T</title><body>x", "# T\n\nx"),
        ("<title>T</title><nav>n</nav><h1>T</h1>x", "n\n\n# T\n\nx"),
        ("&amp;lt; &#x41; &nosuch;", "&lt; A &nosuch;"),
        ("", ""),
        ("<a href='https://[bad'>x</a>", "x"),
    ],
)
def test_a_page_becomes_markdown(html: str, markdown: str):
    assert converted(html) == markdown


def test_a_long_page_is_cut():
    assert to_markdown("<p>" + "x " * 10_000, "https://ex.org", 100).endswith("… [the page goes on]")


@given(
    st.lists(
        st.sampled_from(
            "<b> </b> <a href=x> </a> <p> </p> <ul> </ul> <ol> <li> </li> <pre> </pre> <code> </code> <table> </table> "
            "<tr> </tr> <td> </td> <blockquote> </blockquote> <h1> </h1> <div hidden> </div> <script> </script> text "
            "<br> <img alt=i> <title> </title> <svg> </svg> <hr>".split()
        ),
        max_size=40,
    )
)
def test_no_jumble_of_tags_breaks_it(tags: list[str]):
    converted(" ".join(tags))
