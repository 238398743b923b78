// SPDX-License-Identifier: Apache-2.0
// The first layer at which one sample diverges from the float network.
#include "analysis/first_divergence.h"

#include <QtTest>
#include <limits>
#include <vector>

using namespace quantloupe;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// "jump at 3: 0.2 after 0.02"
QString found(const std::vector<double>& errors, const DivergenceRule& rule = {}) {
    const auto first = findFirstDivergence(errors, rule);
    if (!first) return "none";
    const char* kind = first->kind == DivergenceKind::Jump    ? "jump"
                       : first->kind == DivergenceKind::Drift ? "drift"
                                                              : "not finite";
    return QString("%1 at %2: %3 after %4")
        .arg(kind)
        .arg(first->layer)
        .arg(first->error)
        .arg(first->largestBefore);
}

}  // namespace

class FirstDivergenceTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void firstJumpInsteadOfLargestError() {
        QCOMPARE(found({0.01, 0.02, 0.015, 0.2, 0.3, 0.9}), QString("jump at 3: 0.2 after 0.02"));
    }

    void jumpAtTheFirstLayer() { QCOMPARE(found({0.3, 0.3}), QString("jump at 0: 0.3 after 0")); }

    void smallJumpsDoNotCount() { QCOMPARE(found({0.001, 0.04, 0.049}), QString("none")); }

    /// The error existed already, decreased after a pooling, and came back.
    void recurringErrorsAreNotAJump() { QCOMPARE(found({0.04, 0.06, 0.01, 0.07}), QString("none")); }

    void growthWithoutAJumpIsDrift() {
        QCOMPARE(found({0.04, 0.07, 0.13, 0.25, 0.45, 0.6, 0.8}), QString("drift at 5: 0.6 after 0.45"));
        QCOMPARE(found({0.04, 0.07, 0.13, 0.25, 0.45}), QString("none"));
    }

    void laterJumpTakesPrecedenceOverDrift() {
        QCOMPARE(found({0.04, 0.07, 0.13, 0.25, 0.45, 0.6, 1.2}), QString("jump at 6: 1.2 after 0.6"));
    }

    void layersWithoutRelativeErrorAreIgnored() {
        QCOMPARE(found({0.01, kInfinity, -1, 0.015, 0.1}), QString("jump at 4: 0.1 after 0.015"));
        QCOMPARE(found({kInfinity, -1}), QString("none"));
        QCOMPARE(found({}), QString("none"));
    }

    void nanIsADivergence() {
        QCOMPARE(found({0.01, kNan, 0.4}), QString("not finite at 1: nan after 0.01"));
    }

    void thresholdsCanBeChosen() {
        QCOMPARE(found({0.01, 0.02, 0.06}, {0.005, 3, 0.5}), QString("jump at 0: 0.01 after 0"));
        QCOMPARE(found({0.01, 0.02, 0.06}, {0.05, 4, 0.5}), QString("none"));
        QCOMPARE(found({0.01, 0.02, 0.06}, {0.05, 3, 0.5}), QString("jump at 2: 0.06 after 0.02"));
    }
};

QTEST_GUILESS_MAIN(FirstDivergenceTest)
#include "first_divergence_test.moc"
