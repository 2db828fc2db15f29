"""What an administrator does and sees while the service runs."""

import os
import pathlib
import re
import socket
import urllib.request

import wire
from report import equal, ok, run, say, until
from service import (CONFIGURATION, PATH, SERVICE, SOCKET, connect, is_active, journal, main_pid, psql, set_drop_in, show,
                     value, wait_for_message)

RULES = """
queue_notice = "7s"

[[access]]
user = "root"
role = "admin"

[[access]]
user = "rita"
role = "reader"

[[access]]
group = "walpool"
role = "writer"
"""


def reloads():
    """systemctl reload"""
    shipped = CONFIGURATION.read_text()
    pid = main_pid()
    try:
        with connect() as kept:
            reloads_a_good_file(shipped + RULES)
            reloads_a_bad_file(shipped + RULES + "\nreeders = 3\n")
            equal(kept.value("SELECT 40 + 2"), "42", "sessions go on meanwhile")
        equal(main_pid(), pid, "it is the same process")
    finally:
        CONFIGURATION.write_text(shipped)
        run("systemctl", "reload", SERVICE)


def reloads_a_good_file(text):
    CONFIGURATION.write_text(text)
    reloaded = run("systemctl", "reload", SERVICE)
    ok(reloaded.status == 0 and is_active(), "systemctl reload succeeds", reloaded)
    # Before systemd 253 the reload has begun when systemctl returns, and not ended.
    until(lambda: value("SHOW queue_notice") == "7s", "the new setting")
    ok(True, "a new session has the new setting")
    refused = psql("INSERT INTO kept VALUES ('by rita')", user="rita")
    ok(refused.status != 0 and "role is reader" in refused.text, "a user who only reads by the new rules cannot write", refused)
    equal(value("SELECT count(*) FROM kept", user="rita"), "2", "but read")


def reloads_a_bad_file(text):
    CONFIGURATION.write_text(text)
    run("systemctl", "reload", SERVICE)
    said = wait_for_message("reeders")
    line = text.splitlines().index("reeders = 3") + 1
    ok(any(f":{line}:" in message for message in said), "a bad file is reported with its line", f"line {line}", *said)
    say(said[-1])
    equal([value("SHOW queue_notice"), is_active()], ["7s", True], "and changes nothing")


HARDENING = {
    "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes",
    "PrivateNetwork": "yes", "ProtectKernelTunables": "yes", "ProtectKernelModules": "yes", "ProtectKernelLogs": "yes",
    "ProtectControlGroups": "yes", "ProtectClock": "yes", "ProtectHostname": "yes", "ProtectProc": "invisible",
    "MemoryDenyWriteExecute": "yes", "LockPersonality": "yes", "RestrictRealtime": "yes", "RestrictSUIDSGID": "yes",
    "RestrictAddressFamilies": "AF_UNIX", "CapabilityBoundingSet": "", "PrivateUsers": "no", "User": "walpool",
}


def is_hardened():
    """restrictions, in force and not in the way"""
    found = {name: show(name) for name in HARDENING}
    equal({name: found[name] for name in found if found[name] != HARDENING[name]}, {}, "systemd shows the restrictions")
    status = dict(re.findall(r"^(\w+):\s+(.*)$", pathlib.Path(f"/proc/{main_pid()}/status").read_text(), re.M))
    equal([status["Seccomp"], status["NoNewPrivs"], int(status["CapEff"], 16), int(status["CapBnd"], 16)], ["2", "1", 0, 0],
          "the kernel says so: a system call filter, no new privileges, no capability")
    uid = run("id", "-u", "walpool").text
    equal(status["Uid"].split(), [uid] * 4, "it runs as walpool")
    analyzed = run("systemd-analyze", "security", "--no-pager", "--threshold=6", SERVICE)
    ok(analyzed.status == 0, "systemd-analyze security: 0.6 or better", *analyzed.text.splitlines()[-3:])
    say(analyzed.text.splitlines()[-1])
    with connect():
        clients = psql("SHOW CLIENTS", database="walpool").text
        ok(re.search(rf"\b{os.getpid()}\b", clients), "peer credentials get through: the console has this process's id", clients)
    seen = psql("SELECT count(*) FROM kept", user="alice")
    equal([seen.status, seen.text], [0, "2"], "and alice is not taken for nobody")
    for command in ["BACKUP TO 'boot.db'", "VACUUM", "CHECKPOINT"]:
        done = psql(command, database="walpool")
        ok(done.status == 0, f"{command} works within the restrictions", done)
    checked = run("sqlite3", "/var/backups/walpool/boot.db", "PRAGMA integrity_check; SELECT count(*) FROM kept")
    equal(checked.text.split(), ["ok", "2"], "the backup is whole")


def writes_to_the_journal():
    """journalctl -u walpoold"""
    psql("SELECT nothing FROM nowhere")
    entries = [entry for entry in journal() if entry.get("_COMM") == "walpoold"]
    ok(entries and all("PRIORITY" in entry for entry in entries), "its lines have a priority", entries[:2])
    structured = [entry for entry in entries if entry.get("_TRANSPORT") == "journal" and "MESSAGE_ID" in entry]
    ok(structured, "and a MESSAGE_ID for the kind of event", entries[:2])
    say("fields of its own: " + ", ".join(sorted({name for entry in structured for name in entry if not name.startswith("_")})))


def answers_http():
    """metrics on the socket"""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(PATH)
        client.settimeout(30)
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b""
        while part := client.recv(1 << 16):
            answer += part
    ok(answer.startswith(b"HTTP/1.1 200") and b"# EOF" in answer, "GET /metrics on the Unix socket", answer[:300])


def serves_metrics_over_tcp():
    """metrics_address, with the manual's drop-in"""
    shipped = CONFIGURATION.read_text()
    page = run("walpoold", "--print", "walpoold.8").text
    drop_in = next(block for block in re.findall(r"^\.EX$(.*?)^\.EE$", page, re.M | re.S) if "PrivateNetwork" in block)
    try:
        CONFIGURATION.write_text('metrics_address = "127.0.0.1:9187"\n' + shipped)
        ok(run("systemctl", "restart", SERVICE).status != 0, "the unit as shipped does not let it serve TCP")
        ok(wait_for_message("cannot listen on 127.0.0.1:9187", "walpoold(8)"), "and the log says where to look")
        set_drop_in(SERVICE, drop_in)
        restarted = run("systemctl", "restart", SERVICE)
        ok(restarted.status == 0, "with the drop-in it starts", restarted)
        with urllib.request.urlopen("http://127.0.0.1:9187/metrics", timeout=30) as reply:
            answer = reply.read()
        ok(answer.endswith(b"# EOF\n"), "and serves metrics there", answer[-300:])
    finally:
        CONFIGURATION.write_text(shipped)
        set_drop_in(SERVICE, "")
        run("systemctl", "restart", SERVICE, check=True)


def refuses_a_bad_file():
    """a configuration that is wrong when the service starts"""
    shipped = CONFIGURATION.read_text()
    try:
        CONFIGURATION.write_text(shipped + "\nreeders = 3\n")
        restarted = run("systemctl", "restart", SERVICE)
        ok(restarted.status != 0, "systemctl restart says that it failed", restarted)
        equal([show("ActiveState"), show("ExecMainStatus"), show("NRestarts")], ["failed", "78", "0"], "and it is not tried again")
        ok("reeders" in run("systemctl", "status", "--no-pager", SERVICE).text, "systemctl status shows why")
        with wire.Client(PATH) as client:
            client.socket.settimeout(60)
            client.send(wire.startup({"user": "root", "database": "app"}))
            ok(client.started().closed, "a client is turned away instead of waiting for ever")
    finally:
        CONFIGURATION.write_text(shipped)
    # Each client's connection was a try, and so may have used them up.
    run("systemctl", "reset-failed", SERVICE, SOCKET)
    started = run("systemctl", "start", SOCKET, SERVICE)
    ok(started.status == 0 and is_active(SOCKET), "with the right file it starts", started)
    equal(value("SELECT 40 + 2"), "42", "and serves")
