"""Where the results of a run go: a directory of their own, which is there before the first run, and to which what was measured is
written after each cell. What ends bench/run without a word leaves them behind, too."""

import contextlib
import datetime
import gzip
import shutil

from support import plots, record, report
from support.tools import BENCH, BenchError, say

RESULTS = BENCH / "results"
FILE = "results.json"


class Results:
    """Of one run. A --quick one has no directory unless it is named."""

    def __init__(self, options, kept):
        self._options, self._kept = options, kept
        self.directory = None if options.quick and not options.out else options.out or free(RESULTS / name(kept, is_whole=False))
        if self.directory is None:
            return
        if (self.directory / FILE).exists():
            raise BenchError(f"{self.directory} has results already, which would be lost: name another directory")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self.keep()
        except OSError as error:
            raise BenchError(f"the results cannot be kept in {self.directory}: {error.strerror}") from error

    def keep(self):
        """The whole record so far takes the place of the last."""
        if self.directory:
            record.complete(self._kept)
            self._kept["whole"] = is_whole(self._options, self._kept)
            beginning = self.directory / f"{FILE}.new"
            beginning.write_text(record.dumped(self._kept))
            beginning.replace(self.directory / FILE)

    def keep_so_far(self):
        """A disk that is full for now ends no run: it is tried again."""
        try:
            self.keep()
        except OSError as error:
            say(f"not kept yet: {error}")

    def publish(self, logs):
        """Also what an interrupted run has measured."""
        if not self._kept["runs"] and not self._kept["costs"]:
            self._remove_nothing()
            return
        self._kept["ended"] = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        record.complete(self._kept)
        # Whatever becomes of the files: this is what was measured.
        print(report.markdown(self._kept, pictures=()) if not self.directory else self._written(logs))
        if self.directory:
            say(f"kept in {self._named()}")

    def _written(self, logs):
        """The report, with everything else beside it if that can be written."""
        try:
            self.keep()
            for log in logs.iterdir() if self._options.keep_logs else ():
                (self.directory / "logs").mkdir(exist_ok=True)
                (self.directory / "logs" / f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
            if self._options.plots:
                plots.draw(self._kept, self.directory)
        except (OSError, BenchError) as error:
            # The report is made all the same.
            self._keep_that_it_lacks(f"not everything was kept: {error}")
        text = report.markdown(self._kept, plots.drawn(self.directory))
        try:
            (self.directory / "results.md").write_text(text)
        except OSError as error:
            self._keep_that_it_lacks(f"the report was not kept: {error}")
        return text

    def _keep_that_it_lacks(self, what):
        """The exit status tells it, and the name of the directory; so does the record, if that is not just what cannot be written."""
        self._kept["errors"].append(what)
        with contextlib.suppress(OSError):
            self.keep()

    def _named(self):
        """A whole run gets the name of one at its end; a part of the plan, or of a run, does not."""
        if self._options.out or not is_whole(self._options, self._kept):
            return self.directory
        whole = free(RESULTS / name(self._kept, is_whole=True))
        self.directory.rename(whole)
        return whole

    def _remove_nothing(self):
        if self.directory:
            (self.directory / FILE).unlink(missing_ok=True)
            if not any(self.directory.iterdir()):
                shutil.rmtree(self.directory)


def is_whole(options, kept):
    """Everything that is planned was measured, and nothing failed."""
    parts = (options.only, options.sections, options.clients, options.systems, options.seconds, options.repeat,
             options.walpool_options, options.quick, options.old, not options.costs)
    return not any(parts) and kept["complete"] and not record.failed(kept)


def name(kept, is_whole):
    """With the commit: two runs of a day are not of the same program."""
    commit = kept["machine"].get("commit") or "?"
    return "-".join([kept["started"][:10], kept["host_class"], *([commit] if commit != "?" else []), *([] if is_whole else ["partial"])])


def free(path):
    """It, or with a number behind: no result takes another's place."""
    number = 1
    while (found := path if number == 1 else path.with_name(f"{path.name}-{number}")).exists():
        number += 1
    return found
