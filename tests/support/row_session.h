// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sessions on small networks whose only input has rows of four values.

#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <cmath>
#include <string>
#include <vector>

#include "data/numpy_file.h"
#include "model/graph_builder.h"
#include "session/session.h"
#include "support/text_model.h"

namespace quantloupe::test {

/// A session on a network of one input, "X", with rows of four values.
class RowSession {
  public:
    RowSession(const std::string& net, const std::vector<float>& values)
        : m_session(withInfinity(textModel(
              "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) " + net))) {
        const std::string file = m_folder.path().toStdString() + "/x.npz";
        saveNpz({{"X", Constant::fromFloats({static_cast<std::int64_t>(values.size() / 4), 4}, values)}},
                file);
        const auto data = openDataset(file, inputSpecsOf(m_session.graph()), {});
        m_session.setData(data, data);
    }
    /// Returns the notices, one per line, or the error.
    QString notices(const QuantizationConfig& config) {
        try {
            const EvaluationPtr result = m_session.evaluate(config, Depth::Metrics);
            QStringList lines;
            for (const std::string& notice : result->notices) lines << QString::fromStdString(notice);
            const ConstantPtr outputs = m_session.outputs(config).at(0);
            for (const float y : outputs->floats()) m_finite = m_finite && std::isfinite(y);
            return lines.join('\n');
        } catch (const Error& error) {
            return QString("error: ") + error.what();
        }
    }
    bool finite() const { return m_finite; }

  private:
    /// The textual form cannot express -inf: the constant "minus_infinity" gets this value.
    static LoadedModel withInfinity(LoadedModel model) {
        if (const auto constant = model.graph->findTensor("minus_infinity")) {
            GraphBuilder builder(*model.graph);
            builder.setConstant(*constant, Constant::fromFloats({}, {-INFINITY}));
            model.graph = builder.build();
        }
        return model;
    }

    QTemporaryDir m_folder;
    Session m_session;
    bool m_finite = true;
};

/// Quantizes the tail, too.
inline QuantizationConfig all() {
    QuantizationConfig config;
    config.skipTail = false;
    return config;
}

}  // namespace quantloupe::test
