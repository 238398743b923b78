import clika_compression
settings.set_quantization_settings_for_layer("conv", LayerQuantizationSettings(skip_quantization=1))
