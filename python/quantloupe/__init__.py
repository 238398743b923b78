# SPDX-License-Identifier: Apache-2.0
"""Quantloupe: tuning of the post-training quantization of ONNX models.

This package has the programs ``quantloupe`` (the window) and ``quantloupe-cli``.
"""
from importlib.metadata import version as _version

__version__ = _version("quantloupe")
