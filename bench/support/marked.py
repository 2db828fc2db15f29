"""A part of a page that is made of results, between two comments, so that it is never written by hand. The first comment says
what it is made of; a test makes it again and compares."""

import re

from support.tools import BenchError

MAKER = "bench/support/report.py"


def begin(what, option):
    return f"<!-- {what}, made by {MAKER} {option} -->"


def end(what):
    return f"<!-- end of {what} -->"


def section(begins, ends):
    """Finds such a part: the first group is what stands where `begins` has `(\\S+)`, if it does."""
    return re.compile(rf"<!-- {begins}, made by [^>]*-->\n.*?<!-- end of {ends} -->", re.DOTALL)


def put_into(page, found, text, example):
    """Replaces what is between the markers; there must be one such place."""
    old = page.read_text()
    if len(found.findall(old)) != 1:
        raise BenchError(f"{page} has no place for it, or several: {example}")
    page.write_text(found.sub(lambda _: text, old))
