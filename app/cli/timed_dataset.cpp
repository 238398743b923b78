// SPDX-License-Identifier: Apache-2.0
#include "timed_dataset.h"

#include <chrono>

namespace quantloupe::cli {

std::vector<SampleTensor> TimedDataset::sample(std::size_t index) const {
    const auto start = std::chrono::steady_clock::now();
    auto tensors = m_dataset->sample(index);
    const auto spent = std::chrono::steady_clock::now() - start;
    m_nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
    return tensors;
}

}  // namespace quantloupe::cli
