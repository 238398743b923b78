// SPDX-License-Identifier: Apache-2.0
// A search on a part of the samples, and its result on the others.
#include "search/tune.h"
#include "search/tune_numbers.h"
#include "session/studies/leave_one_out.h"
#include "session/studies/search_context.h"

namespace quantloupe {

TuneResult tuneOnPart(Session& session, const QuantizationConfig& config, const TuneOptions& options,
                      const CancelToken& cancel, std::size_t enough) {
    if (!session.hasData() || session.randomInputs() || session.sampleCount() < enough)
        return tune(session, config, options, cancel);
    const SampleSplit split = splitSamples(session);
    const auto restore = [&] { session.setData(split.all, split.calibration); };
    try {
        session.setData(split.search, split.calibration);
        TuneResult result = tune(session, config, options, cancel);
        session.setData(split.heldOut, split.calibration);
        // Without the cancel token: a search that was stopped is also measured.
        const EvaluationPtr evaluation =
            session.evaluate(result.curve[result.chosen].config, Depth::Accuracy);
        result.heldOut = {evaluation->samples, taskMetric(*evaluation->quantized),
                          dropOf(*evaluation->floating, *evaluation->quantized), dropIntervalOf(*evaluation)};
        restore();
        return result;
    } catch (...) {
        restore();
        throw;
    }
}

}  // namespace quantloupe
