// SPDX-License-Identifier: Apache-2.0
// Labels of tokens; their accuracy and perplexity, with numbers computed by hand.
#include "analysis/token_metrics.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/task_metrics.h"
#include "data/labeled_dataset.h"
#include "support/errors.h"

using namespace quantloupe;
using namespace quantloupe::test;

class TokenMetricsTest : public QObject {
    Q_OBJECT

    static bool close(std::optional<double> value, double expected) {
        return value && std::abs(*value - expected) < 1e-9;
    }

  private Q_SLOTS:
    void labelsOfTokens() {
        const std::vector<InputSpec> inputs = {{"x", DataType::Float32, {{-1, "N"}, {2, ""}}}};
        const ConstantPtr x = Constant::fromFloats({2, 2}, {0, 1, 2, 3});
        const DatasetPtr data =
            arrayDataset({{"x", x}}, Constant::fromInt64s({2, 3}, {0, 1, 2, 3, -100, 5}), inputs);
        QVERIFY(!data->hasLabels() && data->notice().empty());
        QCOMPARE(data->taskLabels()->task, Task::Tokens);
        QCOMPARE(subset(data, {1})->annotation(0)->tokens, (std::vector<std::int32_t>{3, -1, 5}));
        const DatasetPtr other =
            arrayDataset({{"x", x}}, Constant::fromInt64s({2, 3}, {0, 1, 2, 3, -100, 4}), inputs);
        QVERIFY(data->version() != other->version());
        // Another task ignores them, and class names belong to the tokens.
        TaskSettings settings;
        settings.task = Task::Regression;
        QCOMPARE(withTask(data, settings, {})->taskLabels()->task, Task::Regression);
        settings = {};
        settings.classOutput = "logits";
        QCOMPARE(withTask(data, settings, {})->taskLabels()->task, Task::Tokens);
        QVERIFY(withTask(data, settings, {})->annotation(0)->tokens.size() == 3);
        settings.task = Task::Tokens;
        QVERIFY(errorOf([&] {
                    withTask(arrayDataset({{"x", x}}, nullptr, inputs), settings, {});
                }).contains("needs an array 'labels'"));
    }

    void layouts() {
        const auto rows = tokenLayout({5, 7}, 5);
        QVERIFY(rows && rows->tokens == 5 && rows->classes == 7 && !rows->classesFirst);
        const auto columns = tokenLayout({7, 5}, 5);
        QVERIFY(columns && columns->tokens == 5 && columns->classes == 7 && columns->classesFirst);
        QVERIFY(!tokenLayout({5, 5}, 5)->classesFirst);
        QVERIFY(tokenLayout({1, 5, 7}, 5));
        for (const Dims& other : {Dims{6, 7}, Dims{5, 1}, Dims{5}, Dims{2, 5, 7}, Dims{}})
            QVERIFY(!tokenLayout(other, 5));
    }

    /// Scores log(1), log(2), log(5): probabilities 1/8, 2/8, 5/8.
    void accuracyAndPerplexity() {
        const float one = 0, two = std::log(2.0f), five = std::log(5.0f);
        const std::vector<float> scores{one, two, five, five, two, one, two, five, one, one, two, five};
        const std::vector<std::int32_t> labels{2, 1, 0, -1};
        const TokenCounts counts = countTokens({{4, 3}, scores}, {4, 3, false}, labels);
        QCOMPARE(counts.labels, (std::vector<std::int32_t>{2, 1, 0}));  // the negative one is ignored
        QCOMPARE(counts.predicted, (std::vector<std::int32_t>{2, 0, 1}));
        TokenTotals totals;
        QVERIFY(!totals.accuracy() && !totals.perplexity());
        totals.add(counts);
        QVERIFY(close(totals.accuracy(), 1.0 / 3));
        // The probabilities of the labels are 5/8, 2/8 and 2/8. Logarithms in float32 limit the precision.
        QVERIFY(std::abs(*totals.perplexity() - std::cbrt(8.0 / 5 * 4 * 4)) < 1e-6);
        totals.add(counts);
        totals.subtract(counts);
        QVERIFY(close(totals.accuracy(), 1.0 / 3) && totals.tokens == 3);

        std::vector<float> columns(scores.size());
        for (std::size_t t = 0; t < 4; ++t)
            for (std::size_t c = 0; c < 3; ++c) columns[c * 4 + t] = scores[t * 3 + c];
        const TokenCounts same = countTokens({{3, 4}, columns}, {4, 3, true}, labels);
        QCOMPARE(same.predicted, counts.predicted);
        QCOMPARE(same.loss, counts.loss);
    }

    /// Large scores do not overflow, and a token without a largest score is wrong.
    void extremeScores() {
        const std::vector<float> large{1000, 0, -1000, 1000};
        const TokenCounts counts = countTokens({{2, 2}, large}, {2, 2, false}, std::vector{0, 0});
        QCOMPARE(counts.loss, 2000.0);
        constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> undefined{kNan, kNan};
        QCOMPARE(countTokens({{1, 2}, undefined}, {1, 2, false}, std::vector{0}).predicted[0], kNoClass);
    }

    void probabilities() {
        const std::vector<float> probabilities{0.25f, 0.75f, 1, 0}, logits{0.25f, 0.75f, 2, 0},
            logarithms{std::log(0.25f), std::log(0.75f), 0, -100};
        QVERIFY(areProbabilities({{2, 2}, probabilities}, {2, 2, false}));
        QVERIFY(!areProbabilities({{2, 2}, logits}, {2, 2, false}));
        QVERIFY(!areProbabilities({{2, 2}, logarithms}, {2, 2, false}));
        QVERIFY(!areProbabilities({{2, 2}, probabilities}, {2, 2, true}));  // the columns do not add up to 1
    }

    void wrongLabels() {
        const std::vector<float> scores(6);
        QVERIFY(errorOf([&] {
                    countTokens({{2, 3}, scores}, {2, 3, false}, std::vector{0, 3});
                }).contains("the label 3 is not one of the network's 3 classes"));
        QVERIFY(errorOf([&] {
                    countTokens({{2, 3}, scores}, {2, 3, false}, std::vector{0});
                }).contains("1 labels, but the output contains scores for 2 tokens"));
    }
};

QTEST_GUILESS_MAIN(TokenMetricsTest)
#include "token_metrics_test.moc"
