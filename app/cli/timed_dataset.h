// SPDX-License-Identifier: Apache-2.0
#pragma once
// A dataset that measures how long its samples take to decode.

#include <atomic>
#include <cstdint>

#include "data/dataset.h"

namespace quantloupe::cli {

class TimedDataset : public DatasetView {
  public:
    using DatasetView::DatasetView;

    /// Decoding time, summed over all threads.
    double seconds() const { return static_cast<double>(m_nanoseconds.load()) * 1e-9; }

    std::vector<SampleTensor> sample(std::size_t index) const override;

  private:
    mutable std::atomic<std::int64_t> m_nanoseconds{0};
};

}  // namespace quantloupe::cli
