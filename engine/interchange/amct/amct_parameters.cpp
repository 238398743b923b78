// SPDX-License-Identifier: Apache-2.0
#include "interchange/amct/amct_parameters.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "config/near_names.h"

namespace quantloupe {
namespace {

/// Reads one object of parameters. Its messages end with the layer's name.
class Parameters {
  public:
    Parameters(const Json& value, std::string name, const std::string& layer)
        : m_value(value), m_name(std::move(name)), m_layer(layer) {
        if (!value.is_object())
            failInput("Type of {} should be an object, not {}, in layer {}", m_name, describeValue(value),
                      layer);
    }

    const Json* find(std::string_view key) {
        m_known.insert(std::string(key));
        const auto found = m_value.find(std::string(key));
        return found == m_value.end() ? nullptr : &*found;
    }
    bool has(std::string_view key) const { return m_value.contains(std::string(key)); }

    void boolean(std::string_view key, bool& target) {
        if (const Json* value = find(key)) {
            if (!value->is_boolean()) wrongType(key, *value, "true or false");
            target = value->get<bool>();
        }
    }
    void number(std::string_view key, double& target) {
        if (const Json* value = find(key)) {
            if (!value->is_number()) wrongType(key, *value, "a number");
            target = value->get<double>();
        }
    }
    void integerOf(std::string_view key, int& target, const std::vector<int>& allowed) {
        const Json* value = find(key);
        if (value == nullptr) return;
        if (!value->is_number_integer()) wrongType(key, *value, "a whole number");
        const auto number = value->get<std::int64_t>();
        if (std::find(allowed.begin(), allowed.end(), number) == allowed.end())
            failInput("{}.{} must be one of {}, not {}, in layer {}", m_name, key, fmt::join(allowed, ", "),
                      number, m_layer);
        target = static_cast<int>(number);
    }
    std::optional<std::string> text(std::string_view key) {
        const Json* value = find(key);
        if (value == nullptr) return std::nullopt;
        if (!value->is_string()) wrongType(key, *value, "a string");
        return value->get<std::string>();
    }
    [[noreturn]] void wrongType(std::string_view key, const Json& value, std::string_view expected) const {
        failInput("Type of {}.{} should be {}, not {}, in layer {}", m_name, key, expected,
                  describeValue(value), m_layer);
    }
    void within(std::string_view key, bool fits, double value, std::string_view range) const {
        if (!fits) failInput("{}.{} must be in {}, not {}, in layer {}", m_name, key, range, value, m_layer);
    }
    void finish() const {
        for (const auto& item : m_value.items())
            if (!m_known.contains(item.key()))
                failInput("Unknown parameter {} in {} of layer {}{}", item.key(), m_name, m_layer,
                          didYouMean(nearNames({m_known.begin(), m_known.end()}, item.key(), 1)));
    }

  private:
    const Json& m_value;
    std::string m_name;
    const std::string& m_layer;
    std::set<std::string> m_known;
};

}  // namespace

AmctActivation readAmctActivation(const Json& value, const std::string& layer) {
    Parameters p(value, "activation_quant_params", layer);
    AmctActivation a;
    p.integerOf("num_bits", a.bits, {4, 8, 16});
    const auto algorithm = p.text("act_algo");
    if (algorithm && *algorithm != "ifmr" && *algorithm != "hfmg")
        failInput("activation_quant_params.act_algo must be ifmr or hfmg, not '{}', in layer {}", *algorithm,
                  layer);
    static constexpr std::string_view kIfmr[] = {"max_percentile", "min_percentile", "search_range",
                                                 "search_step"};
    std::string ifmrKey;
    for (const std::string_view key : kIfmr)
        if (p.has(key)) ifmrKey = key;
    if (!ifmrKey.empty() && p.has("num_of_bins"))
        failInput(
            "{} belongs to ifmr and num_of_bins to hfmg; they can not appear at the same time, in layer {}",
            ifmrKey, layer);
    a.hfmg = algorithm ? *algorithm == "hfmg" : p.has("num_of_bins");
    if (a.hfmg && !ifmrKey.empty())
        failInput("{} is not a valid parameter of hfmg, in layer {}", ifmrKey, layer);
    if (!a.hfmg && p.has("num_of_bins"))
        failInput("num_of_bins is not a valid parameter of ifmr, in layer {}", layer);
    if (p.has("asymmetric")) {
        bool asymmetric = false;
        p.boolean("asymmetric", asymmetric);
        a.asymmetric = asymmetric;
    }
    p.number("max_percentile", a.maxPercentile);
    p.within("max_percentile", a.maxPercentile > 0.5 && a.maxPercentile <= 1, a.maxPercentile, "(0.5, 1]");
    p.number("min_percentile", a.minPercentile);
    p.within("min_percentile", a.minPercentile > 0.5 && a.minPercentile <= 1, a.minPercentile, "(0.5, 1]");
    if (const Json* range = p.find("search_range")) {
        if (!range->is_array() || range->size() != 2 || !(*range)[0].is_number() || !(*range)[1].is_number())
            failInput(
                "activation_quant_params.search_range must be a list of two numbers, not {}, in layer {}",
                range->dump(), layer);
        a.searchRange = {(*range)[0].get<double>(), (*range)[1].get<double>()};
        if (!(a.searchRange[0] > 0 && a.searchRange[0] < a.searchRange[1]))
            failInput(
                "activation_quant_params.search_range must be two increasing numbers above 0, not {} and {}, "
                "in layer {}",
                a.searchRange[0], a.searchRange[1], layer);
    }
    p.number("search_step", a.searchStep);
    // AMCT compares decimal numbers: 1.3 - 0.7 allows a step of 0.6.
    if (!(a.searchStep > 0 && a.searchStep <= a.searchRange[1] - a.searchRange[0] + 1e-9))
        failInput(
            "activation_quant_params.search_step must be in (0, {:.6g}], the width of the search range, not "
            "{}, in layer {}",
            a.searchRange[1] - a.searchRange[0], a.searchStep, layer);
    p.integerOf("num_of_bins", a.numOfBins, {kHfmgBins.begin(), kHfmgBins.end()});
    p.finish();
    return a;
}

AmctWeight readAmctWeight(const Json& value, const std::string& layer, const Node& node,
                          const AmctLayer& can) {
    Parameters p(value, "weight_quant_params", layer);
    AmctWeight w;
    w.channelWise = can.perChannel;
    p.integerOf("num_bits", w.bits, {4, 6, 7, 8});
    p.boolean("channel_wise", w.channelWise);
    if (w.channelWise && !can.perChannel)
        failInput("channel_wise must be False for layer type {}, in layer {}", node.op, layer);
    const std::string algorithm = p.text("wts_algo").value_or("arq_quantize");
    if (algorithm == "arq_quantize")
        w.algorithm = AmctWeightAlgorithm::Arq;
    else if (algorithm == "ada_quantize")
        w.algorithm = AmctWeightAlgorithm::Ada;
    else if (algorithm == "nuq_quantize")
        w.algorithm = AmctWeightAlgorithm::Nuq;
    else
        failInput("weight_quant_params.wts_algo must be arq_quantize or ada_quantize, not '{}', in layer {}",
                  algorithm, layer);
    const auto only = [&](AmctWeightAlgorithm owner, std::string_view key) {
        if (p.has(key) && w.algorithm != owner)
            failInput("{} is not a valid parameter of {}, in layer {}", key, algorithm, layer);
        return p.has(key);
    };
    const auto ratio = [&](std::string_view key) {
        double number = 0.5;
        p.number(key, number);
        p.within(key, number > 0 && number < 1, number, "(0, 1)");
    };
    if (only(AmctWeightAlgorithm::Ada, "num_iteration")) {
        double number = 0;
        p.number("num_iteration", number);
        p.within("num_iteration", number >= 0 && number == std::floor(number), number, "{0, 1, 2, ...}");
    }
    if (only(AmctWeightAlgorithm::Ada, "reg_param")) ratio("reg_param");
    if (only(AmctWeightAlgorithm::Ada, "warm_start")) ratio("warm_start");
    if (only(AmctWeightAlgorithm::Ada, "beta_range")) {
        const Json& range = *p.find("beta_range");
        if (!range.is_array() || range.size() != 2 || !range[0].is_number() || !range[1].is_number() ||
            !(range[0].get<double>() > range[1].get<double>() && range[1].get<double>() > 0))
            failInput("weight_quant_params.beta_range must be two decreasing numbers above 0, in layer {}",
                      layer);
    }
    int ignored = 0;
    if (only(AmctWeightAlgorithm::Nuq, "num_steps")) p.integerOf("num_steps", ignored, {16, 32});
    if (only(AmctWeightAlgorithm::Nuq, "num_of_iteration"))
        p.integerOf("num_of_iteration", ignored, {0, 1, 2, 3, 4, 5});
    p.finish();
    if ((w.bits == 6 || w.bits == 7) && !can.sixAndSevenBits)
        failInput("weight_quant_params.num_bits {} is supported only for two-dimensional Conv, in layer {}",
                  w.bits, layer);
    if (w.bits == 4 && !can.fourBits)
        failInput(
            "weight_quant_params.num_bits 4 needs one group and an even number of input channels, in layer "
            "{}",
            layer);
    return w;
}

}  // namespace quantloupe
