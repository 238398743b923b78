from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType
from quark.onnx import ModelQuantizer
from quark.onnx.quantization.config.config import Config, QuantizationConfig

config = QuantizationConfig(
    quant_format=QuantFormat.QDQ,
    calibrate_method=CalibrationMethod.MinMax,
    activation_type=QuantType.QInt8,
    weight_type=QuantType.QInt8,
    include_cle=1,
    nodes_to_exclude=[],
    extra_options={"ActivationSymmetric": True, "WeightSymmetric": True},
)
quantizer = ModelQuantizer(Config(global_quant_config=config))
