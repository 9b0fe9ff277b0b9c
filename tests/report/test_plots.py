"""Pictures: that they hold what the data says, are written, and fail clearly."""

from __future__ import annotations

import builtins

import pytest

from m2bridge.attention import Layer
from m2bridge.geometry.slices import default_slice, random_slice
from m2bridge.geometry.strata import hasse_diagram, strata
from m2bridge.report import plots

pytest.importorskip("matplotlib")


def texts(axes):
    return [t.get_text() for t in axes.texts]


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 2), (3, 2, 2), (3, 1, 1, 1), (4, 2, 2, 1)])
def test_hasse_figure_shows_every_stratum_and_cover(shape):
    found = strata(Layer(*shape), certify=False)
    (axes,) = plots.hasse_figure(found).axes
    assert len(texts(axes)) == len(found)
    assert "0" in texts(axes)
    assert len(axes.lines) == len(hasse_diagram(found))
    heights = {t.get_text(): t.get_position()[1] for t in axes.texts}
    for stratum in found:
        for other in found:
            if stratum.dimension < other.dimension:
                low, high = (
                    "0" if s.is_origin else "(" + ",".join(map(str, s.type)) + ")"
                    for s in (stratum, other)
                )
                assert heights[low] < heights[high]
    places = [t.get_position() for t in axes.texts]
    assert len(set(places)) == len(places)


def test_hasse_marks_follow_the_verdicts():
    found = strata(Layer(2, 1, 2), certify=False)
    (axes,) = plots.hasse_figure(found).axes
    boxes = {t.get_text(): t.get_bbox_patch() for t in axes.texts}
    colours = {name: box.get_facecolor() for name, box in boxes.items()}
    assert colours["(1,1,1)"] == colours["(1,1,2)"] != colours["(1,2,2)"]
    widths = {name: box.get_linewidth() for name, box in boxes.items()}
    assert widths["(1,1,1)"] > widths["(1,1,2)"]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_files(tmp_path, ending):
    figure = plots.hasse_figure(strata(Layer(2, 1, 2), certify=False))
    path = plots.save_figure(figure, tmp_path / f"strata.{ending}", dpi=60)
    start = path.read_bytes()[:400]
    assert {"png": b"PNG", "svg": b"<svg", "pdf": b"%PDF"}[ending] in path.read_bytes()[:2000]
    assert start


def test_svg_files_are_reproducible(tmp_path):
    found = strata(Layer(2, 1, 2), certify=False)
    one, two = (
        plots.save_figure(plots.hasse_figure(found), tmp_path / f"{k}.svg").read_text()
        for k in "ab"
    )
    assert one == two


def test_slice_figures(tmp_path):
    layer = Layer(2, 1, 2)
    piece = default_slice(layer)
    (axes,) = plots.slice_figure(piece).axes
    assert len(axes.lines) == len(piece.double) + len(piece.unreached)
    dashed = [line for line in axes.lines if line.get_linestyle() != "-"]
    assert len(dashed) == len(piece.unreached)
    labels = [t.get_text() for t in axes.get_legend().get_texts()]
    assert "pinch points" in labels
    assert "in the closure, no real weights" in labels
    flat = random_slice(layer, 2, 1)
    path = plots.save_figure(plots.slice_figure(flat), tmp_path / "plane.svg")
    assert path.stat().st_size > 1000


def test_bad_input(tmp_path):
    figure = plots.hasse_figure(strata(Layer(2, 1, 2), certify=False))
    with pytest.raises(ValueError, match=r"\.png, \.svg or \.pdf"):
        plots.save_figure(figure, tmp_path / "picture.bmp")
    with pytest.raises(ValueError, match="no strata"):
        plots.hasse_figure([])
    many = strata(Layer(12, 12, 12), certify=False)
    with pytest.raises(ValueError, match="too many"):
        plots.hasse_figure(many)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    found = strata(Layer(2, 1, 2), certify=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"m2bridge\[plot\]"):
        plots.hasse_figure(found)
