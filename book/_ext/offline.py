"""Keep the book on its own host, without what no reader opens, and the same however it came about.

Jupyter Book's Thebe extension would fetch scripts from a CDN; a page that was written again leaves words behind in
the search index that no page has any more. A picture that is shown is not kept a second time for its download, and
maps for debuggers, translations and fonts that no browser of today asks for stay out.
"""

import re
import shutil
from pathlib import Path

_SETTINGS = re.compile(r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = .*?</script>', re.S)


def _drop_thebe(app, pagename, templatename, context, doctree):
    context["script_files"] = [
        script for script in context.get("script_files", []) if "thebe" not in f"{script} {vars(script)}".lower()
    ]
    if "body" in context:
        context["body"] = _SETTINGS.sub("", context["body"])


def _forget_words_of_no_page(app):
    for words in (app.builder.indexer._mapping, app.builder.indexer._title_mapping):
        for word in [word for word, pages in words.items() if not pages]:
            del words[word]
    return []


def _link_to_pictures(app, pagename, templatename, context, doctree):
    for shown, copy in _doubles(app.env).items():
        context["body"] = context.get("body", "").replace(f"_downloads/{copy}", f"_images/{shown}")


def _doubles(env):
    """Return of every picture that is offered as a download too its name among the images and its place there."""
    shown = {path: name for path, (_, name) in env.images.items()}
    return {shown[path]: place for path, (_, place) in env.dlfiles.items() if path in shown}


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


def setup(app):
    """Register with Sphinx, after every extension that adds scripts to a page."""
    app.connect("html-page-context", _drop_thebe, priority=900)
    app.connect("html-page-context", _link_to_pictures)
    app.connect("build-finished", _leave_out)
    app.connect("html-collect-pages", _forget_words_of_no_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
