"""The command line: what it prints, for people and for programs."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points

import numpy as np
import pytest

import bayesrl as b
from bayesrl import registry
from bayesrl._version import code_version
from bayesrl.cli import ORDER, main
from bayesrl.cli.output import put_json
from bayesrl.facets import COLUMNS
from bayesrl.lab.build import scalar

INTERVAL = {"mean", "low", "high", "n"}
PAGE = ["method", "world", "prior", "params", "steps", "runs", "seed", "return", "discounted_return", "regret"]
PAGE += ["seconds_per_step", "version"]


@pytest.fixture
def page(line):
    """Run a command line with --json; standard output must be one strict JSON value and nothing else."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return lambda text: json.loads(line(text + " --json"), parse_constant=refuse)


# What there is -------------------------------------------------------------------------------------------------------


def test_entry_point():
    (script,) = entry_points(group="console_scripts", name="bayesrl")
    assert script.value == "bayesrl.cli:main"


@pytest.mark.parametrize("module", ["bayesrl", "bayesrl.cli"])
def test_modules_are_the_command(module):
    """`python -m` prints what the command prints and ends with its exit code."""
    for arguments, code, out, err in [
        (["--version"], 0, f"bayesrl {code_version()}\n", ""),
        (["show", "bebb"], 2, "", "There is no method or world called 'bebb'. Did you mean beb?\n"),
    ]:
        done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


def test_version(line):
    assert line("--version") == f"bayesrl {code_version()}\n"


def test_help_names_every_command_in_order(line):
    listed = re.findall(r"(?m)^  (\S+)", line("--help").split("Commands:\n")[1].split("\n\n")[0])
    assert listed == list(ORDER)
    for command in listed:
        assert f"Usage: bayesrl {command}" in line(f"{command} --help")


@pytest.mark.parametrize("old, new", [("prior-check", "check-prior"), ("irl", "infer-reward")])
def test_older_names_of_commands_work_and_are_not_listed(line, old, new):
    assert line(f"{old} --help") == line(f"{new} --help").replace(f"bayesrl {new}", f"bayesrl {old}")


# WORLD or --world ----------------------------------------------------------------------------------------------------

ONE_WORLD = [
    "run random {} --runs 2 --steps 5", "explain psrl {}", "solve {}", "risk {} --steps 5",
    "check-prior {} --steps 5 --policies 5", "infer-reward birl {} --trajectories 2 --length 2 --sweeps 2",
]  # fmt: skip


@pytest.mark.parametrize("text", ONE_WORLD)
def test_a_command_takes_its_world_as_argument_or_option(line, text):
    # not the time, nor the width of its column
    both = (line(text.format(given)) for given in ("chain:gamma=0.5", "--world chain:gamma=0.5"))
    one, other = (re.sub(r"\d\S* [µmn]?s\b|[\s─]", "", said) for said in both)
    assert one == other


@pytest.mark.parametrize("text", ONE_WORLD)
@pytest.mark.parametrize("given, got", [("", "None"), ("chain --world tiger", "'chain and tiger'")])
def test_a_command_takes_one_world(capsys, text, given, got):
    assert main(text.format(given).split()) == 2
    sentence = f"bayesrl {text.split()[0]}: 'WORLD' must be given once, as an argument or by --world, got {got}.\n"
    assert capsys.readouterr() == ("", sentence)


# What the commands print ---------------------------------------------------------------------------------------------


def test_no_arguments_show_help(capsys):
    assert main([]) in (0, 2)  # which, typer decides
    out, err = capsys.readouterr()
    assert "Commands:" in out + err


def test_methods(page, line):
    found = page("methods")
    assert [m["name"] for m in found] == [e.name for e in registry.methods()]
    for method in found:
        assert list(method) == ["name", "kind", "family", "survey", "paper", "summary", "evidence", "reading"]
        assert method["kind"] in ("belief", "planner", "agent", "solver", "tool")
        assert isinstance(method["evidence"], list)
    text = line("methods")
    for method in found:
        assert re.search(rf"^{method['name']} .*{re.escape(method['summary'])}", text, re.MULTILINE)
    assert "…" not in text


def test_the_table_of_online_methods(page, line):
    found = page("methods --table")
    assert [row["name"] for row in found] == [e.name for e in registry.online_methods()]
    assert sum(row["in_survey"] for row in found) == 14
    for row in found:
        cells = [row[column] for column in ("name", *COLUMNS)]
        assert all(isinstance(cell, str) and cell for cell in cells)
        assert all("; here: " in row[column] for column in row["why"])
    text = line("methods --table")
    assert re.search(r"^bamcp +fixed d +UCT criteria .* sample 1 per step \* ", text, re.MULTILINE)
    assert "bamcp, posterior: sample 1 per simulation. A model is drawn at the root of every simulation." in text
    assert "…" not in text


def test_the_table_is_of_no_world(capsys):
    assert main(["methods", "--table", "--world", "chain"]) == 2
    assert "methods: '--table' must be given without --world, got 'chain'." in capsys.readouterr().err


def test_what_was_read_is_shown(page, line):
    for name in ("pot", "medusa"):
        assert page(f"show {name}")["reading"] in line(f"show {name}").replace("\n", " ")
        assert "Reading: The survey" in line(f"show {name}")
    assert "Reading:" not in line("show beb")


def test_worlds(page, line):
    found = page("worlds")
    assert [w["name"] for w in found] == [e.name for e in registry.worlds()]
    for world in found:
        assert list(world) == ["name", "kind", "summary"]
        assert world["kind"] in ("world", "family")
    text = line("worlds")
    assert re.search(r"^double-loop +world +flat:1/9 +1000 ", text, re.MULTILINE)
    assert "…" not in text


@pytest.mark.parametrize("name", [e.name for e in (*registry.methods(), *registry.worlds())])
def test_show(name, page, line):
    entry = registry.find(name)
    found = page(f"show {name}")
    assert {key: found[key] for key in entry.card()} == entry.card()
    assert [p["name"] for p in found["parameters"]] == list(entry.parameters)
    text = line(f"show {name}")
    assert entry.summary in text
    for p in found["parameters"]:
        assert re.search(rf"^{p['name']} .*{re.escape(p['doc'])}", text, re.MULTILINE)
    for test in entry.evidence:
        assert test in text


def test_show_tells_parameters_apart(page):
    found = {p["name"]: p for p in page("show q-learning")["parameters"]}
    rate = {key: found["rate"][key] for key in ("name", "type", "default", "doc")}
    assert rate == {"name": "rate", "type": "float", "default": "0.1", "doc": "Step size."}
    assert found["n_states"]["default"] is None


def test_show_tells_parameters_once(line):
    """The docstring's own list of parameters is not repeated above the table."""
    for name in (e.name for e in registry.methods()):
        text = line(f"show {name}")
        assert not re.search(r"^Parameters$", text, re.MULTILINE)
        assert len(re.findall(r"^parameter +allowed", text, re.MULTILINE)) <= 1


# How it does ---------------------------------------------------------------------------------------------------------


def test_run_page(page):
    found = page("run beb double-loop --set beta=2 --runs 3 --steps 50 --seed 7")
    assert list(found) == PAGE
    assert found["params"] == {"beta": 2, "ties": "first"}
    assert [found[k] for k in PAGE[:3]] == ["beb", "double-loop", "flat:1/9"]
    assert [found[k] for k in PAGE[4:7]] == [50, 3, 7]
    assert found["version"] == code_version()
    assert found["seconds_per_step"] > 0
    for measure in ("return", "discounted_return", "regret"):
        assert found[measure].keys() == INTERVAL
        assert found[measure]["low"] <= found[measure]["mean"] <= found[measure]["high"]
        assert found[measure]["n"] == 3


def test_run_is_what_the_library_does(page):
    world = b.make_world("chain", gamma=0.9)
    agent = b.BayesAgent(b.DirichletMDP.flat(world, 0.25), b.make("psrl"))
    records = [b.run(agent, world, steps=30, seed=3, replicate=i) for i in range(4)]
    found = page("run psrl chain:gamma=9/10 --prior flat:1/4 --runs 4 --steps 30 --seed 3")
    assert found["return"]["mean"] == pytest.approx(sum(r.total for r in records) / 4, abs=1e-9)
    assert found["discounted_return"]["mean"] == pytest.approx(sum(r.discounted for r in records) / 4, abs=1e-9)
    assert (found["world"], found["prior"]) == ("chain:gamma=9/10", "flat:1/4")


def test_steps_are_as_published(page):
    assert page("run random gdl --runs 1")["steps"] == registry.make_world("gdl").steps


def test_one_run_has_no_interval(page):
    found = page("run random chain --runs 1 --steps 5")["return"]
    assert (found["low"], found["high"], found["n"]) == (None, None, 1)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("beetle", {"beliefs": 5, "basis": 4, "iterations": 5}),
        ("finite-state-controller", {"nodes": 2, "restarts": 1, "models": 8, "iterations": 5}),
    ],
)
def test_a_solver_that_yields_a_planner(page, method, settings):
    """It works ahead on the prior, with a seed of its own, and its parameters are the method's."""
    world, solver = b.make_world("chain-tied"), b.make(method, **settings)
    prior = b.DirichletMDP.structured(world, 0.5)
    agent = b.BayesAgent(prior, solver.solve(prior, np.random.default_rng(0)))
    total = sum(b.run(agent, world, steps=30, seed=4, replicate=i).total for i in range(3))
    chosen = " ".join(f"--set {key}={setting}" for key, setting in settings.items())
    found = page(f"run {method} chain-tied --prior structured:1/2 --runs 3 --steps 30 --seed 4 {chosen}")
    assert found["return"]["mean"] == pytest.approx(total / 3, abs=1e-9)
    assert found["prior"] == "structured:1/2"
    assert settings.items() <= found["params"].items()


def test_an_agent_without_belief(page):
    found = page("run q-learning chain --runs 2 --steps 20 --set temperature=1/2 --set rate=.3")
    assert found["prior"] is None
    assert found["params"]["n_states"] == 5
    assert (found["params"]["gamma"], found["params"]["temperature"], found["params"]["rate"]) == (0.95, 0.5, 0.3)


def test_a_family(page):
    found = page("run exploit gc --prior inaccurate --runs 3 --steps 20")
    assert found["prior"] == "inaccurate"
    assert found["regret"].keys() == INTERVAL


def test_the_outcome_depends_on_the_seed_alone(page):
    def outcome(text):
        found = page(text)
        return {key: found[key] for key in found if key != "seconds_per_step"}

    command = "run bayesian-dp chain --runs 4 --steps 20 --seed 5"
    assert outcome(command) == outcome(command) == outcome(command + " --workers 2")
    assert outcome(command) != outcome(command.replace("--seed 5", "--seed 6"))


def test_tables(line):
    text = line("run beb double-loop --runs 2 --steps 20")
    assert re.search(r"^beb +\d", text, re.MULTILINE)
    assert "prior flat:1/9" in text
    text = line("compare beb beb:beta=3 q-learning --world chain --runs 2 --steps 20 --prior flat:0.5")
    for label in ("beb", "beb:beta=3", "q-learning"):
        assert re.search(rf"^{label} +\d.*regret|^{label} +\d", text, re.MULTILINE)
    assert "…" not in text


def test_published_figures_stand_beside_ours(line):
    """BEB on the double-loop is deterministic, so two runs are enough to agree."""
    assert "386 ± 0 agrees" in line("run beb double-loop --runs 2")
    assert "agrees" not in line("run beb double-loop --runs 2 --horizon 50")
    assert "published" in line("run thompson bernoulli:arms=10 --runs 2")
    assert "published" not in line("run thompson bernoulli:arms=3 --runs 2")


def test_bounds_stand_beside_measured_regret(page, line, tmp_path):
    found = page("run thompson bernoulli:arms=4 --runs 3 --steps 50")["bounds"]
    exact = {"value": pytest.approx(math.sqrt(0.5 * math.log(4) * 4 * 50), rel=1e-8), "side": "upper", "kind": "exact"}
    assert found["Thompson, Russo-Van Roy"] == exact | {"regret": "Bayesian", "paper": "Russo14IT"}
    said = line(f"compare thompson ucb1 --world bernoulli:arms=4 --runs 3 --steps 50 --plot {tmp_path / 'b.svg'}")
    assert re.search(r"^Thompson, Russo-Van Roy +Bayesian regret +11\.77 +upper", said, re.MULTILINE)
    assert "Russo-Van Roy" in (tmp_path / "b.svg").read_text()
    assert "bounds" not in page("run exploit chain --runs 1 --steps 5")


def test_compare_pages(page):
    found = page("compare exploit:ties=first q-learning psrl --world chain --runs 2 --steps 20 --set horizon=5")
    assert [f["method"] for f in found] == ["exploit", "q-learning", "psrl"]
    assert [list(f) for f in found] == [PAGE] * 3
    assert found[0]["params"] == {"ties": "first"}
    assert found[2]["params"] == {"horizon": 5}  # the one method that has it
    alone = page("run psrl chain --runs 2 --steps 20 --set horizon=5")
    assert {k: v for k, v in found[2].items() if k != "seconds_per_step"} == {
        k: v for k, v in alone.items() if k != "seconds_per_step"
    }


def test_save_and_plot(line, tmp_path):
    kept, picture = tmp_path / "runs.zip", tmp_path / "curves.svg"
    line(f"compare beb random --world chain --runs 2 --steps 20 --save {kept} --plot {picture}")
    comparison = b.load(kept)
    assert comparison.labels == ("beb", "random")
    assert (comparison.steps, comparison.runs) == (20, 2)
    assert picture.read_text().lstrip().startswith("<?xml")
    line(f"run beb chain --runs 2 --steps 20 --save {kept}")
    assert b.load(kept).labels == ("beb",)


def test_solve(page, line):
    found = page("solve chain --set gamma=.9")
    keys = ["world", "gamma", "start_value", "error_bound", "method", "values", "policy", "q", "version"]
    assert list(found) == keys
    assert found["start_value"] == pytest.approx(25.4990848, abs=1e-6)
    assert found["values"][0] == found["start_value"]
    assert found["policy"] == [0] * 5
    text = line("solve chain")
    assert "61.3795" in text
    assert "3665.83" in text
    assert "more states" in line("solve grid10")


def test_demo(capsys, tmp_path):
    """The main job, with two runs of each method."""
    picture = tmp_path / "new" / "chain.png"
    assert main(["demo", "--runs", "2", "--workers", "1", "--plot", str(picture)]) == 0
    out, err = capsys.readouterr()
    for text in ("exploit:ties=first", "bayesian-dp", "random", "3665.83", "recalled", str(picture)):
        assert text in out
    assert "100%" in err
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_without_the_extra(capsys, monkeypatch, tmp_path):
    """A plain installation has no matplotlib: the table is printed, and a note says why there is no picture."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--runs", "2", "--workers", "1"]) == 0
    out, err = capsys.readouterr()
    assert "3665.83" in out
    assert "No plot was drawn, since matplotlib is missing: pip install bayesrl[lab]." in err
    assert list(tmp_path.iterdir()) == []
    assert main(["demo", "--runs", "2", "--workers", "1", "--plot", "chain.png"]) == 2
    said = "--plot needs matplotlib, which is not installed: pip install bayesrl[lab].\n"
    assert capsys.readouterr().err == said


def test_scalars():
    words = {"3": 3, "-3": -3, "3.5": 3.5, ".5": 0.5, "1e-3": 0.001, "1/9": 1 / 9, "-1/4": -0.25, "first": "first"}
    words |= {"true": True, "False": False, "none": None, "null": None, "1/0": "1/0", "a/b": "a/b", "1_000": 1000}
    for word, meant in words.items():
        found = scalar(word)
        assert (found, type(found)) == (meant, type(meant))


# In a shell ----------------------------------------------------------------------------------------------------------

BAYESRL = [sys.executable, "-c", "import sys; from bayesrl.cli import main; sys.exit(main())"]


def shell(*arguments, **how):
    return subprocess.run([*BAYESRL, *arguments], capture_output=True, text=True, **how)


def test_a_mistake_of_the_user_in_a_shell():
    done = shell("run", "bebb", "chain")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "There is no method called 'bebb'. Did you mean beb?\n"


def test_a_mistake_of_ours(capsys, monkeypatch):
    def broken():
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(registry, "methods", broken)
    assert main(["methods"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "This is a bug in bayesrl, please report it (ZeroDivisionError: oh); BAYESRL_DEBUG=1 shows where.\n"
    monkeypatch.setenv("BAYESRL_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["methods"])


def test_json_alone_while_the_bar_is_drawn():
    """With a terminal as standard error the bar goes there and standard output stays JSON."""
    import pty

    ours, theirs = pty.openpty()
    command = [*BAYESRL, "run", "random", "chain", "--runs", "2", "--steps", "5", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    bar = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 0
    assert json.loads(done.stdout)["method"] == "random"
    assert "random" in bar


def test_a_reader_that_goes_away():
    command = [*BAYESRL, "methods", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        writer.stdout.close()
        err = writer.stderr.read().decode()
    assert (writer.returncode, err) == (1, "")


def test_interrupted(capsys, monkeypatch):
    """Control-C ends a command without a word and with the usual exit code."""

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "methods", interrupted)
    assert main(["methods"]) == 130
    assert capsys.readouterr() == ("", "")


def test_interrupted_with_notes(capsys, monkeypatch):
    """What a comparison adds to a KeyboardInterrupt, the number of finished runs, is printed."""

    def interrupted():
        stop = KeyboardInterrupt()
        stop.add_note("compare: 3 of 20 runs were finished (PSRL 3).")
        raise stop

    monkeypatch.setattr(registry, "methods", interrupted)
    assert main(["methods"]) == 130
    assert capsys.readouterr() == ("", "compare: 3 of 20 runs were finished (PSRL 3).\n")


SLOW = """
import sys, time
import bayesrl.bandits.thompson as thompson
from bayesrl.cli import main

def plan(self, *args):
    print("begun", flush=True)
    time.sleep(30.0)

thompson.Thompson.plan = plan
sys.exit(main(["compare", "thompson", "--world", "bernoulli", "--steps", "9", "--runs", "2", "--workers", "2"]))
"""


def test_interrupted_in_a_long_decision():
    """Ctrl-C says at once what it waits for, and another one does not wait."""
    with subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as slow:
        assert slow.stdout.readline() == b"begun\n"
        time.sleep(0.5)  # until the main thread waits for news, too
        began = time.monotonic()
        slow.send_signal(signal.SIGINT)
        assert b"Ctrl-C again" in slow.stderr.readline()
        slow.send_signal(signal.SIGINT)
        assert b"0 of 2 runs were finished" in slow.stderr.readline()
        assert slow.wait(10) == 130
        assert time.monotonic() - began < 10.0


def test_a_terminal_without_our_letters():
    done = shell("show", "chain-tied", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "?4.10" in done.stdout  # for the sign of a section


def test_json_is_strict_however_deep(capsys):
    """What is not finite becomes null: in lists, tuples, named tuples and dictionaries, first and last."""
    odd = [np.inf, 1.0, -np.inf, np.nan]
    put_json({"a": odd, "b": (odd, tuple(odd)), "c": [{"d": (0.5, np.nan)}], "e": np.inf, "f": "inf", "g": None})
    told = [None, 1.0, None, None]
    expected = {"a": told, "b": [told, told], "c": [{"d": [0.5, None]}], "e": None, "f": "inf", "g": None}
    assert json.loads(capsys.readouterr().out) == expected
