// SPDX-License-Identifier: Apache-2.0
// Networks of which only the first part can be evaluated: the effect of transforms on it, and the types of
// the outputs after it.
#include <QtTest>

#include "data/random_dataset.h"
#include "interchange/gather.h"
#include "session/session.h"
#include "session/stages/judge_samples.h"
#include "support/export_support.h"
#include "support/text_model.h"

using namespace quantloupe;

class PartialNetworkTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Simplification removes the Identity nodes between a layer and the frontier.
    void simplificationKeepsTheFrontier() {
        Session session(test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,4] X) => (int64[K,2] T, int64[K,2] S)
            <float[4,4] W = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}, float[4,4] V = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}> {
                a = MatMul (X, W)
                b = Relu (a)
                c = Identity (b)
                d = Identity (c)
                T = NonZero (d)
                e = MatMul (b, V)
                S = NonZero (e)
            })"));
        session.setData(randomDataset(session.graph(), 32, 1), randomDataset(session.graph(), 32, 2));
        QuantizationConfig config;
        config.skipTail = false;
        const EvaluationPtr plain = session.evaluate(config);
        config.transforms.simplify = true;
        const EvaluationPtr simplified = session.evaluate(config);
        QVERIFY(*plain->quantized->sqnrDb > 20);
        QVERIFY(std::abs(*simplified->quantized->sqnrDb - *plain->quantized->sqnrDb) < 1);
        for (const std::string& notice : simplified->notices)
            QVERIFY2(notice.find("do not trust") == std::string::npos, notice.c_str());
    }

    /// The Identity is removed, and the tensor before it gets the name of the graph output.
    /// The first evaluation resolves the precisions before it knows which part can be evaluated.
    void layersCanHaveTheirOwnPrecision() {
        Session session(test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,2] X) => (float[2,2] Z) <float[2,2] W = {1, 2, 3, 4}> {
                A = MatMul (X, W)
                B = MatMul (A, W)
                t = NonZero (B)
                f = Cast<to = 1> (t)
                Z = MatMul (W, f)
            })"));
        session.setData(randomDataset(session.graph(), 32, 1), randomDataset(session.graph(), 32, 2));
        QuantizationConfig config;
        config.skipTail = false;
        config.layers["MatMul_1"].precision = Precision::integer(8, 16);
        QVERIFY(session.evaluate(config)->quantized->sqnrDb.has_value());
    }

    void simplificationRenamesTheFrontier() {
        Session session(test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,2] X) => (float[N,2] Y, int64[K,2] T) <float[2,2] W = {1, 2, 3, 4}> {
                a = MatMul (X, W)
                Y = Identity (a)
                T = NonZero (a)
            })"));
        session.setData(randomDataset(session.graph(), 32, 1), randomDataset(session.graph(), 32, 2));
        QuantizationConfig config;
        config.skipTail = false;
        const double plain = *session.evaluate(config)->quantized->sqnrDb;
        config.transforms.simplify = true;
        QVERIFY(std::abs(*session.evaluate(config)->quantized->sqnrDb - plain) < 1);
    }

    /// An export without a plan has the states of the preview, with data and without.
    void exportsKeepWhatIsNotEvaluatedInFloat() {
        for (const bool data : {true, false}) {
            Session session(test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
                g (float[N,2] X) => (float[N,2] Y, float[2,2] Z) <float[2,2] W = {1, 2, 3, 4}> {
                    Y = MatMul (X, W)
                    t = NonZero (Y)
                    f = Cast<to = 1> (t)
                    Z = MatMul (W, f)
                })"));
            if (data)
                session.setData(randomDataset(session.graph(), 32, 1), randomDataset(session.graph(), 32, 2));
            QuantizationConfig config;
            config.skipTail = false;
            const FileFormat& format = formatNamed("onnxruntime", false);
            const ExportSource source = gatherExport(session, config, format);
            QCOMPARE(source.layers.front().state, LayerState::Quantized);
            QVERIFY2(source.layers.back().reason.starts_with("not evaluated"),
                     source.layers.back().reason.c_str());
            QVERIFY(test::joined(exportTo(format, source).notices).find("evaluated") != std::string::npos);
        }
    }

    /// Detectors and segmentation networks have outputs of several integer types.
    void outputsOfEveryTypeAreJudged_data() {
        QTest::addColumn<int>("type");
        for (const DataType type : {DataType::UInt8, DataType::Int8, DataType::UInt16, DataType::Int32,
                                    DataType::UInt32, DataType::Int64, DataType::Bool})
            QTest::newRow(std::string(dataTypeName(type)).c_str()) << int(type);
    }
    void outputsOfEveryTypeAreJudged() {
        QFETCH(int, type);
        const GraphPtr graph = test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,2] X) => (float[N,2] Y) { Y = Relu (X) })")
                                   .graph;
        std::vector<std::byte> bytes(2 * elementSize(static_cast<DataType>(type)));
        bytes[0] = std::byte{1};  // little-endian
        const ConstantPtr output = Constant::fromBytes(static_cast<DataType>(type), {1, 2}, bytes);
        const SampleValues values = wholeOutputs(*graph, {output});
        QCOMPARE(values.floats.at(0), (std::vector<float>{1, 0}));
    }
};

QTEST_GUILESS_MAIN(PartialNetworkTest)
#include "partial_network_test.moc"
