# SPDX-License-Identifier: Apache-2.0
"""What all searches share: the samples, the accuracy, and the count of evaluations and of processor time."""
import json
import os
import pathlib
import time

import numpy as np


class Work:
    """The samples of a comparison, read from the folder that compare.py writes; counts evaluations and time.

    Evaluations are counted in passes over all evaluation samples, so that a pass over a tenth of them counts 0.1.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.options = json.loads((self.folder / "work.json").read_text())
        arrays = np.load(self.folder / "samples.npz")
        self.inputs, self.labels, self.calibration = arrays["inputs"], arrays["labels"], arrays["calibration"]
        self.model = str(self.folder / "float.onnx")
        self.evaluations = 0.0
        self.start()

    def start(self):
        """Starts the clocks: call it when everything is imported."""
        self._cpu, self._wall = self._processor_time(), time.perf_counter()

    @staticmethod
    def _processor_time():
        return sum(os.times()[:4])  # user and system time, of finished child processes, too

    def feeds(self, session, samples, batch=1):
        name = session.get_inputs()[0].name
        for i in range(0, len(samples), batch):
            yield {name: samples[i:i + batch]}

    def top1(self, session, count=None):
        """Returns the accuracy of an ONNX Runtime session on the first `count` samples; None: all."""
        inputs, labels = self.inputs[:count], self.labels[:count]
        self.evaluations += len(inputs) / len(self.inputs)
        classes = [session.run(None, feed)[0].reshape(1, -1).argmax() for feed in self.feeds(session, inputs)]
        return float((np.array(classes) == labels).mean())

    def write(self, **result):
        result.update(evaluations=round(self.evaluations, 1), cpu=self._processor_time() - self._cpu,
                      wall=time.perf_counter() - self._wall)
        (self.folder / "result.json").write_text(json.dumps(result, indent=1))


def session_options(threads):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return options
