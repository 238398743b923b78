from quark.onnx import ModelQuantizer
config = QuantizationConfig(
    include_cle=True,
