"""The unit files: systemd's own tools have nothing to say against them, and the daemon lives within their restrictions."""

import datetime
import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from daemon import REPOSITORY, binary, eventually
from pages import blocks
from service import Service

SYSTEMD = REPOSITORY / "systemd"
SERVICES = ["walpoold.service", "walpoold@.service"]
UNITS = SERVICES + ["walpoold.socket", "walpoold@.socket"]
# A little over what the exposure level comes to: it may not rise unnoticed. The goal is 0.6.
HIGHEST_EXPOSURE = 0.4


def run(*command, **keywords):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, **keywords)


@pytest.fixture
def root(tmp_path):
    """A root directory with the units and what they name."""
    units = tmp_path / "usr/lib/systemd/system"
    units.mkdir(parents=True)
    for name in UNITS:
        shutil.copy(SYSTEMD / name, units)
    for directory in ("/lib/systemd/system", "/usr/lib/systemd/system"):
        for target in Path(directory).glob("*.target"):
            if not (units / target.name).exists():
                shutil.copy(target, units)
    for name in ("usr/sbin/walpoold", "usr/bin/install", "bin/sh"):
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (tmp_path / "etc").mkdir()
    for kind in ("sysusers.d", "tmpfiles.d"):
        shutil.copytree(SYSTEMD / kind, tmp_path / "usr/lib" / kind)
    return tmp_path


@pytest.mark.parametrize("unit", ["walpoold.service", "walpoold.socket", "walpoold@orders.service", "walpoold@orders.socket"])
def test_verify(root, unit):
    result = run("systemd-analyze", "verify", "--man=no", f"--root={root}", unit)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_verify_finds_what_is_wrong(root):
    """The negative control."""
    unit = root / "usr/lib/systemd/system/walpoold.service"
    unit.write_text(unit.read_text().replace("ProtectSystem=strict", "ProtectSystem=stricter"))
    result = run("systemd-analyze", "verify", "--man=no", f"--root={root}", "walpoold.service")
    assert "walpoold.service" in result.stderr and "stricter" in result.stderr


@pytest.mark.parametrize("unit", SERVICES)
def test_exposure(unit):
    result = run("systemd-analyze", "security", "--offline=true", "--no-pager", SYSTEMD / unit)
    level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", result.stdout)
    assert level, result.stdout + result.stderr
    assert float(level[1]) <= HIGHEST_EXPOSURE
    # Clients are told apart by their users, all of them.
    assert "PrivateUsers=" not in re.sub(r"^#.*", "", (SYSTEMD / unit).read_text(), flags=re.M)


def settings(unit):
    return [line for line in (SYSTEMD / unit).read_text().splitlines() if line and not line.startswith("#")]


def test_a_template_differs_in_its_instance_only():
    plain, template = settings("walpoold.service"), settings("walpoold@.service")
    assert [line for line in plain if line not in template] == [
        "Description=Walpool, a server for one SQLite database", "Wants=walpoold.socket",
        "After=walpoold.socket nss-user-lookup.target",
        "ExecStart=/usr/sbin/walpoold --config /etc/walpool/walpoold.toml", "StateDirectory=walpool",
        "RuntimeDirectory=walpool", "Also=walpoold.socket"]
    assert [line for line in template if line not in plain] == [
        "Description=Walpool, a server for the SQLite database %i", "Wants=walpoold@%i.socket",
        "After=walpoold@%i.socket nss-user-lookup.target", "ExecStart=/usr/sbin/walpoold --config /etc/walpool/%i.toml",
        "StateDirectory=walpool/%i", "RuntimeDirectory=walpool/%i", "Also=walpoold@%i.socket"]


# Units that are shown, and not installed


EXAMPLES = SYSTEMD / "examples"


def test_the_nightly_backup(root, start_daemon, tmp_path):
    """Its units are right, its commands make a backup, and only those of its own that are old go."""
    units = root / "usr/lib/systemd/system"
    for name in ("walpool-backup.service", "walpool-backup.timer"):
        shutil.copy(EXAMPLES / name, units)
    (root / "usr/bin/find").write_text("#!/bin/sh\n")
    (root / "usr/bin/find").chmod(0o755)
    result = run("systemd-analyze", "verify", "--man=no", f"--root={root}", "walpool-backup.timer", "walpool-backup.service")
    assert (result.returncode, result.stdout + result.stderr) == (0, "")

    backups = tmp_path / "backups"
    backups.mkdir()
    daemon = start_daemon(config=f'backup_directory = "{backups}"\n')
    fortnight = time.time() - 16 * 86400
    # One by hand, one of a database whose name begins like this one's, one that is not old.
    kept = ["app-before-the-upgrade.db", "app-2020-01-01.db", "app-archive-nightly-2020-01-01.db", "app-nightly-2020-01-02.db"]
    for name in [*kept, "app-nightly-2020-01-01.db"]:
        (backups / name).touch()
        if name != "app-nightly-2020-01-02.db":
            os.utime(backups / name, (fortnight, fortnight))
    text = (EXAMPLES / "walpool-backup.service").read_text()
    # systemd.service(5): "%%" is a percent sign, "$$" a dollar sign. Its quotes are the shell's here.
    commands = [shlex.split(line.replace("%%", "%").replace("$$", "$")) for line in re.findall("^ExecStart=(.*)$", text, re.M)]
    assert len(commands) == 2
    statuses = []
    for command in commands:
        command = [word.replace("/run/walpool", str(daemon.directory)).replace("/var/backups/walpool", str(backups)) for word in command]
        statuses.append(run(*command))
    assert [status.returncode for status in statuses] == [0, 0], statuses
    assert sorted(os.listdir(backups)) == sorted([*kept, f"app-nightly-{datetime.date.today()}.db"])
    # A second one on that day is refused, and the unit fails.
    assert run(*[word.replace("/run/walpool", str(daemon.directory)) for word in commands[0]]).returncode == 1
    # "except when Type=oneshot is used, in which case the timeout is disabled by default": systemd.service(5).
    assert "Type=oneshot" in text and re.search("^TimeoutStartSec=[1-9]", text, re.M)


@pytest.mark.parametrize("zone, day_before", [
    ("Europe/Berlin", "2026-03-28"), ("Europe/London", "2026-03-28"), ("America/New_York", "2026-03-07"),
    ("Australia/Sydney", "2026-10-03"), ("Europe/Athens", "2026-03-28"), ("Africa/Cairo", "2026-04-23")])
def test_no_night_has_no_backup(zone, day_before):
    """Where clocks are put forward, an hour of that night is not there, and nothing that is due in it comes."""
    (time_of_day,) = re.findall("^OnCalendar=(.*)$", (EXAMPLES / "walpool-backup.timer").read_text(), re.M)
    result = run("systemd-analyze", "calendar", f"--base-time={day_before} 12:00:00", time_of_day, env=os.environ | {"TZ": zone})
    assert result.returncode == 0, result.stderr
    night = datetime.date.fromisoformat(day_before) + datetime.timedelta(days=1)
    assert f"{night} " in re.search("Next elapse: (.*)", result.stdout)[1], result.stdout


def test_a_users_own_unit(root):
    (unit,) = [block for block in blocks("docs/administration.md") if "WantedBy=default.target" in block]
    directory = root / "usr/lib/systemd/user"
    directory.mkdir(parents=True)
    shutil.copytree("/usr/lib/systemd/user", directory, dirs_exist_ok=True)
    (directory / "walpoold.service").write_text(unit)
    result = run("systemd-analyze", "verify", "--user", "--man=no", directory / "walpoold.service",
                 env=os.environ | {"HOME": "/root", "XDG_RUNTIME_DIR": str(root)})
    # It names the program that is installed.
    said = [line for line in result.stderr.splitlines() if "walpoold" in line and "not executable" not in line]
    assert said == []
    # What the system's has of it, so that a reload works, a restart refuses nobody and one that hangs is started anew.
    for line in ("Type=notify", "ExecReload=", "Restart=", "RestartPreventExitStatus=", "WatchdogSec=", "FileDescriptorStoreMax="):
        (here,) = [each for each in unit.splitlines() if each.startswith(line)]
        assert here in settings("walpoold.service")


def test_users_and_directories(root):
    assert (result := run("systemd-sysusers", f"--root={root}")).returncode == 0, result.stderr
    user = next(line for line in (root / "etc/passwd").read_text().splitlines() if line.startswith("walpool:"))
    assert user.endswith(":Walpool database server:/var/lib/walpool:/usr/sbin/nologin")
    assert "\nwalpool:" in "\n" + (root / "etc/group").read_text()
    number = int(user.split(":")[2])
    result = run("systemd-tmpfiles", "--create", f"--root={root}", root / "usr/lib/tmpfiles.d/walpool.conf")
    assert (result.returncode, result.stderr) == (0, "")
    for path, mode in [("run/walpool", 0o755), ("var/backups/walpool", 0o700)]:
        status = (root / path).stat()
        assert (status.st_uid, status.st_mode & 0o777) == (number, mode), path


# The daemon within the filter of system calls


def system_calls(name):
    """A set as systemd knows it, with the sets in it."""
    result = run("systemd-analyze", "syscall-filter", "--no-pager", name)
    assert result.returncode == 0, result.stderr
    calls = set()
    for line in result.stdout.splitlines()[1:]:
        word = line.strip()
        if word.startswith("@"):
            calls |= system_calls(word)
        elif word and not word.startswith("#"):
            calls.add(word)
    return calls


def allowed_calls(unit):
    allowed = set()
    for line in settings(unit):
        if line.startswith("SystemCallFilter="):
            words = line.partition("=")[2].split()
            named = set().union(*(system_calls(word.lstrip("~")) for word in words))
            allowed = allowed - named if words[0].startswith("~") else allowed | named
    assert len(allowed) > 100
    return allowed


TRACED = re.compile(r"^(?:\d+ +)?(\w+)\(", re.M)


@pytest.fixture
def traced(tmp_path):
    """A daemon under strace; its end gives what it called, with the arguments of those that touch memory."""
    trace = tmp_path / "trace"
    prefix = ["strace", "--follow-forks", "--quiet=all", "--signal=none", "--string-limit=0", f"--output={trace}"]
    backups = tmp_path / "backups"
    backups.mkdir()
    service = Service(
        prefix=prefix, watchdog_seconds=1, config=f'backup_directory = "{backups}"\ncheckpoint_frames = 50\n',
        options=["--synchronous", "pipelined"])
    yield service, trace
    service.close()


def test_what_it_calls_is_allowed(traced):
    service, trace = traced
    service.run("CREATE TABLE t (n INTEGER, b BLOB)", "BEGIN; INSERT INTO t VALUES (1, NULL); COMMIT",
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                " INSERT INTO t SELECT i, randomblob(500) FROM n", "DELETE FROM t WHERE n % 2",
                "SELECT * FROM t ORDER BY b", "CREATE INDEX tb ON t (b)")
    with service.raw() as console:
        console.start(database="walpool", user="root").check()
        console.query("BACKUP TO 'one.db'").check()
        console.query("CHECKPOINT").check()
        console.query("VACUUM").check()
        console.query("SHOW CLIENTS").check()
        eventually(lambda: any(row[1] for row in console.query("SHOW MAINTENANCE").check().texts if row[0] == "last_success"),
                   "VACUUM")
    service.notify.wait_for_field("WATCHDOG")
    # strace is the process that was started, and the daemon its child.
    children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()
    for signal in ("HUP", "TERM"):
        subprocess.run(["kill", f"-{signal}", *children], check=True)
        if signal == "HUP":
            # The order of the notifications is test_service's matter.
            eventually(lambda: "configuration read again" in service.errors, "the reload")
    assert service.wait() == 0
    text = trace.read_text()
    called = set(TRACED.findall(text))
    assert {"execve", "fdatasync", "pwrite64", "epoll_wait", "accept4", "sendmsg"} <= called, called
    if os.geteuid() == 0:
        # As root, and only then, SQLite gives a -wal it makes to the owner of the database; the service is not root.
        called.discard("fchown")
    assert called - allowed_calls("walpoold.service") == set()
    # MemoryDenyWriteExecute=
    assert not re.search(r"PROT_WRITE\|PROT_EXEC", text)
    # RestrictAddressFamilies=
    assert set(re.findall(r"socket\((AF_\w+)", text)) == {"AF_UNIX"}
