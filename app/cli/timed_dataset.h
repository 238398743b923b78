// SPDX-License-Identifier: Apache-2.0
#pragma once
// A dataset that measures how long its samples take to decode.

#include <atomic>
#include <cstdint>

#include "data/dataset.h"

namespace quantloupe::cli {

class TimedDataset : public Dataset {
  public:
    explicit TimedDataset(DatasetPtr dataset) : m_dataset(std::move(dataset)) {}

    /// Decoding time, summed over all threads.
    double seconds() const { return static_cast<double>(m_nanoseconds.load()) * 1e-9; }

    std::size_t size() const override { return m_dataset->size(); }
    std::vector<SampleTensor> sample(std::size_t index) const override;
    std::string sampleName(std::size_t index) const override { return m_dataset->sampleName(index); }
    std::optional<int> label(std::size_t index) const override { return m_dataset->label(index); }
    const std::vector<std::string>& classNames() const override { return m_dataset->classNames(); }
    std::shared_ptr<const TaskLabels> taskLabels() const override { return m_dataset->taskLabels(); }
    const SampleAnnotation* annotation(std::size_t index) const override {
        return m_dataset->annotation(index);
    }
    std::string description() const override { return m_dataset->description(); }
    std::string notice() const override { return m_dataset->notice(); }
    Version version() const override { return m_dataset->version(); }

  private:
    DatasetPtr m_dataset;
    mutable std::atomic<std::int64_t> m_nanoseconds{0};
};

}  // namespace quantloupe::cli
