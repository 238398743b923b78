// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares outputs that another program computed with the labels of boxes, label images or tokens.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/box_decoders.h"
#include "base/cancel.h"
#include "results/task_metric.h"
#include "runtime/program/sample_batches.h"

namespace quantloupe {

class TaskJudge;

struct Grade {
    std::optional<TaskValue> rate;  ///< mAP, mIoU or token accuracy
    std::string whyNot;             ///< why there is none; empty if there is one
};

class OutputGrader {
  public:
    /// Returns null if the samples have no such labels. `graph`: the network of the samples. Any thread.
    static std::shared_ptr<const OutputGrader> create(std::shared_ptr<const SampleBatches> samples,
                                                      const Graph& graph);

    /// Compares the outputs of all samples, by their names, with the labels. Throws Cancelled. Any thread.
    Grade grade(const std::map<std::string, ConstantPtr>& outputs, const CancelToken& cancel = {}) const;

  private:
    OutputGrader(std::shared_ptr<const SampleBatches> samples, const Graph& graph);

    std::shared_ptr<const SampleBatches> m_samples;
    std::vector<std::string> m_names;  ///< of all outputs, in their order
    InputSize m_input;
};

}  // namespace quantloupe
