// SPDX-License-Identifier: Apache-2.0
#include "exports.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "interchange/gather.h"
#include "model/load_model.h"
#include "picture/write_picture.h"

namespace quantloupe::ui {

const std::vector<ExportInfo>& exportKinds() {
    static const std::vector<ExportInfo> kinds = [] {
        std::vector<ExportInfo> all;
        for (const Dialect& dialect : dialects()) {
            if (dialect.write == nullptr) continue;
            std::string tip = dialect.what;
            for (const std::string& limit : dialect.limits) tip += "\n\u2022 " + limit;
            const std::string ending = dialect.ending.substr(dialect.ending.rfind('.'));
            all.push_back({ExportKind::Dialect, dialect.name, dialect.title + "\u2026", dialect.ending,
                           fmt::format("{} (*{})", dialect.title, ending), tip});
        }
        const std::vector<ExportInfo> others = {
            {ExportKind::QuantizedModel, {}, "Quantized model (QDQ ONNX)\u2026", ".quantized.onnx", "ONNX model (*.onnx)",
             "The model with QuantizeLinear and DequantizeLinear nodes, for ONNX Runtime and others"},
            {ExportKind::EqualizedModel, {}, "Equalized float model\u2026", ".equalized.onnx", "ONNX model (*.onnx)",
             "The float model after its transforms: folded, equalized"},
            {ExportKind::Svg, {}, "Graph as SVG\u2026", ".svg", "SVG picture (*.svg)", "The coloured graph as a picture"},
            {ExportKind::Dot, {}, "Graph as DOT\u2026", ".dot", "Graphviz graph (*.dot)", "The coloured graph for Graphviz"},
        };
        all.insert(all.end(), others.begin(), others.end());
        return all;
    }();
    return kinds;
}

const ExportInfo& exportInfo(ExportKind kind, const std::string& dialect) {
    for (const ExportInfo& info : exportKinds())
        if (info.kind == kind && info.dialect == dialect) return info;
    fail(ErrorKind::Internal, "there is no such export");
}

namespace {

QString wrote(const std::filesystem::path& path, const std::vector<std::string>& notices = {}) {
    QString text = QStringLiteral("Wrote %1.").arg(QString::fromStdString(path.string()));
    for (const std::string& notice : notices) text += QLatin1Char('\n') + QString::fromStdString(notice);
    return text;
}

ExportSource sourceFor(Session& session, const QuantizationConfig& config, const Dialect& dialect, const std::optional<DataInfo>& data,
                       const std::filesystem::path& output, const CancelToken& cancel) {
    ExportSource source = gatherExport(session, config, dialect, {}, cancel);
    source.output = output;
    if (data) {
        source.calibrationData = data->calibrationPath.empty() ? data->evaluationPath : data->calibrationPath;
        source.preprocess = data->preprocess;
    }
    return source;
}

}  // namespace

void startPreview(Document& document, const ExportInfo& info, const std::filesystem::path& output,
                  std::shared_ptr<ExportPreview> result) {
    const std::optional<DataInfo> data = document.data();
    const QuantizationConfig config = document.config();
    document.job()->runExport(QString::fromStdString(info.dialect), [=](Session& session, const CancelToken& cancel) -> QString {
        const Dialect& dialect = dialectNamed(info.dialect, false);
        const ExportResult exported = dialect.write(sourceFor(session, config, dialect, data, output, cancel));
        result->text = exported.files.at(0).text;
        result->notices = exported.notices;
        result->ready = true;
        return {};
    });
}

void startExport(Document& document, const ExportInfo& info, const std::filesystem::path& path) {
    const std::optional<DataInfo> data = document.data();
    const QuantizationConfig config = document.config();
    const GraphPtr graph = document.graph();
    const std::vector<LayerResult> layers = document.layers();
    const LayoutOptions arrangement = document.layoutOptions();
    const QString what = QStringLiteral("export to %1").arg(QString::fromStdString(path.filename().string()));
    document.job()->runExport(what, [=](Session& session, const CancelToken& cancel) -> QString {
        // The states as the engine sees them, not the window's guess.
        const auto states = [&] { return session.evaluate(config, Depth::States, {}, cancel)->layers; };
        switch (info.kind) {
            case ExportKind::Dialect: {
                const Dialect& dialect = dialectNamed(info.dialect, false);
                const ExportSource source = sourceFor(session, config, dialect, data, path, cancel);
                const ExportResult result = dialect.write(source);
                writeExport(result, path, source.model);
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
                writeFileAtomically(path, graphToSvg(*graph, layers.empty() ? states() : layers, cancel, arrangement));
                return wrote(path);
            case ExportKind::Dot:
                writeFileAtomically(path, pictureToDot(*graph, layers.empty() ? states() : layers));
                return wrote(path);
        }
        return {};
    });
}

}  // namespace quantloupe::ui
