// SPDX-License-Identifier: Apache-2.0
#pragma once
// The input of all stages of one evaluation. Internal to engine/session.

#include "session/session_parts.h"

namespace quantloupe {

/// The purpose of an evaluation. It determines which results are stored for later evaluations.
enum class EvaluationPurpose {
    Edit,             ///< stores activations and trains the effect model: Session::evaluate()
    Experiment,       ///< does neither, and takes the latest refinements of layers: Session::experiment()
    ExactExperiment,  ///< does neither, and refines layers as an edit does: Session::exactExperiment()
    Search,  ///< always runs the quantized network and stores its activations, but does not train the
             ///< effect model: Session::evaluateForSearch()
};

/// The references must be valid during the evaluation.
struct EvaluationRequest {
    SessionParts& parts;
    const QuantizationConfig& config;
    const EvaluationObserver& observer;
    const CancelToken& cancel;
    EvaluationPurpose purpose = EvaluationPurpose::Edit;

    /// For passes that are shared with the group. Progress is reported as that of `stage`.
    RunControl control(const char* stage) const {
        RunControl control = parts.runner.sharedControl(cancel);
        if (observer.progress)
            control.progress = [this, stage](std::size_t done, std::size_t total) {
                observer.progress({stage, done, total});
            };
        return control;
    }
    void publish(const Evaluation& snapshot) const {
        if (observer.updated) observer.updated(std::make_shared<const Evaluation>(snapshot));
    }
};

}  // namespace quantloupe
