"""What documentation shows as code."""

import re

from daemon import REPOSITORY


def blocks(page):
    """Each block with what it is indented by taken away; an empty line ends none."""
    lines = (REPOSITORY / page).read_text().splitlines()
    text = "\n".join(line[4:] if line.startswith("    ") else "\0" if line else "" for line in lines)
    return [block.strip("\n") + "\n" for block in re.split("\0", text) if block.strip()]
