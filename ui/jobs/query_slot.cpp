// SPDX-License-Identifier: Apache-2.0
#include "jobs/query_slot.h"

#include "style/words.h"

namespace quantloupe::ui {

QString queryText(QuerySlot slot) {
    switch (slot) {
        case QuerySlot::Suggestions:
            return Words::tr("searching for suggestions");
        case QuerySlot::ParameterVariants:
            return Words::tr("trying parameter variants");
        case QuerySlot::AccuracyPath:
            return Words::tr("evaluating the accuracy loss by step");
        case QuerySlot::FlippedSamples:
            return Words::tr("searching for changed images");
        case QuerySlot::Comparison:
            return Words::tr("comparing configurations");
        case QuerySlot::Ranges:
            return Words::tr("computing ranges");
        case QuerySlot::LayerDetails:
        case QuerySlot::LayerScales:
        case QuerySlot::Latency:
        case QuerySlot::Forecast:
        case QuerySlot::Divergence:
        case QuerySlot::Predictions:
        case QuerySlot::MetricProgram:
            return Words::tr("computing details");
    }
    return {};
}

}  // namespace quantloupe::ui
