// SPDX-License-Identifier: Apache-2.0
#include "search/tune_transforms.h"

#include <algorithm>

#include "session/studies/evaluation_gain.h"

namespace quantloupe {
namespace {

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
        const TaskMetric metric = gainMetric(*before);
        const std::string texts = m_best.text;
        double most = 0;
        for (const TunedTransforms& variant : variants) {
            EvaluationPtr after;
            try {
                after = m_session.experiment(variant.config, Depth::Accuracy, m_cancel);
            } catch (const Error&) {
                continue;
            }
            const EvaluationGain gain = gainBetween(*before, *after, metric);
            if (!gain.significant() || gain.value <= most) continue;
            most = gain.value;
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
