# SPDX-License-Identifier: Apache-2.0
"""What notebooks and training scripts do: interrupt, change the directory, fork, stop from within the metric."""
import json
import os
import pathlib
import shutil

import numpy
import pytest

import quantloupe as ql

from conftest import MODEL, cli_json


def test_model_is_not_overwritten_from_another_directory(few, config, tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    shutil.copy(MODEL, tmp_path / "a" / "m.onnx")
    monkeypatch.chdir(tmp_path / "a")
    session = ql.Session("m.onnx", progress=False)
    session.set_data(few["images"], calibration=few["calibration"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ql.Error, match="would be overwritten"):
        session.save_quantized(config, tmp_path / "a" / "m.onnx")
    assert (tmp_path / "a" / "m.onnx").read_bytes() == MODEL.read_bytes()
    for name in ("m.onnx", "images.npz"):
        with pytest.raises(ql.Error, match="use a name that ends with .json"):
            config.save(tmp_path / "a" / name)
    with pytest.raises(ValueError, match="use a name that ends with .svg"):
        session.evaluate(config).graph.save(tmp_path / "a" / "m.onnx")
    assert (tmp_path / "a" / "m.onnx").read_bytes() == MODEL.read_bytes()
    session.evaluate(config).graph.save(tmp_path / "graph.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "graph.svg"]


def test_arguments_of_another_type_are_named(session, config):
    with pytest.raises(TypeError, match="needs a Config, not dict"):
        session.evaluate({})
    for method in (config.skip, config.quantize):
        with pytest.raises(TypeError, match=r"pass a list as \w+\(\*names\)"):
            method(["/features/features.0/features.0.0/Conv"])
    with pytest.raises(ValueError, match="not patterns"):
        config.quantize("re:.*")


def test_infinite_gains_are_the_best():
    layers = [{"name": name, "value": value, "gain": gain}
              for name, value, gain in (("a", 40.0, 2.0), ("b", None, None), ("c", 41.0, 3.0))]
    effects = ql.LeaveOneOut({"metric": "sqnr_db", "baseline": 38.0, "layers": layers})
    assert [effect.name for effect in effects.best()] == ["b", "c", "a"]
    assert "b" in effects._repr_html_()


def test_bytes_and_bad_paths(config, tmp_path):
    assert ql.Session(os.fsencode(MODEL), progress=False).layer_names
    with pytest.raises(ql.Error, match="not valid UTF-8"):
        ql.Session(os.fsdecode(bytes(tmp_path) + b"/\xff.onnx"))
    with pytest.raises(ql.Error, match="not the contents of a file"):
        ql.Session(pathlib.Path(MODEL).read_bytes())


def test_labels_that_no_class_index_can_be(few, session):
    labels = few["labels"].astype(numpy.uint64)
    labels[3] = 2 ** 63
    with pytest.raises(ql.Error, match="9223372036854775808 is not a class index"):
        session.set_data(few["images"], labels=labels)


def test_search_is_closed_by_its_metric(session, config):
    calls = []

    def metric(outputs, labels):
        calls.append(len(labels))
        if len(calls) == 6:
            search.close()
            with pytest.raises(ql.Error, match="cannot wait"):
                search.result
        return float((outputs["logits"].argmax(1) == labels).mean())

    session.metric = metric
    search = session.tune(config, max_drop=0)
    list(search)
    assert search.result.ended == "cancelled"
    session.metric = None
    assert session.evaluate(config, depth="accuracy").samples == 24


def test_exception_of_the_metric_in_a_search(session, config):
    calls = []

    def metric(outputs, labels):
        calls.append(1)
        if len(calls) > 5:
            raise RuntimeError("the judge is gone")
        return float((outputs["logits"].argmax(1) == labels).mean())

    session.metric = metric
    result = session.tune(config, max_drop=0).result
    assert result.ended == "failed" and isinstance(result.error, RuntimeError)
    assert result.notices[-1] == "the metric raised RuntimeError: the judge is gone"


def test_exception_of_the_metric_belongs_to_its_search(session, config):
    def metric(outputs, labels):
        raise RuntimeError("first")

    session.metric = metric
    search = session.tune(config)
    with pytest.raises(RuntimeError, match="first"):
        list(search)
    session.metric = None
    session.evaluate(config, depth="accuracy")
    with pytest.raises(RuntimeError, match="first"):
        search.result


def test_kept_evaluations_need_no_threads(session, config):
    def threads():
        return len(os.listdir("/proc/self/task"))
    before = threads()
    kept = [session.evaluate(config, depth="states") for _ in range(50)]
    assert threads() <= before + 1, len(kept)


@pytest.mark.parametrize("after", [True, False])
def test_interrupted_set_data(session, config, few, monkeypatch, after):
    """An interruption while the engine works, or before: samples and labels belong together in any case."""
    images, labels = few["images"][:7], numpy.arange(100, 107)
    wait = session._wait

    def interrupted(job):
        if after:
            wait(job)
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.set_data(images, labels=labels, calibration=few["calibration"])
    monkeypatch.undo()
    seen = []
    session.metric = lambda outputs, given: seen.append(list(given)) or float(len(outputs["logits"]))
    evaluation = session.evaluate(config, depth="accuracy")
    assert evaluation.samples == session.samples == 7
    assert sorted(seen[-1]) == list(labels)


def test_results_keep_their_configuration(session, config):
    evaluation = session.evaluate(config, depth="accuracy")
    before = evaluation.outputs()["logits"]
    evaluation.config.set("quantization.weight.bits", 8)
    assert evaluation.config == config
    assert (evaluation.outputs()["logits"] == before).all()
    result = session.tune(config, max_drop=100).result
    result.config.set("quantization.weight.bits", 3)
    assert result.config.get("quantization.weight.bits") == 4


def test_budget_without_target(session, config, files):
    found = session.tune(config, budget=1_000_000, max_steps=1).result
    printed = cli_json("tune", MODEL, *files, "--preset", "w4a8", "--budget", 1_000_000, "--max-steps", 1)
    assert found.max_drop is None and printed["max_drop"] is None
    assert (found.reached, found.cost, found.text) == (printed["reached"], printed["cost"], printed["text"])


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_process(session, config):
    search = session.tune(config, max_drop=0)
    child = os.fork()
    if child == 0:
        try:
            session.evaluate(config)
        except ql.Error as error:
            assert "parent process" in str(error)
            search.__del__, session._engine.__del__()
            ql._engine.Job.end_all()
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    search.close()


def test_numpy_numbers_and_wrong_types(session, config, few):
    assert ql.Session(MODEL, threads=numpy.int64(2), progress=False).layer_names
    config.set("quantization.weight.bits", numpy.int64(5))
    assert config.get("quantization.weight.bits") == 5
    session.tune(config, max_drop=numpy.float32(100), max_steps=numpy.int64(1), transforms=numpy.bool_(False)).result
    session.tune(config, max_drop=100, precisions="w8a8").result
    with pytest.raises(TypeError, match="not the name of a layer"):
        config.skip(["classifier"])
    with pytest.raises(TypeError, match="not the name of a layer"):
        config.quantize(["classifier"])
    for call in (lambda: config.get(3), lambda: session.tune(config, precisions=[8]).result,
                 lambda: session.export(config, None, "file")):
        with pytest.raises(ql.Error, match="wrong type"):
            call()
    with pytest.raises(ql.Error, match="of type object"):
        config.set("quantization.weight.bits", object())


def test_labels_that_are_no_classes(session, config, few):
    images, labels = few["images"], few["labels"]
    with pytest.raises(ql.Error, match="a dict of cls, boxes"):
        session.set_data([(images[:2], {"cls": labels[:2], "boxes": labels[:2]})])
    with pytest.raises(ql.Error, match="a dict"):
        session.set_data(images, labels={index: label for index, label in enumerate(labels)})
    for wrong in (labels.astype(object), labels.astype(str), [None] * len(labels)):
        session.set_data(images, labels=wrong, calibration=few["calibration"])
        with pytest.raises(ql.Error, match="the labels are of the type"):
            session.evaluate(config, depth="accuracy")
    for other, text in ((numpy.eye(10, dtype=int)[labels], "'labels' is ignored: it contains 10 numbers"),
                        (numpy.zeros((24, 2, 2), int), "the labels of the shape 24×2×2 are not used")):
        session.set_data(images, labels=other, calibration=few["calibration"])
        evaluation = session.evaluate(config, depth="accuracy")
        assert evaluation.float_accuracy is None
        assert any(notice.startswith(text) for notice in evaluation.notices)


def test_data_of_other_kinds(session, few):
    images = few["images"]
    for empty in ({}, {"labels": few["labels"]}):
        with pytest.raises(ql.Error, match="no array for an input of the network: input"):
            session.set_data(empty)
    session.set_data({"input": images, "file name": ["a"] * 24, 3: None}, calibration=images)
    assert session.samples == 24
    with pytest.raises(ql.Error, match="the data for the input 'input' is not an array"):
        session.set_data([((images[:2], images[:1]), few["labels"][:2])])
    with pytest.raises(ql.Error, match="the labels are 3"):
        session.set_data([(images[:2], 3)])
    with pytest.raises(ql.Error, match="pass an array or a list with one label per sample"):
        session.set_data(images, labels=numpy.array(3))
    kept = len(session._kept)
    with pytest.raises(ql.Error):
        session.set_data(images[:, :2])
    assert len(session._kept) == kept


def test_configurations_from_values_of_numpy():
    assert ql.Config.from_json({"quantization": {"weight": {"bits": numpy.int64(5)}}}).get(
        "quantization.weight.bits") == 5


def test_values_for_other_programs(session, config):
    name = session.layer_names[0]
    changed = config.copy().set(f"layers.{name}.weight.bits", 5)
    assert list(changed.differences(config)) == [f"layers.{name}.weight.bits"]
    result = session.tune(config, max_drop=100).result
    values = result.to_dict()
    assert json.loads(json.dumps(values)) == values
    layers = session.evaluate(config, depth="states").layers
    assert name in layers and "none" not in layers and layers[0] in layers
    assert isinstance(layers[:2], ql._results.LayerList) and isinstance(layers.worst(2), ql._results.LayerList)
    assert "; ;" not in repr(session.evaluate(config, depth="states"))
