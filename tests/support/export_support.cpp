// SPDX-License-Identifier: Apache-2.0
#include "support/export_support.h"

#include <QTemporaryDir>

#include "base/atomic_file.h"
#include "base/error.h"
#include "model/graph_builder.h"
#include "quantize/plan.h"
#include "support/python.h"

namespace quantloupe::test {

GraphPtr namedModel(const std::string& text, const std::vector<std::string>& names) {
    GraphBuilder builder(*textModel(text).graph);
    for (std::size_t n = 0; n < names.size(); ++n) builder.node(NodeId(n)).name = names[n];
    return builder.build();
}

GraphPtr stageModel() {
    return namedModel(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        net (float[N,2,4,4] X) => (float[N,3] Y)
        <float[2,2,1,1] A = {1,2,3,4}, float[2] v = {1,2}, float lo = {0}, float hi = {6}, float[2,1,1,1] D = {1,-2},
         float[2,2,1,1] B = {1,0.5,0.25,4}, float[3,2] W = {1,2,3,4,5,-6}, float[3] c = {0,1,2}> {
            a = Conv(X, A)
            a2 = BatchNormalization(a, v, v, v, v)
            a3 = Clip(a2, lo, hi)
            b = Conv<group = 2>(a3, D)
            b2 = BatchNormalization(b, v, v, v, v)
            b3 = Clip(b2, lo, hi)
            d = Conv(b3, B)
            e = Add(d, X)
            f = GlobalAveragePool(e)
            g = Flatten(f)
            Y = Gemm<transB = 1>(g, W, c)
        })",
                      {"/stem/Conv", "/stem/Norm", "/stem/Clip", "/dw/Conv", "/dw/Norm", "/dw/Clip",
                       "/out/Conv", "/out/Add", "/pool", "/flatten", "/head/Gemm"});
}

ExportSource exportSource(const GraphPtr& graph, const QuantizationConfig& config,
                          const std::string& output) {
    ExportSource source;
    source.prepared = std::make_shared<const Prepared>(prepare(graph, config.transforms));
    source.config = config;
    const SkipDecisions skips = resolveSkips(*graph, config);
    source.layers = layerStates(*source.prepared, findUnits(*source.prepared, skips), skips);
    source.model = "net.onnx";
    source.output = output;
    return source;
}

bool matchesGolden(const std::string& text, const char* name) {
    const std::filesystem::path path = std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "tests" / "data" / name;
    if (qEnvironmentVariableIsSet("QUANTLOUPE_UPDATE_GOLDEN")) writeFileAtomically(path, text);
    const std::string golden = readFile(path);
    if (golden == text) return true;
    std::size_t at = 0;
    while (at < golden.size() && at < text.size() && golden[at] == text[at]) ++at;
    const std::size_t line = golden.rfind('\n', at == 0 ? 0 : at - 1) + 1;
    qWarning("%s differs at byte %zu:\n  golden: %s\n  now:    %s", name, at,
             golden.substr(line, 160).c_str(), text.substr(std::min(line, text.size()), 160).c_str());
    return false;
}

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += text + "\n";
    return all;
}

bool says(const std::vector<std::string>& texts, const char* words) {
    const bool found = joined(texts).find(words) != std::string::npos;
    if (!found) qWarning("not said: %s\n%s", words, joined(texts).c_str());
    return found;
}

bool compilesInPython(const std::string& text) {
    QTemporaryDir folder;
    const std::string path = folder.path().toStdString() + "/script.py";
    writeFileAtomically(path, text);
    QString said;
    const int code =
        runPython({QStringLiteral("-m"), QStringLiteral("py_compile"), QString::fromStdString(path)}, &said);
    if (code != 0) qWarning("python -m py_compile: %d\n%s", code, qPrintable(said));
    return code == 0;
}

ImportResult readText(const char* format, const GraphPtr& graph, const std::string& text,
                      const QuantizationConfig& start) {
    return formatNamed(format, true).read({graph, start, text, "file", {}});
}

std::vector<std::string> floatLayersReadBack(const char* format, QuantizationConfig config,
                                             const std::vector<std::string>& names, std::size_t file) {
    const GraphPtr model = namedModel(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        net (float[1,1,2,2] X) => (float[1,1,2,2] Y)
        <float[1,1,1,1] V = {1}, float[1,1,1,1] W = {2}> { second = Conv(X, V) Y = Conv(second, W) })",
                                      names);
    SkipRule rule;
    rule.layers = {names[0]};
    config.rules = {rule};
    config.skipTail = false;
    const ExportResult result = formatNamed(format, false).write(exportSource(model, config, "net.py"));
    std::vector<std::string> layers;
    for (const SkipRule& read : readText(format, model, result.files[file].text).config.rules)
        layers.insert(layers.end(), read.layers.begin(), read.layers.end());
    return layers;
}

std::string readFailure(const char* format, const GraphPtr& graph, const std::string& text) {
    try {
        readText(format, graph, text);
        return "was read";
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace quantloupe::test
