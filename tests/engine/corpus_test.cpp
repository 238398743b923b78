// SPDX-License-Identifier: Apache-2.0
// Sample files of every import format (tests/data/corpus): good_ files are imported completely, odd_ files in
// part with a message about the rest, bad_ files are rejected with the file name and the error. All belong to
// the same network.
#include <set>
#include <sstream>

#include "base/input_file.h"
#include "config/skip_rules.h"
#include "interchange/guess_format.h"
#include "support/export_support.h"

using namespace quantloupe;
using namespace quantloupe::test;
namespace fs = std::filesystem;

namespace {

fs::path corpus() { return fs::path(QUANTLOUPE_SOURCE_DIR) / "tests" / "data" / "corpus"; }

std::map<std::string, std::string> expectations() {
    std::map<std::string, std::string> all;
    std::istringstream lines(readFile(corpus() / "expected.txt"));
    for (std::string line; std::getline(lines, line);)
        if (const auto tab = line.find('\t'); tab != std::string::npos)
            all[line.substr(0, tab)] = line.substr(tab + 1);
    return all;
}

}  // namespace

class CorpusTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void files_data() {
        QTest::addColumn<std::string>("file");
        std::vector<std::string> files;
        for (const auto& entry : fs::recursive_directory_iterator(corpus()))
            if (entry.is_regular_file() && entry.path().filename() != "expected.txt")
                files.push_back(fs::relative(entry.path(), corpus()).generic_string());
        std::sort(files.begin(), files.end());
        for (const std::string& file : files) QTest::newRow(file.c_str()) << file;
    }
    void files() {
        QFETCH(std::string, file);
        const fs::path path = corpus() / file;
        const std::string format = fs::path(file).parent_path().string(), name = path.filename().string();
        QCOMPARE(guessFormat(path, readFile(path)), format);
        const auto all = expectations();
        const auto wanted = all.find(file);
        QCOMPARE(wanted == all.end(), name.starts_with("good_"));
        try {
            const GraphPtr graph = stageModel();
            const ImportResult result = importFile(formatNamed(format, true), graph, {}, path);
            QVERIFY2(!name.starts_with("bad_"), "was read");
            resolveSkips(*graph, result.config);
            QVERIFY2(!result.taken.empty(), "nothing was understood");
            if (name.starts_with("good_"))
                QVERIFY2(result.left.empty(), joined(result.left).c_str());
            else
                QVERIFY(says(result.left, wanted->second.c_str()));
        } catch (const Error& error) {
            QVERIFY2(name.starts_with("bad_"), error.what());
            const std::string said = error.what();
            QVERIFY2(said.find(name) != std::string::npos, said.c_str());
            QVERIFY2(said.find(wanted->second) != std::string::npos, said.c_str());
        }
    }

    void corpusHasEveryFormat() {
        const auto all = expectations();
        for (const std::string& format : formatNames(true)) {
            if (format == "amct-minimal" || format == "qoperator") continue;  // the readers of amct and qdq
            const bool bad = std::any_of(
                all.begin(), all.end(), [&](const auto& e) { return e.first.starts_with(format + "/bad_"); });
            QVERIFY2(bad, format.c_str());
        }
        for (const auto& [file, words] : all) QVERIFY2(fs::exists(corpus() / file), file.c_str());
    }
};

QTEST_GUILESS_MAIN(CorpusTest)
#include "corpus_test.moc"
