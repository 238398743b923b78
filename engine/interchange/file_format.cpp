// SPDX-License-Identifier: Apache-2.0
#include "interchange/file_format.h"

#include <algorithm>
#include <sstream>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"
#include "config/near_names.h"
#include "interchange/guess_format.h"
#include "interchange/writers.h"
#include "model/load_model.h"
#include "quantize/plan.h"

namespace quantloupe {

const std::vector<FileFormat>& fileFormats() {
    static const std::vector<FileFormat> kAll = {
        {"amct",
         "AMCT configuration",
         ".amct.json",
         "config.json for amct_onnx's create_quant_config and quantize_model",
         FormatNeeds::States,
         {"skip rules become single layers",
          "layers other than Conv, ConvTranspose, Gemm, MatMul and AveragePool are left out",
          "layer outputs are not quantized",
          "transforms other than batch-norm folding need the transformed model"},
         writeAmct,
         readAmct,
         FormatPrecisions::LayerBits},
        {"amct-minimal",
         "AMCT configuration, minimal (TensorFlow)",
         ".amct_minimal.json",
         "config.json with only the keys that AMCT's oldest tools support: no bit widths, no hfmg, no "
         "batch_num",
         FormatNeeds::States,
         {"8 bits everywhere", "only the algorithms ifmr and arq_quantize",
          "all limits of AMCT's full configuration"},
         writeAmctMinimal,
         readAmct,
         FormatPrecisions::None},
        {"amct-simple",
         "AMCT simplified configuration",
         ".amct.cfg",
         "the .cfg that AMCT's create_quant_config takes as config_defination",
         FormatNeeds::States,
         {"skip rules other than by operator become single layers",
          "all limits of AMCT's full configuration"},
         writeAmctSimple,
         readAmctSimple,
         FormatPrecisions::LayerBits},
        {"quark",
         "Quark script",
         ".quark.py",
         "a Python script for AMD Quark's ONNX quantizer, the float model that it quantizes, and QConfig "
         "JSON for Quark 0.12 and later",
         FormatNeeds::States,
         {"skip rules become single layers", "one scheme for all layers",
          "equalization other than Quark's is already applied to the exported model"},
         writeQuark,
         readQuark,
         FormatPrecisions::Own},
        {"clika",
         "CLIKA settings",
         ".clika.py",
         "Python settings for CLIKA ACE 24.x, and the same settings as YAML",
         FormatNeeds::States,
         {"skip rules by operator, name, block or threshold become single layers",
          "CLIKA chooses calibration, symmetry and granularity", "transforms need the transformed model"},
         writeClika,
         readClika,
         FormatPrecisions::LayerBits},
        {"aimet",
         "AIMET encodings",
         ".encodings",
         "encodings 1.0.0, 0.6.1 and 2.0.0, the float model whose tensors they name, a quantsim "
         "configuration, and a Python module that loads them",
         FormatNeeds::Scales,
         {"layers in float are those without an encoding", "biases stay in float"},
         writeAimet,
         readAimet,
         FormatPrecisions::TensorBits},
        {"onnxruntime",
         "ONNX Runtime script",
         ".onnxruntime.py",
         "a Python script with quantize_static, and the float model that it quantizes",
         FormatNeeds::BetterScales,
         {"skip rules become single layers",
          "without calibration data, only ONNX Runtime's own calibration methods"},
         writeOnnxRuntime,
         readOnnxRuntime,
         FormatPrecisions::Conversions},
        {"nncf",
         "NNCF script",
         ".nncf.py",
         "a Python script with nncf.quantize and an IgnoredScope, and the float model that it quantizes",
         FormatNeeds::States,
         {"skip rules by name, block, threshold and downstream become single layers",
          "no scales, no bit widths per layer"},
         writeNncf,
         nullptr,
         FormatPrecisions::None},
        {"modelopt",
         "ModelOpt script",
         ".modelopt.py",
         "a Python script with NVIDIA ModelOpt's quantize, and the float model that it quantizes",
         FormatNeeds::States,
         {"skip rules become single layers", "only symmetric 8-bit activations",
          "only max or entropy calibration"},
         writeModelOpt,
         nullptr,
         FormatPrecisions::None},
        {"qnn",
         "QNN quantization overrides",
         ".qnn.json",
         "the --quantization_overrides file for Qualcomm's converters, and the float model whose tensors "
         "it names",
         FormatNeeds::Scales,
         {"skip rules become single layers", "the converter quantizes the biases"},
         writeQnn,
         nullptr,
         FormatPrecisions::TensorBits},
        {"tpu-mlir",
         "TPU-MLIR quantization table",
         ".qtable",
         "the --quantize_table file of Sophgo's model_deploy.py, and the float model whose layers it names",
         FormatNeeds::States,
         {"only F32, F16 and INT8", "skip rules become single layers"},
         writeTpuMlir,
         nullptr,
         FormatPrecisions::Own},
        {"tidl",
         "TIDL compilation options",
         ".tidl.json",
         "the options of TI's compiler with its lists of 16-bit and float layers, and the float model",
         FormatNeeds::States,
         {"only 8 or 16 bits", "layers in float run on the CPU", "skip rules become single layers"},
         writeTidl,
         nullptr,
         FormatPrecisions::Own},
        {"rknn",
         "RKNN hybrid quantization",
         ".rknn.py",
         "a Python script that sets the float16 layers in the .quantization.cfg of RKNN-Toolkit2, and the "
         "float model",
         FormatNeeds::States,
         {"only 8 bits or float16", "skip rules become single layers"},
         writeRknn,
         nullptr,
         FormatPrecisions::Own},
        {"pulsar2",
         "Pulsar2 layer_configs",
         ".pulsar2.json",
         "the part of a configuration for Axera's pulsar2 build that sets the types of layers, and the float "
         "model",
         FormatNeeds::States,
         {"only 8 bits, 16 bits or float32", "skip rules become single layers"},
         writePulsar2,
         nullptr,
         FormatPrecisions::Own},
        {"model-explorer",
         "Model Explorer node data",
         ".model_explorer.json",
         "sensitivities and states as an overlay for Google's Model Explorer",
         FormatNeeds::Metrics,
         {"the configuration is not included"},
         writeModelExplorer,
         nullptr,
         FormatPrecisions::Preview,
         FormatFamily::Picture},
        {"clika-graphs",
         "CLIKA graph pictures",
         ".model_post_preprocessing.svg",
         "the graph before and after preprocessing, as SVG and DOT, colored as in CLIKA ACE",
         FormatNeeds::Metrics,
         {"the configuration is not included"},
         writeClikaGraphs,
         nullptr,
         FormatPrecisions::Preview,
         FormatFamily::Picture},
        {"html",
         "Report (HTML)",
         ".report.html",
         "one self-contained page: accuracy, graph, layers, configuration",
         FormatNeeds::Metrics,
         {},
         writeHtmlReport,
         nullptr,
         FormatPrecisions::Preview,
         FormatFamily::Report,
         true},
        {"csv",
         "Layer table (CSV)",
         ".layers.csv",
         "the layer table for spreadsheets",
         FormatNeeds::Metrics,
         {},
         writeCsvReport,
         nullptr,
         FormatPrecisions::Preview,
         FormatFamily::Report},
        {"json",
         "Report (JSON)",
         ".report.json",
         "configuration, accuracy and layers for scripts",
         FormatNeeds::Metrics,
         {},
         writeJsonReport,
         nullptr,
         FormatPrecisions::Preview,
         FormatFamily::Report,
         true},
        {"qdq",
         "Quantized model (QDQ ONNX)",
         ".quantized.onnx",
         "the model with QuantizeLinear and DequantizeLinear pairs, for every ONNX runtime; contains its "
         "configuration",
         FormatNeeds::Scales,
         {},
         writeQdqModel,
         readQdq,
         FormatPrecisions::Preview,
         FormatFamily::Model},
        {"qoperator",
         "Quantized model (QOperator ONNX)",
         ".qoperator.onnx",
         "the model with integer operators (QLinearConv, QGemm...), for ONNX Runtime; contains its "
         "configuration",
         FormatNeeds::Scales,
         {"only 8-bit codes",
          "only operators with an integer version in ONNX Runtime; the others stay between Q/DQ pairs",
          "Relu and Clip only if the range of the codes ends where they clip"},
         writeQOperator,
         readQdq,
         FormatPrecisions::Preview,
         FormatFamily::Model},
    };
    return kAll;
}

std::vector<std::string> formatNames(bool reading) {
    std::vector<std::string> names;
    for (const FileFormat& format : fileFormats())
        if (reading ? format.read != nullptr : format.write != nullptr) names.push_back(format.name);
    return names;
}

const FileFormat& formatNamed(std::string_view name, bool reading) {
    for (const FileFormat& format : fileFormats())
        if (format.name == name && (reading ? format.read != nullptr : format.write != nullptr))
            return format;
    const std::vector<std::string> names = formatNames(reading);
    failInput("unknown format '{}' to {}{}; available: {}", name, reading ? "read" : "write",
              didYouMean(nearNames(names, name, 2)), fmt::join(names, ", "));
}

ExportResult exportTo(const FileFormat& format, const ExportSource& source) {
    ExportResult result = format.write(source);
    if (source.unmigrated &&
        std::ranges::any_of(result.files, [](const ExportedFile& file) { return file.model != nullptr; }))
        failInput(
            "the model of the format {} includes outlier migration, which needs samples: give calibration "
            "data, or set refine.migration to 0",
            format.name);
    result.notices.insert(result.notices.begin(), source.precisionNotices.begin(),
                          source.precisionNotices.end());
    if (format.needs != FormatNeeds::Metrics && source.evaluation && !source.evaluation->unevaluated.empty())
        result.notices.insert(result.notices.begin(),
                              source.evaluation->unevaluated + ". Layers among these nodes stay in float");
    if (source.plan) {
        const std::vector<std::string>& plan = source.plan->notices;
        result.notices.insert(result.notices.end(), plan.begin(), plan.end());
    }
    return result;
}

namespace {

/// A tool refines nothing unless its file says so.
QuantizationConfig importStart(QuantizationConfig config) {
    config.refine.biasCorrection = BiasCorrection::Off;
    config.refine.rounding = Rounding::Nearest;
    return config;
}

}  // namespace

std::optional<QuantizationConfig> exportedConfig(const FileFormat& format, const ExportSource& source,
                                                 const ExportResult& result) {
    if (format.read == nullptr || result.files.at(0).text.empty()) return std::nullopt;
    try {
        const ImportSource exported{
            source.prepared->source, importStart(source.config), result.files[0].text, source.output, {}};
        QuantizationConfig config = format.read(exported).config;
        const auto isModel = [](const ExportedFile& file) { return file.model != nullptr; };
        if (std::ranges::any_of(result.files, isModel)) {  // the tool reads a transformed model
            const NpuOperators converted = config.transforms.npuOperators;
            config.transforms = source.config.transforms;
            config.transforms.npuOperators = converted;  // by the tool
        }
        return config;
    } catch (const Error&) {
        return std::nullopt;
    }
}

std::filesystem::path exportedPath(const std::filesystem::path& output, const std::string& ending) {
    if (ending.empty()) return output;
    if (ending.starts_with('/')) return output.parent_path() / ending.substr(1);
    return output.parent_path() / (output.stem().string() + ending);
}

namespace {

void makeExecutable(const std::filesystem::path& path) {
    using enum std::filesystem::perms;
    std::error_code ignored;  // a file system without permissions
    std::filesystem::permissions(path, owner_exec | group_exec | others_exec,
                                 std::filesystem::perm_options::add, ignored);
}

/// Commits the main file last. If a file cannot be renamed, removes the new files committed before it.
void commitAll(std::vector<StagedFile>& files) {
    std::vector<std::filesystem::path> made;
    try {
        for (std::size_t i = files.size(); i-- > 0;) {
            std::error_code ignored;
            const bool isNew = !std::filesystem::exists(files[i].target(), ignored);
            files[i].commit();
            if (isNew) made.push_back(files[i].target());
        }
    } catch (...) {
        std::error_code ignored;
        for (const auto& path : made) std::filesystem::remove(path, ignored);
        throw;
    }
}

/// Throws Error if Python would import the script itself instead of a package of the same name.
void requireOwnName(const std::filesystem::path& script, const std::string& text) {
    const std::string name = script.stem().string();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        for (const std::string& begin : {"import " + name, "from " + name}) {
            const std::string_view code = trimmed(line);
            if (code.starts_with(begin) &&
                (code.size() == begin.size() || code[begin.size()] == ' ' || code[begin.size()] == '.'))
                failInput(
                    "the script '{}' would hide the Python package '{}' that it imports: choose another name",
                    script.string(), name);
        }
}

}  // namespace

std::vector<std::filesystem::path> writeExport(const ExportResult& result,
                                               const std::filesystem::path& output,
                                               const InputPaths& inputs) {
    std::vector<std::filesystem::path> paths;
    for (const ExportedFile& file : result.files) {
        paths.push_back(exportedPath(output, file.ending));
        inputs.checkOutput(paths.back());
        if (paths.back().extension() == ".py") requireOwnName(paths.back(), file.text);
        for (std::size_t i = 0; i + 1 < paths.size(); ++i)
            if (paths[i] == paths.back())
                failInput("'{}' would be written twice: choose an output with another ending",
                          paths.back().string());
    }
    std::vector<StagedFile> staged;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const ExportedFile& file = result.files[i];
        staged.emplace_back(paths[i]).write(file.model ? modelBytes(*file.model) : file.text);
    }
    commitAll(staged);
    for (std::size_t i = 0; i < paths.size(); ++i)
        if (result.files[i].executable) makeExecutable(paths[i]);
    return paths;
}

ImportResult importFile(const FileFormat& format, GraphPtr graph, const QuantizationConfig& start,
                        const std::filesystem::path& path,
                        const std::map<std::string, std::string>& renamed) {
    const ImportSource source{std::move(graph), importStart(start), readFile(path), path, renamed};
    try {
        // A script of another tool would be read as one without settings.
        const std::string guess = guessFormat(path, source.text);
        if (path.extension() == ".py" && !guess.empty() && guess != format.name)
            failInput("this is a script of the format '{}', not '{}'", guess, format.name);
        return format.read(source);
    } catch (Error& error) {
        error.addContext(fmt::format("'{}'", path.filename().string()));
        throw;
    }
}

}  // namespace quantloupe
