// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz targets (tests/fuzz/targets) on the stored files, among them every one that once broke
// something.
#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/input_file.h"
#include "targets/targets.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

fs::path corpus() { return fs::path(QUANTLOUPE_SOURCE_DIR) / "tests" / "fuzz" / "corpus"; }

std::vector<fs::path> filesOf(const std::string& target) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(corpus() / target)) files.push_back(entry.path());
    if (target == "imports")  // the expected exports of other tests
        for (const char* name : {"quark.py", "onnxruntime.py"})
            files.push_back(corpus() / ".." / ".." / "data" / name);
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

class FuzzCorpusTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void files_data() {
        QTest::addColumn<std::string>("target");
        QTest::addColumn<std::string>("file");
        for (const fuzz::Target& target : fuzz::targets())
            for (const fs::path& file : filesOf(target.name))
                QTest::newRow(fs::relative(file, corpus()).c_str()) << target.name << file.string();
    }
    void files() {
        QFETCH(std::string, target);
        QFETCH(std::string, file);
        const auto& all = fuzz::targets();
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.name == target; });
        QElapsedTimer timer;
        timer.start();
        try {
            found->run(readFile(file));
        } catch (const std::exception& error) {
            QFAIL(error.what());
        }
        QVERIFY2(timer.elapsed() < 60000, "took more than a minute");
    }

    void everyTargetHasFiles() {
        std::set<std::string> folders, names;
        for (const auto& entry : fs::directory_iterator(corpus())) folders.insert(entry.path().filename());
        for (const fuzz::Target& target : fuzz::targets()) names.insert(target.name);
        QCOMPARE(folders, names);
        std::uintmax_t bytes = 0;
        for (const std::string& name : names) {
            QVERIFY2(filesOf(name).size() >= 3, name.c_str());
            for (const fs::path& file : filesOf(name)) bytes += fs::file_size(file);
        }
        QVERIFY(bytes < 1 << 20);
    }
};

QTEST_APPLESS_MAIN(FuzzCorpusTest)
#include "fuzz_corpus_test.moc"
