"""Keep the book on its own host, quick to open, and valid HTML.

Thebe, an extension of Jupyter Book that would fetch scripts from a CDN, is removed. Scripts are deferred, and pictures
are loaded when a reader comes near them, into boxes of their size. A picture that is both shown and offered for
download is stored once. Icons are embedded in the style sheet, as a browser may refuse to load a font for a page opened
from disk. The script that draws icons, source maps, translations and fonts for old browsers are left out.
"""

import base64
import json
import re
import shutil
import zlib
from pathlib import Path

from docutils import nodes

_ICONS = "../vendor/fontawesome/webfonts/fa-solid-900.woff2"
#: Scripts that inline scripts depend on, and that therefore are not deferred.
_AT_ONCE = ("documentation_options.js", "doctools.js")
#: The page at the address of the folder, which redirects to the first page.
_INDEX = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="refresh" content="0; url={page}"><link rel="canonical" href="{page}"></head>
<body><p><a href="{page}">{title}</a></p></body></html>
"""
#: Topics of pages: the search ranks a page first if all words of a query are among them (page.js).
_KEYWORDS = {
    "about": "about cite citation bibtex license licence copyright",
    "notebooks/01_identification": "how was the data obtained limitations provenance reconstruction caveats",
    "notebooks/04_accuracy": "figure 1 3 4 5 6 7 figures wilson interval accuracy by level",
    "notebooks/05_glm": "table 2 ecl50 nt50 id50 capacity point points coefficients",
    "notebooks/06_interactions": "table 3 interactions product products",
    "notebooks/07_aic": "table 6 aic u shape trough needle ratio",
    "notebooks/08_errors": "table 4 5 error errors overflow overflows context limit budget ran out gemini",
    "notebooks/09_tokens": "table 7 8 9 10 token tokens length lengths prompt prompts tokenizer",
    "notebooks/data": "data download downloads dataset datasets data set hugging face csv files file licence license",
    "notebooks/glossary": "glossary term terms definition rho what is needle ratio distractor",
    "notebooks/11_comparison": "best better model models ranking rank leaderboard compare differ",
    "notebooks/12_errata": "arxiv preprint final version versions contradictions errata errors mistakes changed",
    "notebooks/evaluate": "add my own model evaluate run openai compatible api vllm inspect lm-eval import outputs",
    "notebooks/13_your_model": "your model result results",
    "api": "python api function functions package reference",
    "explorer": "puzzle puzzles example examples step explorer",
    "compare": "compare two models pair regression regressions o3 gpt-5 versus",
}
#: Markup that is not valid HTML, or confuses screen readers, and its replacement.
_INVALID = (
    (re.compile(r'<p (class="(?:collapsed|expanded) admonition-title")>(.*?)</p>'), r"<span \1>\2</span>"),
    (re.compile(r"<style scoped>.*?</style>\s*", re.S), ""),
    (re.compile(r'<table border="1"'), "<table"),
    (re.compile(r"<th( [^>]*)?>\s*(?:<p></p>\s*)?</th>"), r"<td\1></td>"),  # heads nothing
)  # fmt: skip
_SETTINGS = re.compile(
    r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = .*?</script>',
    re.S,
)


def _drop_scripts(app, pagename, templatename, context, doctree):
    """Leave out Thebe, and MathJax on pages without formulas (Sphinx counts the chapters' formulas as the root's)."""
    has_formula = app.env.domains["math"].data["has_equations"].get(pagename)
    dropped = ("thebe",) if has_formula else ("thebe", "mathjax")
    scripts = [
        (script, f"{script} {vars(script)}".lower())
        for script in context.get("script_files", [])
    ]
    context["script_files"] = [
        script for script, text in scripts if not any(word in text for word in dropped)
    ]
    if "body" in context:
        context["body"] = _SETTINGS.sub("", context["body"])


def _let_scripts_wait(app, pagename, templatename, context, doctree):
    for script in context["script_files"]:
        if script.filename and not str(script.filename).endswith(_AT_ONCE):
            script.attributes.setdefault("defer", "defer")


def _add_keywords(app, doctree):
    """Add the topics of a page to the keywords by which the search finds it."""
    if words := _KEYWORDS.get(app.env.docname, "").split():
        doctree.append(nodes.meta(name="keywords", content=", ".join(words)))


def _hand_on_keywords(app, pagename, templatename, context, doctree):
    if pagename == "search":
        known = {
            page: text.split()
            for page, text in _KEYWORDS.items()
            if page in app.env.titles
        }
        app.add_js_file(
            None,
            body=f"(globalThis.cogniload ??= {{}}).keywords = {json.dumps(known)};",
        )


def _write_valid(app, pagename, templatename, context, doctree):
    for pattern, replacement in _INVALID:
        context["body"] = pattern.sub(replacement, context.get("body", ""))


def _resolve_left_out(app, env, node, contnode):
    """Return the text that replaces a link to a chapter that this book omits."""
    target = str(node.get("reftarget", "")).lstrip("/")
    if (
        node.get("reftype") in ("doc", "myst")
        and Path(target).stem in app.config.left_out
    ):
        return (
            contnode
            if node.get("refexplicit")
            else nodes.Text("a chapter that needs the whole grid")
        )
    return None


def _keep_numbers(app, env):
    """Give chapters the numbers of their files, also in a book without some of them; others have no number."""
    for page, numbers in env.toc_secnumbers.items():
        chapter = re.match(r"notebooks/(\d+)_", page)
        titles = [env.titles[page], *env.tocs[page].findall(nodes.reference)]
        for title in titles:
            number = title.get("secnumber")
            title["secnumber"] = None
            if number and chapter:
                title["secnumber"] = (int(chapter[1]), *number[1:])
        for anchor, number in numbers.items():
            numbers[anchor] = None
            if number and chapter:
                numbers[anchor] = (int(chapter[1]), *number[1:])
    return []


def _write_index(app, exception):
    if not exception and app.builder.format == "html":
        root = app.config.root_doc
        text = _INDEX.format(page=f"{root}.html", title=app.env.titles[root].astext())
        Path(app.outdir, "index.html").write_text(text, encoding="utf-8")


def _link_to_pictures(app, pagename, templatename, context, doctree):
    for shown, copy in _doubles(app.env).items():
        context["body"] = context.get("body", "").replace(
            f"_downloads/{copy}", f"_images/{shown}"
        )


def _let_pictures_wait(app, pagename, templatename, context, doctree):
    places = {
        name: Path(app.srcdir, path) for path, (_, name) in app.env.images.items()
    }

    def mark(picture):
        return f'<img loading="lazy"{_state_size(places.get(picture[2]))} {picture[1]}'

    context["body"] = re.sub(
        r'<img ([^>]*src="[^"]*?([^"/]+)")', mark, context.get("body", "")
    )


def _state_size(picture):
    """Return the size of an SVG (stated in points) as attributes in whole pixels; "" for other pictures."""
    if picture is None or picture.suffix != ".svg":
        return ""
    size = re.search(
        r'<svg [^>]*?width="([\d.]+)pt" height="([\d.]+)pt"',
        picture.read_text(encoding="utf-8")[:1000],
    )
    return (
        ' width="{:.0f}" height="{:.0f}"'.format(
            *(float(points) / 0.75 for points in size.groups())
        )
        if size
        else ""
    )


def _doubles(env):
    """Return, for pictures also offered for download, the path among downloads by the name among images."""
    shown = {path: name for path, (_, name) in env.images.items()}
    return {
        shown[path]: place for path, (_, place) in env.dlfiles.items() if path in shown
    }


def _leave_out(app, exception):
    html = Path(app.outdir)
    if exception or app.builder.format != "html":
        return
    for copy in _doubles(app.env).values():
        shutil.rmtree((html / "_downloads" / copy).parent, ignore_errors=True)
    for pattern in ("*.map", "*.ttf"):
        for file in (html / "_static").rglob(pattern):
            file.unlink()
    shutil.rmtree(html / "_static" / "locales", ignore_errors=True)
    _take_in_icons(html / "_static")


def _tidy_search(app, exception):
    """Sort the index of the search, and remove words that no page has any more."""
    file = Path(app.outdir, "searchindex.js")
    if exception or not file.is_file():
        return
    start, end = "Search.setIndex(", ")"
    text = file.read_text(encoding="utf-8").removeprefix(start).removesuffix(end)
    index = json.loads(text)
    for terms in ("terms", "titleterms"):
        index[terms] = {
            word: sorted(pages) if isinstance(pages, list) else pages
            for word, pages in index[terms].items()
            if pages != []
        }
    text = json.dumps(index, separators=(",", ":"))
    file.write_text(f"{start}{text}{end}", encoding="utf-8")


def _take_in_icons(static):
    sheet = static / "styles" / "pydata-sphinx-theme.css"
    text = sheet.read_text(encoding="utf-8")
    if _ICONS in text:
        font = base64.b64encode((sheet.parent / _ICONS).read_bytes()).decode("ascii")
        sheet.write_text(
            text.replace(_ICONS, f"data:font/woff2;base64,{font}"), encoding="utf-8"
        )
    shutil.rmtree(static / "vendor", ignore_errors=True)
    (static / "scripts" / "fontawesome.js").unlink(missing_ok=True)


def _link_to_repository(app, config):
    """Let the first page name the repository, if its address is set."""
    address = config.repository
    config.myst_substitutions = {
        "repository": f" · This book: [code]({address})" if address else ""
    }


def _add_repository_button(app, pagename, templatename, context, doctree):
    """Add a button to every page that leads to the repository; the theme's supports only three hosts."""
    if app.config.repository and "header_buttons" in context:
        button = {
            "type": "link",
            "url": app.config.repository,
            "tooltip": "Source repository",
            "icon": "fa-solid fa-code-branch",
            "label": "source-repository-button",
        }
        context["header_buttons"].append(button)


def _shown_elsewhere(env):
    """Return what other pages may show of a page: titles of pages and sections, and captions."""
    titles = {page: title.astext() for page, title in env.titles.items()}
    return titles, dict(env.domains["std"].labels)


def _remember_titles(app, env, pages):
    app.shown_before = _shown_elsewhere(env)


def _write_again(app, env):
    """Return the pages that must be rewritten although their files have not changed.

    The search has the index entries only of pages that are written.
    """
    if _shown_elsewhere(env) != app.shown_before:
        return list(env.all_docs)
    return [page for page, entries in env.domains["index"].entries.items() if entries]


def _read_side_by_side(app):
    """Declare an extension safe for parallel reading: it numbers sections only after all pages have been read."""
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True


def setup(app):
    """Register with Sphinx, after every extension that adds scripts to a page."""
    app.add_config_value("left_out", [], "env")
    app.add_config_value("repository", "", "env")
    app.connect("config-inited", _link_to_repository)
    app.connect("builder-inited", _read_side_by_side)
    app.connect("env-before-read-docs", _remember_titles)
    app.connect("env-get-updated", _keep_numbers, priority=900)
    app.connect("env-updated", _write_again)
    app.connect("missing-reference", _resolve_left_out)
    app.connect("doctree-read", _add_keywords)
    app.connect("html-page-context", _add_repository_button, priority=600)
    app.connect("html-page-context", _drop_scripts, priority=900)
    app.connect("html-page-context", _let_scripts_wait, priority=910)
    app.connect("html-page-context", _link_to_pictures)
    app.connect("html-page-context", _let_pictures_wait)
    app.connect("html-page-context", _hand_on_keywords)
    app.connect("html-page-context", _write_valid)
    app.connect("build-finished", _leave_out)
    app.connect("build-finished", _tidy_search)
    app.connect("build-finished", _write_index)
    version = zlib.crc32(
        repr(_KEYWORDS).encode()
    )  # a change makes Sphinx discard its cache of pages
    return {
        "env_version": version,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
