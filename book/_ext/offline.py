"""Keep the book on its own host: Jupyter Book's Thebe extension would fetch scripts from a CDN."""

import re

_SETTINGS = re.compile(r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = .*?</script>', re.S)


def _drop_thebe(app, pagename, templatename, context, doctree):
    context["script_files"] = [
        script for script in context.get("script_files", []) if "thebe" not in f"{script} {vars(script)}".lower()
    ]
    if "body" in context:
        context["body"] = _SETTINGS.sub("", context["body"])


def setup(app):
    """Register with Sphinx, after every extension that adds scripts to a page."""
    app.connect("html-page-context", _drop_thebe, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
