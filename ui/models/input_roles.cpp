// SPDX-License-Identifier: Apache-2.0
#include "models/input_roles.h"

#include <array>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

struct Roles {
    const char* op;
    std::array<const char*, 8> names;  ///< from the second input on
};

constexpr const char* kWeight = QT_TRANSLATE_NOOP("Words", "weight");
constexpr const char* kBias = QT_TRANSLATE_NOOP("Words", "bias");
constexpr const char* kScale = QT_TRANSLATE_NOOP("Words", "scale");
constexpr const char* kAxes = QT_TRANSLATE_NOOP("Words", "axes");
constexpr const char* kShape = QT_TRANSLATE_NOOP("Words", "shape");
constexpr const char* kRecurrence = QT_TRANSLATE_NOOP("Words", "recurrence weight");
constexpr const char* kLengths = QT_TRANSLATE_NOOP("Words", "sequence lengths");
constexpr const char* kState = QT_TRANSLATE_NOOP("Words", "initial state");

constexpr Roles kRoles[] = {
    {"Conv", {kWeight, kBias}},
    {"ConvTranspose", {kWeight, kBias}},
    {"Gemm", {kWeight, kBias}},
    {"MatMul", {kWeight}},
    {"BatchNormalization",
     {kScale, kBias, QT_TRANSLATE_NOOP("Words", "mean"), QT_TRANSLATE_NOOP("Words", "variance")}},
    {"LayerNormalization", {kScale, kBias}},
    {"GroupNormalization", {kScale, kBias}},
    {"InstanceNormalization", {kScale, kBias}},
    {"LSTM",
     {kWeight, kRecurrence, kBias, kLengths, kState, QT_TRANSLATE_NOOP("Words", "initial cell"),
      QT_TRANSLATE_NOOP("Words", "peepholes")}},
    {"GRU", {kWeight, kRecurrence, kBias, kLengths, kState}},
    {"RNN", {kWeight, kRecurrence, kBias, kLengths, kState}},
    {"PRelu", {QT_TRANSLATE_NOOP("Words", "slope")}},
    {"Clip", {QT_TRANSLATE_NOOP("Words", "minimum"), QT_TRANSLATE_NOOP("Words", "maximum")}},
    {"Reshape", {kShape}},
    {"Expand", {kShape}},
    {"Slice",
     {QT_TRANSLATE_NOOP("Words", "starts"), QT_TRANSLATE_NOOP("Words", "ends"), kAxes,
      QT_TRANSLATE_NOOP("Words", "steps")}},
    {"Pad", {QT_TRANSLATE_NOOP("Words", "pads"), QT_TRANSLATE_NOOP("Words", "value"), kAxes}},
    {"Resize",
     {QT_TRANSLATE_NOOP("Words", "region"), QT_TRANSLATE_NOOP("Words", "scales"),
      QT_TRANSLATE_NOOP("Words", "sizes")}},
    {"Gather", {QT_TRANSLATE_NOOP("Words", "indices")}},
    {"Unsqueeze", {kAxes}},
    {"Squeeze", {kAxes}},
    {"ReduceMean", {kAxes}},
    {"ReduceSum", {kAxes}},
    {"Split", {QT_TRANSLATE_NOOP("Words", "sizes")}},
    {"Tile", {QT_TRANSLATE_NOOP("Words", "repeats")}},
    {"TopK", {QT_TRANSLATE_NOOP("Words", "k")}},
};

}  // namespace

QString inputRole(const Node& node, std::size_t index) {
    // Before opset 11, Resize has no input for a region of interest.
    if (node.op == "Resize" && node.inputs.size() == 2 && index == 1) return Words::tr("scales");
    if (index == 0 || index > std::tuple_size_v<decltype(Roles::names)>) return {};
    for (const Roles& roles : kRoles)
        if (node.op == roles.op && node.domain.empty() && roles.names[index - 1])
            return Words::tr(roles.names[index - 1]);
    return {};
}

}  // namespace quantloupe::ui
