// SPDX-License-Identifier: Apache-2.0
// Reports, CLIKA's graphs and Model Explorer's node data: well-formed, complete, and safe against unusual
// names.
#include <graphviz/cgraph.h>

#include <QXmlStreamReader>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "model/graph_builder.h"
#include "picture/write_picture.h"
#include "support/errors.h"
#include "support/export_support.h"

using namespace quantloupe;
using namespace quantloupe::test;
using nlohmann::json;

namespace {

/// Evaluated, with a name that every format must escape.
ExportSource evaluated(const char* output) {
    GraphBuilder builder(*stageModel());
    builder.node(NodeId(std::size_t(6))).name = "out,\"Conv\" <&>";
    QuantizationConfig config;
    config.layers["/dw/Conv"].comment = "no, not\nthis one";
    config.wholeTail = true;
    ExportSource source = exportSource(builder.build(), config, output);
    auto evaluation = std::make_shared<Evaluation>();
    Accuracy accuracy;
    accuracy.samples = 500;
    accuracy.top1 = 0.924;
    evaluation->floating = accuracy;
    accuracy.top1 = 0.68;
    accuracy.sqnrDb = 12.5;
    evaluation->quantized = accuracy;
    evaluation->counts = {8, 1, 1, 2, 2};
    evaluation->notices = {"a < b"};
    for (LayerResult& layer : source.layers)
        if (layer.quantizable) layer.local = TensorDifference{.qs = 0.125, .cosine = 0.99, .sqnrDb = 18};
    source.layers[0].local->sqnrDb = std::numeric_limits<double>::infinity();
    evaluation->layers = source.layers;
    source.evaluation = evaluation;
    return source;
}

ExportResult exported(const char* format) { return formatNamed(format, false).write(evaluated("net.out")); }

/// By RFC 4180.
std::vector<std::vector<std::string>> parseCsv(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> row(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
            row.back() += text[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && c == ',')
            row.emplace_back();
        else if (!quoted && c == '\r')
            continue;
        else if (!quoted && c == '\n')
            rows.push_back(std::exchange(row, std::vector<std::string>(1)));
        else
            row.back() += c;
    }
    return rows;
}

}  // namespace

class ReportsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void csv() {
        const std::string text = exported("csv").files[0].text;
        const auto rows = parseCsv(text);
        QCOMPARE(rows.size(), 12u);
        for (const auto& row : rows) QCOMPARE(row.size(), rows[0].size());
        QCOMPARE(rows[7][0], std::string("out,\"Conv\" <&>"));
        QCOMPARE(rows[4].back(), std::string("no, not\nthis one"));
        QCOMPARE(rows[1][9], std::string("inf"));
    }

    void jsonDocument() {
        const std::string text = exported("json").files[0].text;
        const json document = json::parse(text);
        QCOMPARE(document["layers"].size(), 11u);
        QCOMPARE(document["quantized"]["top1"].get<double>(), 0.68);
        QVERIFY(document["layers"][0]["local"]["sqnr_db"].is_null());  // infinite
        QCOMPARE(document["layers"][3]["comment"], "no, not\nthis one");
        QCOMPARE(document["config"]["quantloupe"], 1);
    }

    void htmlPage() {
        const std::string text = exported("html").files[0].text;
        QXmlStreamReader xml(QByteArray::fromStdString(text));
        int rows = 0, drawings = 0;
        bool named = false;
        while (!xml.atEnd()) {
            xml.readNext();
            if (xml.isStartElement() && xml.name() == QLatin1String("tr")) ++rows;
            if (xml.isStartElement() && xml.name() == QLatin1String("svg")) ++drawings;
            if (xml.isStartElement())
                for (const char* outside : {"src", "href"})
                    // no other file is needed
                    QVERIFY2(!xml.attributes().hasAttribute(QLatin1String(outside)), outside);
            if (xml.isCharacters() && xml.text() == QLatin1String("out,\"Conv\" <&>")) named = true;
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(drawings, 2);  // and the sensitivities' plot
        QCOMPARE(rows, 1 + 2 + 1 + 11);
        QVERIFY(named);
        QVERIFY(text.find("68.00 %") != std::string::npos);
        QVERIFY(text.find("a &lt; b") != std::string::npos);
        QVERIFY(text.find("no, not") != std::string::npos);
    }

    void clikasGraphsAreNamedAfterTheOutput() {
        const auto filesOf = [](const char* output) {
            ExportSource source = exportSource(stageModel(), {}, output);
            std::vector<std::string> names;
            for (const ExportedFile& file : formatNamed("clika-graphs", false).write(source).files)
                names.push_back(exportedPath(output, file.ending).string());
            return names;
        };
        QCOMPARE(filesOf("d/a.svg"), (std::vector<std::string>{"d/a.svg", "d/a.dot", "d/a.model_init.svg",
                                                               "d/a.model_init.dot"}));
        QCOMPARE(filesOf("d/net.model_post_preprocessing.svg"),
                 (std::vector<std::string>{"d/net.model_post_preprocessing.svg",
                                           "d/net.model_post_preprocessing.dot", "d/net.model_init.svg",
                                           "d/net.model_init.dot"}));
        const ExportResult result =
            formatNamed("clika-graphs", false).write(exportSource(stageModel(), {}, "d/a.svg"));
        for (const ExportedFile& file : result.files) {
            QVERIFY(file.text.find("/dw/Conv (conv_1)") != std::string::npos);
            QVERIFY(file.text.find("/head/Gemm (linear)") != std::string::npos);
        }
    }

    void clikasGraphs() {
        const ExportResult result = exported("clika-graphs");
        std::vector<std::string> names;
        for (const ExportedFile& file : result.files)
            names.push_back(exportedPath("d/model_post_preprocessing.svg", file.ending).string());
        QCOMPARE(names, (std::vector<std::string>{"d/model_post_preprocessing.svg", "d/net.dot",
                                                  "d/net.model_init.svg", "d/net.model_init.dot"}));
        for (const std::size_t svg : {0u, 2u}) {
            QXmlStreamReader xml(QByteArray::fromStdString(result.files[svg].text));
            while (!xml.atEnd()) xml.readNext();
            QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        }
        // 9 layers after the batch norms are folded, 11 before; the model's input and output are nodes, too.
        for (const auto& [file, nodes] : {std::pair{1u, 9 + 2}, std::pair{3u, 11 + 2}}) {
            Agraph_t* graph = agmemread(result.files[file].text.c_str());
            QVERIFY(graph != nullptr);
            QCOMPARE(agnnodes(graph), nodes);
            int green = 0;
            for (Agnode_t* n = agfstnode(graph); n != nullptr; n = agnxtnode(graph, n)) {
                LayerResult quantized;
                quantized.state = LayerState::Quantized;
                green += std::string(agget(n, const_cast<char*>("color"))) == stateColors(quantized).outline;
            }
            QCOMPARE(green > 0, file == 1u);  // nothing is decided in model_init
            agclose(graph);
        }
    }

    void modelExplorersNodeData() {
        const ExportResult result = exported("model-explorer");
        const json sensitivities = json::parse(result.files[0].text),
                   states = json::parse(result.files[1].text);
        QCOMPARE(states["results"].size(), 11u);
        QCOMPARE(states["results"]["Y"]["value"], "skipped");  // the tail
        QCOMPARE(sensitivities["results"]["a"]["value"].get<double>(), 0.125);
        QCOMPARE(sensitivities["gradient"][1]["stop"], 1);
    }

    void exportListIsComplete() {
        for (const char* name : {"amct", "amct-minimal", "quark", "clika", "aimet", "onnxruntime", "nncf",
                                 "modelopt", "qnn", "model-explorer", "clika-graphs", "html", "csv", "json"})
            QVERIFY(formatNamed(name, false).write != nullptr);
        for (const FileFormat& format : fileFormats()) {
            QVERIFY(!format.what.empty() && !format.title.empty() && format.ending.starts_with('.'));
            QVERIFY(format.write != nullptr || format.read != nullptr);
        }
        try {
            formatNamed("qark", false);
            QFAIL("there is no such format");
        } catch (const Error& error) {
            QVERIFY2(std::string(error.what()).find("did you mean 'quark'") != std::string::npos,
                     error.what());
        }
    }

    void scriptsDoNotHideThePackagesThatTheyImport() {
        QTemporaryDir folder;
        ExportResult result;
        result.files.push_back(
            {"", "import numpy as np\n\nif True:\n    from PIL.Image import open\n", nullptr, false});
        for (const char* name : {"numpy.py", "PIL.py"}) {
            const QString error = test::errorOf(
                [&] { writeExport(result, folder.filePath(name).toStdString(), InputPaths()); });
            QVERIFY2(error.contains("would hide the Python package"), qPrintable(error));
        }
        writeExport(result, folder.filePath("np.py").toStdString(), InputPaths());
        writeExport(result, folder.filePath("numpy.quark.py").toStdString(), InputPaths());
    }

    void modelIsNotOverwritten() {
        QTemporaryDir folder;
        const std::filesystem::path model = folder.path().toStdString() + "/net.csv";
        writeFileAtomically(model, "precious");
        ExportResult result;
        result.files.push_back({"", "text", nullptr, false});
        try {
            InputPaths inputs;
            inputs.add("the model", model);
            writeExport(result, model, inputs);
            QFAIL("the model was overwritten");
        } catch (const Error& error) {
            QVERIFY2(
                std::string(error.what()).find("is the model and would be overwritten") != std::string::npos,
                error.what());
        }
        QCOMPARE(readFile(model), std::string("precious"));
    }
};

QTEST_GUILESS_MAIN(ReportsTest)
#include "reports_test.moc"
