// SPDX-License-Identifier: Apache-2.0
#include "search/tune_transforms.h"

#include <algorithm>

#include "session/studies/leave_one_out.h"

namespace quantloupe {
namespace {

constexpr double kLeastDecibels = 0.1;

/// Returns the significant gain of the task's metric, or of SQNR in dB if the outputs are not classes, or any
/// gain of the user's metric; 0 if there is none. Only the order of the values matters.
double significantGain(const Evaluation& before, const Evaluation& after) {
    if (const auto paired = compareEvaluations(before, after))
        return paired->verdict == ChangeVerdict::Gain ? paired->difference : 0;
    if (after.quantized->userMetric) return std::max(0.0, metricGain(*before.quantized, *after.quantized));
    const double gain = after.quantized->sqnrDb.value_or(0) - before.quantized->sqnrDb.value_or(0);
    return gain >= kLeastDecibels ? gain : 0;
}

class TransformTrial {
  public:
    TransformTrial(Session& session, const QuantizationConfig& config, const CancelToken& cancel)
        : m_session(session),
          m_cancel(cancel),
          m_best{config, {}},
          m_measured(session.experiment(config, Depth::Accuracy, cancel)) {}

    /// Keeps the variant with the largest significant gain, if there is one.
    void tryVariants(const std::vector<TunedTransforms>& variants) {
        const EvaluationPtr before = m_measured;
        const std::string texts = m_best.text;
        double most = 0;
        for (const TunedTransforms& variant : variants) {
            EvaluationPtr after;
            try {
                after = m_session.experiment(variant.config, Depth::Accuracy, m_cancel);
            } catch (const Error&) {
                continue;
            }
            const double gain = significantGain(*before, *after);
            if (gain <= most) continue;
            most = gain;
            m_measured = after;
            m_best = {variant.config, texts.empty() ? variant.text : texts + ", " + variant.text};
        }
    }
    const TunedTransforms& best() const { return m_best; }

  private:
    Session& m_session;
    const CancelToken& m_cancel;
    TunedTransforms m_best;
    EvaluationPtr m_measured;
};

}  // namespace

TunedTransforms withHelpfulTransforms(Session& session, const QuantizationConfig& config,
                                      const CancelToken& cancel) {
    TransformTrial trial(session, config, cancel);
    if (config.transforms.equalization.profile == EqualizationProfile::Off) {
        TunedTransforms equalized{config, "AIMET equalization"};
        equalized.config.transforms.equalization.profile = EqualizationProfile::Aimet;
        std::vector<TunedTransforms> variants{equalized};
        const bool clips =
            std::ranges::any_of(session.graph().nodes(), [](const Node& node) { return node.op == "Clip"; });
        if (clips && config.transforms.replaceRelu6 == ReplaceRelu6::None) {
            equalized.config.transforms.replaceRelu6 = ReplaceRelu6::Between;
            equalized.text = "AIMET equalization with ReLU6 replaced in between";
            variants.push_back(equalized);
        }
        trial.tryVariants(variants);
    }
    if (config.refine.biasCorrection == BiasCorrection::Off) {
        TunedTransforms corrected{trial.best().config, "bias correction"};
        corrected.config.refine.biasCorrection = BiasCorrection::Empirical;
        trial.tryVariants({corrected});
    }
    return trial.best();
}

}  // namespace quantloupe
