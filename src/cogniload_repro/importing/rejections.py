"""Why a row is no response."""

#: The page that says what is read, and how to convert what is not.
IMPORT_PAGE = "the page Import says what is read, and how to convert the rest"
NOT_READ = (
    f"{IMPORT_PAGE}; logs of Inspect are converted by .venv-evaluate/bin/python -m"
    " cogniload_repro.asking.logs LOG.eval > answers.jsonl"
)


class RowError(Exception):
    """Why a row cannot be used: a reason, details, and its puzzle and model where known."""
