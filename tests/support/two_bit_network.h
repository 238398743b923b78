// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network small enough to compute all results by hand.
//
// It is A = X W, Y = A, W = [1 0.4; 0.6 -1] of 2 bits (scale 1: [1 0; 1 -1]), calibrated so that all
// activations have scale 1 and codes -128 to 127. The samples are (1.3, 2.6) and (-1, 200):
//     X W           = (2.86, -2.08), (119, -200.4)     float
//     X Wq          = (3.9, -2.6), (199, -200)         only weights quantized
//     q(q(X) W)     = (3, -3), (75, -127)              only activations; q(X) = (1, 3), (-1, 127)
//     q(q(X) Wq)    = (4, -3), (126, -127)             both
#include <QTemporaryDir>
#include <cmath>

#include "data/numpy_file.h"
#include "session/session.h"
#include "support/text_model.h"

namespace quantloupe::test {

inline LoadedModel opset13(const std::string& graph) {
    return textModel("<ir_version: 8, opset_import: [\"\" : 13]> " + graph);
}

inline QuantizationConfig twoBits() {
    QuantizationConfig config;
    config.skipTail = false;
    config.quantization.weight.bits = 2;
    config.quantization.activation.symmetric = true;
    return config;
}

/// Returns whether a value is within a relative tolerance; prints both if it is not.
inline bool near(double value, double wanted, double relative = 1e-6) {
    const bool ok = std::abs(value - wanted) <= relative * std::max(1e-3, std::abs(wanted));
    if (!ok) qWarning("%.9g where %.9g is wanted", value, wanted);
    return ok;
}

/// Returns samples for the session's only input, X.
inline DatasetPtr rows(const Session& session, Dims dims, std::vector<float> values) {
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("rows.npz").toStdString();
    saveNpz({{"X", Constant::fromFloats(std::move(dims), std::move(values))}}, file);
    return openDataset(file, inputSpecsOf(session.graph()), {});
}

inline std::unique_ptr<Session> openWithRows(const std::string& graph, const Dims& dims,
                                             std::vector<float> samples, std::vector<float> calibration) {
    auto session = std::make_unique<Session>(opset13(graph));
    const DatasetPtr ranges = rows(*session, dims, std::move(calibration));
    session->setData(rows(*session, dims, std::move(samples)), ranges);
    return session;
}

inline std::unique_ptr<Session> openTwoBitNetwork() {
    return openWithRows(
        "g (float[N,2] X) => (float[N,2] Y) <float[2,2] W = {1, 0.4, 0.6, -1}, float[2,2] V = {1, 0, 0, 1}> "
        "{ A = MatMul(X, W) Y = MatMul(A, V) }",
        {2, 2}, {1.3f, 2.6f, -1, 200}, {127, 0, 0, 127});
}

/// Y = X / 2 as a convolution; input scale 1, output scale 0.5: (0.4, 1.6, 2, 127) becomes (0, 1, 1, 63.5).
inline std::unique_ptr<Session> openHalvingNetwork() {
    return openWithRows(
        "g (float[N,1,2,2] X) => (float[N,1,2,2] Y) <float[1,1,1,1] W = {0.5}> { Y = Conv(X, W) }",
        {1, 1, 2, 2}, {0.4f, 1.6f, 2, 127}, {127, -127, 0, 0});
}

}  // namespace quantloupe::test
