// SPDX-License-Identifier: Apache-2.0
#include "dialogs/exports.h"

#include <algorithm>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "config/config_fields.h"
#include "interchange/gather.h"
#include "interchange/reports/html_report.h"
#include "model/load_model.h"
#include "models/command_line.h"
#include "models/config_difference.h"
#include "picture/write_picture.h"
#include "reports/pdf_report.h"
#include "style/path_text.h"
#include "style/words.h"
#include "transform/own_constants.h"

namespace quantloupe::ui {

QString formatFamilyName(FormatFamily family) {
    switch (family) {
        case FormatFamily::Configuration:
            return Words::tr("Configurations for other tools");
        case FormatFamily::Model:
            return Words::tr("Models");
        case FormatFamily::Report:
            return Words::tr("Reports");
        case FormatFamily::Picture:
            return Words::tr("Graphs");
    }
    return {};
}

const std::vector<ExportInfo>& exportKinds() {
    static const std::vector<ExportInfo> kinds = [] {
        std::vector<ExportInfo> all;
        for (const FileFormat& format : fileFormats()) {
            if (format.write == nullptr || format.name == "qdq") continue;  // has a separate entry below
            std::string tip = format.what;
            if (!format.limits.empty()) tip += '\n' + Words::tr("Limits of this format:").toStdString();
            for (const std::string& limit : format.limits) tip += "\n\u2022 " + limit;
            const std::string ending = format.ending.substr(format.ending.rfind('.'));
            all.push_back({ExportKind::FileFormat, format.family, format.name, format.title, format.ending,
                           fmt::format("{} (*{})", format.title, ending), tip});
        }
        const auto said = [](const char* word) { return Words::tr(word).toStdString(); };
        const std::vector<ExportInfo> others = {
            {ExportKind::Pdf,
             FormatFamily::Report,
             {},
             said(QT_TRANSLATE_NOOP("Words", "Report (PDF)")),
             ".report.pdf",
             said(QT_TRANSLATE_NOOP("Words", "PDF (*.pdf)")),
             said(QT_TRANSLATE_NOOP(
                 "Words",
                 "The HTML report as PDF: accuracy, accuracy loss by step, graph, layers, configuration"))},
            {ExportKind::QuantizedModel,
             FormatFamily::Model,
             {},
             said(QT_TRANSLATE_NOOP("Words", "Quantized model for ONNX Runtime (QDQ)")),
             ".quantized.onnx",
             said(QT_TRANSLATE_NOOP("Words", "ONNX model (*.onnx)")),
             said(QT_TRANSLATE_NOOP("Words",
                                    "The model with QuantizeLinear and DequantizeLinear nodes, for ONNX "
                                    "Runtime and other runtimes"))},
            {ExportKind::EqualizedModel,
             FormatFamily::Model,
             {},
             said(QT_TRANSLATE_NOOP("Words", "Equalized float model")),
             ".equalized.onnx",
             said(QT_TRANSLATE_NOOP("Words", "ONNX model (*.onnx)")),
             said(QT_TRANSLATE_NOOP("Words",
                                    "The float model after its transforms, such as batch norm "
                                    "folding and equalization"))},
            {ExportKind::Svg,
             FormatFamily::Picture,
             {},
             said(QT_TRANSLATE_NOOP("Words", "Graph as SVG")),
             ".svg",
             said(QT_TRANSLATE_NOOP("Words", "SVG image (*.svg)")),
             said(QT_TRANSLATE_NOOP("Words", "The colored graph as an image"))},
            {ExportKind::Dot,
             FormatFamily::Picture,
             {},
             said(QT_TRANSLATE_NOOP("Words", "Graph as DOT")),
             ".dot",
             said(QT_TRANSLATE_NOOP("Words", "Graphviz graph (*.dot)")),
             said(QT_TRANSLATE_NOOP("Words", "The colored graph for Graphviz"))},
        };
        all.insert(all.end(), others.begin(), others.end());
        std::ranges::stable_sort(all, {}, [](const ExportInfo& info) {
            return std::pair(info.family, info.kind != ExportKind::QuantizedModel);
        });
        return all;
    }();
    return kinds;
}

const ExportInfo& exportInfo(ExportKind kind, const std::string& format) {
    for (const ExportInfo& info : exportKinds())
        if (info.kind == kind && info.format == format) return info;
    fail(ErrorKind::Internal, "unknown export format");
}

namespace {

/// The data of the document that an export needs, for the engine's thread.
struct ExportOrder {
    QuantizationConfig config;
    std::optional<DataInfo> data;
    GraphPtr graph;
    std::vector<LayerResult> layers;
    std::vector<AccuracyStep> history;
    LayoutOptions arrangement;  ///< groups and columns as in the window
    InputPaths inputs;
};

ExportOrder orderOf(const Document& document) {
    std::vector<AccuracyStep> history;
    for (const MeasuredConfig& measured : document.history().entries())
        if (document.isComparable(measured))
            history.push_back({measured.name.empty() ? measured.change : measured.name, measured.quantized});
    LayoutOptions arrangement = document.layoutOptions();
    if (document.picture()) arrangement.arrangement = document.picture()->arrangement;
    const bool current = !document.accuracyStale() && !document.metricsStale();
    return {document.config(),    document.data(),
            document.graph(),     current ? document.layers() : std::vector<LayerResult>(),
            std::move(history),   arrangement,
            document.inputPaths()};
}

ExportSource sourceFor(Session& session, const ExportOrder& order, const FileFormat& format,
                       const std::filesystem::path& output, const CancelToken& cancel) {
    ExportSource source = gatherExport(session, order.config, format, {}, cancel);
    source.output = output;
    source.history = order.history;
    if (order.data) {
        source.calibrationData =
            order.data->calibrationPath.empty() ? order.data->evaluationPath : order.data->calibrationPath;
        source.preprocess = order.data->preprocess;
    }
    return source;
}

}  // namespace

namespace {

/// Returns `kept` with the rules and settings of layers of `config` that keep layers in float.
QuantizationConfig withSkipsOf(const QuantizationConfig& config, QuantizationConfig kept) {
    for (const Field& field : configFields().fields)
        if (field.effect == FieldEffect::Selection) field.copy(config, kept);
    const auto isFloat = [](const std::optional<Precision>& precision) {
        return precision && !precision->isInteger();
    };
    // The precisions of quantized layers are settings that the format may not support.
    std::erase_if(kept.precisionRules, [&](const PrecisionRule& rule) { return isFloat(rule.precision); });
    std::ranges::copy_if(
        config.precisionRules, std::back_inserter(kept.precisionRules),
        [&](const PrecisionRule& rule) { return isFloat(rule.precision) || rule.covers.off; });
    for (auto& [name, layer] : kept.layers) {
        layer.quantize.reset();
        if (isFloat(layer.precision)) layer.precision.reset();
    }
    for (const auto& [name, layer] : config.layers) {
        LayerSettings& own = kept.layers[name];
        own.quantize = layer.quantize;
        own.comment = layer.comment;
        if (isFloat(layer.precision))
            own.precision = layer.precision;
        else if (own.precision && layer.quantize == std::optional(false))
            own.precision.reset();
        // Its integer precision takes precedence over rules; the format may only have bits.
        if (layer.precision && layer.precision->isInteger() && !own.precision) own.quantize = true;
    }
    std::erase_if(kept.layers, [](const auto& layer) { return layer.second.empty(); });
    return kept;
}

/// Keeps the rules and settings of layers of `config` that decide what stays in float, if `changed` decides
/// the same with its own.
void keepSkips(Session& session, const QuantizationConfig& config, QuantizationConfig& changed,
               const CancelToken& cancel) {
    // Only skipped layers: others can be in float because of the placement of the quantizers.
    const auto skipped = [&](const QuantizationConfig& which) {
        std::vector<std::optional<Precision>> result;
        const EvaluationPtr evaluation = session.evaluate(which, Depth::States, {}, cancel);
        for (const LayerResult& layer : evaluation->layers)
            result.push_back(layer.state == LayerState::Skipped ? std::optional(layer.precision)
                                                                : std::nullopt);
        return result;
    };
    const std::vector<std::optional<Precision>> exported = skipped(changed);
    if (skipped(config) != exported) return;
    QuantizationConfig kept = withSkipsOf(config, changed);
    if (skipped(kept) == exported) changed = std::move(kept);
}

}  // namespace

CancelToken startPreview(Document& document, const ExportInfo& info, const std::filesystem::path& output,
                         const std::shared_ptr<ExportPreview>& result) {
    return document.job()->runExport(
        QString::fromStdString(info.title),
        [=, order = orderOf(document)](Session& session, const CancelToken& cancel) -> QString {
            try {
                const FileFormat& format = formatNamed(info.format, false);
                const ExportSource source = sourceFor(session, order, format, output, cancel);
                const ExportResult exported = exportTo(format, source);
                result->text = exported.files.at(0).text;
                result->notices = exported.notices;
                result->changed = exportedConfig(format, source, exported);
                if (result->changed) {
                    keepSkips(session, order.config, *result->changed, cancel);
                    if (configDifference(order.config, *result->changed).isEmpty()) result->changed.reset();
                }
            } catch (const Cancelled&) {
                throw;
            } catch (const std::exception& error) {
                // The dialog could not tell a failed job from the failure of another export.
                result->failure = error.what();
            }
            result->ready = true;
            return {};
        });
}

namespace {

struct Written {
    std::vector<std::string> notices;               ///< settings that the format does not support
    std::vector<std::filesystem::path> files = {};  ///< the main file first; empty: only the one asked for
};

/// Refuses to replace files that the user was not asked about: those next to a new main file, unless they are
/// `own`.
void checkCompanions(const ExportResult& result, const std::filesystem::path& path,
                     const std::set<std::filesystem::path>& own) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return;
    for (const ExportedFile& file : result.files)
        if (const auto other = exportedPath(path, file.ending);
            std::filesystem::exists(other, ignored) && !own.contains(other))
            failInput(
                "'{}', which belongs to this export, exists already: move it, or choose another name or "
                "folder",
                other.string());
}

/// Writes one export. `own`: files that this export may replace.
Written writeOne(Session& session, const ExportOrder& order, const ExportInfo& info,
                 const std::filesystem::path& path, const CancelToken& cancel,
                 const std::set<std::filesystem::path>& own = {}) {
    order.inputs.checkOutput(path);
    // The results of this configuration, not those that the window predicts.
    const auto states = [&] {
        const Depth depth = session.hasData() ? Depth::Metrics : Depth::States;
        return order.layers.empty() ? session.evaluate(order.config, depth, {}, cancel)->layers
                                    : order.layers;
    };
    switch (info.kind) {
        case ExportKind::FileFormat: {
            const FileFormat& format = formatNamed(info.format, false);
            const ExportSource source = sourceFor(session, order, format, path, cancel);
            const ExportResult result = exportTo(format, source);
            checkCompanions(result, path, own);
            return {result.notices, writeExport(result, path, order.inputs)};
        }
        case ExportKind::Pdf: {
            const FileFormat& format = formatNamed("html", false);
            writePdfReport(htmlReport(sourceFor(session, order, format, path, cancel), true), path);
            return {};
        }
        case ExportKind::QuantizedModel:
            return {saveQuantizedModel(session, order.config, path, cancel)};
        case ExportKind::EqualizedModel: {
            const auto prepared = session.prepare(order.config);
            saveModel(*withSharedConstants(prepared->transformed), path);
            return {prepared->notices};
        }
        case ExportKind::Svg:
            writeFileAtomically(path, graphToSvg(*order.graph, states(), cancel, order.arrangement));
            return {};
        case ExportKind::Dot:
            writeFileAtomically(path, pictureToDot(*order.graph, states()));
            return {};
    }
    return {};
}

QString commandOf(const Document& document, const ExportInfo& info, const std::filesystem::path& path) {
    QStringList output{QStringLiteral("-o"), pathText(path)};
    switch (info.kind) {
        case ExportKind::FileFormat:
            output << QStringLiteral("--to") << QString::fromStdString(info.format);
            return outputCommand(document, QStringLiteral("export"), output);
        case ExportKind::QuantizedModel:
            return outputCommand(document, QStringLiteral("quantize"), output);
        case ExportKind::EqualizedModel:
            return outputCommand(document, QStringLiteral("transform"), output);
        case ExportKind::Svg:
        case ExportKind::Dot:
            return outputCommand(document, QStringLiteral("render"), output);
        case ExportKind::Pdf:
            break;
    }
    return {};
}

/// Reports the export to the log.
void announce(Document& document, const ExportInfo& info, const std::filesystem::path& path) {
    Q_EMIT document.exportStarted(pathText(path.filename()), commandOf(document, info, path));
}

}  // namespace

void startExport(Document& document, const ExportInfo& info, const std::filesystem::path& path) {
    announce(document, info, path);
    const QString what = Words::tr("export to %1").arg(pathText(path.filename()));
    document.job()->runExport(
        what, [order = orderOf(document), info, path](Session& session, const CancelToken& cancel) {
            const Written written = writeOne(session, order, info, path, cancel);
            QStringList others;
            for (std::size_t i = 1; i < written.files.size(); ++i)
                others << pathText(written.files[i].filename());
            const QString main = pathText(path);
            QString text = others.isEmpty() ? Words::tr("Wrote %1.").arg(main)
                                            : Words::tr("Wrote %1 and, in the same folder, %2.")
                                                  .arg(main, others.join(QStringLiteral(", ")));
            for (const std::string& notice : written.notices)
                text += QLatin1Char('\n') + QString::fromStdString(notice);
            return text;
        });
}

std::filesystem::path exportPath(const Document& document, const ExportInfo& info,
                                 const std::filesystem::path& folder) {
    std::filesystem::path path = folder / document.model()->path.filename();
    path.replace_extension();
    path += info.suffix;
    return path;
}

void startBatchExport(Document& document, const std::shared_ptr<BatchExport>& batch) {
    for (const BatchExport::Entry& entry : batch->entries)
        announce(document, exportKinds()[entry.kind], entry.path);
    document.job()->runExport(Words::tr("batch export"), [order = orderOf(document), batch](
                                                             Session& session, const CancelToken& cancel) {
        std::set<std::filesystem::path> own;
        for (BatchExport::Entry& entry : batch->entries) {
            cancel.check();
            try {
                Written written =
                    writeOne(session, order, exportKinds()[entry.kind], entry.path, cancel, own);
                entry.notices = std::move(written.notices);
                own.insert(written.files.begin(), written.files.end());
            } catch (const Cancelled&) {
                throw;
            } catch (const std::exception& error) {
                entry.failure = QString::fromUtf8(error.what());
            }
            ++batch->done;
        }
        const auto failed = std::ranges::find_if(
            batch->entries, [](const BatchExport::Entry& entry) { return !entry.failure.isEmpty(); });
        if (failed != batch->entries.end())  // the dialog may have been closed
            failInput("{}", failed->failure.toStdString());
        return QString();
    });
}

}  // namespace quantloupe::ui
