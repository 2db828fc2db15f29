"""What `make install` puts where. Packages and what becomes of them: make package-test, make boot-test."""

import json
import os
import re
import subprocess

import pytest

from daemon import REPOSITORY, binary

PAGES = {"walpoold.8": "man8", "walpoold.toml.5": "man5"}


@pytest.fixture
def install(tmp_path):
    manual = tmp_path / "man"
    manual.mkdir()
    for page in PAGES:
        with open(manual / page, "w") as file:
            subprocess.run([binary(), "--print", page], stdout=file, check=True)

    def install(*settings, into=tmp_path / "root"):
        subprocess.run(
            ["make", "--no-print-directory", "-C", REPOSITORY, "install-files", f"WALPOOLD={binary()}", f"MAN={manual}",
             f"DESTDIR={into}", *settings],
            check=True, stdout=subprocess.DEVNULL)
        return into

    return install


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


def test_what_is_installed(install):
    root = install("PREFIX=/usr")
    assert files(root) == {
        "usr/sbin/walpoold", "etc/walpool/walpoold.toml",
        "usr/lib/systemd/system/walpoold.service", "usr/lib/systemd/system/walpoold.socket",
        "usr/lib/systemd/system/walpoold@.service", "usr/lib/systemd/system/walpoold@.socket",
        "usr/lib/sysusers.d/walpool.conf", "usr/lib/tmpfiles.d/walpool.conf",
        "usr/share/man/man5/walpoold.toml.5", "usr/share/man/man8/walpoold.8",
        "usr/share/doc/walpool/examples/walpoold.toml", "usr/share/doc/walpool/examples/walpool-backup.service",
        "usr/share/doc/walpool/examples/walpool-backup.timer",
        "usr/share/doc/walpool/examples/prometheus/walpool.rules.yml", "usr/share/doc/walpool/examples/grafana/walpool.json",
    }
    units = root / "usr/lib/systemd/system"
    for unit in units.iterdir():
        assert unit.read_text() == (REPOSITORY / "systemd" / unit.name).read_text()
        assert unit.stat().st_mode & 0o777 == 0o644
    assert (root / "usr/sbin/walpoold").stat().st_mode & 0o777 == 0o755


def test_everybody_may_read_it_whatever_the_installers_umask_is(install):
    before = os.umask(0o077)
    try:
        root = install("PREFIX=/usr")
    finally:
        os.umask(before)
    modes = {str(path.relative_to(root)): path.stat().st_mode & 0o777 for path in root.rglob("*") if not path.is_dir()}
    assert modes.pop("usr/sbin/walpoold") == 0o755
    assert set(modes.values()) == {0o644}, modes
    # The service's user looks into it.
    assert (root / "etc/walpool").stat().st_mode & 0o777 == 0o755


def test_elsewhere(install):
    root = install("PREFIX=/opt/walpool", "UNITDIR=/etc/systemd/system")
    service = (root / "etc/systemd/system/walpoold.service").read_text()
    assert re.search("^ExecStart=/opt/walpool/sbin/walpoold --config ", service, re.M) and "/usr/sbin" not in service
    assert (root / "opt/walpool/sbin/walpoold").exists()
    # systemd looks for these nowhere else.
    assert {"usr/lib/sysusers.d/walpool.conf", "usr/lib/tmpfiles.d/walpool.conf"} <= files(root)


def test_the_installed_configuration_names_a_database(install):
    root = install()
    installed = (root / "etc/walpool/walpoold.toml").read_text()
    set_lines = [line for line in installed.splitlines() if line and not line.startswith("#")]
    assert set_lines == ['database = "/var/lib/walpool/app.db"', 'backup_directory = "/var/backups/walpool"']
    # The example has them, and the rest: what is installed says nothing that a release might say in other words.
    example = (root / "usr/share/doc/walpool/examples/walpoold.toml").read_text()
    assert {f"#{line}" for line in set_lines} <= set(example.splitlines())
    assert len(installed.splitlines()) < 10 and "/usr/share/doc/walpool/examples/walpoold.toml" in installed


def test_no_foundation_comes_along():
    """TOMLKit imports Foundation, and what a module imports its users see: one `text.contains("…")` of ours was Foundation's,
    and brought 50 MB of it and of ICU into the program."""
    program = binary().read_bytes()
    if b"libswiftCore.so" in program:
        pytest.skip("linked against the runtime's libraries, as debug builds are")
    assert b"swift_task_create" in program, "a program without symbols tells nothing"
    found = [name for name in (b"$s10Foundation", b"swift_ucol_open", b"CFStringGetLength") if name in program]
    assert not found, f"{found}: the linker tells with -Xlinker -Map=FILE whose call it is"


def test_a_configuration_that_is_there_stays(install):
    root = install()
    configuration = root / "etc/walpool/walpoold.toml"
    configuration.write_text('database = "mine.db"\n')
    install()
    assert configuration.read_text() == 'database = "mine.db"\n'


def with_programs(directory, programs):
    """An environment in which these, shell scripts, come before those of the machine."""
    for name, text in programs.items():
        (directory / name).write_text(f"#!/bin/sh\n{text}\n")
        (directory / name).chmod(0o755)
    return {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}


@pytest.mark.parametrize("user, prefix", [(0, ""), (1000, "sudo ")])
def test_missing_packages_are_installed_by_root(tmp_path, user, prefix):
    """What the first `make run` does on a machine without them, for whoever builds as a user."""
    calls = tmp_path / "calls"
    programs = {"id": f"echo {user}", "dpkg-query": "exit 1", "sudo": 'export as_root="sudo "; exec "$@"',
                "apt-get": f'echo "$as_root""apt-get $*" "$DEBIAN_FRONTEND" >> {calls}'}
    environment = with_programs(tmp_path, programs)
    environment.pop("DEBIAN_FRONTEND", None)
    subprocess.run([REPOSITORY / "bench/support/install", "libx-dev"], env=environment, check=True)
    assert calls.read_text().splitlines() == [
        f"{prefix}apt-get update -qq ",
        f"{prefix}apt-get -o DPkg::Lock::Timeout=120 install -y -qq --no-install-recommends libx-dev noninteractive"]


@pytest.mark.parametrize("said, tries", [("E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1", 3),
                                         ("E: The repository does not have a Release file.", 1)])
def test_who_is_at_apt_is_waited_for(tmp_path, said, tries):
    """A new machine upgrades itself. What has another reason fails at once."""
    calls = tmp_path / "calls"
    programs = {"id": "echo 0", "dpkg-query": "exit 1", "sleep": "exit 0",
                "apt-get": f'echo "$1" >> {calls}; [ "$1" != update ] || [ $(wc -l < {calls}) -ge 3 ] || {{ echo "{said}" >&2; exit 100; }}'}
    done = subprocess.run([REPOSITORY / "bench/support/install", "libx-dev"], env=with_programs(tmp_path, programs), capture_output=True, text=True)
    assert calls.read_text().splitlines() == ["update"] * tries + ["-o"] * (tries == 3)
    assert said in done.stderr and done.returncode == (0 if tries == 3 else 1)
