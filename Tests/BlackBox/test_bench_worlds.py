"""The servers that bench/run starts: what is asked of them, and what becomes of one that is not ready after all."""

import contextlib
import sqlite3
import tempfile
from pathlib import Path

import pytest

from bench_fixtures import processes_naming
from bench_report_fixtures import BENCH  # noqa: F401 (bench/ can be imported from)
from daemon import binary
from pgwire import ConnectionLost, ServerError
from support import conditions, machine, settling, worlds
from support.servers import Server


@pytest.fixture
def world(monkeypatch):
    """Of a database without tables. pytest's own directory is too long for the sockets in it."""
    monkeypatch.setenv("WALPOOLD", str(binary()))
    with tempfile.TemporaryDirectory(prefix="bench-") as directory, worlds.World(Path(directory, "world"), None, scale=1) as world:
        world._original = world.directory / "original.db"
        with contextlib.closing(sqlite3.connect(world._original)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        yield world


class Refusing:
    """A walpoold whose console is not for us, or is none."""

    options = []

    def __init__(self, error):
        self._error = error

    def connect(self, database=None):
        if database == "walpool":
            raise self._error
        return contextlib.nullcontext(self)

    parameters = {"server_version": "15.0"}

    def value(self, question):
        return "1"


@pytest.mark.parametrize("error, said", [
    (ServerError({"C": "28000", "M": "refused"}), "not told (28000)"), (ConnectionLost("gone"), "not told (gone)")])
def test_a_console_that_refuses_ends_no_run(error, said):
    settings = machine.walpool_settings(Refusing(error))
    assert settings["configuration"] == said and settings["page_size"] == "1"


def test_a_configuration_that_was_not_told_differs_in_nothing():
    old, new = ({"machine": {}, "cells": [], "systems": {"walpool": {"settings": {"configuration": told}}}}
                for told in ("not told (28000)", {"readers": "8"}))
    for records in ((old, new), (new, old), (old, old)):
        assert conditions.differences(*records) == ["commit: None -> None"]


def fails(*_, **__):
    raise ConnectionLost("gone")


def test_a_server_whose_start_fails_half_way_is_stopped(world, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(machine, "walpool_settings", fails)
        with pytest.raises(ConnectionLost):
            world.system("walpool")
    assert processes_naming(world.directory) == {}
    assert world.system("walpool").broken() is None and len(processes_naming(world.directory)) == 1


def test_so_is_one_that_never_answers(world, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Server, "connect", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            world.system("canned")
    assert processes_naming(world.directory) == {}


def test_a_postgresql_that_is_half_loaded_is_nobodys(world, monkeypatch):
    """The next that asks for it gets another, and a whole one."""
    begun = []

    class Postgres(Refusing):
        process = None

        def __init__(self, *_):
            begun.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def start(self):
            self.process = "it runs"

        def stop(self):
            self.process = None

        def connect(self, **_):
            return contextlib.nullcontext(self)

        def query(self, _):
            pass

    monkeypatch.setattr(worlds, "Postgres", Postgres)
    with monkeypatch.context() as patch:
        patch.setattr(settling, "settle", fails)
        with pytest.raises(ConnectionLost):
            world.postgres()
    monkeypatch.setattr(settling, "settle", lambda *_, **__: None)
    assert world.postgres() is world.postgres() is begun[1]
    assert [server.process for server in begun] == [None, "it runs"]
