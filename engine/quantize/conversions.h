// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conversions between layers of different precision.
//
// A tensor has the activation bits of the layer that produces it. A layer that computes with other bits reads
// it through a conversion: it is quantized a second time, with the same range and the layer's own bits, for
// all such layers together. ONNX Runtime does the same for mixed precision ("convert" in
// TensorQuantOverrides). Only layers with a precision (LayerSettings::precision) have conversions at their
// inputs and outputs. A layer in float16 has one at each input that is not in float16, and so has a quantized
// layer that reads its output.
//
// A tensor that is not quantized where it is produced (a graph input, or the output of a float layer) is
// quantized once, for all readers, if all quantized readers have the same bits. Otherwise each precision
// quantizes it for its own readers. Layers that only move values keep the bits of their input unless a
// precision is set for them.

#include "quantize/units.h"

namespace quantloupe {

/// Returns `prepared` with an Identity at each conversion (Prepared::conversions, activationBits), or
/// unchanged if there is none. `units` belong to `prepared`; `resolved` comes from withPrecisionsResolved().
/// With placement weighted_inputs, every layer already has its own inputs. Any thread.
Prepared withConversions(Prepared prepared, const UnitList& units, const QuantizationConfig& resolved);

}  // namespace quantloupe
