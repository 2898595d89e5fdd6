"""Figures of puzzles and prompts on a page."""

from matplotlib.figure import Figure

from cogniload_repro.presentation.drawings import show_drawing


def test_a_drawing_has_files_label_and_words(tmp_path):
    """PNG and SVG are written and offered; label, description and caption stand in the Markdown, escaped in HTML."""
    piece = show_drawing(Figure(), "some_points", tmp_path, caption="Points < 3.", alt="Three points")
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"some_points.png", "some_points.svg"}
    for part in (":name: some-points", ":alt: Three points", "Points < 3.", "<../figures/some_points.png>"):
        assert part in piece.markdown
    assert "Points &lt; 3." in piece.html
