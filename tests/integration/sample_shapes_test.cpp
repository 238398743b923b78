// SPDX-License-Identifier: Apache-2.0
// Samples in other dimensions than the first, inputs that all samples share, and the shapes of outputs.
#include <QtTest>
#include <cmath>
#include <cstring>
#include <numeric>

#include "config/config_json.h"
#include "config/presets.h"
#include "session/session.h"
#include "session/studies/search_context.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

class SampleShapesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The second dimension of the state contains the samples; `gain` is shared by all samples.
    void samplesInOtherDimensions() {
        const std::vector<float> x = {1, 2, 3, 4, 5, 6}, h = {10, 20, 30, 40, 50, 60, 1, 2, 3, 4, 5, 6};
        for (const char* state : {"2,batch,2", "2,1,2"}) {
            Session session(test::textModel(
                QString("<ir_version: 8, opset_import: [\"\" : 13]> g (float[batch,2] X, float[%1] h, float "
                        "gain) => (float[batch,2] Y) <int64[1] a = {0}> { s = ReduceSum<keepdims = 0>(h, a) "
                        "t = Mul(s, gain) Y = Add(X, t) }")
                    .arg(state)
                    .toStdString()));
            const auto inputs = inputSpecsOf(session.graph());
            std::map<std::string, ConstantPtr> arrays = {{"X", Constant::fromFloats({3, 2}, x)},
                                                         {"h", Constant::fromFloats({2, 3, 2}, h)},
                                                         {"gain", Constant::fromFloats({}, {100})}};
            const DatasetPtr data = arrayDataset(arrays, nullptr, inputs);
            QCOMPARE(data->size(), std::size_t{3});
            session.setData(data, data);
            const ConstantPtr y = session.outputs(std::nullopt)[0];
            QCOMPARE(toString(y->dims()), "3×2");
            for (std::size_t i = 0; i < x.size(); ++i)
                QCOMPARE(y->floats()[i], x[i] + 100 * (h[i] + h[i + x.size()]));

            arrays["h"] = Constant::fromFloats({3, 2, 2}, h);
            QString error = test::errorOf([&] { arrayDataset(arrays, nullptr, inputs); });
            QVERIFY2(error.contains("all dimensions except dimension 2, the number of samples, must match"),
                     qPrintable(error));
            arrays["h"] = Constant::fromFloats({2, 2, 2}, {h.begin(), h.begin() + 8});
            error = test::errorOf([&] { arrayDataset(arrays, nullptr, inputs); });
            QVERIFY2(error.contains("'X' has 3, 'h' has 2"), qPrintable(error));
            arrays["gain"] = Constant::fromFloats({3}, {1, 2, 3});
            error = test::errorOf([&] { arrayDataset(arrays, nullptr, inputs); });
            QVERIFY2(error.contains("all samples share this value"), qPrintable(error));
        }
    }

    /// A Squeeze of all dimensions: a scalar for one sample, a list for several.
    void scalarOutputs() {
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,2] X) => (float Y) "
                            "<float[2,1] W = {1, 10}> { s = MatMul(X, W) Y = Squeeze(s) }"));
        const DatasetPtr data = arrayDataset({{"X", Constant::fromFloats({3, 2}, {1, 2, 3, 4, 5, 6})}},
                                             nullptr, inputSpecsOf(session.graph()));
        session.setData(data, data);
        const ConstantPtr y = session.outputs(std::nullopt)[0];
        QCOMPARE(toString(y->dims()), "3");
        QVERIFY(std::ranges::equal(y->floats(), std::vector<float>{21, 43, 65}));
    }

    /// Networks that mix samples run with one at a time, in which no dimension of the output shows the
    /// samples.
    void outputsOfMixedSamplesKeepTheirShape() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[batch,2] X, float[2,batch,2] h) => "
            "(float[2,batch,2] Y) { m = ReduceMean<axes = [0], keepdims = 1>(X) Y = Add(h, m) }"));
        const std::vector<float> x = {1, 2, 3, 4, 5, 6}, h = {10, 20, 30, 40, 50, 60, 1, 2, 3, 4, 5, 6};
        const DatasetPtr data =
            arrayDataset({{"X", Constant::fromFloats({3, 2}, x)}, {"h", Constant::fromFloats({2, 3, 2}, h)}},
                         nullptr, inputSpecsOf(session.graph()));
        session.setData(data, data);
        const ConstantPtr y = session.outputs(std::nullopt)[0];
        QCOMPARE(toString(y->dims()), "2×3×2");
        for (std::size_t i = 0; i < h.size(); ++i) QCOMPARE(y->floats()[i], h[i] + x[i % x.size()]);
    }

    /// The scales belong to the dimension `axis`, not to the last one.
    void scalesOfTheSamplesKeepThemTogether() {
        const auto together = [](const char* scales, int axis) {
            Session session(test::textModel(fmt::format(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[4,4] X) => (float[4,4] Y) "
                "<float[4] s = {{{0}}}, uint8[4] z = {{0, 0, 0, 0}}> {{ q = QuantizeLinear<axis = "
                "{1}>(X, s, z)\n Y = DequantizeLinear<axis = {1}>(q, s, z) }}",
                scales, axis)));
            const DatasetPtr data =
                arrayDataset({{"X", Constant::fromFloats({40, 4}, std::vector<float>(160, 1.0f))}}, nullptr,
                             inputSpecsOf(session.graph()));
            session.setData(data, data);
            return session.samplesTogether();
        };
        QCOMPARE(together("1, 2, 3, 4", 0), std::size_t{4});
        QCOMPARE(together("1, 2, 3, 4", 1), std::size_t{1});
        QCOMPARE(together("2, 2, 2, 2", 0), std::size_t{1});
    }

    /// If the model fixes the batch size and mixes the samples of a batch, for example the steps of a
    /// sequence, batches stay as they are.
    void batchesThatBelongTogether() {
        const char* const text =
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[4,1] X) => (float[4,1] Y) "
            "<int64 axis = {0}> { Y = CumSum(X, axis) }";
        const auto steps = [](std::int64_t count) {
            return arrayDataset({{"X", Constant::fromFloats({count, 1}, std::vector<float>(count, 1.0f))}},
                                nullptr, {{"X", DataType::Float32, Shape{{4, {}}, {1, {}}}, 0}});
        };
        for (const bool split : {false, true}) {
            Session session(test::textModel(text));
            session.setData(steps(80), split ? nullptr : steps(4));
            QCOMPARE(session.samplesTogether(), std::size_t{4});
            QCOMPARE(session.sampleCount(), std::size_t(split ? 40 : 80));
            const ConstantPtr y = session.outputs(std::nullopt)[0];
            for (std::int64_t i = 0; i < y->size(); ++i) QCOMPARE(y->floats()[i], float(i % 4 + 1));
        }
        Session session(test::textModel(text));
        const QString error = test::errorOf([&] { session.setData(steps(4), nullptr); });
        QVERIFY2(error.contains("4 samples at a time, so at least 8 are needed"), qPrintable(error));
        SessionOptions options;
        options.samples = 6;  // two whole batches
        Session fewer(test::textModel(text), options);
        fewer.setData(steps(80), steps(80));
        QCOMPARE(fewer.sampleCount(), std::size_t{8});

        // An incomplete last batch is left out.
        fewer.setData(steps(83), steps(6));
        QCOMPARE(QString::fromStdString(fewer.dataNotice()),
                 "3 of 83 samples of the data are left out: the network needs 4 at a time\n"
                 "2 of 6 samples of the calibration data are left out: the network needs 4 at a time");
        const QString none = test::errorOf([&] { fewer.setData(steps(8), steps(3)); });
        QVERIFY2(none.contains("4 samples at a time, but the calibration data has only 3"), qPrintable(none));
        fewer.useRandomInputs(5);
        QCOMPARE(fewer.sampleCount(), std::size_t{8});
    }

    /// The samples that a search leaves out are whole batches, too.
    void searchesSplitWholeBatches() {
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[4,1] X) => (float[4,1] Y) "
                            "<int64 axis = {0}> { Y = CumSum(X, axis) }"));
        std::vector<float> values(84);
        std::iota(values.begin(), values.end(), 0.0f);
        const DatasetPtr data = arrayDataset({{"X", Constant::fromFloats({84, 1}, values)}}, nullptr,
                                             {{"X", DataType::Float32, Shape{{4, {}}, {1, {}}}, 0}});
        session.setData(data, data);
        const SampleSplit split = splitSamples(session);
        QCOMPARE(split.search->size(), std::size_t{56});
        QCOMPARE(split.heldOut->size(), std::size_t{28});
        for (const DatasetPtr& part : {split.search, split.heldOut})
            for (std::size_t i = 0; i < part->size(); ++i) {
                float value = 0;
                std::memcpy(&value, part->sample(i)[0].bytes.data(), sizeof value);
                QCOMPARE(static_cast<std::size_t>(value) % 4, i % 4);
            }
    }

    /// A network with a dynamic batch whose constants contain the batch size of the example. The advice
    /// works.
    void batchSizesInConstants() {
        const auto text = [](const char* batch) {
            return std::string("<ir_version: 8, opset_import: [\"\" : 13]> g (float[") + batch +
                   ",4] X) => (float[" + batch + ",2,2] Y) <int64[3] S = {3, 2, 2}> { Y = Reshape(X, S) }";
        };
        Session dynamic(test::textModel(text("N")));
        dynamic.useRandomInputs(6);
        const QString error = test::errorOf([&] { dynamic.outputs(std::nullopt); });
        QVERIFY2(
            error.contains("Reshape cannot produce 3×2×2 from 1×4. The network accepts batches of 3 samples, "
                           "but not of one: export it"),
            qPrintable(error));
        Session fixed(test::textModel(text("3")));
        fixed.useRandomInputs(6);
        QCOMPARE(toString(fixed.outputs(std::nullopt)[0]->dims()), "6×2×2");
    }

    /// An output whose second dimension contains the samples of a fixed batch: one result for each batch.
    void outputsOfWholeBatches() {
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[2,2] X) => (float[1,2] Y) "
                            "<float[1,2] W = {1, 10}> { Y = Gemm<transB = 1>(W, X) }"));
        const DatasetPtr data = arrayDataset({{"X", Constant::fromFloats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}},
                                             nullptr, inputSpecsOf(session.graph()));
        session.setData(data, data);
        const ConstantPtr y = session.outputs(std::nullopt)[0];
        QCOMPARE(toString(y->dims()), "2×1×2");
        QVERIFY(std::ranges::equal(y->floats(), std::vector<float>{21, 43, 65, 87}));
    }

    /// Indices with one row change only the first row of a batch, so the samples run one at a time.
    void scatteringOneRow() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,2] X) => (float[N,2] Y) "
            "<int64[1,1] at = {1}, float[1,1] new = {9}> { Y = ScatterElements<axis = 1>(X, at, new) }"));
        const DatasetPtr data = arrayDataset({{"X", Constant::fromFloats({20, 2}, std::vector<float>(40))}},
                                             nullptr, inputSpecsOf(session.graph()));
        session.setData(data, data);
        const ConstantPtr y = session.outputs(std::nullopt)[0];
        for (std::size_t i = 0; i < 40; ++i) QCOMPARE(y->floats()[i], i % 2 == 0 ? 0.0f : 9.0f);
    }

    /// For two samples, the dimension with a constant extent of two looks like that of the samples.
    void extentsThatLookLikeSamples() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float Y) <int64[3] shape = {2, "
            "-1, 2}> { r = Reshape(X, shape) t = Transpose<perm = [1, 0, 2]>(r) Y = Softmax<axis = 0>(t) }"));
        std::vector<float> x(12);
        std::iota(x.begin(), x.end(), 0.0f);
        const DatasetPtr data =
            arrayDataset({{"X", Constant::fromFloats({3, 4}, x)}}, nullptr, inputSpecsOf(session.graph()));
        session.setData(data, data);
        const ConstantPtr y = session.outputs(std::nullopt)[0];
        QCOMPARE(y->size(), std::int64_t{12});
        for (const float value : y->floats()) QCOMPARE(value, 1.0f);  // one row for each sample
    }

    /// Softmax before opset 13 becomes several nodes, which read the quantized input.
    void softmaxOfOtherOpsets() {
        auto model = [] {
            return test::textModel(
                "<ir_version: 8, opset_import: [\"\" : 11]> g (float[N,2,2] X) => (float[N,2,2] Y) "
                "<float[2,2] W = {1.1, 0.37, -0.6, 2.3}> { h = MatMul(X, W) Y = Softmax<axis = 1>(h) }");
        };
        Session session(model());
        std::vector<float> x(48);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
        const DatasetPtr data = arrayDataset({{"X", Constant::fromFloats({12, 2, 2}, x)}}, nullptr,
                                             inputSpecsOf(session.graph()));
        session.setData(data, data);
        QuantizationConfig config = presetConfig("w4a8");
        setConfigKey(config, "quantization.activation.bits", "4");
        setConfigKey(config, "skip.tail", "false");
        LoadedModel exported = model();
        exported.graph = session.quantizedModel(config);
        QVERIFY(exported.graph->opset() >= 21);
        Session again(std::move(exported));
        again.setData(data, data);
        const ConstantPtr preview = session.outputs(config)[0], written = again.outputs(std::nullopt)[0];
        QVERIFY(std::ranges::equal(preview->floats(), written->floats()));
    }

    /// Sets of ONNX test data may have different values for an input that cannot have several.
    void sharedInputsHaveOneValue() {
        class TwoGains final : public Dataset {
          public:
            std::size_t size() const override { return 2; }
            std::vector<SampleTensor> sample(std::size_t index) const override {
                const float values[] = {1, static_cast<float>(index)};
                const auto bytes = std::as_bytes(std::span(values));
                return {{DataType::Float32, {1}, {bytes.begin(), bytes.begin() + 4}},
                        {DataType::Float32, {}, {bytes.begin() + 4, bytes.end()}}};
            }
            std::string sampleName(std::size_t index) const override { return fmt::format("set {}", index); }
            std::optional<int> label(std::size_t) const override { return {}; }
            const std::vector<std::string>& classNames() const override { return m_names; }
            std::string description() const override { return "two sets"; }
            Version version() const override { return VersionBuilder().add("two gains").finish(); }

          private:
            std::vector<std::string> m_names;
        };
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,1] X, float gain) => "
                            "(float[N,1] Y) { Y = Mul(X, gain) }"));
        const auto data = std::make_shared<TwoGains>();
        session.setData(data, data);
        const QString error = test::errorOf([&] { session.outputs(std::nullopt); });
        QVERIFY2(error.contains("'gain' has no dimension for samples") && error.contains("'set 1'"),
                 qPrintable(error));
    }

    /// The first dimension may contain something else than samples if its elements influence each other.
    void mixedSamplesAreReported() {
        const auto noticeOf = [](const char* name, const char* nodes) {
            Session session(
                test::textModel(QString("<ir_version: 8, opset_import: [\"\" : 13]> g (float[%1,2] X) "
                                        "=> (float[%1,2] Y) { %2 }")
                                    .arg(name, nodes)
                                    .toStdString()));
            const DatasetPtr data = arrayDataset({{"X", Constant::fromFloats({3, 2}, {1, 2, 3, 4, 5, 6})}},
                                                 nullptr, inputSpecsOf(session.graph()));
            session.setData(data, data);
            session.outputs(std::nullopt);
            const EvaluationPtr evaluation = session.evaluate({});
            const std::string& notice = session.mixingNotice();
            if (!notice.empty() &&
                std::ranges::find(evaluation->notices, notice) == evaluation->notices.end())
                return QString("not in the evaluation");
            return QString::fromStdString(notice);
        };
        constexpr const char* kMean = "m = ReduceMean<axes = [0]>(X) Y = Sub(X, m)";
        const QString notice = noticeOf("steps", kMean);
        QVERIFY2(notice.contains("first dimension of 'X' (steps×2) does not contain the samples"),
                 qPrintable(notice));
        QVERIFY(noticeOf("steps", "Y = ReduceMean<axes = [0]>(X)").contains("does not contain the samples"));
        QVERIFY(noticeOf("batch_size", kMean).isEmpty());
        QVERIFY(noticeOf("steps", "Y = Relu(X)").isEmpty());
    }

    /// Outputs that are inputs never differ: with them, accuracy would be too high.
    void inputsAreNotCompared() {
        const auto sqnrOf = [](const char* outputs) {
            Session session(test::textModel(
                QString("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,2] X) => (%1float[N,2] Y) "
                        "<float[2,2] W = {1, 0.3, 0.2, 1}> { h = Relu(X) Y = MatMul(h, W) }")
                    .arg(outputs)
                    .toStdString()));
            const DatasetPtr data = arrayDataset({{"X", Constant::fromFloats({3, 2}, {1, 2, 3, 4, 5, 6})}},
                                                 nullptr, inputSpecsOf(session.graph()));
            session.setData(data, data);
            QuantizationConfig config;
            config.skipTail = false;
            return *session.evaluate(config)->quantized->sqnrDb;
        };
        QVERIFY(sqnrOf("") < 60);
        QCOMPARE(sqnrOf("float[N,2] X, "), sqnrOf(""));
    }
};

QTEST_GUILESS_MAIN(SampleShapesTest)
#include "sample_shapes_test.moc"
