"""What the guest does after each boot. The first time: everything up to a stop, and a reboot. The second: the rest."""

import ending
import installing
import running
import surviving
from report import ok, plan, remember, remembered, run, say, step

PHASES = [
    [installing.installs, installing.socket_activates, installing.tells_its_status, installing.users_are_told_apart,
     running.reloads, running.is_hardened, running.writes_to_the_journal, running.answers_http,
     running.serves_metrics_over_tcp, running.refuses_a_bad_file,
     surviving.restarts, surviving.clients_wait_in_the_backlog, surviving.survives_a_kill,
     surviving.watchdog_ends_a_stopped_process, surviving.watchdog_sees_a_stuck_writer, surviving.upgrades, ending.stops],
    [ending.was_enabled, ending.is_removed, ending.is_purged],
]

phase = remembered()["phase"]
say(f"boot {phase + 1}: " + run("uname", "-rm").text + ", " + run("systemctl", "--version").text.splitlines()[0])
for function in PHASES[phase]:
    step(function)
remember(phase=phase + 1)
if phase + 1 < len(PHASES):
    # As an administrator would: an orderly stop of everything, the daemon included.
    run("systemctl", "reboot")
else:
    failed = run("systemctl", "--failed", "--no-legend", "--plain").text
    ok("walpool" not in failed, "no unit of it is left failed", failed)
    plan()
    run("systemctl", "poweroff", "--force", "--force")
