// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the time of every layer in ONNX Runtime. GUI thread.

#include "cost/latency_table.h"
#include "jobs/runtime_job.h"

namespace quantloupe::ui {

class LatencyJob : public RuntimeJob {
    Q_OBJECT
  public:
    using RuntimeJob::RuntimeJob;

    /// Measures the configuration and, if wanted, the same network with all layers in float. Cancels the
    /// previous run. `python` as in VerifyJob.
    void start(const QuantizationConfig& config, bool floating, const std::filesystem::path& python);

  Q_SIGNALS:
    /// One profile, in which every time has a precision.
    void finished(quantloupe::LatencySource profile);
};

}  // namespace quantloupe::ui
