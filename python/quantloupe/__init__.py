# SPDX-License-Identifier: Apache-2.0
"""Quantloupe: tuning of the post-training quantization of ONNX models.

    import quantloupe as ql

    session = ql.Session("model.onnx")
    session.set_data(images, labels=labels, calibration=more_images)
    config = ql.Config.preset("w4a8")
    evaluation = session.evaluate(config)
    print(evaluation.float_accuracy, evaluation.quantized_accuracy)

docs/python.md describes the package. It also contains the programs ``quantloupe`` (the window) and ``quantloupe-cli``.
"""
from ._config import Config
from ._engine import Error, version as _version
from ._results import Difference, Effect, Evaluation, Layer, LayerList, LeaveOneOut, Picture
from ._session import Metric, Session
from ._tune import Tune, TunePoint, TuneProgress, TuneResult

__all__ = ["Config", "Difference", "Effect", "Error", "Evaluation", "Layer", "LayerList", "LeaveOneOut", "Metric",
           "Picture", "Session", "Tune", "TunePoint", "TuneProgress", "TuneResult"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        return _version().split(" ")[0]
    raise AttributeError(f"module 'quantloupe' has no attribute '{name}'")
