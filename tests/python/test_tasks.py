# SPDX-License-Identifier: Apache-2.0
"""Labels for detection and segmentation, and the output with the classes: the numbers are those of the command line."""
import json

import numpy
import pytest

import quantloupe as ql
from conftest import cli_json

parser = pytest.importorskip("onnx.parser")

HEADER = '<ir_version: 8, opset_import: ["" : 17]> net '
UNIT = "float[3,3,1,1] W = {1, 0, 0, 0, 1, 0, 0, 0, 1}"


def model(folder, text):
    path = folder / "net.onnx"
    path.write_bytes(parser.parse_model(HEADER + text).SerializeToString())
    return path


def same_numbers(session, path, samples, *options):
    """Returns the evaluation, whose numbers are those of analyze."""
    numpy.savez(path.parent / "data.npz", X=samples)
    expected = cli_json("analyze", path, "--data", path.parent / "data.npz", "--no-skip-tail", *options)
    evaluation = session.evaluate(ql.Config().set("skip.tail", False))
    for key in ("float", "quantized"):
        assert evaluation.json[key] == expected[key]
    return evaluation


def test_boxes(tmp_path):
    # The boxes are the input: x, y of two corners, score and class.
    path = model(tmp_path, f"(float[N,3,5,2] X) => (float[N,5,6] boxes) <{UNIT}, int64[3] shape = {{0, 5, 6}}> "
                           "{ a = Conv(X, W) boxes = Reshape(a, shape) }")
    random = numpy.random.default_rng(3)
    size = numpy.array([2, 5])  # of the images
    corners = random.uniform(0, 0.5, (8, 5, 2)) * size
    opposite = corners + random.uniform(0.2, 0.5, (8, 5, 2)) * size
    boxes = numpy.concatenate([corners, opposite, random.uniform(0.3, 1, (8, 5, 1)), random.integers(0, 2, (8, 5, 1))],
                              axis=2).astype(numpy.float32)
    samples = boxes.reshape(8, 3, 5, 2)
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps({
        "images": [{"id": i, "file_name": f"{i}.png", "width": 2, "height": 5} for i in range(8)],
        "annotations": [{"image_id": i, "category_id": int(box[5]),
                         "bbox": [float(v) for v in (box[0], box[1], box[2] - box[0], box[3] - box[1])]}
                        for i in range(8) for box in boxes[i][:3]],
        "categories": [{"id": 0, "name": "cat"}, {"id": 1, "name": "dog"}]}))
    session = ql.Session(path, progress=False)
    session.set_data(samples, labels=labels, decoder="end-to-end")
    evaluation = same_numbers(session, path, samples, "--labels", labels, "--decoder", "end-to-end")
    assert evaluation.float_map > 0.3 and evaluation.quantized_map is not None
    assert "float mAP" in repr(evaluation) and "<th>mAP</th>" in evaluation._repr_html_()
    with pytest.raises(ql.Error, match="labels"):  # as all inputs of the session, the labels are not overwritten
        session.export(ql.Config(), "aimet", labels)
    with pytest.raises(ql.Error, match="'.*nowhere.json': there is no such file"):
        session.set_data(samples, labels=tmp_path / "nowhere.json")
    with pytest.raises(ql.Error, match="task: .*'detecting'"):
        session.set_data(samples, task="detecting")


def test_label_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = model(tmp_path, f"(float[N,3,8,8] X) => (float[N,3,8,8] y) <{UNIT}> {{ y = Conv(X, W) }}")
    samples = numpy.random.default_rng(4).standard_normal((6, 3, 8, 8), dtype=numpy.float32)
    folder = tmp_path / "labels"
    folder.mkdir()
    for index, labels in enumerate(samples.argmax(1).astype(numpy.uint8)):
        labels[:2] = 0  # some wrong labels
        image.fromarray(labels).save(folder / f"{index}.png")
    session = ql.Session(path, progress=False)
    session.set_data(samples, labels=folder)
    evaluation = same_numbers(session, path, samples, "--labels", folder)
    assert 0.5 < evaluation.float_miou < 1


def test_the_output_with_the_classes(tmp_path):
    path = model(tmp_path, "(float[N,3] X) => (float[N,4] first, float[N,3] second) "
                           "<float[3,4] W = {0,0,0,1, 0,0,0,1, 0,0,0,1}, float[3,3] V = {1,0,0, 0,1,0, 0,0,1}> "
                           "{ first = MatMul(X, W) second = MatMul(X, V) }")
    samples = numpy.tile(numpy.eye(3, dtype=numpy.float32), (4, 1))
    session = ql.Session(path, progress=False)
    session.set_data(samples, labels=numpy.tile(numpy.arange(3), 4), class_output="second")
    assert session.evaluate(ql.Config(), depth="accuracy").float_accuracy == 1


def test_tokens(tmp_path):
    random = numpy.random.default_rng(5)
    weights = random.standard_normal((4, 5)).round(2).ravel().tolist()
    path = model(tmp_path, f"(float[N,T,4] X) => (float[N,T,5] y) "
                           f"<float[4,5] W = {{{', '.join(map(str, weights))}}}> {{ y = MatMul(X, W) }}")
    samples = random.standard_normal((10, 7, 4), dtype=numpy.float32)
    labels = random.integers(0, 5, (10, 7))
    labels[:, 5:] = -100  # padding
    session = ql.Session(path, progress=False)
    session.set_data(samples, labels=labels, calibration=samples)
    evaluation = session.evaluate(ql.Config().set("skip.tail", False).set("quantization.weight.bits", 3))
    counted = labels >= 0
    for outputs, accuracy, perplexity in (
            (evaluation.float_outputs(), evaluation.float_token_accuracy, evaluation.float_perplexity),
            (evaluation.outputs(), evaluation.quantized_token_accuracy, evaluation.quantized_perplexity)):
        scores = outputs["y"].astype(float)
        assert accuracy == pytest.approx((scores.argmax(2) == labels)[counted].mean(), abs=1e-12)
        probabilities = numpy.exp(scores) / numpy.exp(scores).sum(2, keepdims=True)
        right = numpy.take_along_axis(probabilities, labels.clip(0)[..., None], 2)[..., 0][counted]
        assert perplexity == pytest.approx(numpy.exp(-numpy.log(right).mean()), rel=1e-6)
    agreement = (evaluation.outputs()["y"].argmax(2) == evaluation.float_outputs()["y"].argmax(2))[counted].mean()
    assert evaluation.agreement == pytest.approx(agreement)
    assert "quantized perplexity" in repr(evaluation)
    session.metric = lambda outputs, given: float((given == labels).all())  # gets the labels as they are
    assert session.evaluate(ql.Config(), depth="accuracy").float_metric == 1
