# SPDX-License-Identifier: Apache-2.0
"""The package gives the numbers and files of the command line, to the last bit."""
import json
import subprocess

import numpy
import pytest

import quantloupe as ql
from conftest import BUILD, DEMO, MODEL, cli_json, run_cli


def without_times(document):
    return {key: value for key, value in document.items() if key not in ("seconds", "model")}


def test_evaluation_of_a_folder():
    session = ql.Session(MODEL, progress=False)
    session.set_data(DEMO / "val", calibration=DEMO / "calibration")
    evaluation = session.evaluate(ql.Config.load(DEMO / "demo.config.json"))
    printed = cli_json("analyze", MODEL, "--config", DEMO / "demo.config.json", "--data", DEMO / "val",
                       "--calibration-data", DEMO / "calibration")
    assert without_times(evaluation.json) == without_times(printed)
    assert evaluation.float_accuracy == printed["float"]["top1"] == 0.924
    assert evaluation.quantized_accuracy == printed["quantized"]["top1"] == 0.68
    assert [layer.to_dict() for layer in evaluation.layers] == printed["layers"]
    worst = evaluation.layers.worst(1)[0]
    assert worst.local.qs == max(layer["local"]["qs"] for layer in printed["layers"] if layer["local"])


def test_evaluation_of_arrays(session, config, files):
    evaluation = session.evaluate(config)
    assert without_times(evaluation.json) == without_times(cli_json("analyze", MODEL, "--preset", "w4a8", *files))


def test_without_calibration_data_half_of_the_samples_calibrate(few, config, files):
    session = ql.Session(MODEL, progress=False)
    session.set_data(few["images"], labels=few["labels"])
    seen = []
    session.metric = lambda outputs, labels: seen.append(labels) or 0.0
    evaluation = session.evaluate(config)
    printed = without_times(cli_json("analyze", MODEL, "--preset", "w4a8", *files[:2]))
    assert evaluation.json["quantized"]["top1"] == printed["quantized"]["top1"]
    assert evaluation.json["layers"] == printed["layers"]
    assert all((labels == few["labels"][::2]).all() for labels in seen)


def test_outputs(session, config, files, tmp_path):
    evaluation = session.evaluate(config)
    for found, options in ((evaluation.outputs(), ["--quantized", "--preset", "w4a8"]), (evaluation.float_outputs(), [])):
        run_cli("run", MODEL, *files, *options, "-o", tmp_path / "out.npz")
        with numpy.load(tmp_path / "out.npz") as expected:
            assert found.keys() == set(expected.keys())
            for name, array in found.items():
                assert array.dtype == expected[name].dtype
                assert array.tobytes() == expected[name].tobytes()


def test_leave_one_out(session, config, files):
    requests = '{"do": "leave_one_out"}\n{"do": "quit"}\n'
    done = subprocess.run([BUILD / "bin" / "quantloupe-cli", "session", MODEL, "--preset", "w4a8", *files],
                          input=requests, capture_output=True, text=True, check=True)
    expected = next(reply["leave_one_out"] for reply in map(json.loads, done.stdout.splitlines())
                    if "leave_one_out" in reply)
    found = session.leave_one_out(config)
    assert (found.metric, found.baseline) == (expected["metric"], expected["baseline"])
    assert [(effect.name, effect.value, effect.gain, effect.sqnr_db) for effect in found] == \
        [(layer["name"], layer["value"], layer["gain"], layer.get("sqnr_db")) for layer in expected["layers"]]
    assert found.best(1)[0].gain == max(layer["gain"] for layer in expected["layers"])


def test_tune(session, config, files):
    result = session.tune(config, max_drop=30, max_steps=2).result
    printed = json.loads(subprocess.run(
        [BUILD / "bin" / "quantloupe-cli", "tune", MODEL, "--preset", "w4a8", *files, "--max-drop", "30", "--max-steps",
         "2", "--json"], capture_output=True, text=True, check=False).stdout)
    curve = [{key: value for key, value in point.to_dict().items() if key != "config"} for point in result.curve]
    assert curve == printed["curve"]
    for key in ("metric", "max_drop", "reached", "certain", "ended", "text", "chosen", "steps", "evaluations"):
        assert getattr(result, key) == printed[key]
    assert session.evaluate(result.config).quantized_accuracy == result.point.quantized["top1"]


@pytest.mark.parametrize("format", ["amct", "quark", "onnxruntime", "aimet"])
def test_exports(session, config, files, format, tmp_path):
    session.set_data(files[1], calibration=files[3])
    config.skip("re:features.0.0").set("quantization.rounding", "aimet")
    config.set("layers./classifier/classifier.1/Gemm.precision", "w8a16")
    config.save(tmp_path / "config.json")
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    written = session.export(config, format, tmp_path / "here" / "exported")
    printed = cli_json("export", MODEL, "--config", tmp_path / "config.json", *files, "--to", format, "-o",
                       tmp_path / "there" / "exported")
    assert session.notices == printed["notices"]
    names = sorted(path.name for path in (tmp_path / "there").iterdir())
    assert names == sorted(path.rpartition("/")[2] for path in written)
    for name in names:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_quantized_model(session, config, files, tmp_path):
    config.set("quantization.rounding", "aimet")
    session.save_quantized(config, tmp_path / "here.onnx")
    printed = cli_json("quantize", MODEL, "--preset", "w4a8", "--set", "quantization.rounding=aimet", *files, "-o",
                       tmp_path / "there.onnx")
    assert session.notices == printed["notices"][-1:] and "AIMET" in session.notices[0]
    assert (tmp_path / "here.onnx").read_bytes() == (tmp_path / "there.onnx").read_bytes()


def test_configurations(tmp_path):
    config = ql.Config.preset("w4a8").set("quantization.weight.per_channel", True).skip("a layer", "re:^/last")
    config.set("transforms.equalization.profile", "aimet")
    run_cli("inspect", MODEL, "--json")  # the program runs at all
    config.save(tmp_path / "config.json")
    assert (tmp_path / "config.json").read_text() == config.to_json()
    assert ql.Config.load(tmp_path / "config.json") == config == ql.Config.from_json(config.to_dict())


def test_errors_have_the_text_of_the_command_line(session, config, files, tmp_path):
    def printed(*arguments):
        return run_cli(*arguments, code=1).strip().splitlines()[-1].partition(": ")[2]

    def raised(function, *arguments):
        with pytest.raises(ql.Error) as error:
            function(*arguments)
        return str(error.value)

    missing = tmp_path / "missing.onnx"
    assert raised(ql.Session, missing) == printed("analyze", missing)
    missing.write_bytes(b"no model")
    assert raised(ql.Session, missing) == printed("analyze", missing)
    assert raised(session.evaluate, config.copy().skip("/features.0/Con")) == \
        printed("analyze", MODEL, "--preset", "w4a8", "--skip", "/features.0/Con", *files)
    numpy.save(tmp_path / "wrong.npy", numpy.zeros((4, 3, 30, 30), numpy.float32))
    assert "30" in raised(session.set_data, numpy.zeros((4, 3, 30, 30), numpy.float32))
    assert raised(session.set_data, tmp_path / "wrong.npy") == printed("analyze", MODEL, "--data", tmp_path / "wrong.npy")
    assert raised(session.save_quantized, config, MODEL) == \
        printed("quantize", MODEL, "--preset", "w4a8", *files, "-o", MODEL)
    assert session.evaluate(config).samples == 24  # the session goes on with its data
