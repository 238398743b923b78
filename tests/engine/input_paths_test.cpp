// SPDX-License-Identifier: Apache-2.0
// No output may overwrite an input, whatever path leads to it.
#include "base/input_paths.h"

#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "support/errors.h"

using namespace quantloupe;
namespace fs = std::filesystem;

class InputPathsTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    fs::path m_root;
    InputPaths m_inputs;

    QString refusalOf(const fs::path& output) const {
        return test::errorOf([&] { m_inputs.checkOutput(output); });
    }

  private Q_SLOTS:
    void initTestCase() {
        m_root = m_folder.path().toStdString();
        fs::create_directories(m_root / "images/cat");
        for (const char* name : {"m.onnx", "m.weights", "images/cat/1.jpg", "images/notes.txt", "other.json"})
            writeFileAtomically(m_root / name, name);
        fs::create_symlink(m_root / "m.onnx", m_root / "link.onnx");
        fs::create_hard_link(m_root / "m.onnx", m_root / "twin.onnx");
        fs::create_directory_symlink(m_root / "images", m_root / "pictures");
        m_inputs.add("the model", m_root / "m.onnx");
        m_inputs.add("external data of the model", m_root / "m.weights");
        m_inputs.add("the data", m_root / "images");
        m_inputs.add("nothing", {});
    }

    void refusesEveryNameOfAnInput_data() {
        QTest::addColumn<QString>("output");
        for (const char* name : {"m.onnx", "./m.onnx", "images/../m.onnx", "link.onnx", "twin.onnx",
                                 "m.weights", "images/cat/1.jpg", "pictures/cat/1.jpg"})
            QTest::newRow(name) << QString::fromUtf8(name);
    }
    void refusesEveryNameOfAnInput() {
        QFETCH(QString, output);
        const QString refusal = refusalOf(m_root / output.toStdString());
        QVERIFY2(refusal.contains("would be overwritten: choose another name"), qPrintable(refusal));
    }

    void acceptsAllOtherPaths() {
        for (const char* name : {"new.onnx", "other.json", "images/notes.txt", "images/new.jpg", "nowhere/x"})
            QVERIFY2(refusalOf(m_root / name).isEmpty(), name);
        QVERIFY(refusalOf({}).isEmpty());
        QVERIFY(refusalOf("/dev/null").isEmpty());
    }
};

QTEST_GUILESS_MAIN(InputPathsTest)
#include "input_paths_test.moc"
