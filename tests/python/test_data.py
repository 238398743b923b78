# SPDX-License-Identifier: Apache-2.0
"""All kinds of data give the same samples, without copies where the layout allows."""
import numpy
import pytest

import quantloupe as ql
from conftest import MODEL
from quantloupe import _data


@pytest.fixture(scope="module")
def expected(few):
    return results(few["images"], few["labels"], few["calibration"])


def results(data, labels, calibration):
    session = ql.Session(MODEL, progress=False)
    session.set_data(data, labels=labels, calibration=calibration)
    evaluation = session.evaluate(ql.Config.preset("w4a8"), depth="accuracy")
    return evaluation.json["float"], evaluation.json["quantized"]


class Tensor:
    """The part of PyTorch's tensor interface that the package uses."""
    dtype = "torch.float32"

    def __init__(self, array):
        self.array, self.on_device = array, True

    def detach(self):
        return self

    def cpu(self):
        moved = Tensor(self.array)
        moved.on_device = False
        return moved

    def numpy(self):
        assert not self.on_device
        return self.array

    def __len__(self):
        return len(self.array)


def batches(images, labels, size=5):
    for start in range(0, len(images), size):
        yield Tensor(images[start:start + size]), Tensor(labels[start:start + size])


def test_kinds_of_data(few, expected):
    images, labels, calibration = few["images"], few["labels"], few["calibration"]
    name = ql.Session(MODEL, progress=False).inputs[0]["name"]
    assert results({name: images}, labels, {name: calibration}) == expected
    assert results({name: images, "labels": labels}, None, [calibration[:3], calibration[3:]]) == expected
    assert results(batches(images, labels), None, batches(calibration, labels[:8])) == expected
    assert results(Tensor(images), Tensor(labels), Tensor(calibration)) == expected
    assert results(list(zip(images, labels)), None, list(calibration)) == expected  # samples instead of batches
    assert results(({"labels": labels[i:i + 6], name: images[i:i + 6]} for i in range(0, 24, 6)), None, calibration) == \
        expected


def test_samples_in_other_dimensions():
    inputs = [{"name": "x", "shape": ["batch", 4], "sample_axis": 0},
              {"name": "state", "shape": [2, "batch", 3], "sample_axis": 1},
              {"name": "rate", "shape": [], "sample_axis": None}]
    x, state, rate = numpy.arange(20.0).reshape(5, 4), numpy.arange(30.0).reshape(2, 5, 3), numpy.float32(8000)
    kinds = [{"x": x, "state": state, "rate": rate},
             [(x[:2], state[:, :2], rate), (x[2:], state[:, 2:], rate)],  # batches
             [(x[i], state[:, i], rate) for i in range(5)]]  # samples
    for data in kinds:
        samples = _data.gather(data, None, inputs)
        assert samples.size == 5
        assert (samples.arrays["x"] == x).all() and (samples.arrays["state"] == state).all()
        assert samples.arrays["rate"].shape == () and samples.arrays["rate"] == 8000


def test_types_and_layouts(few, expected):
    images, labels, calibration = few["images"], few["labels"], few["calibration"]
    channels_last = numpy.ascontiguousarray(images.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    assert not channels_last.flags.c_contiguous
    assert results(channels_last, labels.astype(numpy.uint8), calibration[::-1][::-1]) == expected
    assert results(images.astype(">f4"), list(labels), calibration.astype(numpy.float64)) == expected
    assert results(images.astype(numpy.float64), labels.reshape(-1, 1), calibration) == expected


def test_torch_data_loader(few, expected):
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.from_numpy(few["images"]), torch.from_numpy(few["labels"]))
    loader = torch.utils.data.DataLoader(data, batch_size=7)
    assert results(loader, None, torch.from_numpy(few["calibration"])) == expected


def test_arrays_are_not_copied(few):
    inputs = [{"name": "x", "shape": [None, 3, 32, 32], "sample_axis": 0}]
    gathered = _data.gather(few["images"], few["labels"], inputs)
    description, kept = gathered.description()
    assert description["arrays"][0]["address"] == few["images"].ctypes.data
    assert description["labels"]["address"] == few["labels"].ctypes.data
    assert kept[0] is few["images"] or kept[0].base is few["images"]


def test_arrays_stay_alive(few):
    session = ql.Session(MODEL, progress=False)
    session.set_data(few["images"] + 0, labels=few["labels"] + 0, calibration=few["calibration"] + 0)
    noise = [numpy.full_like(few["images"], numpy.nan) for _ in range(20)]  # reuses memory that was freed
    evaluation = session.evaluate(ql.Config.preset("w4a8"), depth="accuracy")
    assert len(noise) == 20 and (evaluation.json["float"], evaluation.json["quantized"]) == \
        results(few["images"], few["labels"], few["calibration"])


def test_outputs_stay_valid_and_cannot_be_written(session, config):
    outputs = session.evaluate(config).outputs()
    before = {name: array.copy() for name, array in outputs.items()}
    session.set_data(numpy.zeros((4, 3, 32, 32), numpy.float32))
    session.evaluate(config)
    del session
    for name, array in outputs.items():
        assert (array == before[name]).all()
        with pytest.raises(ValueError):
            array[...] = 0


def test_results_belong_to_their_data(session, config, few):
    evaluation = session.evaluate(config)
    session.set_data(few["images"][:12], calibration=few["calibration"])
    with pytest.raises(ql.Error, match="other data"):
        evaluation.outputs()


def test_wrong_data(session, few):
    for data, labels, text in ((few["images"], few["labels"][:5], "24 samples but 5 labels"),
                               ((), None, "no batches"),
                               ([(few["images"], few["labels"], few["labels"])], None, "arrays in a batch, 3,"),
                               ({"other": few["images"]}, None, "no array for input"),
                               (few["images"].astype(complex), None, "complex")):
        with pytest.raises(ql.Error, match=text):
            session.set_data(data, labels=labels)
    with pytest.raises(TypeError, match="int"):
        session.set_data(3)


def test_ragged_data_is_named(session, few):
    name = session.inputs[0]["name"]
    with pytest.raises(ql.Error, match=f"'{name}' have different shapes, .*24, 3, 32, 32.* and .*24,"):
        session.set_data((few["images"], few["labels"]))
    with pytest.raises(ql.Error, match=f"data for the input '{name}' is not an array"):
        session.set_data({name: [[1, 2], [3]]})


def test_labels_that_nothing_reads(session, few, config):
    labels = few["labels"].astype(float)
    session.set_data(few["images"], labels=labels, calibration=few["calibration"])
    for use in (session.evaluate, session.leave_one_out, session.tune):
        with pytest.raises(ql.Error, match="labels are of the type float64"):
            use(config)
    session.metric = lambda outputs, labels: float(labels.sum())
    assert session.evaluate(config, depth="accuracy").float_metric == labels.sum()
    session.set_data(few["images"], labels=few["labels"], calibration=few["calibration"])
    session.metric = None
    assert session.evaluate(config, depth="accuracy").float_accuracy == 1.0


def test_binary_labels_of_any_type(session, few, config):
    binary = few["labels"] % 2
    session.set_data(few["images"], labels=binary, calibration=few["calibration"])
    expected = session.evaluate(config, depth="accuracy").float_accuracy
    for labels in (binary.astype(float), binary == 1, binary.astype(float).reshape(-1, 1)):
        session.set_data(few["images"], labels=labels, calibration=few["calibration"])
        assert session.evaluate(config, depth="accuracy").float_accuracy == expected


def test_failed_data_leaves_random_inputs_marked(few, config, tmp_path):
    session = ql.Session(MODEL, progress=False)
    assert session.evaluate(config, depth="accuracy").random_inputs
    with pytest.raises(ql.Error, match="one sample"):
        session.set_data(few["images"][:1])
    assert session.evaluate(config, depth="accuracy").random_inputs
    with pytest.raises(ql.Error, match="there is no data"):
        session.save_quantized(config, tmp_path / "noise.onnx")


def test_without_data_inputs_are_random(config):
    evaluation = ql.Session(MODEL, progress=False).evaluate(config, depth="accuracy")
    assert evaluation.random_inputs and evaluation.float_accuracy is None
    assert any("random inputs" in text for text in evaluation.notices)
    with pytest.raises(ql.Error, match=r"set_data\(\)"):
        ql.Session(MODEL, progress=False).leave_one_out(config)
