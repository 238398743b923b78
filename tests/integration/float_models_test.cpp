// SPDX-License-Identifier: Apache-2.0
// `quantloupe-cli run` on small networks of many kinds (from small_models.py) compared with ONNX Runtime's
// float outputs. Needs Python with onnx, onnxruntime and numpy; skipped without it.
#include <QTemporaryDir>
#include <QtTest>

#include "data/numpy_file.h"
#include "model/constant.h"
#include "support/python.h"
#include "support/run_cli.h"

using namespace quantloupe;

class FloatModelsTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    QStringList m_models;

  private Q_SLOTS:
    void initTestCase() {
        QUANTLOUPE_WRITE_MODELS(m_models, "small_models.py", m_folder);
        QVERIFY(m_models.size() >= 8);
    }

    void outputs_data() {
        QTest::addColumn<int>("threads");
        QTest::newRow("one worker") << 1;
        QTest::newRow("two workers") << 2;
    }
    void outputs() {
        QFETCH(int, threads);
        for (const QString& name : m_models) {
            const QString place = m_folder.filePath(name) + "/";
            const test::Outcome ran =
                test::runCli({"run", place + name + ".onnx", "--data", place + "data.npz", "-o",
                              place + "ours.npz", "--threads", QString::number(threads)});
            QVERIFY2(ran.code == 0, ran.text());
            const auto ours = loadNpz((place + "ours.npz").toStdString());
            for (const auto& [output, expected] : loadNpz((place + "expected.npz").toStdString())) {
                const auto found = ours.find(output);
                QVERIFY(found != ours.end());
                QCOMPARE(toString(found->second->dims()), toString(expected->dims()));
                float worst = 0, largest = 0;
                for (std::size_t i = 0; i < expected->floats().size(); ++i) {
                    const float difference = std::abs(expected->floats()[i] - found->second->floats()[i]);
                    QVERIFY(std::isfinite(difference));  // comparisons with NaN are false
                    worst = std::max(worst, difference);
                    largest = std::max(largest, std::abs(expected->floats()[i]));
                }
                qInfo("%s: relative error %.1e", qPrintable(name), double(worst / largest));
                QVERIFY2(worst <= 1e-4f * largest, qPrintable(name));
            }
        }
    }
};

QTEST_GUILESS_MAIN(FloatModelsTest)
#include "float_models_test.moc"
