// SPDX-License-Identifier: Apache-2.0
// callIsolated(): a crash, an exception or an endless loop is not the caller's.
#include "base/isolated_call.h"

#include <QtTest>
#include <csignal>
#include <stdexcept>

using namespace quantloupe;
using namespace std::chrono_literals;

class IsolatedCallTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void results() {
        QCOMPARE(callIsolated([] { return std::string("result"); }, 60s),
                 std::optional<std::string>("result"));
        QCOMPARE(callIsolated([] { return std::string(); }, 60s), std::optional<std::string>(""));
        const std::string large(std::size_t{3} << 20, 'x');  // more than a pipe holds
        QCOMPARE(callIsolated([&] { return large; }, 60s), std::optional(large));
    }

    void withoutExitCodes() {
        signal(SIGCHLD, SIG_IGN);
        const auto result = callIsolated([] { return std::string("result"); }, 60s);
        signal(SIGCHLD, SIG_DFL);
        QVERIFY(result == "result");
    }

    void effectsAreLost() {
        int changed = 0;
        QVERIFY(callIsolated([&] { return std::to_string(++changed); }, 60s) == "1");
        QCOMPARE(changed, 0);
    }

    void failures() {
        for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGKILL})
            QVERIFY(!callIsolated(
                [number] {
                    raise(number);
                    return std::string("alive");
                },
                60s));
        QVERIFY(!callIsolated([]() -> std::string { throw std::runtime_error("refused"); }, 60s));
    }

    void limit() {
        QVERIFY(!callIsolated(
            [] {
                while (true) pause();
                return std::string();
            },
            1s));
    }
};

QTEST_GUILESS_MAIN(IsolatedCallTest)
#include "isolated_call_test.moc"
