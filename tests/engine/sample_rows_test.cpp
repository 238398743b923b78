// SPDX-License-Identifier: Apache-2.0
// Which samples of the data are used, and the part of an array that is one sample.
#include <QtTest>

#include "data/array_rows.h"
#include "data/dataset.h"

using namespace quantloupe;

class SampleRowsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void samplesAreSpreadEvenly() {
        QCOMPARE(spreadEvenly(10, 4), (std::vector<std::size_t>{0, 2, 5, 7}));
        QCOMPARE(spreadEvenly(3, 0), (std::vector<std::size_t>{0, 1, 2}));
        QCOMPARE(spreadEvenly(3, 9), (std::vector<std::size_t>{0, 1, 2}));
        QCOMPARE(spreadEvenly(0, 4), std::vector<std::size_t>());
    }

    /// past × samples × values, where nothing is past.
    void samplesAfterAnEmptyDimension() {
        InputSpec input{"x", DataType::Float32, {}};
        input.sampleAxis = 1;
        const SampleTensor sample = sampleOf(Constant::fromFloats({0, 4, 2}, {}), 3, input);
        QCOMPARE(sample.dims, (Dims{0, 2}));
        QVERIFY(sample.bytes.empty());
    }
};

QTEST_GUILESS_MAIN(SampleRowsTest)
#include "sample_rows_test.moc"
