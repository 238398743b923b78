// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/run_onnxruntime.h"

#include <fmt/ranges.h>

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
)";

constexpr const char* kRunScript = R"(
model, folder, output, *outputs = sys.argv[1:]
# position -> shape of the values of all samples
shapes = {position: tuple(int(size) for size in shape.split("x") if size)
          for position, shape in (text.split(":") for text in outputs)}


def joined(runs, shape):
    """Joins the values of all runs in the dimension of the samples, without the copies that fill the last batch."""
    if runs[0].ndim < len(shape):
        return np.stack(runs)
    different = [axis for axis, size in enumerate(runs[0].shape) if axis < len(shape) and size != shape[axis]]
    if not different:
        return runs[0]
    values = np.concatenate(runs, different[0])
    return values.take(range(min(values.shape[different[0]], shape[different[0]])), different[0])


def values_of(output):
    """The values of an output; of a ZipMap, the scores of each sample."""
    maps = isinstance(output, list) and output and isinstance(output[0], dict)
    return np.asarray([list(scores.values()) for scores in output], np.float32) if maps else np.asarray(output)


def run(level, exact=False):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    if exact:
        options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    runs = {position: [] for position in shapes}
    for path in sorted(pathlib.Path(folder).glob("inputs_*.npz")):
        values = session.run(None, dict(np.load(path)))
        for position in shapes:
            runs[position].append(values_of(values[int(position)]))
    return {position: joined(runs[position], shape) for position, shape in shapes.items()}


# Optimizations change where values are rounded, and ONNX Runtime's 8-bit kernels saturate on processors without VNNI.
levels = onnxruntime.GraphOptimizationLevel
runs = {"plain": run(levels.ORT_DISABLE_ALL)}
print(onnxruntime.__version__)
exact = False
try:
    runs["optimized"] = run(levels.ORT_ENABLE_ALL)
    if any(not np.array_equal(values, runs["plain"][position]) for position, values in runs["optimized"].items()):
        exact = True
except Exception as error:
    print("optimized:", " ".join(str(error).split())[:400])
try:
    if exact:
        runs["exact"] = run(levels.ORT_ENABLE_ALL, exact=True)
except Exception as error:
    print("exact:", " ".join(str(error).split())[:400])
np.savez(output, **{f"{kind}_{position}": values for kind, found in runs.items() for position, values in found.items()})
)";

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

void writeInputs(const SampleBatches& samples, const fs::path& folder, const CancelToken& cancel) {
    for (std::size_t chunk = 0; chunk < samples.chunks(); ++chunk) {
        cancel.check();
        saveNpz(samples.arrays(chunk), folder / fmt::format("inputs_{:06}.npz", chunk));
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

RuntimeOutputs runOnnxRuntime(const fs::path& model, const SampleBatches& samples,
                              const std::map<std::size_t, Dims>& outputs, const CancelToken& cancel,
                              const fs::path& python) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "outputs.npz";
    if (!python.empty() || !findPython().empty()) writeInputs(samples, folder.path(), cancel);
    std::vector<std::string> arguments{fs::absolute(model).string(), folder.path().string(), file.string()};
    for (const auto& [position, dims] : outputs)
        arguments.push_back(fmt::format("{}:{}", position, fmt::join(dims, "x")));
    const std::string said = runRuntimeScript(
        kRunScript, arguments, 600 + 2 * static_cast<double>(samples.samples()), cancel, python);
    const auto arrays = loadNpz(file);
    const std::size_t line = std::min(said.find('\n'), said.size());
    RuntimeOutputs result{{}, "ONNX Runtime " + said.substr(0, line)};
    for (const auto& [position, dims] : outputs) {
        result.values.push_back(arrays.at(fmt::format("plain_{}", position)));
        for (auto [kind, values] :
             {std::pair("optimized", &result.optimized), std::pair("exact", &result.exact)})
            if (const auto found = arrays.find(fmt::format("{}_{}", kind, position)); found != arrays.end())
                values->push_back(found->second);
    }
    const auto failureOf = [&](std::string_view kind) {
        const std::size_t at = said.find(fmt::format("\n{}: ", kind), line);
        if (at == said.npos) return std::string();
        const std::size_t begin = at + kind.size() + 3;
        return said.substr(begin, std::min(said.find('\n', begin), said.size()) - begin);
    };
    result.optimizedFailure = failureOf("optimized");
    result.exactFailure = failureOf("exact");
    return result;
}

}  // namespace quantloupe
