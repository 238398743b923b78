// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small networks written as text in a test: creates, inspects and runs them.

#include <QString>
#include <QStringList>
#include <span>

#include "runtime/program/program.h"
#include "support/text_model.h"

namespace quantloupe::test {

/// "(float[N,1,4,4] x) => (float[N,1,4,4] y) <float[2] w = {1, 2}> { ... }".
GraphPtr graph(const QString& body, int opset = 13);

std::vector<float> constantOf(const Graph& g, NodeId node, std::size_t input);

/// Formats as "1 -0.5 3" with at most this many digits.
inline QString list(const auto& values, int digits = 6) {
    QStringList texts;
    for (const auto v : values) texts << QString::number(static_cast<double>(v), 'g', digits);
    return texts.join(' ');
}

/// The values of a node's constant input, as text; "none" if it is computed or missing.
QString constantText(const Graph& g, const char* node, std::size_t input);

QString lines(const std::vector<std::string>& lines);

/// "Conv Relu", in graph order.
QString ops(const Graph& g);

/// Returns the first output of the graph for the values of the only input.
std::vector<float> run(ProgramSpec spec, const std::vector<float>& input);
std::vector<float> run(const GraphPtr& graph, const Dims& dims, const std::vector<float>& input,
                       std::unordered_map<TensorId, FakeQuant> quantizers = {});

/// Uses 1 for unknown extents.
std::vector<float> run(const GraphPtr& graph, const std::vector<float>& input);

/// max |found - expected| / max |expected|; infinite if the sizes differ.
double deviation(std::span<const float> found, std::span<const float> expected);

}  // namespace quantloupe::test
