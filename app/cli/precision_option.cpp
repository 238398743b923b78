// SPDX-License-Identifier: Apache-2.0
// The option --precision.

#include <fmt/format.h>

#include "base/error.h"
#include "config/layer_choices.h"
#include "options.h"

namespace quantloupe::cli {
namespace {

struct Selector {
    const char* prefix;
    SkipKind kind;
    std::string SkipRule::*field;
};
constexpr Selector kSelectors[] = {{"re:", SkipKind::Pattern, &SkipRule::regex},
                                   {"type:", SkipKind::Type, &SkipRule::op},
                                   {"block:", SkipKind::Block, &SkipRule::like},
                                   {"downstream:", SkipKind::Downstream, &SkipRule::from}};

}  // namespace

std::function<void(QuantizationConfig&)> precisionEdit(const std::string& value) {
    const std::size_t equals = value.rfind('=');  // names may contain the character
    if (equals == std::string::npos || equals == 0)
        throw UsageError(
            fmt::format("--precision takes NAME=PRECISION, re:PATTERN=PRECISION, type:OP=PRECISION, "
                        "block:NAME=PRECISION or downstream:NAME=PRECISION, as in /stem/Conv=w8a16, not '{}'",
                        value));
    const std::string layers = value.substr(0, equals);
    PrecisionRule rule;
    try {
        rule.precision = precisionNamed(value.substr(equals + 1));
    } catch (const Error& error) {
        throw UsageError(fmt::format("--precision {}: {}", value, error.what()));
    }
    for (const Selector& selector : kSelectors) {
        const std::string prefix = selector.prefix;
        if (!layers.starts_with(prefix)) continue;
        rule.covers.kind = selector.kind;
        rule.covers.*selector.field = layers.substr(prefix.size());
        return [rule](QuantizationConfig& config) { config.precisionRules.push_back(rule); };
    }
    return [layers, precision = rule.precision](QuantizationConfig& config) {
        config = withPrecision(config, {layers}, precision);
    };
}

}  // namespace quantloupe::cli
