// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network, with images, that distinguishes green from blue images by a small weight next to a large one.
// 4-bit quantization rounds the small weight to zero, so that all images are classified as green. The results
// can be computed by hand.

#include <QImage>

#include "ui_test_support.h"

namespace quantloupe::test {

inline const char* const kColors = R"(
<ir_version: 8, opset_import: ["" : 13]>
colors (float[N,3,4,4] X) => (float[N,2] Y)
<float[3,3,1,1] V = {1, 0, 0, 0, 1, 0, 0, 0, 1}, float[2,3] W = {10, 0.4, 0, 10, 0, 0.4}>
{
  A = Conv(X, V)
  B = Relu(A)
  P = GlobalAveragePool(B)
  F = Flatten(P)
  Y = Gemm<transB = 1>(F, W)
})";

/// Writes 24 green and 24 blue images to the folders `green` and `blue` below `name`. Returns the path of
/// `name`.
inline std::filesystem::path writeColors(const QTemporaryDir& folder,
                                         const QString& name = QStringLiteral("data"),
                                         const QString& green = QStringLiteral("a_green"),
                                         const QString& blue = QStringLiteral("b_blue")) {
    const QDir root(folder.filePath(name));
    for (const bool isGreen : {true, false}) {
        const QString inside = root.filePath(isGreen ? green : blue);
        QDir().mkpath(inside);
        for (int i = 0; i < 24; ++i) {
            QImage image(4, 4, QImage::Format_RGB32);
            const int level = 120 + 5 * i, red = 10 * (i % 8);
            image.fill(isGreen ? QColor(red, level, 0) : QColor(red, 0, level));
            image.save(QStringLiteral("%1/%2.png").arg(inside).arg(i, 2, 10, QLatin1Char('0')));
        }
    }
    return root.path().toStdString();
}

/// 4-bit weights, also in the last layer.
inline QuantizationConfig coarse(QuantizationConfig config) {
    config.quantization.weight.bits = 4;
    config.skipTail = false;
    return config;
}

/// Opens network and data and evaluates `config`; returns false after twenty seconds or on an error.
inline bool openColors(ui::Document& document, const QTemporaryDir& folder,
                       const std::filesystem::path& data) {
    const auto model = writeModel(folder, QString::fromLatin1(kColors), QStringLiteral("colors.onnx"));
    QSignalSpy failed(&document, &ui::Document::failed);
    document.open({model, data, {}, {}});
    const auto ready = [&] {
        return document.evaluation() && document.evaluation()->complete && document.evaluation()->quantized &&
               !document.job()->busy();
    };
    if (!QTest::qWaitFor([&] { return ready() || !failed.empty(); }, 20000) || !failed.empty()) return false;
    document.edit({coarse(document.config()), QStringLiteral("Coarse"), {}});
    return QTest::qWaitFor([&] { return !document.job()->busy() && !document.evaluating(); }, 20000);
}

}  // namespace quantloupe::test
