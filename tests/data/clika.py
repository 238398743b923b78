"""Settings for CLIKA ACE 24.x, tuned for net.onnx in Quantloupe. Import `settings` from this file."""
from clika_compression import LayerQuantizationSettings, Settings

settings = Settings()
settings.global_quantization_settings.weights_num_bits = 8
settings.global_quantization_settings.activations_num_bits = 8
settings.global_quantization_settings.skip_tail_quantization = True
settings.global_quantization_settings.automatic_skip_quantization = False

# Conv /stem/Conv
settings.set_quantization_settings_for_layer(
    "conv",
    LayerQuantizationSettings(skip_quantization=True),
)

# Conv /dw/Conv
settings.set_quantization_settings_for_layer(
    "conv_1",
    LayerQuantizationSettings(skip_quantization=True, skip_quantization_until=["conv_2", "add"]),
)

# GlobalAveragePool /pool
settings.set_quantization_settings_for_layer(
    "adaptive_avg_pool",
    LayerQuantizationSettings(skip_quantization=True, skip_quantization_downstream=True),
)

# Add /out/Add
settings.set_quantization_settings_for_layer(
    "add",
    LayerQuantizationSettings(skip_quantization=True),
)

# Conv /out/Conv
settings.set_quantization_settings_for_layer(
    "conv_2",
    LayerQuantizationSettings(weights_num_bits=4),
)
