// SPDX-License-Identifier: Apache-2.0
#include "model/attribute_rules.h"

#include <limits>
#include <map>
#include <set>

#include "base/error.h"

namespace quantloupe {
namespace {

enum class ValueKind { Integer, Integers, Real, Reals, Text, Texts, Tensor, Graph };

/// The range applies to each element of a list.
struct AttributeRule {
    ValueKind kind;
    std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                 most = std::numeric_limits<std::int64_t>::max();
    std::set<std::string> choices = {};
};

/// Limit for kernels, strides and similar attributes; larger than in any real network.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 24;
constexpr std::int64_t kMaxAxis = 64;

/// An attribute name has the same meaning in all operators; the exceptions (p, to, seed, value) are not
/// listed.
const std::map<std::string, AttributeRule, std::less<>>& attributeRules() {
    static const std::map<std::string, AttributeRule, std::less<>> rules = [] {
        std::map<std::string, AttributeRule, std::less<>> all;
        const auto add = [&](const AttributeRule& rule, std::initializer_list<const char*> names) {
            for (const char* name : names) all[name] = rule;
        };
        add({ValueKind::Integers, 1, kMaxExtent}, {"kernel_shape", "strides", "dilations", "pooled_shape"});
        add({ValueKind::Integers, -kMaxExtent, kMaxExtent}, {"pads", "paddings", "output_padding"});
        add({ValueKind::Integers, 0, kMaxExtent}, {"output_shape"});
        add({ValueKind::Integers, 0, std::int64_t{1} << 40}, {"split"});
        add({ValueKind::Integers, -kMaxAxis, kMaxAxis}, {"axes", "scan_input_axes", "scan_output_axes"});
        add({ValueKind::Integers, 0, kMaxAxis}, {"perm"});
        add({ValueKind::Integers}, {"starts", "ends", "shape", "value_ints"});
        add({ValueKind::Integer, 1, kMaxExtent},
            {"group", "blocksize", "hidden_size", "num_groups", "offset_group", "num_heads", "q_num_heads",
             "kv_num_heads", "num_outputs"});
        add({ValueKind::Integer, 1, std::int64_t{1} << 31}, {"size"});
        add({ValueKind::Integer, 0, kMaxExtent}, {"output_height", "output_width", "sampling_ratio",
                                                  "block_size", "batch_dims", "num_scan_inputs"});
        add({ValueKind::Integer, -kMaxAxis, kMaxAxis}, {"axis", "batch_axis", "time_axis"});
        add({ValueKind::Integer, 0, 1}, {"keepdims",
                                         "transA",
                                         "transB",
                                         "ceil_mode",
                                         "count_include_pad",
                                         "storage_order",
                                         "layout",
                                         "input_forget",
                                         "linear_before_reset",
                                         "exclusive",
                                         "reverse",
                                         "largest",
                                         "sorted",
                                         "upper",
                                         "allowzero",
                                         "training_mode",
                                         "exclude_outside",
                                         "antialias",
                                         "select_last_index",
                                         "noop_with_empty_axes",
                                         "fmod",
                                         "onesided",
                                         "periodic",
                                         "align_corners"});
        add({ValueKind::Integer},
            {"k", "start", "end", "value_int", "dtype", "output_dtype", "center_point_box", "saturate"});
        add({ValueKind::Real}, {"alpha", "beta", "gamma", "epsilon", "momentum", "ratio", "bias", "lambd",
                                "max", "min", "mean", "scale", "clip", "cubic_coeff_a", "extrapolation_value",
                                "spatial_scale", "value_float", "high", "low"});
        add({ValueKind::Reals}, {"activation_alpha", "activation_beta", "value_floats", "scales"});
        add({ValueKind::Text},
            {"equation", "mode", "nearest_mode", "coordinate_transformation_mode", "reduction",
             "padding_mode", "keep_aspect_ratio_policy", "approximate", "value_string"});
        add({ValueKind::Text, 0, 0, {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}}, {"auto_pad"});
        add({ValueKind::Text, 0, 0, {"forward", "reverse", "bidirectional"}}, {"direction"});
        add({ValueKind::Texts}, {"activations", "value_strings"});
        add({ValueKind::Graph}, {"body", "then_branch", "else_branch"});
        return all;
    }();
    return rules;
}

const char* kindName(ValueKind kind) {
    switch (kind) {
        case ValueKind::Integer:
            return "an integer";
        case ValueKind::Integers:
            return "a list of integers";
        case ValueKind::Real:
            return "a number";
        case ValueKind::Reals:
            return "a list of numbers";
        case ValueKind::Text:
            return "a string";
        case ValueKind::Texts:
            return "a list of strings";
        case ValueKind::Tensor:
            return "a tensor";
        case ValueKind::Graph:
            return "a graph";
    }
    return "";
}

ValueKind kindOf(const AttributeValue& value) {
    struct Visitor {
        ValueKind operator()(std::int64_t) const { return ValueKind::Integer; }
        ValueKind operator()(float) const { return ValueKind::Real; }
        ValueKind operator()(const std::string&) const { return ValueKind::Text; }
        ValueKind operator()(const std::vector<std::int64_t>&) const { return ValueKind::Integers; }
        ValueKind operator()(const std::vector<float>&) const { return ValueKind::Reals; }
        ValueKind operator()(const std::vector<std::string>&) const { return ValueKind::Texts; }
        ValueKind operator()(const ConstantPtr&) const { return ValueKind::Tensor; }
        ValueKind operator()(const OpaqueAttribute&) const { return ValueKind::Graph; }
    };
    return std::visit(Visitor(), value);
}

bool emptyList(const AttributeValue& value) {
    const auto* integers = std::get_if<std::vector<std::int64_t>>(&value);
    const auto* reals = std::get_if<std::vector<float>>(&value);
    const auto* texts = std::get_if<std::vector<std::string>>(&value);
    return (integers != nullptr && integers->empty()) || (reals != nullptr && reals->empty()) ||
           (texts != nullptr && texts->empty());
}

}  // namespace

void checkAttribute(const std::string& op, const std::string& name, const AttributeValue& value) {
    if (op == "BitShift" && name == "direction") return;  // LEFT or RIGHT
    const auto found = attributeRules().find(name);
    if (found == attributeRules().end()) return;
    const AttributeRule& rule = found->second;
    // In some files, an empty list has no type.
    if (kindOf(value) != rule.kind && !emptyList(value))
        failInput("its attribute '{}' must be {}, not {}", name, kindName(rule.kind),
                  kindName(kindOf(value)));
    std::vector<std::int64_t> numbers;
    if (const auto* one = std::get_if<std::int64_t>(&value)) numbers = {*one};
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) numbers = *list;
    for (const std::int64_t number : numbers)
        if (number < rule.least || number > rule.most)
            failInput("its attribute '{}' is {}, but it must be within {} and {}", name, number, rule.least,
                      rule.most);
    if (const auto* text = std::get_if<std::string>(&value);
        text != nullptr && !rule.choices.empty() && !rule.choices.contains(*text))
        failInput("its attribute '{}' is '{:.40}', but it must be one of {}", name, *text,
                  fmt::join(rule.choices, ", "));
}

}  // namespace quantloupe
