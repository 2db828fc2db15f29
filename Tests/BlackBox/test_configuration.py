"""The configuration file: its errors, --check-config, the texts that are made from it."""

import os
import re
import shutil
import subprocess

import pytest

import wire
from daemon import CRASH, REPOSITORY, binary
from pages import blocks

KEY = re.compile(r"^#(\w+) = ", re.M)


def run(*arguments, **options):
    return subprocess.run(
        [binary(), *map(str, arguments)], capture_output=True, text=True, timeout=wire.DEADLINE, **options)


def printed(what):
    result = run("--print", what)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def config(tmp_path):
    """Writes a configuration file; returns its path."""

    def write(text):
        path = tmp_path / "walpoold.toml"
        path.write_text(text)
        return path

    return write


# Errors

WRONG = """\
reders = 3
port = "many"

readers = 0         # below it a string over two lines
name = \"\"\"a
b\"\"\"
gate_limit = "soon"
vacuum_window =
port = 5433
[metrics]
"""
EXPECTED = [
    (1, 'unknown key "reders": did you mean "readers"?'),
    (2, 'port must be an integer, not "many"'),
    (4, "readers must be between 1 and 1000, not 0"),
    (5, "name must be a name"),
    (7, 'invalid value for parameter "gate_limit": "soon"'),
    (8, "the end of the line"),
    (9, "port is given twice, first in line 2"),
    (10, "unknown table [metrics]"),
]


@pytest.mark.parametrize("mode", [[], ["--check-config"]], ids=["start", "check"])
def test_all_errors_at_once(tmp_path, config, mode):
    path = config(WRONG)
    result = run(*mode, "--config", path, "--readers", "1001", tmp_path / "app.db")
    assert result.returncode == 78 and not result.stdout and not CRASH.search(result.stderr), result
    lines = result.stderr.splitlines()
    assert len(lines) == len(EXPECTED) + 1, lines
    for line, (number, words) in zip(lines, EXPECTED):
        assert line.startswith(f"walpoold: {path}:{number}: ") and words in line
    assert lines[-1] == "walpoold: --readers must be between 1 and 1000, not 1001"
    assert not (tmp_path / "app.db").exists()


@pytest.mark.parametrize("content, message", [
    (b"readers = 3\nname = \"a\0b\"\n", ":2: a NUL character"),
    (b"readers = 3\nname = \"\xff\"\n", ":2: not UTF-8"),
    (b"# " + b"x" * (1 << 20), "is larger than 1 MiB"),
    (None, "No such file or directory"),
    ("directory", "Is a directory"),
])
def test_unreadable_files(tmp_path, content, message):
    path = tmp_path / "walpoold.toml"
    if content == "directory":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    result = run("--config", path, "--check-config", tmp_path / "app.db")
    assert result.returncode == 78 and message in result.stderr and str(path) in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_pipe(tmp_path):
    """`--config <(…)`, which is there once."""
    read, write = os.pipe()
    os.write(write, b"readers = 0\n")
    os.close(write)
    result = run("--config", f"/dev/fd/{read}", "--check-config", tmp_path / "app.db", pass_fds=[read])
    assert result.returncode == 78 and f"/dev/fd/{read}:1: readers must be" in result.stderr
    os.close(read)


# --check-config


def test_check_says_ok_and_makes_nothing(tmp_path, config):
    path = config(f'database = "{tmp_path}/app.db"\nsocket_directory = "{tmp_path}"\nbackup_directory = "{tmp_path}"\n')
    before = sorted(os.listdir(tmp_path))
    result = run("--check-config", "--config", path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "ok\n", "")
    # Nor where the socket's directory would be made.
    result = run("--check-config", tmp_path / "app.db", env={"TMPDIR": str(tmp_path)})
    assert (result.returncode, result.stdout) == (0, "ok\n")
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("name, text, database", [
    ("orders.toml", "readers = 2\n", "orders"), ("walpoold.toml", "", "app"), ("orders.toml", 'name = "shop"\n', "shop")])
def test_check_of_a_service_that_has_its_directory_from_the_service_manager(tmp_path, name, text, database):
    path = tmp_path / name
    path.write_text(text + f'socket_directory = "{tmp_path}"\n')
    result = run("--check-config", "--config", path)
    assert (result.returncode, result.stdout, result.stderr) == (
        0, f"database: none named; as a service it is STATE_DIRECTORY/{database}.db\nok\n", "")
    # It does not start like that, and there are other mistakes.
    refused = run("--config", path).stderr
    assert "which database?" in refused and f"(or name it in {path})" in refused
    path.write_text("readers = 0\n")
    assert run("--check-config", "--config", path).returncode == 78


def test_check_beside_a_running_daemon(daemon):
    result = run("--check-config", daemon.database, "--socket-directory", daemon.directory)
    assert (result.returncode, result.stdout) == (0, "ok\n")
    daemon.check_alive()


@pytest.mark.parametrize("text, words", [
    ('database = "{0}/none/app.db"', "database: {0}/none: No such file"),
    ('database = "{0}"', "database: {0} is not a file"),
    ('database = "{0}/text"', "database: {0}/text is not an SQLite database"),
    ('database = "{0}/app.db"\nsocket_directory = "{0}/none"', "socket_directory: {0}/none: No such file"),
    ('database = "{0}/app.db"\nsocket_directory = "{0}/text"', "socket_directory: {0}/text is not a directory"),
    ('database = "{0}/app.db"\nsocket_directory = "{0}/' + "x" * 100 + '"', "the socket's path is too long"),
    ('database = "{0}/app.db"\nbackup_directory = "{0}/none"', "backup_directory: {0}/none: No such file"),
])
def test_check_looks_at_the_machine(tmp_path, config, text, words):
    (tmp_path / "text").write_text("This is no database." * 10)
    if "socket_directory" not in text:
        text = f'socket_directory = "{tmp_path}"\n' + text
    result = run("--check-config", "--config", config(text.format(tmp_path)))
    assert result.returncode == 78 and not result.stdout
    assert [words.format(tmp_path) in line for line in result.stderr.splitlines()] == [True], result.stderr


# The system's file


def test_the_system_file_is_the_default(tmp_path):
    """In a mount namespace of its own, where /etc is this test's."""
    (tmp_path / "walpoold.toml").write_text(f'database = "{tmp_path}/app.db"\nsocket_directory = "{tmp_path}"\nreaders = "x"\n')
    script = 'mount -t tmpfs tmpfs /etc && mkdir /etc/walpool && cp "$1" /etc/walpool/ && shift && exec "$@"'

    def within(*arguments):
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", tmp_path / "walpoold.toml", binary(), "--check-config", *arguments],
            capture_output=True, text=True, timeout=wire.DEADLINE)

    if subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made: needs root")
    result = within()
    assert result.returncode == 78 and "/etc/walpool/walpoold.toml:3: readers" in result.stderr
    # Who names a database or a file means that.
    result = within(tmp_path / "other.db", "--socket-directory", tmp_path)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stderr
    (tmp_path / "mine.toml").write_text("port = 0\n")
    assert "mine.toml:1: port" in within("--config", tmp_path / "mine.toml").stderr


# The texts


def test_the_example_is_the_list_of_keys():
    committed = REPOSITORY / "systemd" / "walpoold.toml.example"
    assert committed.read_text() == printed("example"), "make example"


def test_the_example_is_a_configuration(tmp_path):
    example = printed("example")
    path = tmp_path / "walpoold.toml"
    path.write_text(example)
    assert run("--config", path, "--check-config", tmp_path / "app.db", "--socket-directory", tmp_path).stdout == "ok\n"
    # Uncommented too, but for the directories, which are the example's.
    text = re.sub(r"^#(?=[\w\[])", "", example, flags=re.M)
    text = re.sub(r"^(database|backup_directory|socket_directory) = .*$", "", text, flags=re.M)
    path.write_text(text)
    result = run("--config", path, "--check-config", tmp_path / "app.db", "--socket-directory", tmp_path)
    assert result.stdout == "ok\n", result.stderr


def test_the_manual_has_every_key_and_option():
    daemon, file = (printed(page).replace("\\-", "-") for page in ("walpoold.8", "walpoold.toml.5"))
    for key in KEY.findall(printed("example")):
        assert f'\n.B "{key}"\n' in file, key
    options = set(re.findall(r"^\s+(?:-\w, )?--([\w-]+)", run("--help").stdout, re.M))
    assert options == set(re.findall(r'^\.B "--([\w-]+)', daemon, re.M))
    assert {"config", "check-config", "readers", "help", "version"} <= options


@pytest.mark.parametrize("page", ["walpoold.8", "walpoold.toml.5"])
def test_the_manual_is_good_roff(tmp_path, page):
    path = tmp_path / page
    path.write_text(printed(page))
    commands = [["groff", "-man", "-Tutf8", "-ww", path], ["man", "--warnings", "-l", path]]
    if missing := [command[0] for command in commands if not shutil.which(command[0])]:
        pytest.skip(f"{missing} not installed")
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0 and not done.stderr, done.stderr
        # Bold is printed as a letter over itself.
        text = re.sub(".\b", "", done.stdout)
        assert "FILES" in text
        # No name is taken apart at the end of a line: this hyphen is roff's own.
        assert "\u2010\n" not in text


def test_what_the_pages_show_is_a_configuration(tmp_path, config):
    (shown,) = [block for block in blocks("docs/limits.md") if "[[access]]" in block]
    result = run("--check-config", "--config", config(f'database = "{tmp_path}/app.db"\nsocket_directory = "{tmp_path}"\n{shown}'))
    assert (result.returncode, result.stdout, result.stderr) == (0, "ok\n", "")
