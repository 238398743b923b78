// SPDX-License-Identifier: Apache-2.0
// Samples in other dimensions than the first, inputs that all samples share, and the shapes of outputs.
#include <QtTest>

#include "session/session.h"
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
                        "gain) "
                        "=> (float[batch,2] Y) <int64[1] a = {0}> "
                        "{ s = ReduceSum<keepdims = 0>(h, a) t = Mul(s, gain) Y = Add(X, t) }")
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
};

QTEST_GUILESS_MAIN(SampleShapesTest)
#include "sample_shapes_test.moc"
