// SPDX-License-Identifier: Apache-2.0
#include "exports.h"

#include "base/atomic_file.h"
#include "interchange/amct.h"
#include "model/load_model.h"
#include "picture/write_picture.h"

namespace quantloupe::ui {

const std::vector<ExportInfo>& exportKinds() {
    static const std::vector<ExportInfo> kinds = {
        {ExportKind::Amct, "AMCT configuration\u2026", ".amct.json", "AMCT configuration (*.json)",
         "config.json for amct_onnx create_quant_config / quantize_model"},
        {ExportKind::QuantizedModel, "Quantized model (QDQ ONNX)\u2026", ".quantized.onnx",
         "ONNX model (*.onnx)",
         "The model with QuantizeLinear and DequantizeLinear nodes, for ONNX Runtime and others"},
        {ExportKind::EqualizedModel, "Equalized float model\u2026", ".equalized.onnx", "ONNX model (*.onnx)",
         "The float model after its transforms: folded, equalized"},
        {ExportKind::Svg, "Graph as SVG\u2026", ".svg", "SVG picture (*.svg)",
         "The coloured graph as a picture"},
        {ExportKind::Dot, "Graph as DOT\u2026", ".dot", "Graphviz graph (*.dot)",
         "The coloured graph for Graphviz"},
    };
    return kinds;
}

namespace {

QString wrote(const std::filesystem::path& path, const std::vector<std::string>& notices = {}) {
    QString text = QStringLiteral("Wrote %1.").arg(QString::fromStdString(path.string()));
    for (const std::string& notice : notices) text += QLatin1Char('\n') + QString::fromStdString(notice);
    return text;
}

}  // namespace

void startExport(Document& document, ExportKind kind, const std::filesystem::path& path) {
    const QuantizationConfig config = document.config();
    const GraphPtr graph = document.graph();
    const std::vector<LayerResult> layers = document.layers();
    const QString what = QStringLiteral("export to %1").arg(QString::fromStdString(path.filename().string()));
    document.job()->runExport(what, [=](Session& session, const CancelToken& cancel) -> QString {
        // The states as the engine sees them, not the window's guess.
        const auto states = [&] { return session.evaluate(config, Depth::States, {}, cancel)->layers; };
        switch (kind) {
            case ExportKind::Amct: {
                const AmctExport result = exportAmct(*session.prepare(config), config, states());
                writeFileAtomically(path, result.json);
                return wrote(path, result.notices);
            }
            case ExportKind::QuantizedModel:
                saveModel(*session.quantizedModel(config, cancel), path);
                return wrote(path);
            case ExportKind::EqualizedModel: {
                const auto prepared = session.prepare(config);
                saveModel(*prepared->transformed, path);
                return wrote(path, prepared->notices);
            }
            case ExportKind::Svg:
                writeFileAtomically(path, graphToSvg(*graph, layers.empty() ? states() : layers, cancel));
                return wrote(path);
            case ExportKind::Dot:
                writeFileAtomically(path, pictureToDot(*graph, layers.empty() ? states() : layers));
                return wrote(path);
        }
        return {};
    });
}

}  // namespace quantloupe::ui
