// SPDX-License-Identifier: Apache-2.0
#include "analysis/class_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/short_text.h"
#include "base/text.h"

namespace quantloupe {
namespace {

bool isVector(const OutputVector& output) { return output.width > 1; }

bool namesClasses(const OutputVector& output) {
    constexpr std::array<std::string_view, 5> kWords = {"logit", "prob", "score", "softmax", "class"};
    const std::string name = lowerCase(output.name);
    return std::ranges::any_of(kWords, [&](auto word) { return name.find(word) != std::string::npos; });
}

/// The names of the vectors except `without`, in quotation marks.
std::vector<std::string> vectorNames(std::span<const OutputVector> outputs, std::size_t without) {
    std::vector<std::string> names;
    for (std::size_t o = 0; o < outputs.size(); ++o)
        if (o != without && isVector(outputs[o]))
            names.push_back(fmt::format("'{}'", shortName(outputs[o].name)));
    return names;
}

}  // namespace

std::optional<std::size_t> classOutput(std::span<const OutputVector> outputs, const std::string& chosen) {
    if (!chosen.empty()) {
        for (std::size_t o = 0; o < outputs.size(); ++o)
            if (outputs[o].name == chosen && isVector(outputs[o])) return o;
        const std::vector<std::string> names = vectorNames(outputs, outputs.size());
        failInput("'{}' is not an output with one vector of classes per sample; {}", shortName(chosen),
                  names.empty() ? "there is none" : fmt::format("available: {}", fmt::join(names, ", ")));
    }
    const auto first =
        std::ranges::find_if(outputs, [](const OutputVector& output) { return output.width != 1; });
    if (first == outputs.end() || !isVector(*first)) return std::nullopt;
    for (std::size_t o = 0; o < outputs.size(); ++o)
        if (isVector(outputs[o]) && namesClasses(outputs[o])) return o;
    return static_cast<std::size_t>(first - outputs.begin());
}

std::string classOutputNotice(std::span<const OutputVector> outputs, std::size_t used) {
    const std::vector<std::string> others = vectorNames(outputs, used);
    if (others.empty()) return {};
    return fmt::format(
        "the class of a sample is the largest value of the output '{}'; {} could contain classes, too: "
        "choose another output with --class-output, or under Labels in the window",
        shortName(outputs[used].name), fmt::join(others, ", "));
}

}  // namespace quantloupe
