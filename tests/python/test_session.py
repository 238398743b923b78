# SPDX-License-Identifier: Apache-2.0
"""Threads, cancellation, searches, the window, and what notebooks show."""
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

import quantloupe as ql
from conftest import DEMO, MODEL


@pytest.fixture
def demo():
    """All images: seconds of work."""
    session = ql.Session(MODEL, progress=False)
    session.set_data(DEMO / "val", calibration=DEMO / "calibration")
    return session


def test_other_threads_run_meanwhile(demo, config):
    counted = [0]
    ended = threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    start = time.monotonic()
    demo.evaluate(config)
    seconds = time.monotonic() - start
    ended.set()
    counter.join()
    assert seconds > 0.5 and counted[0] > 50 * seconds


def test_keyboard_interrupt_cancels_an_evaluation(demo, config):
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        demo.evaluate(config)
        time.sleep(5)  # a machine that evaluates in 0.4 seconds
    assert time.monotonic() - start < 4
    assert demo.evaluate(config, depth="accuracy").quantized_accuracy == 0.68


def test_a_search_yields_its_progress(session, config):
    search = session.tune(config, max_drop=5, max_steps=1)
    with pytest.raises(ql.Error, match="busy"):
        session.evaluate(config)
    steps = list(search)
    assert {"each layer alone", "adding layers"} <= {step.stage for step in steps}
    assert all(step.done <= step.total or step.total == 0 for step in steps)
    # The drop gets smaller until the target is reached, then the cost.
    best = [(not b["reached"], b["cost"] if b["reached"] else b["drop"]) for b in (step.best for step in steps) if b]
    assert best and best == sorted(best, reverse=True)
    assert search.result.ended == "steps" and search.result.evaluations > 10
    assert session.evaluate(search.result.config).samples == 24


def test_closing_a_search_cancels_it_and_keeps_the_best(session, config):
    with session.tune(config, max_drop=0) as search:
        for step in search:
            if step.best:
                break
    assert search.result.ended == "cancelled" and search.result.curve
    assert session.evaluate(config).samples == 24


def test_a_search_that_is_dropped_ends(session, config):
    session.tune(config, max_drop=0)
    assert session.evaluate(config).samples == 24


def test_a_job_is_not_used_after_python_finalized_it(session, config):
    calls = []

    class Recorder:
        def __getattr__(self, name):
            calls.append(name)
            return getattr(library, name)

    search = session.tune(config, max_drop=5, max_steps=1)
    library, search._job._library = search._job._library, Recorder()
    assert search.result.steps == 1
    search._job.__del__()  # In a cycle of objects, Python may finalize the job before the search.
    search.__del__()
    assert calls[-1] == "quantloupe_release_job"


def test_searches_check_their_arguments(session, config):
    with pytest.raises(ql.Error, match="macs, parameters, layers"):
        list(session.tune(config, cost="money"))
    with pytest.raises(ql.Error, match="at least 0"):
        session.tune(config, max_drop=-1)


def test_configurations(config):
    assert config.get("quantization.weight.bits") == 4 and ql.Config.presets()["w4a8"]
    config.set("layers./features.0/Conv.weight.bits", 6).set("calibration.method", "min_max")
    assert config.get("layers./features.0/Conv.weight.bits") == 6
    assert "quantization.weight.bits" not in config.differences(ql.Config.preset("w4a8"))
    before = config.to_json()
    for key, value in (("quantization.weight.bit", 4), ("quantization.weight.bits", 99), ("quantization.weight.bits", "4")):
        with pytest.raises(ql.Error, match="quantization.weight.bit"):
            config.set(key, value)
    assert config.to_json() == before
    config.add_rule("type", op="Add").skip("one").quantize("two")
    assert {"kind": "type", "op": "Add"} in config.get("skip.rules")
    config.set("layers.three.precision", "float32").quantize("three")
    assert config.get("layers.three") == {"quantize": True}
    assert "Config.preset('w4a8')" in repr(config) and "skip.rules" in repr(config)
    with pytest.raises(ql.Error, match="w4a8"):
        ql.Config.preset("w4a9")


def test_notebooks_show_everything(session, config):
    assert "<table>" in session._repr_html_() and session.graph._repr_svg_().count('class="node') > 90
    evaluation = session.evaluate(config.skip("re:features.0.0"))
    shown = evaluation._repr_html_()
    assert evaluation.layers.worst(1)[0].name in shown and "top-1" in shown
    svg = evaluation.graph._repr_svg_()
    fills = set(re.findall(r'fill="(#[0-9a-f]{6})"', svg))
    assert len(fills & {"#fffaf2", "#fff1de", "#ffe6c6", "#ffd9ae", "#ffca97", "#ffb783", "#ff9f70"}) >= 3
    assert "#fdf6dc" in evaluation.draw("state").svg  # yellow: in float
    assert "<svg" in evaluation.graph._repr_html_()
    assert "gain" in session.leave_one_out(config)._repr_html_()
    assert repr(evaluation).startswith("<Evaluation: 24 samples; float ")


def test_layers(session, config):
    layers = session.evaluate(config).layers
    assert layers[layers[3].name] is layers[3]
    with pytest.raises(KeyError):
        layers["none"]
    assert [layer.name for layer in layers] == session.layer_names


def test_tables_become_data_frames(session, config):
    pandas = pytest.importorskip("pandas")
    evaluation = session.evaluate(config)
    frame = evaluation.layers.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(evaluation.layers)
    assert frame["local.qs"].max() == evaluation.layers.worst(1)[0].local.qs


def test_progress_bars(few, config, monkeypatch):
    tqdm = pytest.importorskip("tqdm.auto")
    stages = []
    monkeypatch.setattr(tqdm.tqdm, "set_description", lambda self, text, refresh: stages.append(text))
    session = ql.Session(MODEL, progress=True)
    session.set_data(DEMO / "val", calibration=DEMO / "calibration")
    session.evaluate(config)
    assert "layer metrics" in stages


def test_the_window_returns_its_configuration(session, config, tmp_path):
    layer = session.evaluate(config).layers.worst(1)[0].name
    arguments = ["--screenshot", str(tmp_path / "window.png"), "--select", layer, "--command", "Skip Quantization"]
    tuned = session.show(config, arguments)
    assert session.evaluate(tuned).layers[layer].state == "skipped"
    assert session.evaluate(config).layers[layer].state == "quantized"
    assert (tmp_path / "window.png").stat().st_size > 10_000
    with pytest.raises(ql.Error, match="no layer 'nowhere'"):
        session.show(config, [*arguments[:3], "nowhere"])


def test_sessions_end(few, config):
    """Many sessions, one after the other, give their memory and threads back."""
    def used():
        with open("/proc/self/status") as status:
            text = status.read()
        return int(re.search(r"VmRSS:\s*(\d+)", text)[1]) / 1024, int(re.search(r"Threads:\s*(\d+)", text)[1])

    def one():
        session = ql.Session(MODEL, progress=False)
        session.set_data(few["images"], calibration=few["calibration"])
        session.evaluate(config, depth="accuracy")

    for _ in range(3):
        one()
    memory, threads = used()
    for _ in range(8):
        one()
    assert used()[0] < memory + 150 and used()[1] <= threads + 2


def test_an_interpreter_that_ends_during_a_search_ends():
    # Each call of the metric is worse than the one before: so the search does not end with the first result.
    code = (f"import quantloupe as ql, itertools, numpy\ns = ql.Session({str(MODEL)!r})\nworse = itertools.count()\n"
            "s.set_data(numpy.zeros((64, 3, 32, 32), numpy.float32))\ns.metric = lambda o, l: -float(next(worse))\n"
            "t = s.tune(ql.Config.preset('w4a8'), max_drop=0)\nprint(next(t).stage)\n")
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "most sensitive layers\n"), done.stderr


def test_wrong_arguments_are_named(session, config):
    for arguments, text in (({"threads": -1}, "threads is -1"), ({"threads": 2 ** 40}, "threads is 1099511627776"),
                            ({"memory_mib": -1}, "memory_mib is -1"), ({"memory_mib": 1.5}, "memory_mib is 1.5")):
        with pytest.raises(ql.Error, match=text):
            ql.Session(MODEL, progress=False, **arguments)
    nan = float("nan")
    for arguments, text in (({"max_drop": nan}, "max_drop is nan"), ({"max_steps": -1}, "max_steps is -1"),
                            ({"max_seconds": -1}, "max_seconds is -1"), ({"max_seconds": nan}, "max_seconds is nan"),
                            ({"budget": float("inf")}, "budget is inf")):
        with pytest.raises(ql.Error, match=text):
            session.tune(config, **arguments)
    assert session.evaluate(config, depth="states").counts["quantized"] > 0  # it is not busy


def test_only_one_thread_starts_a_job(demo, config, monkeypatch):
    """Another thread that starts a job between the check and the start of this one must find the session busy."""
    engine, wait = demo._engine, ql._engine.Job.wait
    demo.evaluate(config, depth="states")
    request = {"do": "evaluate", "config": config.to_json(), "depth": "accuracy"}
    outcomes = []

    def slow_wait(job, seconds):
        ended = wait(job, seconds)
        time.sleep(0.05)  # every thread has checked before one starts, unless they wait for each other
        return ended

    def start():
        try:
            outcomes.append(engine.start(request, lambda: None))
        except ql.Error:
            outcomes.append(None)

    monkeypatch.setattr(ql._engine.Job, "wait", slow_wait)
    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    started = [job for job in outcomes if job is not None]
    for job in started:
        job.cancel()
    assert len(outcomes) == 4 and len(started) == 1
