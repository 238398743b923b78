// SPDX-License-Identifier: Apache-2.0
// Lists of classes: forms of the file, names of images, class names, and messages about bad lists.
#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "base/error.h"
#include "data/labeled_dataset.h"
#include "support/errors.h"

using namespace quantloupe;

namespace {

/// Samples with these names and no values.
class Named final : public Dataset {
  public:
    Named(std::vector<std::string> names, std::vector<std::string> classes)
        : m_names(std::move(names)), m_classes(std::move(classes)) {}
    std::size_t size() const override { return m_names.size(); }
    std::vector<SampleTensor> sample(std::size_t) const override { return {}; }
    std::string sampleName(std::size_t index) const override { return m_names[index]; }
    std::optional<int> label(std::size_t) const override { return {}; }
    const std::vector<std::string>& classNames() const override { return m_classes; }
    std::string description() const override { return "3 samples"; }
    Version version() const override { return {}; }

  private:
    std::vector<std::string> m_names, m_classes;
};

const std::vector<std::string> kImages = {"a.jpg", "b 1.png", "c.jpeg"};
const std::vector<std::string> kRows = {"sample 0", "sample 1", "sample 2"};

}  // namespace

class ClassListTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    DatasetPtr read(const std::string& text, const std::vector<std::string>& samples = kImages,
                    const char* file = "labels.csv", const std::string& classNames = {},
                    std::vector<std::string> folders = {}) {
        TaskSettings settings;
        settings.labels = m_folder.filePath(QString::fromLatin1(file)).toStdString();
        writeFileAtomically(settings.labels, text);
        if (!classNames.empty()) {
            settings.classNames = m_folder.filePath(QStringLiteral("names")).toStdString();
            writeFileAtomically(settings.classNames, classNames);
        }
        return withTask(std::make_shared<Named>(samples, std::move(folders)), settings, {});
    }
    static QString labels(const DatasetPtr& data) {
        QStringList texts;
        for (std::size_t s = 0; s < data->size(); ++s) texts << QString::number(data->label(s).value_or(-1));
        return texts.join(' ');
    }
    static QString names(const DatasetPtr& data) {
        QStringList texts;
        for (const std::string& name : data->classNames()) texts << QString::fromStdString(name);
        return texts.join(',');
    }

  private Q_SLOTS:
    void forms_data() {
        QTest::addColumn<QString>("text");
        QTest::newRow("spaces") << "c.jpeg 7\nb 1.png 0\na.jpg 65\n";
        QTest::newRow("comma") << "a.jpg,65\r\nb 1.png,0\r\nc.jpeg,7";
        QTest::newRow("semicolon") << "image;class\nc.jpeg;7\na.jpg;65\nb 1.png;0\n";
        QTest::newRow("class first") << "65,a.jpg\n0,b 1.png\n7,c.jpeg\n";
        QTest::newRow("tab and empty lines") << "\na.jpg\t65\n\nb 1.png\t0\nc.jpeg\t7\n\n";
        QTest::newRow("byte order mark, header, without extensions")
            << "\xEF\xBB\xBFid,label\na,65\nb 1,0\nc,7\n";
        QTest::newRow("quoted") << "\"a.jpg\",\"65\"\n\"b 1.png\",\"0\"\n\"c.jpeg\",\"7\"\n";
        QTest::newRow("folders and other images") << "x/a.jpg,65\n./b 1.png,0\nval/c.jpeg,7\nval/d.jpeg,-1\n";
        QTest::newRow("by position") << "65\n0\n7\n";
        QTest::newRow("by position, with a header") << "label\n65\n0\n7\n";
        QTest::newRow("floats of a table") << "id,breed\na.jpg,65.0\nb 1.png,0.0\nc.jpeg,7.0\n";
        QTest::newRow("quoted, with spaces") << "a.jpg \"65\"\n\"b 1.png\" 0\n\"c.jpeg\" 7\n";
        QTest::newRow("exact paths first") << "a.jpg,65\nextra/a.jpg,2\nb 1.png,0\nc.jpeg,7\n";
        QTest::newRow("problems of other images") << "a.jpg,65\nb 1.png,0\nc.jpeg,7\nx.jpg,\ny.jpg,1,2\n";
    }
    void forms() {
        QFETCH(QString, text);
        const DatasetPtr data = read(text.toStdString());
        QCOMPARE(labels(data), "65 0 7");
        QCOMPARE(names(data), "");
        QCOMPARE(QString::fromStdString(data->description()), "3 samples with labels of 3 classes");
        QVERIFY(data->taskLabels()->task == Task::Classification);
    }

    /// A name may contain spaces, or a class, but not both.
    void classesWithSpaces() {
        const std::vector<std::string> images = {"a.jpg", "b.png", "c.jpeg"};
        const std::string list = "a.jpg tabby cat\nb.png fox\nc.jpeg red panda\n";
        const DatasetPtr data = read(list, images, "labels.txt");
        QCOMPARE(names(data), "fox,red panda,tabby cat");
        QCOMPARE(labels(data), "2 0 1");
        const QString error =
            test::errorOf([&] { read("a.jpg 1 0.9\nb.png 0 0.8\nc.jpeg 2 0.1\n", images, "labels.txt"); });
        QVERIFY2(error.contains("line 1 must contain the name of an image and its class"), qPrintable(error));
    }

    /// Numbers that are also names of images are classes.
    void imagesNamedByNumbers() {
        const std::vector<std::string> images = {"0.png", "1.png"};
        const QString error = test::errorOf([&] { read("foo_0.png 0\nfoo_1.png 1\n", images); });
        QVERIFY2(error.contains("line 1 contains 'foo_0.png', but no line"), qPrintable(error));
        QCOMPARE(names(read("bird 1\nfish 0\n", images)), "bird 1,fish 0");
        QCOMPARE(labels(read("7 1.png\n5 0.png\n", images)), "5 7");
    }

    void folders() {
        const std::vector<std::string> images = {"x/1.jpg", "y/1.jpg"};
        QCOMPARE(labels(read("x/1 4\ny/1 5\n", images)), "4 5");
        QCOMPARE(labels(read("val/x/1.jpg 4\nval/y/1.jpg 5\n", images)), "4 5");
        QVERIFY(
            test::errorOf([&] { read("x/1.jpg 4\n", images); }).contains("no line for the image 'y/1.jpg'"));
        QVERIFY(test::errorOf([&] { read("1.jpg 4\n", images); }).contains("both belong to line 1"));
        // Folders that are not the classes.
        const DatasetPtr data = read("x/1.jpg cat\ny/1.jpg ant\n", images, "labels.txt", {}, {"x", "y"});
        QCOMPARE(names(data), "ant,cat");
        QCOMPARE(labels(data), "1 0");
        QCOMPARE(names(read("x/1.jpg 4\ny/1.jpg 5\n", images, "labels.txt", {}, {"x", "y"})), "");
    }

    void samplesWithoutFileNames() {
        QCOMPARE(labels(read("2\n1\n2\n", kRows, "labels.txt")), "2 1 2");
        QVERIFY(test::errorOf([&] { read("a.jpg 1\n", kRows, "labels.txt"); }).contains("no file names"));
    }

    void classNames() {
        const std::string list = "id,breed\na.jpg,tabby cat\nb 1.png,dog\nc.jpeg,\"ox, wild\"\nx.jpg,bee\n";
        DatasetPtr data = read(list);
        QCOMPARE(names(data), "bee,dog,ox, wild,tabby cat");
        QCOMPARE(labels(data), "3 1 2");
        data = read(list, kImages, "labels.csv", "tabby cat\nox, wild\ndog\n");
        QCOMPARE(labels(data), "0 2 1");
        data =
            read("b 1.png\tdog\na.jpg\tcat\nc.jpeg\tdog\n", kImages, "labels.tsv", {}, {"cat", "cow", "dog"});
        QCOMPARE(labels(data), "0 2 2");
        data = read("tabby cat\ndog\nox\n", kImages, "labels.txt");  // by position
        QCOMPARE(labels(data), "2 0 1");
        data = read("a.jpg,1\nb 1.png,0\nc.jpeg,1\n", kImages, "labels.csv", "no\nyes\n");
        QCOMPARE(labels(data), "1 0 1");
        QCOMPARE(names(data), "no,yes");
    }

    void versionDependsOnTheClasses() {
        const auto version = [this](const char* text) { return read(text)->version(); };
        QVERIFY(version("1\n2\n3\n") == version("a.jpg,1\nb 1.png,2\nc.jpeg,3\n"));
        QVERIFY(version("1\n2\n3\n") != version("1\n2\n4\n"));
    }

    void badLists_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("message");
        QTest::newRow("empty") << "\n\n"
                               << "the file contains no classes";
        QTest::newRow("too few") << "1\n2\n"
                                 << "2 lines without names of images, but the data has 3 samples";
        QTest::newRow("missing image") << "a.jpg 1\nb 1.png 2\n"
                                       << "no line for the image 'c.jpeg'";
        QTest::newRow("other images")
            << "x.jpg 1\ny.jpg 2\nz.jpg 3\n"
            << "line 1 contains 'x.jpg', but no line contains one of the images, such as 'a.jpg'";
        QTest::newRow("other separator") << "a.jpg|1\nb 1.png|2\nc.jpeg|3\n"
                                         << "line 1 contains 'a.jpg', but no line";
        QTest::newRow("columns") << "a.jpg,1,2\n"
                                 << "line 1 has 3 columns";
        QTest::newRow("no class") << "a.jpg,1\nb 1.png,\n"
                                  << "line 2 contains no class";
        QTest::newRow("two classes")
            << "a.jpg,1\nb 1.png,2\nc.jpeg,3\na.jpg,4\n"
            << "lines 1 and 4 contain different classes, '1' and '4', for the image 'a.jpg'";
        QTest::newRow("a name among numbers")
            << "a.jpg,1\nb 1.png,2\nc.jpeg,x\n"
            << "line 3: the class 'x' is not a number, but that of line 1 is";
        QTest::newRow("fractions") << "0.5\n1\n2\n"
                                   << "line 1: the class '0.5' is not a whole number";
        QTest::newRow("negative") << "a.jpg,1\nb 1.png,-1\nc.jpeg,3\n"
                                  << "line 2: the class -1 is negative";
    }
    void badLists() {
        QFETCH(QString, text);
        QFETCH(QString, message);
        const QString said = test::errorOf([&] { read(text.toStdString()); });
        QVERIFY2(said.contains(message), qPrintable(said));
        QVERIFY2(said.contains("labels.csv"), qPrintable(said));
    }

    void unknownClassName() {
        const QString said = test::errorOf(
            [&] { read("a.jpg,cat\nb 1.png,cow\nc.jpeg,cat\n", kImages, "labels.csv", "cat\ndog\n"); });
        QVERIFY2(said.contains("line 2: 'cow' is not one of the 2 class names"), qPrintable(said));
    }
};

QTEST_GUILESS_MAIN(ClassListTest)
#include "class_list_test.moc"
