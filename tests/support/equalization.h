// SPDX-License-Identifier: Apache-2.0
#pragma once
// Equalization in tests: options, and the comparison with the results of other tools.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "support/small_graph.h"
#include "transform/prepare.h"
#include "transform/scalable_layer.h"

namespace quantloupe::test {

/// Quantloupe's own profile.
inline TransformOptions everywhere(int steps = 1) {
    TransformOptions options;
    options.equalization.profile = EqualizationProfile::Quantloupe;
    options.equalization.steps = steps;
    return options;
}

/// Returns a JSON document of tests/assets/oracles; empty if it cannot be read.
inline QJsonObject oracleDocument(const char* name) {
    QFile file(QString::fromStdString((assets() / "oracles" / name).string()));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

/// How far equalized layers are from another tool's result.
struct OracleDeviation {
    double worst = 0;  ///< largest deviation of the ranges of a layer's outputs, or of its bias
    std::size_t layers = 0;
};

/// Compares all Conv layers with the values of "out_absmax" and "bias", which are lists by layer name.
inline OracleDeviation deviationFrom(const QJsonObject& oracle, const Graph& graph) {
    OracleDeviation result;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        if (node.op != "Conv") continue;
        const auto values = [&](const char* what) {
            std::vector<float> list;
            for (const QJsonValue v : oracle[what].toObject()[node.name.c_str()].toArray())
                list.push_back(static_cast<float>(v.toDouble()));
            return list;
        };
        const auto ranges = outputRanges(constantOf(graph, NodeId(i), 1), *layoutOf(graph, NodeId(i)));
        result.worst = std::max({result.worst, deviation(ranges, values("out_absmax")),
                                 deviation(constantOf(graph, NodeId(i), 2), values("bias"))});
        ++result.layers;
    }
    return result;
}

}  // namespace quantloupe::test
