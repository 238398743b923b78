// SPDX-License-Identifier: Apache-2.0
// Random inputs in place of data: their distribution, and that they are the same every time.
#include "data/random_dataset.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

std::string graph(const std::string& inputs, const std::string& body) {
    return "<ir_version: 8, opset_import: [\"\" : 13]> g (" + inputs + ") => (float[N,4] Y) " + body;
}

template <typename T>
std::vector<T> valuesOf(const SampleTensor& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

QString errorOf(const std::string& text) {
    return test::errorOf([&] { randomDataset(*test::textModel(text).graph, 1, 1); });
}

}  // namespace

class RandomDatasetTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void floatsAreStandardNormal() {
        const auto model = test::textModel(graph("float[N,3,100,100] X", "{ Y = Relu(X) }"));
        const auto data = randomDataset(*model.graph, 4, 1);
        QCOMPARE(data->size(), std::size_t{4});
        QVERIFY(!data->hasLabels());
        double sum = 0, squares = 0, fourth = 0;
        std::size_t count = 0, beyond = 0;
        for (std::size_t s = 0; s < 4; ++s) {
            const auto tensors = data->sample(s);
            QCOMPARE(tensors.size(), std::size_t{1});
            QCOMPARE(tensors[0].dims, (Dims{3, 100, 100}));
            for (const double x : valuesOf<float>(tensors[0])) {
                sum += x;
                squares += x * x;
                fourth += x * x * x * x;
                ++count;
                if (std::abs(x) > 1.959964) ++beyond;
            }
        }
        const auto n = static_cast<double>(count);  // 120,000: four standard errors of each moment
        QVERIFY2(std::abs(sum / n) < 0.012, qPrintable(QString::number(sum / n)));
        QVERIFY2(std::abs(squares / n - 1) < 0.017, qPrintable(QString::number(squares / n)));
        QVERIFY2(std::abs(fourth / n - 3) < 0.12, qPrintable(QString::number(fourth / n)));
        QVERIFY2(std::abs(static_cast<double>(beyond) / n - 0.05) < 0.0026,
                 qPrintable(QString::number(beyond)));
    }

    void samplesAreReproducible() {
        const auto model = test::textModel(graph("float[N,16] X", "{ Y = Relu(X) }"));
        const auto one = randomDataset(*model.graph, 8, 1), again = randomDataset(*model.graph, 8, 1);
        const auto other = randomDataset(*model.graph, 8, 2);
        QCOMPARE(one->version(), again->version());
        QVERIFY(one->version() != other->version());
        std::set<float> firsts;
        for (std::size_t s = 8; s-- > 0;) {  // in any order of requests
            const auto values = valuesOf<float>(one->sample(s)[0]);
            QCOMPARE(values, valuesOf<float>(again->sample(s)[0]));
            QVERIFY(values != valuesOf<float>(other->sample(s)[0]));
            firsts.insert(values[0]);
        }
        QCOMPARE(firsts.size(), std::size_t{8});
    }

    void integersAreValidForTheModel() {
        const auto model = test::textModel(
            graph("int64[N,32] ids, int64[N,32] attention_mask, int32[N,32] flags, uint8[N,64] pixels, "
                  "bool[N,2] on, float[N,sequence,2] rest",
                  "<float[3,2] table = {1, 2, 3, 4, 5, 6}> { E = Gather(table, ids) Y = Relu(rest) }"));
        const auto tensors = randomDataset(*model.graph, 3, 1)->sample(1);
        QCOMPARE(tensors.size(), std::size_t{6});
        const auto distinct = [](const auto& values) {
            return std::set<std::int64_t>(values.begin(), values.end());
        };
        // rows of the table
        QCOMPARE(distinct(valuesOf<std::int64_t>(tensors[0])), (std::set<std::int64_t>{0, 1, 2}));
        QCOMPARE(distinct(valuesOf<std::int64_t>(tensors[1])), (std::set<std::int64_t>{1}));
        QCOMPARE(distinct(valuesOf<std::int32_t>(tensors[2])), (std::set<std::int64_t>{0, 1}));
        const auto pixels = valuesOf<std::uint8_t>(tensors[3]);
        QVERIFY(*std::max_element(pixels.begin(), pixels.end()) > 200);
        QCOMPARE(distinct(valuesOf<std::uint8_t>(tensors[4])), (std::set<std::int64_t>{1}));
        QCOMPARE(tensors[5].dims, (Dims{1, 2}));  // a free dimension is 1
    }

    void dynamicDimensionsGetSizes_data() {
        QTest::addColumn<QString>("inputs");
        QTest::addColumn<QString>("dims");
        QTest::newRow("image") << "float[N,3,height,width] X, int64[N,height,width] mask"
                               << "3×224×224 224×224";
        QTest::newRow("image, channels last") << "float[N,h,w,3] X"
                                              << "224×224×3";
        QTest::newRow("one image") << "float[3,height,width] X"
                                   << "3×224×224";
        QTest::newRow("one image of a fixed height") << "float[3,320,w] X"
                                                     << "3×320×224";
        QTest::newRow("fixed height") << "float[N,3,32,w] X"
                                      << "3×32×224";
        QTest::newRow("fixed width, channels last") << "float[N,h,320,1] X"
                                                    << "224×320×1";
        QTest::newRow("keys of three heads") << "float[N,3,past_length,16] X"
                                             << "3×1×16";
        QTest::newRow("keys of unknown width") << "float[N,2,past_length,cache_dim] X"
                                               << "2×1×1";
        QTest::newRow("images called keys")
            << "float[N,3,h,w] X, float[N,3,h,w] key_frame, float[N,8,3,h,w] sequence"
            << "3×224×224 3×224×224 8×3×224×224";
        QTest::newRow("pixel values") << "float[N,3,h,w] X, float[N,3,32,w] pixel_values"
                                      << "3×224×224 3×32×224";
        QTest::newRow("audio") << "float[N,L] X"
                               << "16000";
        QTest::newRow("audio with a channel") << "float[N,1,L] X"
                                              << "1×16000";
        QTest::newRow("spectrogram") << "float[N,80,L] X"
                                     << "80×128";
        QTest::newRow("features of a sequence") << "float[N,L,64] X"
                                                << "1×64";
        QTest::newRow("text with a mask of float32")
            << "float[N,2] X, int64[N,L] ids, float[N,L] attention_mask, float[N,L] weights"
            << "2 1 1 1";
        QTest::newRow("past and total") << "float[N,2,past,8] X, int64[N,total] mask, int64[N,new] ids"
                                        << "2×1×8 2 1";
    }
    void dynamicDimensionsGetSizes() {
        QFETCH(QString, inputs);
        QFETCH(QString, dims);
        const auto model = test::textModel(graph(inputs.toStdString(), "{ Y = Relu(X) }"));
        QStringList found;
        for (const SampleTensor& tensor : randomDataset(*model.graph, 1, 1)->sample(0))
            found << QString::fromStdString(toString(tensor.dims));
        QCOMPARE(found.join(' '), dims);
    }

    /// Names that only files of exporters contain.
    void sumsOfDimensionsAreComputed() {
        std::string bytes = test::textModelBytes(
            graph("float[N,2,past_length,8] X, int64[N,past_length___1] mask", "{ Y = Relu(X) }"));
        bytes.replace(bytes.rfind("___"), 3, " + ");  // the textual form allows no spaces
        const LoadedModel model = parseModel(bytes.data(), bytes.size());
        QCOMPARE(randomDataset(*model.graph, 1, 1)->sample(0)[1].dims, (Dims{2}));
    }

    /// A graph of one node was assumed, with edges from and to a second one.
    void edgesConnectTheNodesOfAGraph() {
        const LoadedModel model =
            test::textModel(graph("float[nodes,4] X, int64[2,edges] e, float[edges,3] w", "{ Y = Relu(X) }"));
        const auto inputs = randomDataset(*model.graph, 1, 1)->sample(0);
        QCOMPARE(inputs[0].dims, (Dims{32, 4}));
        QCOMPARE(inputs[1].dims, (Dims{2, 32}));
        QCOMPARE(inputs[2].dims, (Dims{32, 3}));
        const auto nodes = valuesOf<std::int64_t>(inputs[1]);
        QVERIFY(std::ranges::all_of(nodes, [](std::int64_t node) { return node >= 0 && node < 32; }));
        QVERIFY(std::set(nodes.begin(), nodes.end()).size() > 16);

        const LoadedModel fixed =
            test::textModel(graph("float[3,4] X, int64[2,40] e, float[40,1] w", "{ Y = Relu(X) }"));
        const auto ends = valuesOf<std::int64_t>(randomDataset(*fixed.graph, 1, 1)->sample(0)[1]);
        QCOMPARE(ends.size(), 80u);
        QCOMPARE(std::set(ends.begin(), ends.end()), (std::set<std::int64_t>{0, 1, 2}));
    }

    void sharedInputsHaveOneValue() {
        const LoadedModel model =
            test::textModel(graph("float[N,4] X, float gain, int64 rate", "{ Y = Mul(X, gain) }"));
        const DatasetPtr first = randomDataset(*model.graph, 3, 1),
                         second = randomDataset(*model.graph, 3, 2);
        for (const std::size_t input : {1, 2})
            for (const std::size_t i : {0, 1, 2})
                for (const DatasetPtr& data : {first, second})
                    QVERIFY(data->sample(i)[input].bytes == first->sample(0)[input].bytes);
        QVERIFY(first->sample(0)[0].bytes != first->sample(1)[0].bytes);
    }

    void inputsThatDoNotFitIntoMemoryAreReported() {
        const LoadedModel model = test::textModel(graph("float[N,1048576,1048576] X", "{ Y = Relu(X) }"));
        const DatasetPtr data = randomDataset(*model.graph, 1, 1);
        const QString error = test::errorOf([&] { data->sample(0); });
        QVERIFY2(error.contains("not enough memory: 4194304 MiB"), qPrintable(error));
    }

    void unsupportedInputsAreReported() {
        QVERIFY2(errorOf(graph("float16[N,4] X", "{ Y = Cast<to = 1>(X) }")).contains("'X' is float16"),
                 qPrintable(errorOf(graph("float16[N,4] X", "{ Y = Cast<to = 1>(X) }"))));
        QVERIFY(errorOf(graph("float[] X", "{ Y = Relu(X) }")).contains("shape of its input 'X'"));
    }
};

QTEST_GUILESS_MAIN(RandomDatasetTest)
#include "random_dataset_test.moc"
