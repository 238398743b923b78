// SPDX-License-Identifier: Apache-2.0
#include "interchange/reports/report_values.h"

#include <fmt/format.h>

#include <cmath>

#include "config/precision.h"

namespace quantloupe {

const std::vector<std::string>& reportColumns() {
    static const std::vector<std::string> kColumns = {"layer",
                                                      "module",
                                                      "operator",
                                                      "state",
                                                      "reason",
                                                      "host",
                                                      "weight_qs",
                                                      "local_qs",
                                                      "local_cosine",
                                                      "local_sqnr_db",
                                                      "cumulative_qs",
                                                      "cumulative_cosine",
                                                      "cumulative_sqnr_db",
                                                      kGainColumn,
                                                      "macs",
                                                      "parameters",
                                                      "precision",
                                                      "comment"};
    return kColumns;
}

std::string reportNumber(const std::optional<double>& value) {
    if (!value || std::isnan(*value)) return {};
    if (std::isinf(*value)) return *value > 0 ? "inf" : "-inf";
    return fmt::format("{:.6g}", *value);
}

std::vector<std::string> reportRow(const ExportSource& source, const LayerResult& layer) {
    using D = TensorDifference;
    const auto number = [](const std::optional<D>& difference, double D::*member) {
        return difference ? reportNumber((*difference).*member) : std::string();
    };
    const LayerSettings* const own = source.config.settingsOf(layer.name);
    return {layer.name,
            layer.module,
            layer.op,
            std::string(layerStateName(layer.state)),
            layer.reason,
            layer.host,
            number(layer.weight, &D::qs),
            number(layer.local, &D::qs),
            number(layer.local, &D::cosine),
            number(layer.local, &D::sqnrDb),
            number(layer.cumulative, &D::qs),
            number(layer.cumulative, &D::cosine),
            number(layer.cumulative, &D::sqnrDb),
            reportNumber(layer.leaveOneOut),
            layer.macsReason.empty() ? std::to_string(layer.macs) : std::string(),
            std::to_string(layer.parameters),
            precisionName(layer.precision),
            own == nullptr ? std::string() : own->comment};
}

}  // namespace quantloupe
