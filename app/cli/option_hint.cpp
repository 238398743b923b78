// SPDX-License-Identifier: Apache-2.0
#include "option_hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/near_names.h"

namespace quantloupe::cli {
namespace {

struct ForeignOption {
    const char* name;
    const char* here;
};
/// Options of the examples of Quark, ONNX Runtime and AIMET, with "-" in place of "_".
constexpr std::array kForeign = {
    ForeignOption{"--include-cle", "--cle quark"},
    ForeignOption{"--cle-scale-append-bias", "--set transforms.equalization.append_bias=true"},
    ForeignOption{"--cle-weight-threshold", "--set transforms.equalization.weight_threshold=0.5"},
    ForeignOption{"--cle-total-layer-diff-threshold",
                  "--set transforms.equalization.total_layer_diff_threshold=2e-7"},
    ForeignOption{"--replace-clip6-relu", "--replace-relu6 all"},
    ForeignOption{"--calibrate-method", "--calibration METHOD"},
    ForeignOption{"--exclude-nodes", "--skip NAME"},
    ForeignOption{"--nodes-to-exclude", "--skip NAME"},
    ForeignOption{"--op-types-to-exclude", "--skip-type OP"},
    ForeignOption{"--quant-format", "export --to qdq or --to qoperator"},
    ForeignOption{"--include-fast-ft", "--rounding adaround"},
};

std::string suggestion(const CLI::App& command, std::string option) {
    option = option.substr(0, option.find('='));
    std::replace(option.begin(), option.end(), '_', '-');
    for (const ForeignOption& foreign : kForeign)
        if (option == foreign.name) return foreign.here;
    std::vector<std::string> names;
    for (const CLI::Option* known : command.get_options())
        for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string> near = nearNames(names, option, 1);
    return near.empty() ? std::string() : near.front();
}

}  // namespace

std::string optionHint(const CLI::App& command) {
    for (const std::string& argument : command.remaining()) {
        if (!argument.starts_with("--")) continue;
        if (const std::string here = suggestion(command, argument); !here.empty())
            return fmt::format(". For {}, did you mean {}?", argument, here);
    }
    return {};
}

}  // namespace quantloupe::cli
