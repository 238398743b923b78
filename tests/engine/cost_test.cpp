// SPDX-License-Identifier: Apache-2.0
// Costs of layers at a precision: computed by hand, read from the profiles of other tools, and estimated.
#include <fmt/format.h>

#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "cost/cost_model.h"
#include "cost/csv_table.h"
#include "cost/layer_matcher.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

/// Conv_0 (with a fused Relu), Conv_2, and an Add of both.
LoadedModel network() {
    return test::textModel(
        "<ir_version: 8, opset_import: [\"\" : 13]> net (float[1,2,4,4] x) => (float[1,2,4,4] y) "
        "<float[2,2,1,1] w = {1, 2, 3, 4}, float[2] b = {1, 2}, float[2,2,1,1] v = {1, 3, 2, 4}> "
        "{ c = Conv(x, w, b) r = Relu(c) d = Conv(r, v) y = Add(r, d) }");
}

NetworkWork work() {
    LayerWork conv{"Conv_0", 0, true, 64, true, 4, 2, 96, Precision::integer(8, 8)};
    LayerWork relu{"Relu_1", 0, false, 0, true, 0, 0, 64, Precision::integer(8, 8)};
    LayerWork second{"Conv_2", 2, true, 64, true, 4, 0, 64, Precision::integer(8, 8)};
    LayerWork add{"Add_3", 3, true, 0, true, 0, 0, 96, Precision::float32()};
    return {conv, relu, second, add};
}

const char* const kOnnxRuntime = R"([
{"cat":"Session","name":"model_run","dur":900,"ts":1,"args":{}},
{"cat":"Node","name":"Conv_0_token_9_kernel_time","dur":500,"ts":2,"args":{"op_name":"QLinearConv","node_index":"4"}},
{"cat":"Node","name":"w_DequantizeLinear_kernel_time","dur":20,"ts":3,"args":{"op_name":"DequantizeLinear","node_index":"5"}},
{"cat":"Node","name":"Transpose_kernel_time","dur":40,"ts":3,"args":{"op_name":"Transpose","node_index":"6"}},
{"cat":"Node","name":"d_nchwc_kernel_time","dur":200,"ts":4,"args":{"op_name":"Conv","node_index":"7"}},
{"cat":"Session","name":"model_run","dur":1100,"ts":9,"args":{}},
{"cat":"Node","name":"Conv_0_token_9_kernel_time","dur":700,"ts":10,"args":{"op_name":"QLinearConv","node_index":"4"}},
{"cat":"Node","name":"w_DequantizeLinear_kernel_time","dur":20,"ts":11,"args":{"op_name":"DequantizeLinear","node_index":"5"}},
{"cat":"Node","name":"Transpose_kernel_time","dur":60,"ts":3,"args":{"op_name":"Transpose","node_index":"6"}},
{"cat":"Node","name":"d_nchwc_kernel_time","dur":300,"ts":12,"args":{"op_name":"Conv","node_index":"7"}}])";

QString messageOf(const std::string& text) {
    return test::errorOf([&] { parseLatency(text); });
}

}  // namespace

class CostTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void bytesAndBitOperations() {
        const Precision w4a8 = Precision::integer(4, 8);
        const CostModel bytes(CostKind::Bytes, work()), bits(CostKind::BitOperations, work());
        QCOMPARE(bytes.of(0, w4a8), 4 * 4 / 8.0 + 2 * 4);
        QCOMPARE(bytes.of(0, Precision::float32()), 6 * 4.0);
        QCOMPARE(bytes.of(0, Precision::float16()), 6 * 2.0);
        QCOMPARE(bytes.of(1, w4a8), 0.0);  // computed by its host
        QCOMPARE(bytes.total(), 4 + 2 * 4 + 4.0);
        // A weight that two layers read is stored once for each precision, but read by both.
        NetworkWork sharing = work();
        sharing[0].shared = sharing[2].shared = {{7, 4, true}};
        const CostModel shared(CostKind::Bytes, sharing);
        std::vector<Precision> precisions(4, w4a8);
        QCOMPARE(bytes.total(precisions) - shared.total(precisions), 4 * 4 / 8.0);
        precisions[2] = Precision::float32();
        QCOMPARE(shared.total(precisions), bytes.total(precisions));
        precisions[0] = Precision::float32();
        QCOMPARE(bytes.total(precisions) - shared.total(precisions), 4 * 4.0);
        precisions[0] = Precision::float16();  // as many bits as integers of 16 bits, but another copy
        precisions[2] = Precision::integer(16, 16);
        QCOMPARE(shared.saved(precisions), 0.0);
        precisions[0] = precisions[2] = Precision::float32();
        const CostModel parameters(CostKind::Parameters, sharing);
        QCOMPARE(parameters.of(2, Precision::float32()),
                 CostModel(CostKind::Parameters, work()).of(2, Precision::float32()));
        QCOMPARE(parameters.saved(precisions), 4.0);
        precisions[0] = w4a8;
        QCOMPARE(parameters.saved(precisions), 0.0);
        QCOMPARE(movedBytes(sharing[2], w4a8), movedBytes(work()[2], w4a8));
        QCOMPARE(bits.of(0, w4a8), 64 * 4 * 8.0);
        QCOMPARE(bits.of(2, Precision::float16()), 64 * 16 * 16.0);
        QCOMPARE(bits.total(std::vector(4, w4a8)), 2 * 64 * 4 * 8.0);
        QCOMPARE(movedBytes(work()[0], w4a8), 2 + 8 + 96.0);
    }

    void floatCostsCountOnlyFloatLayers() {
        const Precision quantized = Precision::integer(8, 8), floating = Precision::float32();
        for (const auto& [kind, cost] :
             {std::pair{CostKind::Macs, 64.0}, {CostKind::Parameters, 6.0}, {CostKind::Layers, 1.0}}) {
            const CostModel model(kind, work());
            QCOMPARE(model.of(0, quantized), 0.0);
            QCOMPARE(model.of(0, floating), cost);
        }
        NetworkWork unknown = work();
        unknown[2].macsKnown = false;
        QCOMPARE(CostModel(CostKind::Macs, unknown).of(0, floating), 6.0);  // parameters instead
        QVERIFY_EXCEPTION_THROWN(CostModel(CostKind::BitOperations, unknown), Error);
        QVERIFY_EXCEPTION_THROWN(CostModel(CostKind::Milliseconds, work()), Error);
    }

    void theFitIsNonnegative() {
        const std::vector<FitRow> exact = {{{1, 0}, 2}, {{0, 1}, 3}, {{2, 1}, 7}};
        QCOMPARE(nonnegativeFit(exact)[0], 2.0);
        QCOMPARE(nonnegativeFit(exact)[1], 3.0);
        // Without the bound, the solution is 3 and -1.
        const std::vector<FitRow> bounded = {{{1, 0}, 3}, {{1, 1}, 2}, {{1, 2}, 1}};
        QCOMPARE(nonnegativeFit(bounded)[1], 0.0);
        QCOMPARE(nonnegativeFit(bounded)[0], 2.0);
        QCOMPARE(nonnegativeFit({})[0], 0.0);
        // Rounding must not decide between features that explain the values equally well.
        for (const double value : {54.0, 55.0, 56.0}) {
            const auto halves = nonnegativeFit(std::vector<FitRow>{{{3, 7}, value}, {{6, 14}, 2 * value}});
            QVERIFY(std::abs(halves[0] * 3 - value / 2) < 1e-9 && std::abs(halves[1] * 7 - value / 2) < 1e-9);
        }
    }

    void namesAreFoundThroughFusions_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("layers");
        const auto add = [](const char* name, const char* layers) { QTest::newRow(name) << name << layers; };
        add("Conv_0", "0");
        add("Relu_1", "0");
        add("Conv_0 + Relu_1", "0");
        add("Conv_2 + PWN(PWN(Relu_1), Add_3)", "0 2 3");
        add("{ForeignNode[Conv_0...Add_3]}", "0 2 3");
        add("Reformatting CopyNode for Input Tensor 0 to Conv_2 + Add_3", "2 3");
        add("fused Conv_2", "2");
        add("Conv_2_token_17", "2");
        add("r_nchwc", "0");
        add("w_folded_DequantizeLinear", "0");
        add("x_QuantizeLinear", "0");
        add("d_QuantizeLinear/duplicated", "2");
        add("Conv-2:OpId_7", "2");
        add("Conv_27", "");
        add("Transpose_token_3", "");
    }
    void namesAreFoundThroughFusions() {
        QFETCH(QString, name);
        const LoadedModel model = network();
        QStringList found;
        for (const std::size_t layer : LayerMatcher(*model.graph, work()).match(name.toStdString()))
            found << QString::number(layer);
        QTEST(found.join(' '), "layers");
    }

    void profileOfOnnxRuntime() {
        const LatencyFile file = parseLatency(kOnnxRuntime);
        QCOMPARE(file.runs, std::size_t(2));
        QCOMPARE(*file.networkMs, 1.0);
        QCOMPARE(file.rows.size(), std::size_t(4));
        QCOMPARE(file.rows[0].ms, 0.6);  // the median of two runs
        const LoadedModel model = network();
        const LatencyTable table(*model.graph, work(), {{file, {}}});
        QCOMPARE(table.at(0, Precision::integer(8, 8)).ms, 0.62);
        QVERIFY(!table.at(0, Precision::integer(8, 8)).estimated);
        QVERIFY(table.at(0, Precision::integer(4, 8)).estimated);
        QCOMPARE(table.at(1, Precision::integer(8, 8)).ms, 0.0);
        QCOMPARE(table.unmatched().size(), std::size_t(1));
        QVERIFY(table.summary().find("1 name matches no layer and is not counted (0.05 ms): Transpose") !=
                std::string::npos);
    }

    void profileOfTensorRt() {
        const LatencyFile file = parseLatency(
            R"([{"count":41}, {"name":"Conv_0 + Relu_1","timeMs":82,"averageMs":2.0,"medianMs":1.5,"percentage":60},
                {"name":"Conv_2 + Add_3","timeMs":41,"averageMs":1.0,"percentage":40}])");
        QCOMPARE(file.runs, std::size_t(41));
        const LoadedModel model = network();
        const LatencyTable table(*model.graph, work(), {{file, Precision::float16()}});
        QCOMPARE(table.at(0, Precision::float16()).ms, 1.5);
        QCOMPARE(table.at(2, Precision::float16()).ms, 1.0);  // the Add has no MACs
        QCOMPARE(table.at(3, Precision::float16()).ms, 0.0);
    }

    void profileOfQualcomm() {
        const std::string text =
            "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
            "0,ROOT,4,COUNT,HW,ROOT,\"Number of HVX threads used\"\n"
            "1,ROOT,2000,CYCLES,HW,ROOT,\"Accelerator (execute) time (cycles)\"\n"
            "2,NODE,1000,CYCLES,HW,SUB-EVENT,\"Conv_0:OpId_21 (cycles)\"\n"
            "3,NODE,500,CYCLES,HW,SUB-EVENT,\"Conv_2:OpId_23 (cycles)\"\n"
            "4,ROOT,4000,US,HW,ROOT,\"Accelerator (execute) time\"\n";
        const LatencyFile file = parseLatency(text);
        QCOMPARE(file.format, std::string("Qualcomm profile"));
        QCOMPARE(file.rows[0].name, std::string("Conv_0"));
        QCOMPARE(file.rows[0].ms, 2.0);
        QCOMPARE(file.rows[1].ms, 1.0);
        QCOMPARE(*file.networkMs, 4.0);
        QVERIFY(messageOf(text.substr(0, text.find("4,ROOT"))).contains("needed to convert them"));
    }

    /// Hailo only measures the whole network, so all layers are estimated, and their sum is the measurement.
    void measurementOfHailo() {
        const LatencyFile file = parseLatency(
            "net_name,status,status_description,fps,num_of_frames,send_rate,recv_rate,hw_latency,overall_"
            "latency\nnet,0,HAILO_SUCCESS,,5000,,,1.9,3.7\nnet,0,HAILO_SUCCESS,,5000,,,2.1,3.8\n");
        QCOMPARE(*file.networkMs, 2.0);
        const LoadedModel model = network();
        const auto table =
            std::make_shared<LatencyTable>(*model.graph, work(), std::vector<LatencySource>{{file, {}}});
        QVERIFY(table->at(0, Precision::integer(8, 8)).estimated);
        QVERIFY(qAbs(CostModel(CostKind::Milliseconds, work(), table).total() - 2.0) < 1e-9);
    }

    void plainFiles() {
        const LatencyFile file =
            parseLatency("# measured on the board\nlayer,precision,us\n\"Conv_0\", w4a8 ,1500\nAdd_3,,250\n");
        QCOMPARE(file.rows[0].ms, 1.5);
        QVERIFY(file.rows[0].precision == Precision::integer(4, 8));
        QVERIFY(!file.rows[1].precision);
        QVERIFY(messageOf("layer,ms\nConv_0,fast\n").contains("line 2: column 'ms'"));
        QVERIFY(messageOf("layer,precision,ms\nConv_0,int8,1\n").contains("unknown precision 'int8'"));
        QVERIFY(messageOf("a,b\n1,2\n").contains("'layer' and 'ms'"));
        QVERIFY(messageOf("{\"a\": 1}").contains("trtexec --exportProfile"));
        QVERIFY(messageOf("layer,ms\n\"Conv_0,1\n").contains("line 2: a quoted cell has no end"));
        const LoadedModel model = network();
        const LatencyFile other = parseLatency("layer,ms\nblock/conv,1\n");
        QVERIFY_EXCEPTION_THROWN(LatencyTable(*model.graph, work(), {{other, {}}}), Error);
    }

    /// For Add_3, which has no weights, w4a8 and w8a8 are the same: its times are not added.
    void oneFileWithSeveralPrecisions() {
        const LoadedModel model = network();
        const auto tableOf = [&](const char* text) {
            return LatencyTable(*model.graph, work(), {{parseLatency(text), {}}});
        };
        const LatencyTable table = tableOf(
            "layer,precision,ms\nConv_0,w8a8,2\nConv_0,w4a8,1\nAdd_3,w8a8,0.5\nAdd_3,w4a8,0.4\n"
            "Add_3,w4a8,0.2\nAdd_3,float32,3\n");
        const Precision w4a8 = Precision::integer(4, 8), w8a8 = Precision::integer(8, 8);
        QCOMPARE(table.at(0, w8a8).ms, 2.0);
        QCOMPARE(table.at(0, w4a8).ms, 1.0);
        QVERIFY(qAbs(table.at(3, w8a8).ms - 0.6) < 1e-12);
        QCOMPARE(table.at(3, w4a8).ms, table.at(3, w8a8).ms);
        QCOMPARE(table.at(3, Precision::float32()).ms, 3.0);
    }

    /// The model of the estimates is a * MACs + b * bytes, fitted per precision.
    void missingTimesAreEstimated() {
        NetworkWork layers;
        for (std::size_t i = 0; i < 4; ++i)
            layers.push_back({"Conv_" + std::to_string(i), i, true, 1000 * (i + 1), true, 100 * (4 - i), 0, 0,
                              Precision::integer(8, 8)});
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> net (float[1,1,4,4] x) => (float[1,1,4,4] y) "
            "<float[1,1,1,1] w = {1}> { a = Conv(x, w) b = Conv(a, w) c = Conv(b, w) y = Conv(c, w) }");
        const auto ms = [](std::size_t i) {
            return 0.002 * 1000 * double(i + 1) + 0.01 * 100 * double(4 - i);
        };
        LatencyFile file;
        for (std::size_t i = 0; i < 3; ++i) file.rows.push_back({layers[i].name, {}, ms(i)});
        const LatencyTable table(*model.graph, layers, {{file, {}}});
        const LatencyCell estimated = table.at(3, Precision::integer(8, 8));
        QVERIFY(estimated.estimated);
        QVERIFY(qAbs(estimated.ms - ms(3)) < 1e-9);
        // Nothing is known about w4a8, so only its bytes are fewer.
        QVERIFY(qAbs(table.at(3, Precision::integer(4, 8)).ms - (8 + 0.5)) < 1e-9);
        QVERIFY(table.estimateError() < 1e-9);
        // A single measurement does not make other layers look faster in float than in integers.
        file.rows.push_back({layers[0].name, Precision::float32(), 0.001});
        const LatencyTable mixed(*model.graph, layers, {{file, {}}});
        QCOMPARE(mixed.at(0, Precision::float32()).ms, 0.001);
        QVERIFY(qAbs(mixed.at(3, Precision::float32()).ms - (8 + 4)) < 1e-9);
    }

    /// A profile stays one of the configuration that it was measured with.
    void unstatedPrecisionsAreThoseOfTheConfiguration() {
        const LoadedModel model = network();
        NetworkWork layers = work();
        LatencyFile file;
        file.rows = {{"Conv_0", {}, 2}, {"Conv_2", Precision::float16(), 3}, {"Other", {}, 1}};
        const LatencySource bound = withPrecisions({file, {}, "a"}, *model.graph, layers);
        for (LayerWork& layer : layers) layer.precision = Precision::integer(4, 8);
        const LatencyTable table(*model.graph, layers, {bound});
        QCOMPARE(table.at(0, Precision::integer(8, 8)).ms, 2.0);
        QVERIFY(!table.at(0, Precision::integer(8, 8)).estimated);
        QVERIFY(table.at(0, Precision::integer(4, 8)).estimated);
        QCOMPARE(table.at(2, Precision::float16()).ms, 3.0);
        QCOMPARE(table.unmatched().size(), std::size_t(1));
        // Stated for the whole file, but for the rows that state their own.
        const LatencySource stated = withPrecisions({file, Precision::float32(), "a"}, *model.graph, work());
        QVERIFY(stated.file.rows[0].precision == Precision::float32());
        QVERIFY(stated.file.rows[1].precision == Precision::float16());
        // The time of a whole network, with most layers at 8 bits.
        const LatencySource whole = withPrecisions({{"Hailo", {}, 9.0, 0}, {}, "b"}, *model.graph, work());
        QVERIFY(whole.precision == Precision::integer(8, 8));
    }

    /// Times of layers without weights belong to the profile that they are from, and do not determine a fit
    /// alone.
    void layersWithoutWeightsDoNotDetermineTheFit() {
        NetworkWork layers;
        for (std::size_t i = 0; i < 4; ++i)
            layers.push_back({"Conv_" + std::to_string(i), i, true, 1000 * (i + 1), true, 100 * (4 - i), 0, 0,
                              Precision::integer(4, 8)});
        for (std::size_t i = 4; i < 7; ++i)
            layers.push_back({"Add_" + std::to_string(i), i, true, 0, true, 0, 0, 100 * (i + 1),
                              Precision::integer(4, 8)});
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> net (float[1,1,4,4] x) => (float[1,1,4,4] y) "
            "<float[1,1,1,1] w = {1}> { a = Conv(x, w) b = Conv(a, w) c = Conv(b, w) d = Conv(c, w) e = "
            "Add(d, a) f = Add(e, b) y = Add(f, c) }");
        LatencyFile file;
        for (const LayerWork& layer : layers)
            file.rows.push_back({layer.name, Precision::integer(4, 8),
                                 0.002 * double(layer.macs) + 0.0001 * movedBytes(layer, layer.precision)});
        const LatencyTable table(*model.graph, layers, {{file, {}}});
        QVERIFY(!table.at(4, Precision::integer(8, 8)).estimated);  // the same as w4a8
        // As w4a8, but with twice the bytes; the Adds alone would make the MACs free.
        QVERIFY(qAbs(table.at(3, Precision::integer(8, 8)).ms - (8 + 0.01)) < 1e-6);
        QVERIFY(table.estimateError() < 1e-6);
    }

    void unusableProfilesAreRefused_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<QString>("message");
        const auto add = [](const char* name, const std::string& text, const char* message) {
            QTest::newRow(name) << text << message;
        };
        add("a long name", fmt::format("layer,ms\n{:a>300000},1\n", ""), "has 300000 characters");
        add("no time above 0", "layer,ms\nConv_0,0\nConv_2,0\n", "no time of the profile is above 0");
        add("a long time", "layer,ms\nConv_0,2e9\n", "'Conv_0' takes 2e+09 ms; a time must be at most 1e+09");
        add("no kernel times",
            R"([{"cat":"Session","name":"model_run","dur":900},{"cat":"Node","name":"Conv_0_fence_before","dur":5}])",
            "no event has the time of a node: a name that ends with '_kernel_time'");
        add("no layer", "layer,ms\n", "the profile has no layer");
    }
    void unusableProfilesAreRefused() {
        QFETCH(std::string, text);
        QFETCH(QString, message);
        QVERIFY2(messageOf(text).contains(message), qPrintable(messageOf(text).left(300)));
    }

    void errorNamesTheFileWithoutKnownNames() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("board.csv").toStdString();
        writeFileAtomically(path, "layer,ms\nblock/conv,1\n");
        const LoadedModel model = network();
        const QString error = test::errorOf([&] {
            const LatencyTable table(*model.graph, work(), {{readLatencyFile(path), {}}});
        });
        QVERIFY2(error.contains("board.csv': no name of the CSV is a layer of this network, for example "
                                "'block/conv'"),
                 qPrintable(error));
    }

    /// Both took minutes when their effort grew with the square of the length.
    void longLinesAreReadQuickly() {
        // Names as `profile` writes them.
        const CsvTable names = parseCsv("layer,ms\n'-dash,1\n\" x \",2\n'quoted',3\n");
        QCOMPARE(names.rows[0][0], std::string("-dash"));
        QCOMPARE(names.rows[1][0], std::string(" x "));
        QCOMPARE(names.rows[2][0], std::string("'quoted'"));
        const CsvTable table = parseCsv(fmt::format("a,b\n1,{:,>300000}x\n", ""));
        QCOMPARE(table.rows[0].size(), std::size_t(2));
        QCOMPARE(table.rows[0][1], fmt::format("{:,>300000}x", ""));
        std::string name;
        while (name.size() < 1'000'000) name += "a_";
        const LoadedModel model = network();
        QVERIFY(LayerMatcher(*model.graph, work()).match(name).empty());
    }

    void textsOfCosts() {
        QCOMPARE(costText(CostKind::Milliseconds, 12.42), std::string("12.4 ms"));
        QCOMPARE(costText(CostKind::Milliseconds, 1234.2), std::string("1234 ms"));
        QCOMPARE(costText(CostKind::Bytes, 1.71e6), std::string("1.71 MB of weights"));
        QCOMPARE(costText(CostKind::Layers, 1), std::string("1 layer in float"));
        for (const CostKind kind : costKinds()) QVERIFY(costNamed(costName(kind)) == kind);
    }
};

QTEST_GUILESS_MAIN(CostTest)
#include "cost_test.moc"
