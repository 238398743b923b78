from clika_compression import LayerQuantizationSettings, Settings

settings = Settings()
settings.set_quantization_settings_for_layer("conv", LayerQuantizationSettings(skip_quantization=True))
settings.set_quantization_settings_for_layer(
    "conv_1", LayerQuantizationSettings(skip_quantization=True, skip_quantization_until=["conv_2"]))
