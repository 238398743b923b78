# SPDX-License-Identifier: Apache-2.0
"""User-defined metrics in evaluations, leave-one-out and searches."""
import numpy
import pytest

import quantloupe as ql


def top1(outputs, labels):
    return float((next(iter(outputs.values())).argmax(1) == labels).mean())


def error_rate(outputs, labels):
    return 1 - top1(outputs, labels)


def test_a_metric_that_is_top1_gives_the_results_of_top1(session, config):
    plain, sweep = session.evaluate(config), session.leave_one_out(config)
    tuned = session.tune(config, max_drop=25, max_steps=2).result
    assert plain.float_metric is None and sweep.metric == "top1"
    session.metric = top1
    own = session.evaluate(config)
    assert (own.float_metric, own.quantized_metric) == (plain.float_accuracy, plain.quantized_accuracy)
    own_sweep = session.leave_one_out(config)
    assert own_sweep.metric == "metric"
    assert [(e.name, e.value, e.gain) for e in own_sweep] == [(e.name, e.value, e.gain) for e in sweep]
    own_tuned = session.tune(config, max_drop=0.25, max_steps=2).result
    assert [point.layers for point in own_tuned.curve] == [point.layers for point in tuned.curve]
    assert "metric" in own_tuned.text and own_tuned.metric == "metric"


def test_lower_can_be_better(session, config):
    session.metric = top1
    higher = session.leave_one_out(config)
    session.metric = ql.Metric(error_rate, lower_is_better=True)
    lower = session.leave_one_out(config)
    assert any(effect.gain != 0 for effect in higher)
    for above, below in zip(higher, lower):
        assert below.gain == pytest.approx(above.gain) and below.value == pytest.approx(1 - above.value)
    result = session.tune(config, max_drop=0.1, max_steps=2).result
    assert result.point.drop == pytest.approx(result.point.quantized["metric"] - error_rate_of_float(session, config))


def error_rate_of_float(session, config):
    return session.evaluate(config, depth="accuracy").float_metric


def test_a_metric_gets_the_outputs_and_the_labels_of_the_same_samples(session, config, few):
    seen = []

    def metric(outputs, labels):
        seen.append((outputs, labels))
        return 1.5

    session.metric = metric
    evaluation = session.evaluate(config, depth="accuracy")
    assert (evaluation.float_metric, evaluation.quantized_metric) == (1.5, 1.5)
    expected = [evaluation.float_outputs(), evaluation.outputs()]
    whole = [entry for entry in seen if len(entry[1]) == 24]
    assert len(whole) == 2
    for (outputs, labels), arrays in zip(whole, expected):
        assert (labels == few["labels"]).all()
        assert all((outputs[name] == arrays[name]).all() for name in arrays) and outputs.keys() == arrays.keys()


def test_labels_can_be_anything(session, config, few):
    boxes = [{"image": index} for index in range(24)]
    session.set_data(few["images"], labels=boxes, calibration=few["calibration"])
    session.metric = lambda outputs, labels: float([label["image"] for label in labels] == list(range(24)))
    evaluation = session.evaluate(config)
    assert evaluation.float_metric == 1.0 and evaluation.float_accuracy is None
    masks = numpy.zeros((24, 4, 4), numpy.float32)
    session.set_data(few["images"], labels=masks, calibration=few["calibration"])
    session.metric = lambda outputs, labels: float(labels.shape == (24, 4, 4))
    assert session.evaluate(config).quantized_metric == 1.0


def test_labels_of_a_folder(config):
    from conftest import DEMO, MODEL
    session = ql.Session(MODEL, progress=False)
    session.set_data(DEMO / "val", calibration=DEMO / "calibration")
    session.metric = top1
    evaluation = session.evaluate(config, depth="accuracy")
    assert evaluation.float_metric == evaluation.float_accuracy
    assert evaluation.quantized_metric == evaluation.quantized_accuracy


def test_exceptions_of_a_metric_are_raised_as_they_are(session, config):
    def metric(outputs, labels):
        raise KeyError("no such class")

    session.metric = metric
    with pytest.raises(KeyError, match="no such class"):
        session.evaluate(config)
    with pytest.raises(KeyError, match="no such class"):
        list(session.tune(config))
    for make in (lambda: setattr(session, "metric", 3), lambda: ql.Metric("rmse")):
        with pytest.raises(TypeError, match="must be a function"):
            make()
    session.metric = lambda outputs, labels: float("nan")
    with pytest.raises(ql.Error, match="finite number"):
        session.evaluate(config)
    session.metric = lambda outputs, labels: "much"
    with pytest.raises(ValueError):
        session.evaluate(config)
    session.metric = None
    assert session.evaluate(config).float_metric is None
