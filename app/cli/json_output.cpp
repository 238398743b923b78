// SPDX-License-Identifier: Apache-2.0
#include "json_output.h"

#include <cmath>
#include <cstdio>

#include "interchange/reports/class_report.h"

namespace quantloupe::cli {
namespace {

void addReason(OrderedJson& object, const std::string& reason) {
    if (!object.contains("reason")) {
        object["reason"] = reason;
    } else if (const auto old = object["reason"].get<std::string>(); old.find(reason) == std::string::npos) {
        object["reason"] = old + "; " + reason;
    }
}

constexpr const char* kNoLabels = "there are no labels that fit the outputs";
constexpr const char* kNoClasses = "the outputs are not one class per sample";
constexpr const char* kNoDifference = "infinite: no difference";
constexpr const char* kNotMeasured = "not measured";

}  // namespace

void setNumber(OrderedJson& object, const std::string& key, const std::optional<double>& value,
               const std::string& missing, const std::string& infinite) {
    if (value && std::isfinite(*value)) {
        object[key] = *value;
        return;
    }
    object[key] = nullptr;
    addReason(object, key + ": " + (!value ? missing : std::isnan(*value) ? "undefined" : infinite));
}

void setMacs(OrderedJson& object, std::uint64_t macs, const std::string& reason) {
    if (reason.empty()) {
        object["macs"] = macs;
        return;
    }
    object["macs"] = nullptr;
    object["macs_reason"] = reason;
}

void printJson(const OrderedJson& document) {
    const std::string text = document.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputc('\n', stdout);
}

OrderedJson toJson(const StateCounts& counts) {
    return {{"quantized", counts.quantized},
            {"skipped", counts.skipped},
            {"float", counts.floating},
            {"folded", counts.folded},
            {"fused", counts.fused}};
}

OrderedJson toJson(const StageSeconds& seconds) {
    return {{"load", seconds.load},      {"transform", seconds.transform}, {"calibrate", seconds.calibrate},
            {"float", seconds.floating}, {"quantized", seconds.quantized}, {"metrics", seconds.metrics},
            {"total", seconds.total}};
}

OrderedJson toJson(const TensorDifference& difference) {
    OrderedJson object = OrderedJson::object();
    setNumber(object, "qs", difference.qs, kNotMeasured, "infinite: the float tensor is all zero");
    setNumber(object, "cosine", difference.cosine, kNotMeasured, "infinite");
    setNumber(object, "sqnr_db", difference.sqnrDb, kNotMeasured,
              difference.sqnrDb > 0 ? kNoDifference : "infinite: the float tensor is all zero");
    const auto set = [&](const char* key, const std::optional<double>& value) {
        setNumber(object, key, value, kNotMeasured);
    };
    set("max_abs", difference.maxAbsolute);
    set("mean_abs", difference.meanAbsolute);
    set("rms", difference.rootMeanSquare);
    set("relative_euclidean", difference.relativeEuclidean);
    set("absolute_l2", difference.absoluteL2);
    set("mean", difference.testedMean);
    set("std", difference.testedDeviation);
    set("reference_mean", difference.referenceMean);
    set("reference_std", difference.referenceDeviation);
    if (difference.accumulatedRelative) {
        set("accumulated_relative", difference.accumulatedRelative);
        set("max_relative", difference.maxRelative);
        set("mean_relative", difference.meanRelative);
    }
    if (difference.klDivergence) set("kl_divergence", difference.klDivergence);
    if (!difference.note.empty()) object["note"] = difference.note;
    return object;
}

OrderedJson toJson(const LayerResult& layer) {
    OrderedJson object = {{"name", layer.name},
                          {"module", layer.module},
                          {"op", layer.op},
                          {"state", layerStateName(layer.state)},
                          {"precision", precisionName(layer.precision)},
                          {"io", layer.io},
                          {"reason", layer.reason},
                          {"host", layer.host.empty() ? OrderedJson(nullptr) : OrderedJson(layer.host)}};
    object["weight"] = layer.weight ? toJson(*layer.weight) : OrderedJson(nullptr);
    object["local"] = layer.local ? toJson(*layer.local) : OrderedJson(nullptr);
    object["cumulative"] = layer.cumulative ? toJson(*layer.cumulative) : OrderedJson(nullptr);
    setMacs(object, layer.macs, layer.macsReason);
    object["parameters"] = layer.parameters;
    return object;
}

OrderedJson toJson(const std::optional<Accuracy>& accuracy, Role role) {
    const Accuracy values = accuracy.value_or(Accuracy{});
    const bool graded = values.map || values.miou || values.tokenAccuracy;
    const std::string noLabels = graded ? kNoClasses : accuracy ? kNoLabels : kNotMeasured;
    OrderedJson object = OrderedJson::object();
    if (values.map) {
        object["map"] = *values.map;
        object["map50"] = values.map50.value_or(0);
    }
    if (values.miou) {
        object["miou"] = *values.miou;
        object["pixel_accuracy"] = values.pixelAccuracy.value_or(0);
    }
    if (values.tokenAccuracy) {
        object["token_accuracy"] = *values.tokenAccuracy;
        setNumber(object, "perplexity", values.perplexity, "the outputs are probabilities");
    }
    setNumber(object, "top1", values.top1, noLabels, "infinite");
    if (role != Role::Prepared) setNumber(object, "top5", values.top5, noLabels, "infinite");
    if (role != Role::Floating) {
        setNumber(object, "agreement", values.agreement, graded ? kNoClasses : kNotMeasured, "infinite");
        setNumber(
            object, "sqnr_db", values.sqnrDb, kNotMeasured,
            values.sqnrDb && *values.sqnrDb < 0 ? "infinite: the float outputs are all zero" : kNoDifference);
        setNumber(object, "max_abs_diff", values.maxAbsDiff, kNotMeasured, "infinite");
        for (const OutputDifference& output : values.outputs) {
            OrderedJson one = {{"name", output.name}};
            setNumber(one, "sqnr_db", output.sqnrDb, kNotMeasured,
                      output.sqnrDb < 0 ? "infinite: the float outputs are all zero" : kNoDifference);
            setNumber(one, "max_abs_diff", output.maxAbsDiff, kNotMeasured, "infinite");
            object["outputs"].push_back(std::move(one));
        }
        if (values.mse) {
            setNumber(object, "mse", values.mse, kNotMeasured);
            setNumber(object, "psnr_db", values.psnrDb, kNotMeasured, kNoDifference);
        }
    }
    if (values.userMetric) {
        object["metric"] = *values.userMetric;
        object["lower_is_better"] = values.lowerIsBetter;
    }
    if (role != Role::Prepared) {
        if (values.top1Interval) {
            object["top1_interval"] = {values.top1Interval->low, values.top1Interval->high};
        } else {
            object["top1_interval"] = nullptr;
            addReason(object, "top1_interval: " + noLabels);
        }
    }
    return object;
}

OrderedJson toJson(const Evaluation& evaluation) {
    OrderedJson json = {{"float", toJson(evaluation.floating, Role::Floating)},
                        {"prepared", toJson(evaluation.prepared, Role::Prepared)},
                        {"quantized", toJson(evaluation.quantized, Role::Quantized)},
                        {"counts", toJson(evaluation.counts)}};
    json["layers"] = OrderedJson::array();
    for (const LayerResult& layer : evaluation.layers) json["layers"].push_back(toJson(layer));
    json["random_inputs"] = evaluation.randomInputs;
    json["samples"] = evaluation.samples;
    json["calibration_samples"] = evaluation.calibrationSamples;
    json["transforms"] = {{"folded_batch_norms", evaluation.foldedBatchNorms},
                          {"replaced_clips", evaluation.replacedClips},
                          {"equalization_sets", evaluation.equalizationSets},
                          {"migrated_inputs", evaluation.migratedInputs}};
    json.update(classesJson(evaluation));
    json["notices"] = evaluation.notices;
    json["seconds"] = toJson(evaluation.seconds);
    return json;
}

OrderedJson toJson(const std::optional<Shape>& shape) {
    if (!shape) return nullptr;
    OrderedJson extents = OrderedJson::array();
    for (const Dim& dim : *shape) {
        if (dim.known()) {
            extents.push_back(dim.value);
        } else {
            extents.push_back(dim.symbol.empty() ? OrderedJson(nullptr) : OrderedJson(dim.symbol));
        }
    }
    return extents;
}

OrderedJson toJson(const AttributeValue& value) {
    return std::visit(
        [&](const auto& held) -> OrderedJson {
            using Held = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, ConstantPtr> || std::is_same_v<Held, OpaqueAttribute>) {
                return toString(value);
            } else if constexpr (std::is_same_v<Held, float>) {
                return std::isfinite(held) ? OrderedJson(held) : OrderedJson(toString(value));
            } else {
                return OrderedJson(held);
            }
        },
        value);
}

OrderedJson toJson(const Graph& graph, std::span<const TensorId> tensors) {
    OrderedJson list = OrderedJson::array();
    for (const TensorId id : tensors) {
        const TensorInfo& tensor = graph.tensor(id);
        list.push_back(
            {{"name", tensor.name}, {"type", dataTypeName(tensor.type)}, {"shape", toJson(tensor.shape)}});
    }
    return list;
}

}  // namespace quantloupe::cli
