// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a decoded image to the network's input, as Preprocess says.

#include <array>
#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "data/image.h"
#include "data/preprocess.h"

namespace quantloupe {

/// Immutable: any thread may convert with it.
class ImageInput {
  public:
    /// Throws Error where the input does not take such images: not rank 4, other channels, another size than
    /// the one that the preprocessing gives, or a type other than float32 (uint8 for untouched pixels).
    ImageInput(const InputSpec& spec, const Preprocess& preprocess);

    /// Colour, resize and crop: the pixels that are scaled then. Throws Error where the result does not fit.
    Image pixels(Image image) const;
    /// pixels(), then x = (float(pixel) * scale - mean) / std, each step rounded to float32, in the layout:
    /// C×H×W or H×W×C.
    SampleTensor convert(Image image) const;

  private:
    InputSpec m_spec;
    Preprocess m_preprocess;
    std::size_t m_channels;
    std::vector<std::array<float, 256>> m_values;  ///< x of each channel and pixel value
};

}  // namespace quantloupe
