"""bench/support/compiled.py: a program is as old as the oldest thing that it was made of would allow, headers included."""

import os
import subprocess
import sys
import threading

import pytest

from bench_report_fixtures import BENCH
from daemon import REPOSITORY, binary
from support import compiled, machine
from support.limits import LIMITS, Canned
from support.programs import Programs

MAIN = '#include <stdio.h>\n#include "sub dir/number.h"\nint other(void);\nint main(void) { printf("%d %d\\n", NUMBER, other()); }\n'
OTHER = '#include "other.h"\nint other(void) { return OTHER; }\n'


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Two, with a header each, below a directory whose name has to be quoted in a makefile."""
    monkeypatch.setattr(compiled, "DIRECTORY", tmp_path / "made")
    place = tmp_path / "a b#$c"
    (place / "sub dir").mkdir(parents=True)
    for name, text in (("main.c", MAIN), ("other.c", OTHER), ("sub dir/number.h", "#define NUMBER 1\n"), ("other.h", "#define OTHER 1\n")):
        written(place / name, text)
    return place


def written(path, text):
    """Before now, as sources are that somebody has written and then has a program made of."""
    later = path.stat().st_mtime + 10 if path.exists() else 1_000_000_000
    path.write_text(text)
    os.utime(path, (later, later))


def said(place):
    program = compiled.program(place / "main.c", place / "other.c")
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split(), program.stat().st_ino


@pytest.mark.parametrize("header, name, expected", [("sub dir/number.h", "NUMBER", ["2", "1"]), ("other.h", "OTHER", ["1", "2"])])
def test_a_header_that_changes_makes_it_anew(sources, header, name, expected):
    first, second = said(sources), said(sources)
    assert first == second and first[0] == ["1", "1"]
    (sources / header).write_text(f"#define {name} 2\n")
    assert said(sources)[0] == expected


def test_a_header_that_is_gone_makes_it_anew(sources):
    _, before = said(sources)
    written(sources / "main.c", MAIN.replace("sub dir/", ""))
    (sources / "sub dir/number.h").rename(sources / "number.h")
    again, after = said(sources)
    assert again == ["1", "1"] and before != after


def test_a_source_that_is_written_while_it_is_compiled_makes_it_anew(sources, monkeypatch):
    """What the compiler has read of it, nobody knows."""
    compile_one = compiled._compile

    def slowly(source, *more):
        compile_one(source, *more)
        if source.name == "main.c":
            (sources / "sub dir/number.h").write_text("#define NUMBER 3\n")

    with monkeypatch.context() as patch:
        patch.setattr(compiled, "_compile", slowly)
        assert said(sources)[0] == ["1", "1"]
    assert said(sources)[0] == ["3", "1"]


def test_what_was_made_without_a_list_of_its_headers_is_made_anew(sources):
    """By an older version of this, or by a process that was killed."""
    _, before = said(sources)
    for listed in compiled.DIRECTORY.glob("*.sources"):
        listed.unlink()
    assert said(sources)[1] != before


def test_what_cannot_be_compiled_leaves_nothing(sources):
    written(sources / "other.c", "nonsense\n")
    with pytest.raises(compiled.BenchError, match="cannot compile other.c: "):
        said(sources)
    assert list(compiled.DIRECTORY.iterdir()) == []


def test_several_at_once_get_whole_programs(sources):
    script = ("import subprocess, sys; from pathlib import Path; from support import compiled; compiled.DIRECTORY = Path(sys.argv[1]);"
              "made = compiled.program(*map(Path, sys.argv[2:])); sys.stdout.write(subprocess.check_output([made], text=True))")
    command = [sys.executable, "-B", "-c", script, compiled.DIRECTORY, sources / "main.c", sources / "other.c"]
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.append(subprocess.run(
        command, cwd=BENCH, capture_output=True, text=True))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(done.stdout, done.stderr) for done in outcomes] == [("1 1\n", "")] * 6
    assert sorted(path.name for path in compiled.DIRECTORY.iterdir()) == ["main", "main.sources"]


def test_the_yardstick_is_made_of_the_daemons_ring(monkeypatch):
    """And which one took part is in the record."""
    monkeypatch.setenv("WALPOOL_LOAD", str(binary()))
    program = compiled.program(LIMITS / "canned.c", LIMITS / "canned_answers.c")
    assert {REPOSITORY / "Sources/CLinux/ring.h", LIMITS / "canned.h", LIMITS / "canned_answers.c"} <= set(compiled.made_of(program))
    assert Programs({"walpool", "canned"}).described()["canned"] == machine.program(program)
    assert "canned" not in Programs({"walpool"}).described()


def test_a_yardstick_that_cannot_be_compiled_is_left_out_of_the_description(tmp_path, monkeypatch):
    """As with a compiler that warns of more. Its own runs tell why they fail; the other systems go on."""
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'error: [-Werror=new]' >&2; exit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setattr(compiled, "DIRECTORY", tmp_path / "made")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("WALPOOL_LOAD", str(binary()))
    assert Programs({"walpool", "canned"}).described().keys() == {"walpoold", "walpool-load"}
    with pytest.raises(compiled.BenchError, match="cannot compile canned.c: error: "):
        Canned(tmp_path / "canned")


def test_a_place_where_nothing_can_be_compiled_fails_only_what_needs_it(tmp_path, monkeypatch):
    """As with a directory that another user's run has made."""
    (tmp_path / "made").write_text("")
    monkeypatch.setattr(compiled, "DIRECTORY", tmp_path / "made")
    monkeypatch.setenv("WALPOOL_LOAD", str(binary()))
    assert Programs({"walpool", "canned"}).described().keys() == {"walpoold", "walpool-load"}
    with pytest.raises(compiled.BenchError, match="cannot compile canned: .*made"):
        Canned(tmp_path / "canned")
