// SPDX-License-Identifier: Apache-2.0
#include "models/amct_variants.h"

#include "style/words.h"

namespace quantloupe::ui {

namespace {

/// IFMR keeps a fraction of all magnitudes and tries multiples of the remaining bound.
constexpr double kIfmrPercentiles[] = {1.0, 0.9999, 0.999};

}  // namespace

std::vector<AmctVariant> amctVariants(const QuantizationConfig& config) {
    std::vector<AmctVariant> variants;
    const auto add = [&](const QString& title, const QString& why, const auto& change) {
        ConfigEdit edit = changeConfig(config, title, change);
        if (!haveSameResults(edit.next, config)) variants.push_back({std::move(edit), title, why});
    };
    const auto use = [](QuantizationConfig& c, CalibrationMethod method) {
        c.calibration.method = method;
        c.calibration.parameters = {};  // AMCT rejects a mix of IFMR's and HFMG's parameters
    };
    const bool ifmr = config.calibration.method == CalibrationMethod::Ifmr,
               hfmg = config.calibration.method == CalibrationMethod::Hfmg;
    if (ifmr) {
        for (const double percentile : kIfmrPercentiles)
            add(Words::tr("Percentiles %1").arg(percentile),
                percentile == 1
                    ? Words::tr("max_percentile and min_percentile: no value is clipped")
                    : Words::tr(
                          "max_percentile and min_percentile: rare large values are clipped for finer steps"),
                [&](QuantizationConfig& c) {
                    c.calibration.parameters.maxPercentile = c.calibration.parameters.minPercentile =
                        percentile;
                });
        add(Words::tr("Search from 0.3 to 1.7"),
            Words::tr("search_range: more multiples of the bound are tried"), [](QuantizationConfig& c) {
                c.calibration.parameters.searchRange = {0.3, 1.7};
            });
        add(Words::tr("Search step 0.002"),
            Words::tr("search_step: smaller steps between the multiples of the bound"),
            [](QuantizationConfig& c) { c.calibration.parameters.searchStep = 0.002; });
    } else {
        add(Words::tr("IFMR"),
            Words::tr("act_algo: bounds by percentiles, then the multiple with the least error"),
            [&](QuantizationConfig& c) { use(c, CalibrationMethod::Ifmr); });
    }
    for (const int bins : kHfmgBins) {
        const int present = hfmg ? config.calibration.parameters.numOfBins.value_or(kDefaultHfmgBins) : 0;
        if (bins == present || (!hfmg && bins != kDefaultHfmgBins)) continue;
        add(hfmg ? Words::tr("%1 bins").arg(bins) : Words::tr("HFMG"),
            hfmg ? Words::tr("num_of_bins of HFMG's histogram")
                 : Words::tr("act_algo: the bound is found from a histogram of all values"),
            [&](QuantizationConfig& c) {
                use(c, CalibrationMethod::Hfmg);
                if (hfmg) c.calibration.parameters.numOfBins = bins;
            });
    }
    const bool symmetric = config.quantization.activation.symmetric;
    add(symmetric ? Words::tr("Asymmetric activations") : Words::tr("Symmetric activations"),
        symmetric
            ? Words::tr("asymmetric: a zero point, so that half of the range is not wasted after a ReLU")
            : Words::tr("asymmetric off: zero point 0"),
        [&](QuantizationConfig& c) { c.quantization.activation.symmetric = !symmetric; });
    add(Words::tr("ARQ for weights"),
        Words::tr("wts_algo: the largest weight is mapped to the lowest or the highest code"),
        [](QuantizationConfig& c) { c.quantization.weight.method = WeightMethod::Arq; });
    add(Words::tr("Weights per channel"), Words::tr("channel_wise: one scale per output channel"),
        [](QuantizationConfig& c) { c.quantization.weight.perChannel = true; });
    return variants;
}

void measureVariants(Session& session, const std::vector<QuantizationConfig>& configs,
                     const std::function<void(const AmctMeasurement&)>& found, const CancelToken& cancel) {
    for (const QuantizationConfig& config : configs) {
        AmctMeasurement measurement(config, {});
        try {
            const EvaluationPtr result = session.experiment(config, Depth::Accuracy, cancel);
            if (result->floating && result->quantized)
                measurement.number = amctNumber(*result->floating, *result->quantized, result->randomInputs);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error&) {
            // The variant fails for this network; applying it shows the reason.
        }
        found(measurement);
    }
}

}  // namespace quantloupe::ui
