"""README and docs/: every link leads somewhere, every test that is named is there, and the front page leads to every page."""

import os
import re
from pathlib import Path

import pytest

from daemon import REPOSITORY

# Of the front page, without what is made of a benchmark: it had grown to a thousand.
MOST_LINES = 250
BENCHMARK = re.compile(r"<!-- benchmark of .*?<!-- end of benchmark -->", re.DOTALL)
TABLE_OF_TESTS = "| guarantee | tested by |"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages():
    found = []
    for directory, folders, files in os.walk(REPOSITORY):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        found += [Path(directory, name).relative_to(REPOSITORY) for name in files if name.endswith(".md")]
    return sorted(map(str, found))


def prose(page):
    """Without what is shown as code between lines, which has no headings and no links."""
    lines, in_code, before = [], False, ""
    for line in FENCE.sub("", (REPOSITORY / page).read_text()).splitlines():
        in_code = line.startswith("    ") and (in_code or not before.strip())
        lines.append("" if in_code else line)
        before = line
    return "\n".join(lines)


def anchors(page):
    """As GitHub makes them of headings."""
    found = {}
    for heading in re.findall(r"^#+ +(.+?) *$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = found.get(anchor, 0)
        found[anchor] = count + 1
        if count:
            found[f"{anchor}-{count}"] = 1
    return found


def links(page):
    return LINK.findall(re.sub(r"`[^`]*`", "", prose(page)))


def leads_nowhere(page, link):
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if not (REPOSITORY / target).exists():
        return True
    return bool(anchor) and anchor not in anchors(target)


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page):
    assert [link for link in links(page) if "://" not in link and leads_nowhere(page, link)] == []


def test_a_link_that_leads_nowhere_is_found():
    assert leads_nowhere("README.md", "docs/none.md") and leads_nowhere("README.md", "docs/limits.md#none")
    assert leads_nowhere("docs/limits.md", "docs/limits.md") and leads_nowhere("README.md", "#none")
    assert not leads_nowhere("docs/limits.md", "../README.md#benchmarks") and not leads_nowhere("README.md", "docs")


def test_the_front_page_leads_to_every_page():
    shown = {os.path.normpath(link.partition("#")[0]) for link in links("README.md")}
    assert {page for page in pages() if page.startswith("docs/")} - shown == set()


def test_the_front_page_is_short():
    assert len(BENCHMARK.sub("", (REPOSITORY / "README.md").read_text()).splitlines()) <= MOST_LINES


@pytest.mark.parametrize("page", [page for page in pages() if page.startswith("docs/")])
def test_a_page_says_first_what_it_is_for(page):
    assert re.match(r"# [^\n]+\n\nThis page [^\n]", (REPOSITORY / page).read_text())


@pytest.mark.parametrize("page", ["README.md", "docs/guarantees.md"])
def test_guarantees_name_tests_that_are_there(page):
    """A name without a folder is in the folder of the name before it."""
    rows, in_table = [], False
    for line in (REPOSITORY / page).read_text().splitlines():
        in_table = line == TABLE_OF_TESTS or in_table and line.startswith("|")
        if in_table and line != TABLE_OF_TESTS and not line.startswith("|--"):
            rows.append(line)
    assert len(rows) > 15
    missing = []
    for row in rows:
        named = [name for name in re.findall(r"`([^`]+)`", row.rpartition(" | ")[2]) if not name.startswith("make ")]
        folder = ""
        for name in named:
            path = name if "/" in name else f"{folder}/{name}"
            folder = os.path.dirname(path)
            if not list(REPOSITORY.glob(path)):
                missing.append(name)
        if not named:
            missing.append(row)
    assert missing == []


@pytest.mark.parametrize("page", ["README.md", "docs/configuration.md"])
def test_keys_are_the_examples(page):
    example = (REPOSITORY / "systemd" / "walpoold.toml.example").read_text()
    known = set(re.findall(r"^#? ?([a-z_]+) = ", example, re.MULTILINE)) | {"[[access]]"}
    table = (REPOSITORY / page).read_text().partition("| key ")[2].partition("\n\n")[0]
    named = {name for line in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", line.split("|")[1])}
    assert len(named) > 8 and named - known == set()
