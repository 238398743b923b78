// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which dimension of each graph input contains the samples.

#include <cstddef>
#include <optional>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// The sample axis of each graph input, in their order; empty for an input that all samples share.
///
/// - A dimension whose name contains "batch" is the sample axis.
/// - If an output has two such dimensions, as "images×texts" of CLIP, the first of them contains the samples,
///   and all samples share the inputs of the other. The inputs may have another name for the first one.
///   If no input has a dimension named after the batch, a matrix with the first dimensions of two inputs has
///   two such dimensions.
/// - If a recurrent operator with layout 0 reads the input, and its first dimension is dynamic, that one
///   contains the steps, and the second one is the sample axis.
/// - Next to another input "N×400", the dimension N of "2×N×16" is the sample axis.
/// - If the first dimension is fixed and not 1, and that of another input is 1 or dynamic, the sample axis is
///   the first dimension of extent 1 or without name: a state "2×1×128" next to "1×512".
/// - All samples share an input without such a dimension next to an input whose first dimension is 1 or that
///   has a dimension named after the batch: a mask "S×S" next to "batch×S×16", positions "6×16" or "6". They
///   also share single numbers.
/// - In all other cases, the sample axis is the first dimension.
///
/// There are no sample axes, and a sample is one set of inputs,
///
/// - if the fourth rule applies, but the first dimensions have several names, as in graphs of "nodes×9",
///   "edges×3", and connections "2×edges";
/// - if every input is one image "3×height×width", as in the detectors of torchvision.
using SampleAxes = std::vector<std::optional<std::size_t>>;
SampleAxes sampleAxes(const Graph& graph);

/// Whether an input is one image "3×height×width". A known side has at least 16 pixels: "3×8×16" may as well
/// be a batch of three sequences.
bool isOneImage(const std::optional<Shape>& shape);

/// Whether an input may be PyTorch Geometric's edge_index, int64 2×edges: the source and the target of each
/// edge. It is one if there are no sample axes.
bool isEdgeList(const TensorInfo& tensor);

/// Whether there are no sample axes.
bool sampleIsOneSet(const SampleAxes& axes);

/// Returns the dimension whose name contains "batch"; empty if there is none.
std::optional<std::size_t> batchDimension(const Shape& shape);

}  // namespace quantloupe
