// SPDX-License-Identifier: Apache-2.0
#pragma once
// Verifies the exported model in ONNX Runtime. GUI thread.

#include "interchange/onnxruntime/verify.h"
#include "jobs/runtime_job.h"

namespace quantloupe::ui {

class VerifyJob : public RuntimeJob {
    Q_OBJECT
  public:
    using RuntimeJob::RuntimeJob;

    /// Cancels the previous run. `python` empty: QUANTLOUPE_PYTHON, or python3 on the PATH.
    void start(const QuantizationConfig& config, const std::filesystem::path& python);

  Q_SIGNALS:
    void finished(quantloupe::Verification result);
};

}  // namespace quantloupe::ui
