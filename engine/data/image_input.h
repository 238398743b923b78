// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts a decoded image to the network's input as specified by Preprocess.

#include <array>
#include <vector>

#include "data/dataset.h"
#include "data/image.h"
#include "data/preprocess.h"

namespace quantloupe {

/// Immutable, so any thread may use it.
class ImageInput {
  public:
    /// Throws Error if the input does not accept such images: if its rank is not 4, its channels or size
    /// differ from those after preprocessing, or its type is not float32 (or uint8 for unscaled pixels).
    ImageInput(const InputSpec& spec, const Preprocess& preprocess);

    /// Applies color conversion, resize and crop, but not scaling. Throws Error if the result does not fit.
    Image pixels(Image image) const;
    /// Applies pixels() and x = (float(pixel) * scale - mean) / std, each step rounded to float32. The result
    /// has the layout C×H×W or H×W×C.
    SampleTensor convert(Image image) const;

  private:
    InputSpec m_spec;
    Shape m_shape;  ///< of the input, with a batch dimension
    Preprocess m_preprocess;
    std::size_t m_channels;
    std::vector<std::array<float, 256>> m_values;  ///< x of each channel and pixel value
};

}  // namespace quantloupe
