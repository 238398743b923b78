// SPDX-License-Identifier: Apache-2.0
// Fused operators of ONNX Runtime's optimizers, compared with ONNX Runtime. Needs Python with onnx and
// onnxruntime; skipped without it.
#include <fmt/ranges.h>

#include <QTemporaryDir>
#include <QtTest>

#include "config/presets.h"
#include "data/numpy_file.h"
#include "session/session.h"
#include "support/python.h"
#include "support/text_model.h"

using namespace quantloupe;
namespace fs = std::filesystem;

class FusedOperatorsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QStringList m_names;

  private Q_SLOTS:
    void initTestCase() {
        QUANTLOUPE_WRITE_MODELS(m_names, "fused_operators.py", m_folder);
        QVERIFY(m_names.size() >= 40);
    }

    void outputsEqualOnnxRuntimes() {
        for (const QString& name : std::as_const(m_names)) {
            const fs::path file = fs::path(m_folder.path().toStdString()) / name.toStdString();
            if (name.startsWith("refused_") || name.startsWith("kept_")) continue;
            Session session(loadModel(fs::path(file).concat(".onnx")));
            for (const Node& node : session.graph().nodes())
                QVERIFY2(node.domain.empty() || node.op == "Gelu" || node.op == "ZipMap", qPrintable(name));
            const DatasetPtr data =
                openDataset(fs::path(file).concat(".npz"), inputSpecsOf(session.graph()), {});
            session.setData(data, data);
            const auto expected = loadNpz(fs::path(file).concat(".expected.npz"));
            const std::vector<ConstantPtr> found = session.outputs(std::nullopt);
            QCOMPARE(found.size(), expected.size());
            for (std::size_t o = 0; o < found.size(); ++o) {
                const Constant& wanted =
                    *expected.at(session.graph().tensor(session.graph().outputs()[o]).name);
                QCOMPARE(toString(found[o]->dims()), toString(wanted.dims()));
                QCOMPARE(found[o]->type(), wanted.type());
                if (wanted.type() != DataType::Float32) {
                    QCOMPARE(found[o]->toInt64s(), wanted.toInt64s());
                    continue;
                }
                const float allowed = name.startsWith("approximate_") ? 1e-3f : 2e-5f;
                for (std::size_t i = 0; i < wanted.floats().size(); ++i) {
                    const float difference = std::abs(found[o]->floats()[i] - wanted.floats()[i]);
                    QVERIFY2(difference < allowed,  // not if it is NaN
                             qPrintable(QString("%1: %2").arg(name).arg(double(difference))));
                }
            }
        }
    }

    /// The operators that replace the fused ones, in the opset of the model or a newer one.
    void savedModelsEqualTheFusedOnes() {
        const fs::path folder = m_folder.path().toStdString();
        for (const QString& name : std::as_const(m_names)) {
            if (name.startsWith("refused_")) continue;
            const LoadedModel model = loadModel(folder / (name.toStdString() + ".onnx"));
            saveModel(*model.graph, folder / (name.toStdString() + ".saved.onnx"));
        }
        QVERIFY(
            test::runsInPython({QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/fused_operators.py"),
                                m_folder.path(), "--check"}));
    }

    /// Better an error than wrong values.
    void unsupportedMasksAreRefused() {
        const fs::path file = fs::path(m_folder.path().toStdString()) / "refused_Attention_range.onnx";
        Session session(loadModel(file));
        const DatasetPtr data =
            openDataset(fs::path(file).replace_extension(".npz"), inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        QVERIFY_THROWS_EXCEPTION(Error, session.outputs(std::nullopt));
    }

    /// They could change the results.
    void attributesAndInputsOfLaterVersionsAreRefused_data() {
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("reason");
        QTest::newRow("attribute")
            << "BiasGelu<later = 1>(x, b)"
            << "'BiasGelu_0' (BiasGelu) stays as it is: its attribute 'later' is not supported";
        QTest::newRow("input")
            << "BiasGelu(x, b, b)"
            << "'BiasGelu_0' (BiasGelu) stays as it is: input 2 of BiasGelu is not supported";
        QTest::newRow("prepacked")
            << "MatMulNBits<K = 32, N = 4, block_size = 32, bits = 4, weight_prepacked = 1>(x, b, b)"
            << "'MatMulNBits_0' (MatMulNBits) stays as it is: a weight that is prepacked for one kind of "
               "processor is not supported";
    }
    void attributesAndInputsOfLaterVersionsAreRefused() {
        QFETCH(QString, node);
        QFETCH(QString, reason);
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]> net (float[N,4] x) => "
            "(float[N,4] y) "
            "<float[4] b = {1, 2, 3, 4}> { y = com.microsoft." +
            node.toStdString() + " }");
        QVERIFY2(std::ranges::count(model.notices, reason.toStdString()) == 1,
                 fmt::format("{}", fmt::join(model.notices, "\n")).c_str());
    }

    /// The model builder of onnxruntime-genai leaves the width of the past open.
    void theWidthOfThePastFollows() {
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]> net (float[N,S,16] q, "
            "float[N,S,8] k, "
            "float[N,S,8] v, float[N,2,P,D] pk, float[N,2,P,D] pv, int32[N] lengths) => "
            "(float[N,S,16] y, float[N,2,T,D] keys, float[N,2,T,D] values) <int32[1] total = {3}> "
            "{ y, keys, values = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2>"
            "(q, k, v, pk, pv, lengths, total) }");
        for (const char* past : {"pk", "pv"})
            QCOMPARE(model.graph->tensor(*model.graph->findTensor(past)).shape->back().value,
                     std::int64_t{4});
    }

    /// The layers of an attention are quantized, and the exported model computes what the preview shows.
    void layersInsideAreQuantized() {
        const fs::path file = fs::path(m_folder.path().toStdString()) / "Attention_matrix_17.onnx";
        const LoadedModel model = loadModel(file);
        QCOMPARE(model.notices, std::vector<std::string>{"1 fused operator (Attention) became plain nodes"});
        Session session(model);
        const DatasetPtr data =
            openDataset(fs::path(file).replace_extension(".npz"), inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        QuantizationConfig config = presetConfig("default");
        config.skipTail = false;
        const EvaluationPtr result = session.evaluate(config, Depth::Metrics);
        QVERIFY(*result->quantized->sqnrDb > 20);
        const auto layer = [&](const char* name) {
            return *std::ranges::find(result->layers, std::string("the_Attention/") + name,
                                      &LayerResult::name);
        };
        QCOMPARE(layer("MatMul").state, LayerState::Quantized);
        QCOMPARE(layer("Add_2").reason, std::string("only a Softmax reads it, which computes in float"));
    }
};

QTEST_GUILESS_MAIN(FusedOperatorsTest)
#include "fused_operators_test.moc"
