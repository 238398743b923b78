from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

quantize_static(
    "net.onnx", "net.quantized.onnx", reader, quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
    weight_type=QuantType.QInt8, per_channel=True,
    nodes_to_exclude=["/stem/Conv", "/dw/conv"])
