// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/run_onnxruntime.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/run_program.h"
#include "base/temporary_folder.h"
#include "data/numpy_file.h"

namespace quantloupe {
namespace {

namespace fs = std::filesystem;

/// The beginning of every script.
constexpr const char* kPreamble = R"(import pathlib
import sys

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)


def batch_of(session):
    """Number of samples that the model takes at a time: the leading dimension of its inputs, if it is fixed."""
    sizes = [value.shape[0] for value in session.get_inputs() if value.shape]
    return max([size for size in sizes if isinstance(size, int)], default=1)


def rows_of(arrays, first, batch):
    """Returns one batch of samples, in which the last sample is repeated if there are too few."""
    return {name: values[np.minimum(np.arange(first, first + batch), len(values) - 1)] for name, values in arrays.items()}

)";

constexpr const char* kScript = R"(
model, folder, output, *positions = sys.argv[1:]


def run(level):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    batch = batch_of(session)
    rows = {position: [] for position in positions}
    for path in sorted(pathlib.Path(folder).glob("inputs_*.npz")):
        arrays = dict(np.load(path))
        count = len(next(iter(arrays.values())))
        for first in range(0, count, batch):
            outputs = session.run(None, rows_of(arrays, first, batch))
            for position in positions:
                values = outputs[int(position)]
                rows[position].append(values[:len(values) * min(batch, count - first) // batch])
    return {position: np.concatenate(all_rows) for position, all_rows in rows.items()}


# Optimizations change where values are rounded, and ONNX Runtime's 8-bit kernels saturate on processors without VNNI.
results = {"plain_" + position: values
           for position, values in run(onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL).items()}
print(onnxruntime.__version__)
try:
    results |= {"optimized_" + position: values
                for position, values in run(onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL).items()}
except Exception as error:
    print(" ".join(str(error).split())[:400])
np.savez(output, **results)
)";

constexpr std::size_t kChunkBytes = 64u << 20;

/// Returns the last line with text, which is the message at the end of a Python traceback.
std::string lastLine(std::string text) {
    constexpr std::size_t kMost = 800;
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
    if (text.empty()) return "it ended without a message";
    return text.substr(text.rfind('\n') + 1).substr(0, kMost);
}

[[noreturn]] void failWithoutRuntime(const std::string& why) {
    failInput(
        "{}. To get it: python3 -m venv ort && ort/bin/pip install onnxruntime numpy, then choose "
        "ort/bin/python (in the window: the field Python in Verify in ONNX Runtime; elsewhere: the "
        "environment variable QUANTLOUPE_PYTHON)",
        why);
}

}  // namespace

void writeInputs(const Dataset& data, const std::vector<InputSpec>& inputs, const fs::path& folder,
                 const CancelToken& cancel) {
    std::size_t file = 0;
    for (std::size_t first = 0; first < data.size();) {
        std::vector<std::vector<std::byte>> bytes(inputs.size());
        std::vector<SampleTensor> shape;
        std::size_t count = 0, total = 0;
        while (first + count < data.size() && total < kChunkBytes) {
            cancel.check();
            shape = data.sample(first + count);
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                bytes[i].insert(bytes[i].end(), shape[i].bytes.begin(), shape[i].bytes.end());
                total += shape[i].bytes.size();
            }
            ++count;
        }
        std::map<std::string, ConstantPtr> arrays;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Dims dims = shape[i].dims;
            dims.insert(dims.begin(), static_cast<std::int64_t>(count));
            arrays[inputs[i].name] = Constant::fromBytes(shape[i].type, dims, std::move(bytes[i]));
        }
        saveNpz(arrays, folder / fmt::format("inputs_{:06}.npz", file++));
        first += count;
    }
}

fs::path findPython() {
    if (const char* chosen = std::getenv("QUANTLOUPE_PYTHON"); chosen != nullptr && *chosen != '\0')
        return chosen;
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::error_code ignored;
        fs::path candidate = fs::path(folder) / "python3";
        if (!folder.empty() && fs::is_regular_file(candidate, ignored)) return candidate;
    }
    return {};
}

std::string runRuntimeScript(std::string_view script, const std::vector<std::string>& arguments,
                             double timeoutSeconds, const CancelToken& cancel, const fs::path& chosen) {
    const fs::path python = chosen.empty() ? findPython() : chosen;
    if (python.empty())
        failWithoutRuntime("python3 is not on the PATH; running the export needs Python with ONNX Runtime");
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "run.py";
    writeFileAtomically(file, kPreamble + std::string(script));
    std::vector<std::string> all = {file.string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramOutput run = runProgram({python, all, timeoutSeconds}, cancel);
    if (run.exitCode == 3)
        failWithoutRuntime(fmt::format("'{}' has no ONNX Runtime ({})", python.string(),
                                       run.err.substr(0, run.err.find('\n'))));
    if (run.exitCode != 0) failInput("ONNX Runtime failed to run the model: {}", lastLine(run.err));
    return run.out;
}

RuntimeOutputs runOnnxRuntime(const fs::path& model, const Dataset& data,
                              const std::vector<InputSpec>& inputs, const CancelToken& cancel,
                              const fs::path& python, const std::vector<std::size_t>& positions) {
    const TemporaryFolder folder;
    const fs::path output = folder.path() / "outputs.npz";
    if (!python.empty() || !findPython().empty()) writeInputs(data, inputs, folder.path(), cancel);
    std::vector<std::string> arguments{fs::absolute(model).string(), folder.path().string(), output.string()};
    for (const std::size_t position : positions) arguments.push_back(std::to_string(position));
    const std::string said =
        runRuntimeScript(kScript, arguments, 600 + 2 * static_cast<double>(data.size()), cancel, python);
    const auto arrays = loadNpz(output);
    const std::size_t line = std::min(said.find('\n'), said.size());
    RuntimeOutputs outputs{{}, "ONNX Runtime " + said.substr(0, line)};
    for (const std::size_t position : positions) {
        outputs.values.push_back(arrays.at(fmt::format("plain_{}", position)));
        if (const auto optimized = arrays.find(fmt::format("optimized_{}", position));
            optimized != arrays.end())
            outputs.optimized.push_back(optimized->second);
    }
    if (outputs.optimized.empty()) outputs.optimizedFailure = said.substr(std::min(line + 1, said.size()));
    while (outputs.optimizedFailure.ends_with('\n')) outputs.optimizedFailure.pop_back();
    return outputs;
}

}  // namespace quantloupe
