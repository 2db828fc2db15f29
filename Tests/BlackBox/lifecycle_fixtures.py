"""A walpoold that is not expected to stay."""

import subprocess

from daemon import CRASH, binary


def run(*arguments, **keywords):
    return subprocess.run(
        [str(binary()), *map(str, arguments)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **keywords)


def check_refusal(result, *words, lines=1):
    """One clear line, a status that is not 0, and no crash."""
    assert result.returncode > 0, result
    assert not CRASH.search(result.stderr), result.stderr
    said = [line for line in result.stderr.splitlines() if line.strip()]
    assert 1 <= len(said) <= lines, said
    for word in words:
        assert word.lower() in said[0].lower(), said
