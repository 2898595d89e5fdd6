"""The verdicts of a chapter as rows: shown on its page, and kept for chapter 10."""

from collections.abc import Mapping

import pandas as pd

from cogniload_repro.analysis.verdicts import UNKNOWN, Judgement
from cogniload_repro.book.build import Build
from cogniload_repro.book.markdown import Fragment, sentence
from cogniload_repro.book.page import Page
from cogniload_repro.files import write_whole
from cogniload_repro.published import load_conclusions

_COLUMNS = ["conclusion", "claim", "verdict", "evidence"]


def show_verdicts(
    page: Page,
    judged: Mapping[str, Judgement],
    findings: Mapping[str, str] | None = None,
) -> Fragment:
    """Show the verdicts of a chapter, and save them for `read_verdicts`.

    The keys are statements: claims, or names of conclusions (`load_conclusions`). A finding
    replaces the evidence of the verdict; both are Markdown written by us. If the build is not
    complete, no statement is tested, and one sentence says why.
    """
    titles = load_conclusions().set_index("name")["title"]
    data = page.data
    rows = []
    for statement, verdict in judged.items():
        conclusion = statement if statement in titles.index else ""
        evidence = (findings or {}).get(statement, verdict.evidence)
        rows.append(
            (conclusion, titles.get(statement, statement), verdict.word, evidence)
        )
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    if not data.complete:
        frame = frame.assign(verdict=UNKNOWN, evidence=data.covers)
    file = page.output_folder / "verdicts" / f"{page.run.chapter}.csv"
    earlier = file.read_text(encoding="utf-8") if file.exists() else ""
    rows_text = frame.to_csv(index=False, header=not earlier, lineterminator="\n")
    write_whole(file, earlier + rows_text)
    if not data.complete:
        return sentence(data.covers)
    shown = frame.drop(columns="conclusion")
    lines = ["| Claim | Verdict | Evidence |", "|:--|:--|:--|"]
    lines += [f"| {' | '.join(row)} |" for row in shown.itertuples(index=False)]
    return Fragment("\n".join(lines), shown.to_html(index=False))


def read_verdicts(data: Build) -> pd.DataFrame:
    """Return the verdicts that the chapters of a build wrote in their last runs.

    One row per statement: chapter, conclusion (a name of `load_conclusions`, or ""), claim,
    verdict (a word of `VERDICT_WORDS`) and evidence.
    """
    frames = [pd.DataFrame(columns=["chapter", *_COLUMNS])]
    for file in sorted((data.folder / "verdicts").glob("*.csv")):
        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
        frames.append(frame.assign(chapter=file.stem))
    return pd.concat(frames, ignore_index=True)
