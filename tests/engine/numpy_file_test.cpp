// SPDX-License-Identifier: Apache-2.0
// NumPy files: headers as NumPy writes them, round trips, and rejected files.

#include "data/numpy_file.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "support/errors.h"
#include "support/npy.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::errorOf;
namespace fs = std::filesystem;

namespace {

/// A .npy file as NumPy writes it, with its data in hexadecimal.
std::string npy(const std::string& dictionary, const std::string& hexData, char major = 1) {
    return test::npy(QByteArray::fromStdString(dictionary),
                     QByteArray::fromHex(QByteArray::fromStdString(hexData)), major)
        .toStdString();
}

QString show(const ConstantPtr& array) {
    QStringList numbers;
    for (const double value : array->toDoubles()) numbers << QString::number(value);
    return QString::fromStdString(std::string(dataTypeName(array->type())) + " " + toString(array->dims()) +
                                  ": ") +
           numbers.join(' ');
}

}  // namespace

class NumpyFileTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    fs::path m_file;

    ConstantPtr load(const std::string& content) {
        std::ofstream(m_file, std::ios::binary) << content;
        return loadNpy(m_file);
    }
    QString loadError(const std::string& content) {
        return errorOf([&] { load(content); });
    }

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        m_file = m_folder.filePath("x.npy").toStdString();
    }

    void readsFilesOfNumpy() {
        QCOMPARE(show(load(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
                               "0000c03f000000c00000404000008040"))),
                 QString("float32 2×2: 1.5 -2 3 4"));
        QCOMPARE(show(load(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
                               "000003000100040002000500"))),
                 QString("int16 2×3: 0 1 2 3 4 5"));
        QCOMPARE(show(load(npy("{'descr': '>i4', 'fortran_order': False, 'shape': (3,), }",
                               "000000000000000100000002"))),
                 QString("int32 3: 0 1 2"));
        QCOMPARE(show(load(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "07"))),
                 QString("uint8 scalar: 7"));
        QCOMPARE(show(load(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "0100"))),
                 QString("bool 2: 1 0"));
        QCOMPARE(show(load(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }", ""))),
                 QString("float64 0×4: "));
        for (const char major : {'\2', '\3'})
            QCOMPARE(show(load(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }",
                                   "feffffffffffffff", major))),
                     QString("int64 1: -2"));
    }

    void threeDimensionsInFortranOrder() {
        // numpy.asfortranarray(numpy.arange(12, dtype="u1").reshape(2, 3, 2))
        QCOMPARE(show(load(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }",
                               "00060208040a01070309050b"))),
                 QString("uint8 2×3×2: 0 1 2 3 4 5 6 7 8 9 10 11"));
    }

    void errorsNameTheFile() {
        const QString missing = errorOf([&] { loadNpy(m_folder.filePath("no.npy").toStdString()); });
        QVERIFY2(missing.contains("no.npy"), qPrintable(missing));
        const auto check = [&](const std::string& content, const char* wanted) {
            const QString error = loadError(content);
            QVERIFY2(error.contains("x.npy") && error.contains(wanted),
                     qPrintable(QString("'%1' should say '%2'").arg(error, wanted)));
        };
        check("", "not a .npy file");
        check("\x93NUMPX\x01", "not a .npy file");
        check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", "0000c03f"), "incomplete");
        check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 9999), }", "0000c03f"),
              "incomplete");
        check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }", ""),
              "large");
        check(npy("{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }", "6100000062000000"), "'<U2'");
        check(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "80"), "objects");
        check(
            npy("{'descr': [('a', '<f4'), ('b', '<i4', (2,))], 'fortran_order': False, 'shape': (2,), }", ""),
            "structure");
        check(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (0,), }", ""), "'<c8'");
        check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""), "shape");
        check(npy("{'descr': '<f4', 'fortran_order': False, }", ""), "missing");
        check(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", ""), "fortran_order");
        check(npy("{'descr': [[[[", ""), "does not end");
        check(npy("{}", "", 9), "9.x");
    }

    void everyTruncationIsAnError() {
        const std::string whole =
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "0000c03f000000c0");
        for (std::size_t size = 0; size < whole.size(); ++size)
            QVERIFY2(!loadError(whole.substr(0, size)).isEmpty(), qPrintable(QString::number(size)));
        QCOMPARE(loadError(whole), QString());
    }

    void npzRoundTrip() {
        const fs::path file = m_folder.filePath("round.npz").toStdString();
        const std::map<std::string, ConstantPtr> arrays = {
            {"logits", Constant::fromFloats({2, 3}, {1, 2, 3, 4, 5, 6.5f})},
            {"labels", Constant::fromInt64s({2}, {7, -1})},
            {"/head/Gemm_output_0", Constant::fromFloats({}, {3})},
            {"empty", Constant::fromFloats({0, 4}, {})}};
        saveNpz(arrays, file);
        const auto again = loadNpz(file);
        QCOMPARE(again.size(), arrays.size());
        for (const auto& [name, array] : arrays) QCOMPARE(show(again.at(name)), show(array));

        const auto bytes = [&] {
            QFile content(QString::fromStdString(file.string()));
            return content.open(QIODevice::ReadOnly) ? content.readAll() : QByteArray();
        };
        const QByteArray first = bytes();
        QVERIFY(!first.isEmpty());
        saveNpz(arrays, file);
        QVERIFY(bytes() == first);
    }

    void saveErrorsLeaveTheOldFile() {
        const fs::path file = m_folder.filePath("kept.npz").toStdString();
        saveNpz({{"x", Constant::fromFloats({1}, {1})}}, file);
        const auto half = Constant::fromBytes(DataType::BFloat16, {1}, {std::byte{0}, std::byte{0}});
        const QString error = errorOf([&] { saveNpz({{"y", half}}, file); });
        QVERIFY2(error.contains("kept.npz") && error.contains("bfloat16"), qPrintable(error));
        QCOMPARE(show(loadNpz(file).at("x")), QString("float32 1: 1"));
        const QString folder = errorOf([&] {
            saveNpz({{"x", half}}, m_folder.filePath("no/x.npz").toStdString());
        });
        QVERIFY2(folder.contains("no/x.npz"), qPrintable(folder));
        QVERIFY(errorOf([&] { saveNpz({}, file); }).contains("no arrays"));
    }

    void damagedArchives() {
        const fs::path file = m_folder.filePath("damaged.npz").toStdString();
        saveNpz({{"x", Constant::fromFloats({64}, std::vector<float>(64, 1.0f))}}, file);
        QFile content(QString::fromStdString(file.string()));
        QVERIFY(content.open(QIODevice::ReadWrite));
        const QByteArray whole = content.readAll();
        const auto store = [&](const QByteArray& bytes) {
            content.resize(0);
            content.seek(0);
            content.write(bytes);
            content.flush();
        };
        store(whole.left(whole.size() / 2));
        QVERIFY(errorOf([&] { loadNpz(file); }).contains("damaged.npz"));
        QByteArray flipped = whole;  // a float in the middle: only the checksum detects it
        flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
        store(flipped);
        const QString error = errorOf([&] { loadNpz(file); });
        QVERIFY2(error.contains("array 'x'") && error.contains("damaged"), qPrintable(error));
        store("this is text");
        QVERIFY(errorOf([&] { loadNpz(file); }).contains("not a .npz"));
    }

    void readsTheReferenceFiles() {
        const fs::path assets = test::assets();
        const auto arrays = loadNpz(assets / "oracles" / "float_mobilenetv2_cifar10.npz");
        QStringList names;
        for (const auto& [name, array] : arrays)
            names << QString::fromStdString(name + " " + std::string(dataTypeName(array->type())) + " " +
                                            toString(array->dims()));
        // The string array 'images' is skipped.
        QCOMPARE(names.join("; "),
                 QString("input_pixels uint8 4×32×32×3; logits float32 64×10; predictions int16 1000"));
        int read = 0;
        for (const auto& entry : fs::directory_iterator(assets / "oracles"))
            if (entry.path().extension() == ".npy") {
                QVERIFY(loadNpy(entry.path())->size() > 0);
                ++read;
            } else if (entry.path().extension() == ".npz") {
                QVERIFY(!loadNpz(entry.path()).empty());
                ++read;
            }
        QVERIFY(read > 10);
    }
};

QTEST_GUILESS_MAIN(NumpyFileTest)
#include "numpy_file_test.moc"
