// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models and documents for tests of the window.

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "document/document.h"
#include "support/npy.h"
#include "support/text_model.h"

namespace quantloupe::test {

/// Stores settings in the folder, not in the user's settings.
inline void keepSettingsIn(const QTemporaryDir& folder) {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
    QCoreApplication::setOrganizationName(QStringLiteral("quantloupe-test"));
}

/// Conv_0, Relu_1, Conv_2, Relu_3, Conv_4, Relu_5: names assigned on loading. The tail is Conv_4 and Relu_5;
/// one output pixel of each channel keeps it small enough to be skipped by default.
inline const char* const kChain = R"(
<ir_version: 8, opset_import: ["" : 13]>
chain (float[N,2,8,8] X) => (float[N,2,1,1] Y)
<float[2,2,1,1] V = {1, 0.5, -1, 0.25}, float[2,2,1,1] W = {1, 2, -1, 3}, float[2,2,1,1] Z = {1, 0, -1, 1}>
{
  A = Conv(X, V)
  B = Relu(A)
  C = Conv(B, W)
  D = Relu(C)
  E = Conv<strides = [8, 8]>(D, Z)
  Y = Relu(E)
})";

inline std::filesystem::path writeModel(const QTemporaryDir& folder,
                                        const QString& text = QString::fromLatin1(kChain),
                                        const QString& name = QStringLiteral("chain.onnx")) {
    const QString path = folder.filePath(name);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    const std::string bytes = textModelBytes(text.toStdString());
    file.write(bytes.data(), static_cast<qint64>(bytes.size()));
    return path.toStdString();
}

/// Writes six samples for kChain to `name`.
inline std::filesystem::path writeChainSamples(const QTemporaryDir& folder,
                                               const QString& name = QStringLiteral("samples.npy")) {
    const QString path = folder.filePath(name);
    std::vector<float> values;
    for (int i = 0; i < 6 * 2 * 8 * 8; ++i) values.push_back(static_cast<float>(i % 17) / 17.0f);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(npyOfFloats("6, 2, 8, 8", values));
    return path.toStdString();
}

/// Opens the model and waits for its first results. Returns false after twenty seconds or on an error.
inline bool openAndWait(ui::Document& document, const std::filesystem::path& path,
                        const std::filesystem::path& data = {}) {
    QSignalSpy finished(&document, &ui::Document::evaluationFinished);
    QSignalSpy failed(&document, &ui::Document::failed);
    document.open({path, data, {}, {}});
    return QTest::qWaitFor([&] { return !finished.empty() || !failed.empty(); }, 20000) && failed.empty();
}

/// Returns the only child of this type and, unless it is empty, with this object name.
template <typename Child>
Child* child(const QObject& parent, const char* name = "") {
    const QString wanted = QString::fromLatin1(name);
    const auto found = wanted.isEmpty() ? parent.findChildren<Child*>() : parent.findChildren<Child*>(wanted);
    if (found.size() != 1) qFatal("%d children '%s'", static_cast<int>(found.size()), name);
    return found.front();
}

/// The same for buttons and for the texts of labels.
inline QPushButton* button(const QObject& parent, const char* name) {
    return child<QPushButton>(parent, name);
}
inline QString labelText(const QObject& parent, const char* name) {
    return child<QLabel>(parent, name)->text();
}

}  // namespace quantloupe::test
