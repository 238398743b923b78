// SPDX-License-Identifier: Apache-2.0
#include "jobs/latency_job.h"

#include "config/layer_choices.h"
#include "interchange/onnxruntime/profile_onnxruntime.h"

namespace quantloupe::ui {

namespace {

constexpr std::size_t kRuns = 50;

/// The same configuration with every layer in float.
QuantizationConfig allFloat(Session& session, const QuantizationConfig& config, const CancelToken& cancel) {
    std::vector<std::string> names;
    const EvaluationPtr evaluation = session.experiment(config, Depth::Rough, cancel);
    for (const LayerResult& layer : evaluation->layers)
        if (layer.quantizable) names.push_back(layer.name);
    return withLayersSkipped(config, names);
}

}  // namespace

void LatencyJob::start(const QuantizationConfig& config, bool floating, const std::filesystem::path& python) {
    begin(tr("latency in ONNX Runtime"),
          [=, this](Session& session, const std::filesystem::path& folder,
                    const CancelToken& cancel) -> Prepared {
              std::vector<ProfileSource> sources{
                  prepareProfile(session, config, folder / "quantized.onnx", cancel)};
              if (floating)
                  sources.push_back(prepareProfile(session, allFloat(session, config, cancel),
                                                   folder / "float.onnx", cancel));
              return {tr("Measuring the latency in ONNX Runtime\u2026"),
                      [=, this, graph = session.model().graph](const CancelToken& token) -> Then {
                          LatencySource profile;
                          for (const ProfileSource& source : sources) {
                              RuntimeProfile measured = profileOnnxRuntime(source, kRuns, token, python);
                              const LatencySource bound = withPrecisions(
                                  {std::move(measured.times), std::nullopt}, *graph, source.work);
                              profile.name = measured.runtime;
                              profile.file.format = bound.file.format;
                              profile.file.runs = kRuns;
                              profile.file.rows.insert(profile.file.rows.end(), bound.file.rows.begin(),
                                                       bound.file.rows.end());
                          }
                          return [this, profile] { Q_EMIT finished(profile); };
                      }};
          });
}

}  // namespace quantloupe::ui
