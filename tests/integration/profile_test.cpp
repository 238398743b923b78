// SPDX-License-Identifier: Apache-2.0
// The time of each layer measured in ONNX Runtime, and a search with these times.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "support/python.h"
#include "support/run_cli.h"

using quantloupe::test::demoCommand;
using quantloupe::test::runCli;

class ProfileTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        if (quantloupe::test::runPython({"-c", "import onnxruntime"}) != 0)
            QSKIP("Python has no ONNX Runtime; set QUANTLOUPE_PYTHON");
    }

    void measuresEveryLayer() {
        const QString file = m_folder.filePath("profile.csv");
        const auto outcome =
            runCli(demoCommand("profile MODEL --config CONFIG --data VAL --calibration-data CALIBRATION "
                               "--samples 20 --runs 5 --json -o") +
                   QStringList{file});
        QVERIFY2(outcome.code == 0, outcome.text());
        const QJsonObject json = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
        QCOMPARE(json["runs"].toInt(), 5);
        QCOMPARE(json["threads"].toInt(), 1);
        QVERIFY(json["runtime"].toString().startsWith("ONNX Runtime "));
        QFile csv(file);
        QVERIFY(csv.open(QFile::ReadOnly));
        const QStringList lines = QString::fromUtf8(csv.readAll()).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines[0], QStringLiteral("layer,precision,ms"));
        QCOMPARE(lines.size() - 1, json["layers"].toArray().size());
        QVERIFY2(lines.size() > 60, qPrintable(QString::number(lines.size())));
        double sum = 0;
        for (const QString& line : lines.mid(1)) {
            const QStringList cells = line.split(',');
            QCOMPARE(cells.size(), 3);
            QVERIFY2(cells[1].startsWith('w') || cells[1] == "float32", qPrintable(line));
            sum += cells[2].toDouble();
        }
        const double layers = json["layers_ms"].toDouble();
        QVERIFY2(sum > 0 && qAbs(sum - layers) < 1e-3 * layers, qPrintable(QString::number(sum)));
        // Nearly all kernels belong to a layer. (On a busy machine, most time passes between them.)
        QVERIFY2(json["unmatched_ms"].toDouble() < 0.2 * layers, outcome.text());
        QVERIFY(json["ms"].toDouble() > 0);
    }

    void theSearchUsesTheTimes() {
        QFile csv(m_folder.filePath("times.csv"));
        QVERIFY(csv.open(QFile::WriteOnly));
        csv.write(
            "layer,precision,ms\n/features/features.0/features.0.0/Conv,float32,2\n"
            "/features/features.0/features.0.0/Conv,w4a8,1\n/features/features.17/conv/conv.2/Conv,w4a8,0.5\n"
            "/features/features.18/features.18.0/Conv,float32,3\n");
        csv.close();
        const QStringList command =
            demoCommand(
                "tune MODEL --config CONFIG --data VAL --calibration-data CALIBRATION --samples 40 "
                "--max-drop 10 --max-seconds 20 --json --profile") +
            QStringList{m_folder.filePath("times.csv")};
        const auto outcome = runCli(command);
        QVERIFY2(outcome.code == 0 || outcome.code == 3, outcome.text());
        const QJsonObject json = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
        QCOMPARE(json["cost_kind"].toString(), QStringLiteral("ms"));
        QVERIFY(json["cost"].toDouble() > 0 && json["start_cost"].toDouble() > 0);
        const double estimated = json["estimated"].toDouble();
        QVERIFY(estimated > 0 && estimated < json["cost"].toDouble());
        // Everything else is measured, also for layers that cannot be quantized.
        double measured = 0;
        for (const QJsonValue& layer : json["layers"].toArray()) {
            const QString name = layer["name"].toString(), precision = layer["precision"].toString();
            if (name == "/features/features.0/features.0.0/Conv") measured += precision == "float32" ? 2 : 1;
            if (name == "/features/features.17/conv/conv.2/Conv" && precision == "w4a8") measured += 0.5;
            if (name == "/features/features.18/features.18.0/Conv" && precision == "float32") measured += 3;
        }
        QVERIFY2(qAbs(json["cost"].toDouble() - estimated - measured) < 1e-6,
                 qPrintable(QString::number(measured)));
        QVERIFY2(outcome.err.contains("latency: 4 measured layer times"), outcome.text());
        QCOMPARE(json["layers"].toArray().size(), 65);

        const auto none = runCli(demoCommand("tune MODEL --data VAL --max-drop 1 --cost ms"));
        QCOMPARE(none.code, 2);
        QVERIFY2(none.err.contains("--cost ms needs measured times"), none.text());
        const auto noTarget = runCli(demoCommand("tune MODEL --data VAL"));
        QCOMPARE(noTarget.code, 2);
        QVERIFY2(noTarget.err.contains("--max-drop P"), noTarget.text());
    }

  private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(ProfileTest)
#include "profile_test.moc"
