// SPDX-License-Identifier: Apache-2.0
#include "interchange/guess_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"

namespace quantloupe {

std::string guessFormat(const std::filesystem::path& path, std::string_view text) {
    const std::string ending = lowerCase(path.extension().string());
    const auto has = [&](std::string_view words) { return text.find(words) != std::string_view::npos; };
    if (ending == ".onnx") return "qdq";
    if (ending == ".encodings") return "aimet";
    if (ending == ".cfg" || ending == ".prototxt") return "amct-simple";
    if (ending == ".yaml" || ending == ".yml") return "clika";
    if (ending == ".py") {
        // Quark's script also imports from onnxruntime.quantization, so check the more specific words first.
        const auto imports = [&](std::string_view module) {
            return has(fmt::format("import {}", module)) || has(fmt::format("from {}", module));
        };
        if (imports("quark")) return "quark";
        if (has("set_quantization_settings_for_layer") || imports("clika")) return "clika";
        if (imports("modelopt")) return "";  // has nodes_to_exclude, too, but there is no reader for it
        return has("quantize_static") || has("nodes_to_exclude") ? "onnxruntime" : "";
    }
    if (ending != ".json") return "";
    const std::initializer_list<std::pair<const char*, const char*>> keys = {
        {"\"quantloupe\"", "quantloupe"},     {"\"activation_encodings\"", "aimet"},
        {"\"param_encodings\"", "aimet"},     {"\"y_scale\"", "aimet"},
        {"\"global_quant_config\"", "quark"}, {"\"global_config\"", "quark"},
        {"\"layer_type_config\"", "quark"},   {"\"algo_config\"", "quark"},
        {"\"quant_enable\"", "amct"},         {"\"weight_quant_params\"", "amct"},
        {"\"activation_offset\"", "amct"},    {"\"skip_fusion_layers\"", "amct"},
        {"\"retrain_enable\"", "amct"}};
    for (const auto& [key, format] : keys)
        if (has(key)) return format;
    return "";
}

std::string guessFormat(const std::filesystem::path& path) {
    constexpr std::uint64_t kEnough = 1 << 20;
    try {
        const InputFile file(path);
        std::string text(static_cast<std::size_t>(std::min(file.size(), kEnough)), '\0');
        file.read(text.data(), text.size(), 0);
        return guessFormat(path, text);
    } catch (const Error&) {
        return guessFormat(path, "");  // by its extension; the reader of the format reports the error
    }
}

}  // namespace quantloupe
