// SPDX-License-Identifier: Apache-2.0
// Custom metric programs: programs that work, and every way in which they can fail.
#include "analysis/user_metric.h"

#include <unistd.h>

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <thread>

#include "data/numpy_file.h"
#include "support/errors.h"

using namespace quantloupe;
using test::errorOf;
namespace fs = std::filesystem;

class UserMetricTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    const std::map<std::string, ConstantPtr> m_outputs = {
        {"logits", Constant::fromFloats({2, 2}, {1, 2, 3, 4})}};

    fs::path script(const std::string& body, const std::string& firstLine = "#!/bin/sh\n") {
        const fs::path path = m_folder.filePath("metric.sh").toStdString();
        fs::remove(path);
        std::ofstream(path) << firstLine << body;
        fs::permissions(path, fs::perms::owner_all);
        return path;
    }
    double run(const std::string& body, double timeout = 20, const ConstantPtr& labels = nullptr) {
        return runUserMetric({script(body), {}, timeout}, m_outputs, labels, CancelToken());
    }
    QString runError(const std::string& body, double timeout = 20) {
        return errorOf([&] { run(body, timeout); });
    }

  private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void lastLineIsTheNumber() {
        QCOMPARE(run("echo 0.75"), 0.75);
        QCOMPARE(run("echo loading; echo; echo ' -1.5e3 '; echo; echo warning >&2"), -1500.0);
        QCOMPARE(run("printf '+2'"), 2.0);
    }

    void programGetsOutputsAndLabels() {
        const fs::path kept = m_folder.filePath("kept.npz").toStdString();
        QCOMPARE(run("cp \"$1\" " + kept.string() + "; echo 1", 20, Constant::fromInt64s({2}, {7, -1})), 1.0);
        const auto arrays = loadNpz(kept);
        QCOMPARE(arrays.size(), std::size_t{2});
        QCOMPARE(arrays.at("logits")->floats()[3], 4.0f);
        QCOMPARE(arrays.at("labels")->toInt64s(), (std::vector<std::int64_t>{7, -1}));
        run("cp \"$1\" " + kept.string() + "; echo 1");
        QCOMPARE(loadNpz(kept).size(), std::size_t{1});
    }

    /// No shell is involved: the arguments arrive unchanged.
    void argumentsAreNotExpanded() {
        const fs::path program = script("[ \"$1\" = '$HOME; *' ] && [ \"$2\" = '' ] && [ $# = 3 ] && echo 1");
        QCOMPARE(runUserMetric({program, {"$HOME; *", ""}, 20}, m_outputs, {}, CancelToken()), 1.0);
    }

    void standardInputIsEmptyAndFilesAreClosed() {
        const int open = dup(1);  // no close-on-exec: a child would inherit it
        QVERIFY(open > 2);
        const std::string number = std::to_string(open);
        const double seen = run("cat; if [ -e /proc/$$/fd/" + number + " ]; then echo 1; else echo 0; fi");
        close(open);
        QCOMPARE(seen, 0.0);
    }

    void noTemporaryFilesRemain() {
        const auto folders = [] {
            return QDir::temp().entryList({"quantloupe-*"}, QDir::Dirs | QDir::Hidden).size();
        };
        const auto before = folders();
        run("echo 1");
        runError("exit 1");
        QCOMPARE(folders(), before);
    }

    void refusals_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("exit code") << "echo 0.5; echo 'no array logits' >&2; exit 3"
                                   << "it failed with exit code 3: no array logits";
        QTest::newRow("silent failure") << "exit 1"
                                        << "it failed with exit code 1";
        QTest::newRow("signal") << "kill -9 $$"
                                << "it was terminated by signal 9";
        QTest::newRow("nothing") << "true"
                                 << "it printed nothing: its last line must be a number";
        QTest::newRow("words") << "echo 'accuracy: 0.5'"
                               << "its last line must be a number; it is 'accuracy: 0.5'";
        QTest::newRow("two numbers") << "echo '1 2'"
                                     << "its last line must be a number; it is '1 2'";
        QTest::newRow("a comma") << "echo 0,5"
                                 << "its last line must be a number; it is '0,5'";
        QTest::newRow("nan") << "echo nan"
                             << "it printed 'nan', which is not a finite number";
        QTest::newRow("huge") << "echo 1e999"
                              << "it printed '1e999', which is out of range";
        QTest::newRow("chatter") << "yes"
                                 << "it was stopped: it wrote more than a megabyte";
    }
    void refusals() {
        QFETCH(QString, body);
        QFETCH(QString, wanted);
        const QString error = runError(body.toStdString());
        QVERIFY2(
            error.startsWith("user-defined metric: program '") && error.endsWith("metric.sh': " + wanted),
            qPrintable(error));
    }

    void programsThatCannotBeRun() {
        const auto check = [&](const fs::path& program, const char* wanted) {
            const QString error = errorOf([&] {
                runUserMetric({program, {}, 20}, m_outputs, {}, CancelToken());
            });
            QVERIFY2(error.contains(QString::fromStdString(program.string())) && error.contains(wanted),
                     qPrintable(error));
        };
        check(m_folder.filePath("missing").toStdString(), "no such file");
        check(m_folder.path().toStdString(), "not a regular file");
        check(script("echo 1", "no first line\n"), "#!/usr/bin/env");
        const fs::path plain = script("echo 1");
        fs::permissions(plain, fs::perms::owner_read);
        check(plain, "chmod +x");
    }

    void outputNamedLabelsIsRejected() {
        const std::map<std::string, ConstantPtr> outputs = {{"labels", Constant::fromFloats({1}, {1})}};
        const ConstantPtr labels = Constant::fromInt64s({1}, {1});
        const QString error = errorOf([&] {
            runUserMetric({script("echo 1"), {}, 20}, outputs, labels, CancelToken());
        });
        QVERIFY2(error.contains("which is reserved for the labels"), qPrintable(error));
    }

    void slowProgramsAreStopped() {
        QElapsedTimer timer;
        timer.start();
        const QString error = runError("sleep 30; echo 1", 0.2);
        QVERIFY2(error.contains("more than 0.2 seconds"), qPrintable(error));
        QVERIFY(timer.elapsed() < 10000);
    }

    /// A program that leaves a child process running, which keeps its output open.
    void childProcessesAreEndedToo() {
        const fs::path mark = m_folder.filePath("pid").toStdString();
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(run("sleep 30 & echo $! > " + mark.string() + "; echo 4"), 4.0);
        QVERIFY(timer.elapsed() < 10000);
        long pid = 0;
        std::ifstream(mark) >> pid;
        QVERIFY(pid > 0);
        // Dead, or a zombie that its new parent has not fetched yet.
        QTRY_VERIFY_WITH_TIMEOUT(
            [pid] {
                std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
                std::string text;
                std::getline(status, text);
                return !status || text.find(") Z") != std::string::npos;
            }(),
            5000);
    }

    void cancels() {
        const CancelToken cancel;
        std::thread soon([cancel] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            cancel.cancel();
        });
        QElapsedTimer timer;
        timer.start();
        bool cancelled = false;
        try {
            runUserMetric({script("sleep 30; echo 1"), {}, 60}, m_outputs, {}, cancel);
        } catch (const Cancelled&) {
            cancelled = true;
        }
        soon.join();
        QVERIFY(cancelled);
        QVERIFY(timer.elapsed() < 10000);
    }
};

QTEST_GUILESS_MAIN(UserMetricTest)
#include "user_metric_test.moc"
