// SPDX-License-Identifier: Apache-2.0
#include "jobs/verify_job.h"

#include "style/words.h"

namespace quantloupe::ui {

void VerifyJob::start(const QuantizationConfig& config, const std::filesystem::path& python) {
    begin(tr("verification in ONNX Runtime"),
          [=, this](Session& session, const std::filesystem::path& folder,
                    const CancelToken& cancel) -> Prepared {
              const VerifySource source =
                  prepareVerification(session, config, folder / "quantized.onnx", cancel);
              return {tr("Running the model in ONNX Runtime on %1\u2026")
                          .arg(samplesText(source.samples->samples())),
                      [=, this](const CancelToken& token) -> Then {
                          const Verification result = verify(source, python, token);
                          return [this, result] { Q_EMIT finished(result); };
                      }};
          });
}

}  // namespace quantloupe::ui
