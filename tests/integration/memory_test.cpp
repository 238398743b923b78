// SPDX-License-Identifier: Apache-2.0
// The memory that a session keeps is counted and bounded: it does not grow with the number of edits.
#include <sys/resource.h>

#include <QtTest>
#include <fstream>

#include "config/presets.h"
#include "support/demo.h"
#include "support/hostile.h"
#include "support/random_edits.h"

using namespace quantloupe;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t weightsOf(const Graph& graph) {
    std::size_t bytes = 0;
    for (const TensorInfo& tensor : graph.tensors())
        if (tensor.constant) bytes += tensor.constant->bytes().size();
    return bytes;
}

/// Lets the process map only `bytes` more than it has mapped now.
class AddressSpaceLimit {
  public:
    explicit AddressSpaceLimit(std::size_t bytes) {
        ::getrlimit(RLIMIT_AS, &m_before);
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit limit = m_before;
        limit.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE)) + bytes;
        ::setrlimit(RLIMIT_AS, &limit);
    }
    ~AddressSpaceLimit() { ::setrlimit(RLIMIT_AS, &m_before); }
    Q_DISABLE_COPY_MOVE(AddressSpaceLimit)

  private:
    rlimit m_before{};
};

}  // namespace

class MemoryTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The weights of every kernel count, regardless of the library that packed them.
    void packedWeightsAreCounted() {
        const auto session = test::openDemo({2, 16, 0});
        session->evaluate(presetConfig("w4a8"), Depth::Accuracy);
        const std::size_t weights = weightsOf(session->graph());
        QVERIFY2(session->packedWeightBytes() > weights,
                 qPrintable(QString::number(session->packedWeightBytes())));
        QVERIFY(session->cacheBytes() > session->activationBytes() + weights);
    }

    void cachesStayWithinTheBudget() {
        constexpr std::size_t kBudget = 160 * kMiB;
        SessionOptions options{2, 32, 0};
        options.memory = kBudget;
        const auto session = test::openDemo(options);
        test::RandomEdits random(session->graph(), 20261122);
        constexpr std::size_t kOneEvaluation = 64 * kMiB;  // weights, statistics and outputs of a new network
        constexpr int kEdits = 100, kWarm = 50;
        std::size_t most = 0, residentBefore = 0;
        for (int edit = 0; edit < kEdits; ++edit) {
            session->evaluate(random.next(), Depth::Metrics);
            if (edit == kWarm) residentBefore = test::residentBytes();
            most = std::max(most, session->cacheBytes());
        }
        // Data added by the last evaluation is dropped when the next one begins.
        session->limitCaches();
        QVERIFY2(session->cacheBytes() <= kBudget, qPrintable(QString::number(session->cacheBytes() / kMiB)));
        QVERIFY2(most <= kBudget + kOneEvaluation, qPrintable(QString::number(most / kMiB)));
        const auto grown =
            static_cast<std::ptrdiff_t>(test::residentBytes()) - static_cast<std::ptrdiff_t>(residentBefore);
        qInfo("kept at most %zu MiB; resident memory changed by %td MiB over %d edits", most / kMiB,
              grown / std::ptrdiff_t(kMiB), kEdits - kWarm);
        QVERIFY(grown < std::ptrdiff_t(24 * kMiB));
    }

    void withoutABudgetOneEvaluationIsKept() {
        SessionOptions options{2, 32, 0};
        options.memory = 0;
        const auto session = test::openDemo(options);
        test::RandomEdits random(session->graph(), 7);
        const std::size_t weights = weightsOf(session->graph());
        for (int edit = 0; edit < 20; ++edit) session->evaluate(random.next(), Depth::Metrics);
        session->limitCaches();
        QCOMPARE(session->activationBytes(), std::size_t(0));
        // The kernels of an evaluation, one transformed network, statistics of its tensors, and working
        // memory.
        QVERIFY2(session->cacheBytes() < 6 * weights + 64 * kMiB,
                 qPrintable(QString::number(session->cacheBytes() / kMiB)));
    }

    /// Results that are kept between evaluations are given back when the memory is needed.
    void anEvaluationThatRunsOutOfMemoryKeepsLess() {
        if (!test::kLimitsMemory) QSKIP("sanitizers reserve all address space");
        SessionOptions options{2, 128, 0};  // results kept between evaluations take most of the memory
        options.memory = 1024 * kMiB;
        const QuantizationConfig config = presetConfig("w4a8");
        const EvaluationPtr expected = test::openDemo(options)->evaluate(config, Depth::Metrics);
        const auto isNotice = [](const std::string& text) {
            return text.find("not enough memory") != std::string::npos;
        };
        QVERIFY(std::ranges::none_of(expected->notices, isNotice));
        // How much the process can still allocate without mapping more differs between machines: the limit
        // becomes stricter until the evaluation has to give memory back.
        std::shared_ptr<Session> session;
        EvaluationPtr result;
        std::size_t limit = 512 * kMiB;
        for (; limit > kMiB; limit = limit / 4 * 3) {
            session = test::openDemo(options);
            session->evaluate(config, Depth::States);  // starts the threads
            const AddressSpaceLimit limited(limit);
            result = session->evaluate(config, Depth::Metrics);
            if (std::ranges::any_of(result->notices, isNotice)) break;
        }
        qInfo("with %zu MiB the session reduced its memory to %zu MiB", limit / kMiB,
              session->cacheBudget() / kMiB);
        QCOMPARE(result->quantized->top1, expected->quantized->top1);
        QCOMPARE(result->layers.size(), expected->layers.size());
        for (std::size_t l = 0; l < result->layers.size(); ++l)
            QCOMPARE(result->layers[l].local ? result->layers[l].local->qs : -1,
                     expected->layers[l].local ? expected->layers[l].local->qs : -1);
        QVERIFY(std::ranges::any_of(result->notices, isNotice));
        QVERIFY(session->cacheBudget() < *options.memory);
    }
};

QTEST_GUILESS_MAIN(MemoryTest)
#include "memory_test.moc"
