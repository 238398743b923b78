// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes for the dynamic dimensions of a network's inputs while there is no data.

#include "model/graph.h"

namespace quantloupe {

/// Returns a shape for each graph input, in their order; empty for an input of unknown shape. Dimensions with
/// the same name have the same size.
///
/// - Height and width of images, also if one of them is fixed: 224. Most networks with dynamic sizes cannot
///   process a single pixel.
/// - Length of audio signals (float32, N×L or N×1×L): 16,000, one second at the usual rate.
/// - Frames of spectrograms (float32, N×C×L): 128.
/// - Nodes and edges of graphs (sample_axes.h): 32.
/// - A name that is a sum, such as "past_sequence_length + 1": the sum. A name with "total": 2 if another has
///   "past", because the total covers the past and the present.
/// - All others, such as the batch or a sequence: 1.
std::vector<Dims> assumedInputDims(const Graph& graph);

/// Whether the sample axes are the only dynamic dimensions of the inputs.
bool onlySamplesAreDynamic(const Graph& graph);

/// Returns the end of a message that lists the inputs whose sizes are assumed, apart from the batch; empty if
/// there are none.
std::string describeAssumedSizes(const Graph& graph);

}  // namespace quantloupe
