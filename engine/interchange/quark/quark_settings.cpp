// SPDX-License-Identifier: Apache-2.0
#include "interchange/quark/quark_settings.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "interchange/float_nodes.h"
#include "interchange/wording.h"

namespace quantloupe {
namespace {

bool skipsWeightedLayers(const ExportSource& source) {
    return std::any_of(source.layers.begin(), source.layers.end(), [](const LayerResult& layer) {
        return layer.state == LayerState::Skipped &&
               (layer.op == "Conv" || layer.op == "ConvTranspose" || layer.op == "Gemm");
    });
}

/// Returns whether Quark, given the source model, creates the float network of the preview.
bool transformsItself(const ExportSource& source) {
    const TransformOptions& t = source.config.transforms;
    const EqualizationOptions& e = t.equalization;
    if (source.config.refine.migration > 0 || t.simplify || t.highBiasFold || !t.foldBatchNorm ||
        !t.skipFolding.empty() || !e.off.empty())
        return false;
    // Quark replaces Clip only with equalization
    if (e.profile == EqualizationProfile::Off) return t.replaceRelu6 == ReplaceRelu6::None;
    // Quark does not equalize excluded layers.
    return e.profile == EqualizationProfile::Quark && t.replaceRelu6 != ReplaceRelu6::Between &&
           (e.excludeSkipped || !skipsWeightedLayers(source));
}

void chooseMethod(const QuantizationConfig& config, QuarkSettings& s) {
    const auto plain = [&](const char* name) {
        s.method = std::string("CalibrationMethod.") + name;
        s.calibration = name;
    };
    const auto power = [&](const char* name, const char* calibration) {
        s.method = std::string("PowerOfTwoMethod.") + name;
        s.calibration = calibration;
        s.powerOfTwo = true;
    };
    const auto other = [&](const char* ours) {
        s.notices.push_back(fmt::format(
            "Quark has no calibration method {}: MinMax is used instead, so the scales will differ", ours));
    };
    switch (config.calibration.method) {
        case CalibrationMethod::PowerOfTwoMinMse:
            return power("MinMSE", "MinMSE");
        case CalibrationMethod::PowerOfTwoNonOverflow:
            return power("NonOverflow", "MinMax");
        case CalibrationMethod::Percentile:
            return plain("Percentile");
        case CalibrationMethod::Entropy:
            return plain("Entropy");
        case CalibrationMethod::MovingAverage:  // Quark computes the plain mean
            if (config.calibration.parameters.averagingConstant == 0.0) return plain("MinMax");
            other("moving_average with an averaging_constant");
            break;
        case CalibrationMethod::MinMax:
            if (config.quantization.activation.powerOfTwo) return power("NonOverflow", "MinMax");
            return plain("MinMax");
        case CalibrationMethod::Mse:
            other("mse with float scales");
            break;
        case CalibrationMethod::TfEnhanced:
            other("tf_enhanced");
            break;
        case CalibrationMethod::Ifmr:
            other("ifmr");
            break;
        case CalibrationMethod::Hfmg:
            other("hfmg");
            break;
    }
    plain("MinMax");
}

int knownBits(int bits, const char* what, QuarkSettings& s) {
    if (bits == 8 || bits == 16) return bits;
    const int wider = bits < 8 ? 8 : 16;
    s.notices.push_back(fmt::format("{} of {} bits are not supported by Quark's QuantType: they become {}",
                                    what, bits, wider));
    return wider;
}

void exclude(const ExportSource& source, QuarkSettings& s) {
    std::vector<std::string> names;
    for (const FloatNode& node : floatNodes(source)) {
        const auto id = s.model->findNode(s.ownTransforms ? node.layer : node.name);
        if (!id) continue;
        const Node& n = s.model->node(*id);
        // When Quark's simplifier folds a batch norm, it renames the Conv to the Conv's output tensor. Quark
        // silently ignores exclusions that it does not find.
        std::vector<std::string> both = {n.name};
        // A tensor can have the name of another node, which would be excluded as well.
        if (n.output().valid() && !s.model->findNode(s.model->tensor(n.output()).name))
            both.push_back(s.model->tensor(n.output()).name);
        for (std::string& name : both)  // several layers can be merged into one node
            if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    s.excluded = std::move(names);
}

void noteScheme(const ExportSource& source, QuarkSettings& s) {
    const QuantizationConfig& config = source.config;
    append(s.notices, layerSettingNotices(config, "Quark", true));
    if (!config.quantization.weight.restricted && config.quantization.weight.symmetric)
        s.notices.emplace_back(
            "Quark's symmetric weights do not use the lowest code (-128 with 8 bits), while the preview's "
            "do");
    if (!s.npu && config.quantization.biasBits != 32 && config.quantization.biasBits != kFloatBias)
        s.notices.push_back(
            fmt::format("biases of {} bits are available only in Quark's NPU mode; they become 32",
                        config.quantization.biasBits));
    QuantizationConfig quark = config;
    quark.quantization.operators = OperatorSet::Quark;
    quark.quantization.weight.powerOfTwo = s.powerOfTwo;
    if (!s.powerOfTwo) quark.quantization.activation.powerOfTwo = false;
    quark.quantization.weight.method =
        s.powerOfTwo && s.calibration == "MinMSE" ? WeightMethod::Mse : WeightMethod::MinMax;
    if (config.quantization.weight.perChannel) quark.quantization.weight.perChannelProducts = true;
    if (!s.npu) quark.quantization.npuPositions = {};
    quark.quantization.npuPositions.maxLoops = NpuPositions{}.maxLoops;
    quark.calibration.quantizedWeights = false;
    if (config.calibration.method == CalibrationMethod::PowerOfTwoMinMse)
        quark.calibration.parameters.bins.reset();  // its calibrator of powers of two has no such option
    for (std::string& text :
         settingNotices(config, quark, "Quark",
                        {"quantization.operators", "quantization.activation.power_of_two",
                         "quantization.weight.power_of_two", "quantization.weight.method",
                         "quantization.weight.per_channel_products", "quantization.npu_positions.",
                         "calibration.quantized_weights", "calibration.parameters.num_bins"}))
        s.notices.push_back(std::move(text));
    const auto changes = otherTransforms(config);
    if (!s.ownTransforms && !changes.empty())
        s.notices.push_back(
            fmt::format("Quark would apply {} differently from the preview: the exported float model already "
                        "includes it, and include_cle is False",
                        fmt::join(changes, " and ")));
}

}  // namespace

QuarkSettings quarkSettings(const ExportSource& source) {
    const QuantizationConfig& config = source.config;
    const QuantizationOptions& q = config.quantization;
    QuarkSettings s;
    s.notices = ruleNotices(source, "Quark");
    append(s.notices, previewNotices(source, "Quark"));
    chooseMethod(config, s);
    s.activationBits = knownBits(q.activation.bits, "activations", s);
    s.weightBits = knownBits(q.weight.bits, "weights", s);
    s.npu = s.powerOfTwo && q.activation.symmetric && s.activationBits == 8 && s.weightBits == 8 &&
            q.weight.isSigned && q.weight.symmetric && !q.weight.perChannel;
    // Only the NPU mode converts operators.
    s.ownTransforms = transformsItself(source) && (s.npu || config.transforms.npuOperators == NpuOperators{});
    s.model = s.ownTransforms ? source.prepared->source : source.prepared->transformed;
    s.includeCle = s.ownTransforms && config.transforms.equalization.profile == EqualizationProfile::Quark;
    s.replaceClip6 = s.includeCle && config.transforms.replaceRelu6 == ReplaceRelu6::All;
    exclude(source, s);
    noteScheme(source, s);
    return s;
}

}  // namespace quantloupe
