// SPDX-License-Identifier: Apache-2.0
// Wrong labels and wrong preprocessing are told apart by the predictions of the float network.
#include "analysis/label_check.h"

#include <QtTest>

using namespace quantloupe;

class LabelCheckTest : public QObject {
    Q_OBJECT

    /// 100 samples of four classes, whose prediction depends on the label and the sample.
    template <typename Predict>
    static LabelProblem problemOf(Predict predict) {
        std::vector<std::int32_t> labels, predicted;
        for (int s = 0; s < 100; ++s) {
            labels.push_back(s % 4);
            predicted.push_back(predict(s % 4, s));
        }
        return problemOf(labels, predicted);
    }
    static LabelProblem problemOf(const std::vector<std::int32_t>& labels,
                                  const std::vector<std::int32_t>& predicted) {
        double right = 0;
        for (std::size_t s = 0; s < labels.size(); ++s) right += labels[s] == predicted[s];
        Evaluation evaluation;
        evaluation.floating.emplace();
        evaluation.floating->samples = labels.size();
        evaluation.floating->top1 = right / static_cast<double>(labels.size());
        evaluation.rightClasses = std::make_shared<const std::vector<std::int32_t>>(labels);
        evaluation.floatClasses = std::make_shared<const std::vector<std::int32_t>>(predicted);
        evaluation.classNames = std::make_shared<const std::vector<std::string>>(
            std::vector<std::string>{"ant", "bee", "cat", "dog"});
        return labelProblem(evaluation);
    }

  private Q_SLOTS:
    void rightLabels() {
        QVERIFY(problemOf([](int label, int) { return label; }).text.empty());
        QVERIFY(
            problemOf([](int label, int s) { return s % 10 < 4 ? label : (label + 1) % 4; }).text.empty());
    }

    void anotherOrder() {
        const LabelProblem problem = problemOf([](int label, int s) {
            return s % 10 == 0 ? label : label < 2 ? 1 - label : label ^ 1;
        });
        QVERIFY(!problem.preprocessing);
        QVERIFY2(problem.text.find("another order") != std::string::npos, problem.text.c_str());
        QVERIFY2(problem.text.find("predicted as follows: 'ant' as class 1, 'bee' as class 0") !=
                     std::string::npos,
                 problem.text.c_str());
    }

    /// One sample of each label is always predicted as one class.
    void singleSamplesHaveNoOrder() {
        std::vector<std::int32_t> labels, predicted;
        for (int s = 0; s < 24; ++s) {
            labels.push_back(s);
            predicted.push_back((7 * s + 3) % 1000);
        }
        const LabelProblem problem = problemOf(labels, predicted);
        QVERIFY2(problem.text.find("preprocessing") != std::string::npos, problem.text.c_str());
    }

    void chance() {
        const LabelProblem guessed = problemOf([](int, int s) { return s / 4 % 4; });
        QVERIFY(guessed.preprocessing);
        QVERIFY2(
            guessed.text.find("not clearly better than always predicting the most frequent class (25.0 %)") !=
                std::string::npos,
            guessed.text.c_str());
        const LabelProblem constant = problemOf([](int, int) { return 2; });
        QVERIFY2(constant.text.find("not clearly better") != std::string::npos, constant.text.c_str());
    }

    void detectorsThatFindNothing() {
        Evaluation evaluation;
        evaluation.floating.emplace();
        evaluation.floating->samples = 50;
        evaluation.floating->map = 0.3;
        QVERIFY(labelProblem(evaluation).text.empty());
        evaluation.floating->map = 0.001;
        QVERIFY(labelProblem(evaluation).text.starts_with("The mAP of the float network is 0.1 %"));
        evaluation.floating->map.reset();
        evaluation.floating->miou = 0.0;
        QVERIFY(labelProblem(evaluation).text.starts_with("The mIoU of the float network is 0.0 %"));
        evaluation.floating->samples = 5;
        QVERIFY(labelProblem(evaluation).text.empty());
    }

    void farBelowChance() {
        const LabelProblem problem = problemOf([](int label, int s) { return (label + 1 + s / 4 % 3) % 4; });
        QVERIFY2(problem.text.find("far below chance level") != std::string::npos, problem.text.c_str());
        QVERIFY(problem.preprocessing);
    }
};

QTEST_GUILESS_MAIN(LabelCheckTest)
#include "label_check_test.moc"
