"""Text that tries to break out of Markdown, and Markdown read as the book reads it."""

from hypothesis import strategies as st
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

#: Markup, directives, roles, links, fences, comments, quotes, control characters.
HOSTILE = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="`:{}[]()<>*_#|\\$~!&;=-+.\"'\n\t 1aé", max_size=60),
    st.sampled_from(
        [
            "#1",
            "a #b",
            "$$",
            "`x`",
            ":::\n# x",
            "```\n# x",
            "1. a",
            "&lt;",
            "<script>",
            "{raw}`x`",
            "'\"",
        ]
    ),
)
_EXTENSIONS = {
    "amsmath",
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
    "substitution",
}
PARSER = create_md_parser(MdParserConfig(enable_extensions=_EXTENSIONS), RendererHTML)
render = PARSER.parse
