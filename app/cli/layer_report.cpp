// SPDX-License-Identifier: Apache-2.0
#include "layer_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/short_text.h"
#include "readable.h"

namespace quantloupe::cli {
namespace {

OrderedJson partOf(const Distribution& distribution) {
    OrderedJson object = {{"bins", distribution.bins()},
                          {"below", distribution.below()},
                          {"above", distribution.above()},
                          {"not_finite", distribution.notFinite()},
                          {"count", distribution.count()}};
    for (const auto& [key, value] :
         {std::pair{"min", distribution.min()}, std::pair{"max", distribution.max()},
          std::pair{"mean", distribution.mean()}, std::pair{"std", distribution.deviation()}})
        setNumber(object, key, value, "no values");
    return object;
}

OrderedJson partOf(const TensorDetails& tensor) {
    return {{"name", tensor.name},
            {"bits", tensor.bits},
            {"scale", tensor.scale ? OrderedJson(*tensor.scale) : OrderedJson(nullptr)},
            {"zero_point", tensor.zeroPoint},
            {"clip", {tensor.clipLow, tensor.clipHigh}},
            {"clipped_fraction", tensor.clippedFraction},
            {"distinct_codes", tensor.distinctCodes},
            {"effective_bits", tensor.effectiveBits},
            {"histogram_range", {tensor.floating.low(), tensor.floating.high()}},
            {"float", partOf(tensor.floating)},
            {"quantized", partOf(tensor.quantized)}};
}

OrderedJson partOf(const std::optional<ChannelRange>& range) {
    return range && !range->empty() ? OrderedJson{range->min, range->max} : OrderedJson(nullptr);
}

OrderedJson partOf(const std::optional<TensorDifference>& difference) {
    return difference ? toJson(*difference) : OrderedJson(nullptr);
}

void printTensor(const char* role, const TensorDetails& tensor) {
    fmt::print("\n{} {}\n", role, shortName(tensor.name));
    if (tensor.bits == 0)
        fmt::print("  stays in float\n");
    else
        fmt::print(
            "  {} bits, scale {}, zero point {}, clips at {} and {}: {:.3g} % clipped; {} codes used ({:.2f} "
            "bits)\n",
            tensor.bits, tensor.scale ? number(tensor.scale) : "one per channel", tensor.zeroPoint,
            number(tensor.clipLow), number(tensor.clipHigh), tensor.clippedFraction * 100,
            tensor.distinctCodes, tensor.effectiveBits);
    const auto row = [](const char* name, const Distribution& d) {
        fmt::print("  {:<9} |{}| {} to {}, mean {}, std {}\n", name, bars(d), number(d.min()),
                   number(d.max()), number(d.mean()), number(d.deviation()));
    };
    row("float", tensor.floating);
    row("quantized", tensor.quantized);
}

std::string text(const std::optional<ChannelRange>& range) {
    if (!range || range->empty()) return "-";
    return fmt::format("{:.4g} to {:.4g}", range->min, range->max);
}

}  // namespace

OrderedJson toJson(const LayerDetails& details) {
    OrderedJson json = {{"name", details.name},
                        {"op", details.op},
                        {"state", layerStateName(details.state)},
                        {"reason", details.reason},
                        {"weight_difference", partOf(details.weightDifference)},
                        {"local", partOf(details.local)},
                        {"cumulative", partOf(details.cumulative)},
                        {"weight", details.weight ? partOf(*details.weight) : OrderedJson(nullptr)},
                        {"inputs", OrderedJson::array()},
                        {"output", partOf(details.output)},
                        {"channels", OrderedJson::array()}};
    for (const TensorDetails& input : details.inputs) json["inputs"].push_back(partOf(input));
    for (const ChannelDetails& channel : details.channels)
        json["channels"].push_back(
            {{"weight_before", partOf(channel.weightBefore)},
             {"weight_after", partOf(channel.weightAfter)},
             {"weight_scale", channel.weightScale ? OrderedJson(*channel.weightScale) : OrderedJson(nullptr)},
             {"weight", partOf(channel.weight)},
             {"local", partOf(channel.local)},
             {"cumulative", partOf(channel.cumulative)}});
    return json;
}

void printReadable(const LayerDetails& details, std::size_t worst) {
    fmt::print("\nlayer {} ({}, {}{}{})\n", shortName(details.name), details.op,
               layerStateName(details.state), details.reason.empty() ? "" : ": ", details.reason);
    fmt::print("  {:<10} {}\n", "", differenceHeader());
    fmt::print("  {:<10} {}\n", "weight", differenceRow(details.weightDifference));
    fmt::print("  {:<10} {}\n", "local", differenceRow(details.local));
    fmt::print("  {:<10} {}\n", "cumulative", differenceRow(details.cumulative));
    if (details.weight) printTensor("weight", *details.weight);
    for (const TensorDetails& input : details.inputs) printTensor("input", input);
    printTensor("output", details.output);

    const auto& channels = details.channels;
    std::vector<std::size_t> order(channels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto qs = [&](std::size_t c) { return channels[c].local ? channels[c].local->qs : -1.0; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return qs(a) > qs(b); });
    if (order.size() > worst) order.resize(worst);
    fmt::print(
        "\n{} of {} channels, worst first: weight range before and after the transforms; weight, local "
        "and cumulative QS\n",
        order.size(), channels.size());
    for (const std::size_t c : order)
        fmt::print("  {:>5}  {:<24} {:<24} {:>8} {:>8} {:>8}\n", c, text(channels[c].weightBefore),
                   text(channels[c].weightAfter), qsOf(channels[c].weight), qsOf(channels[c].local),
                   qsOf(channels[c].cumulative));
}

}  // namespace quantloupe::cli
