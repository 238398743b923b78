// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares outputs that another program computed with the labels of boxes, label images or tokens.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/box_decoders.h"
#include "results/evaluation.h"
#include "runtime/program/sample_batches.h"

namespace quantloupe {

class TaskJudge;

class OutputGrader {
  public:
    /// Returns null if the samples have no such labels. `graph`: the network of the samples. Any thread.
    static std::shared_ptr<const OutputGrader> create(std::shared_ptr<const SampleBatches> samples,
                                                      const Graph& graph);

    /// Returns mAP, mIoU or token accuracy of the outputs of all samples, by their names. Empty if the
    /// samples are not in the first dimension, or if the labels cannot be compared with these outputs. Any
    /// thread.
    std::optional<TaskRate> grade(const std::map<std::string, ConstantPtr>& outputs) const;

  private:
    OutputGrader(std::shared_ptr<const SampleBatches> samples, const Graph& graph);

    std::shared_ptr<const SampleBatches> m_samples;
    std::vector<std::string> m_names;  ///< of all outputs, in their order
    InputSize m_input;
};

}  // namespace quantloupe
