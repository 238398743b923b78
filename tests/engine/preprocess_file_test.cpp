// SPDX-License-Identifier: Apache-2.0
// The preprocessing file: what it may contain, and errors that name the key.

#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "data/dataset.h"
#include "support/errors.h"

using namespace quantloupe;
using test::errorOf;

class PreprocessFileTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void preprocessFile() {
        const Preprocess read = preprocessFromJson(
            R"({"color": "BGR", "resize": [32, 48], "center_crop": [28, 30], "scale": 0.5,
                "mean": [0.4914, 0, 1],
                "std": [1, 2, 3], "layout": "NHWC"})");
        QCOMPARE(read.resize.value()[1], 48);
        QCOMPARE(read.mean[0], 0.4914f);
        QCOMPARE(preprocessToJson(read),
                 std::string(R"({"color":"BGR","resize":[32,48],"center_crop":[28,30],"scale":0.5,)"
                             R"("mean":[0.4914,0.0,1.0],"std":[1.0,2.0,3.0],"layout":"NHWC"})"));
        QVERIFY(preprocessFromJson(preprocessToJson(read)) == read);
        QVERIFY(preprocessFromJson("{}") == Preprocess());
        const Preprocess bicubic = preprocessFromJson(R"({"resize": [32, 48], "interpolation": "bicubic"})");
        QCOMPARE(bicubic.interpolation, Interpolation::Bicubic);
        QVERIFY(preprocessFromJson(preprocessToJson(bicubic)) == bicubic);
        QCOMPARE(preprocessFromJson(R"({"color": "GRAY"})").mean.size(), std::size_t(1));
        const QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        writeFileAtomically(root / "m.onnx", "");
        QVERIFY(!preprocessBeside(root / "m.onnx"));
        writeFileAtomically(root / "m.preprocess.json", R"({"scale": 1, "sclae": 2})");
        const QString error = errorOf([&] { loadPreprocess(preprocessBeside(root / "m.onnx").value()); });
        QVERIFY2(error.contains("m.preprocess.json") && error.contains("'sclae'"), qPrintable(error));
    }

    void preprocessErrorsNameTheKey_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("unknown") << R"({"crop": [1, 1]})"
                                 << "unknown key 'crop'";
        QTest::newRow("twice") << R"({"scale": 1, "scale": 2})"
                               << "duplicate key 'scale'";
        QTest::newRow("color") << R"({"color": "HSV"})"
                               << "'color' must be one of \"RGB\"";
        QTest::newRow("layout") << R"({"layout": 3})"
                                << "'layout'";
        QTest::newRow("interpolation") << R"({"interpolation": "nearest"})"
                                       << "'interpolation' must be one of \"bilinear\", \"bicubic\"";
        QTest::newRow("size") << R"({"resize": [32]})"
                              << "'resize'";
        QTest::newRow("no size") << R"({"center_crop": [0, 3]})"
                                 << "'center_crop'";
        QTest::newRow("absurd size") << R"({"resize": [1e9, 99999999999999999999]})"
                                     << "'resize'";
        QTest::newRow("scale") << R"({"scale": "1/255"})"
                               << "'scale'";
        QTest::newRow("infinite") << R"({"scale": 1e300})"
                                  << "'scale'";
        QTest::newRow("channels") << R"({"mean": [0, 0]})"
                                  << "'mean' has 2";
        QTest::newRow("channels of gray") << R"({"color": "GRAY", "std": [1, 1, 1]})"
                                          << "'std' has 3";
        QTest::newRow("zero") << R"({"std": [1, 0, 1]})"
                              << "'std' must not contain 0";
        QTest::newRow("text in a list") << R"({"mean": [0, "x", 0]})"
                                        << "'mean'";
        QTest::newRow("list") << "[]"
                              << "object";
        QTest::newRow("broken") << "{"
                                << "not valid JSON";
    }
    void preprocessErrorsNameTheKey() {
        QFETCH(QString, text);
        QFETCH(QString, wanted);
        const QString error = errorOf([&] { preprocessFromJson(text.toStdString()); });
        QVERIFY2(error.contains(wanted), qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(PreprocessFileTest)
#include "preprocess_file_test.moc"
