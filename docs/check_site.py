"""Every link of the built site leads somewhere on it: pages, anchors, pictures, downloads.

python docs/check_site.py site

mkdocs checks the links that Markdown knows; this reads what was written in the end, so links of
raw HTML, of docstrings, of the theme and of notebooks are looked at too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_TARGETS = ("href", "src", "data", "poster")
_LOADED = ("script", "img", "link", "iframe", "audio", "video", "source", "object", "embed")
"""Elements whose target is fetched when the page is opened."""

_NAMED_ONLY = ("canonical", "alternate", "author", "license", "next", "prev")
"""Kinds of <link> that name a page and fetch nothing."""


class _Page(HTMLParser):
    """The anchors of a page, and its links with their elements and lines."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "link" and dict(attrs).get("rel") in _NAMED_ONLY:
            tag = "a"
        for name, value in attrs:
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)
            elif value and name in _TARGETS:
                self.links.append((tag, value.strip(), self.getpos()[0]))


def dead_links(site: Path) -> Iterator[str]:
    """What is wrong with the links of a built site, one line each.

    A link to another machine is not followed, but nothing may be loaded from one.
    """
    site = site.resolve()
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} has no pages"
    for path, page in pages.items():
        for tag, link, line in page.links:
            fault = _fault(site, pages, path, tag, link)
            if fault:
                yield f"{path.relative_to(site)}:{line}: <{tag}> {link}: {fault}"


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def _fault(site: Path, pages: dict[Path, _Page], path: Path, tag: str, link: str) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        if parts.scheme == "data" or tag not in _LOADED:
            return None
        return "loaded from another machine"
    target = path
    if parts.path:
        start = site if parts.path.startswith("/") else path.parent
        target = (start / unquote(parts.path).lstrip("/")).resolve()
        if target.is_dir():
            target /= "index.html"
    if not target.is_relative_to(site):
        return "leads out of the site"
    if not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return None


def main(arguments: list[str]) -> int:
    """Prints what is wrong; the exit status is 1 if anything is."""
    if len(arguments) != 1:
        print("usage: python docs/check_site.py SITE", file=sys.stderr)
        return 2
    faults = list(dead_links(Path(arguments[0])))
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"links of the site: {len(faults) or 'none'} dead", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
