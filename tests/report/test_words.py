"""What is said about generators, and documents of models with millions of coordinates."""

from rich.console import Console

from m2bridge.models import LightningAttention
from m2bridge.report import document, terminal
from m2bridge.report.words import counts_text


def test_none_is_only_none_when_all_degrees_were_searched() -> None:
    assert counts_text({}, True) == "none: the closure is the whole space of coefficients"
    assert counts_text({}, None) == counts_text({}, False) != counts_text({}, True)
    assert counts_text({2: 5, 4: 10, 3: 0}, None) == "5 of degree 2, 10 of degree 4"
    assert counts_text(None, None) == "not computed"


def test_a_search_that_stopped_early_claims_nothing() -> None:
    """(2, 1, 2) has one equation, of degree 4."""
    found = LightningAttention(2, 1, 2).implicit_ideal(certify=False, max_degree=3)
    body = document.ideal_document(found)
    assert (body["generators_by_degree"], body["complete"]) == ({}, None)
    console = Console(width=200)
    with console.capture() as shown:
        console.print(terminal.ideal(found))
    assert "none found in the degrees that were searched" in shown.get()


def test_millions_of_coordinates_are_not_listed() -> None:
    found = LightningAttention(64, 64, 8).singular_locus(equations=False)
    body = document.singular_document(found)
    assert body["coordinates"] is None
    assert "8519680 coordinates" in body["coordinates_reason"]
