"""Keep the book on its own host, and the same however it came about.

Jupyter Book's Thebe extension would fetch scripts from a CDN; a page that was written again leaves words behind in
the search index that no page has any more.
"""

import re

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


def setup(app):
    """Register with Sphinx, after every extension that adds scripts to a page."""
    app.connect("html-page-context", _drop_thebe, priority=900)
    app.connect("html-collect-pages", _forget_words_of_no_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
