// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/run_onnxruntime.h"

#include <algorithm>
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

constexpr const char* kScript = R"(import pathlib
import sys

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)

model, folder, output = sys.argv[1:]



def run(level):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    rows = []
    for path in sorted(pathlib.Path(folder).glob("inputs_*.npz")):
        arrays = dict(np.load(path))
        for i in range(len(next(iter(arrays.values())))):
            rows.append(session.run(None, {name: values[i:i + 1] for name, values in arrays.items()})[0])
    return np.concatenate(rows)


# Optimizations change where values are rounded, and ONNX Runtime's 8-bit kernels saturate on processors without VNNI.
results = {"outputs": run(onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)}
print(onnxruntime.__version__)
try:
    results["optimized"] = run(onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
except Exception as error:
    print(" ".join(str(error).split())[:400])
np.savez(output, **results)
)";

constexpr std::size_t kChunkBytes = 64u << 20;

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
    writeFileAtomically(file, script);
    std::vector<std::string> all = {file.string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramOutput run = runProgram({python, all, timeoutSeconds}, cancel);
    if (run.exitCode == 3)
        failWithoutRuntime(fmt::format("'{}' has no ONNX Runtime ({})", python.string(),
                                       run.err.substr(0, run.err.find('\n'))));
    if (run.exitCode != 0)
        failInput("ONNX Runtime failed to run the model: {}",
                  run.err.size() > 800 ? run.err.substr(run.err.size() - 800) : run.err);
    return run.out;
}

RuntimeOutputs runOnnxRuntime(const fs::path& model, const Dataset& data,
                              const std::vector<InputSpec>& inputs, const CancelToken& cancel,
                              const fs::path& python) {
    const TemporaryFolder folder;
    const fs::path output = folder.path() / "outputs.npz";
    if (!python.empty() || !findPython().empty()) writeInputs(data, inputs, folder.path(), cancel);
    const std::string said =
        runRuntimeScript(kScript, {fs::absolute(model).string(), folder.path().string(), output.string()},
                         600 + 2 * static_cast<double>(data.size()), cancel, python);
    const auto arrays = loadNpz(output);
    const std::size_t line = std::min(said.find('\n'), said.size());
    RuntimeOutputs outputs{arrays.at("outputs"), "ONNX Runtime " + said.substr(0, line)};
    if (const auto optimized = arrays.find("optimized"); optimized != arrays.end())
        outputs.optimized = optimized->second;
    else
        outputs.optimizedFailure = said.substr(std::min(line + 1, said.size()));
    while (outputs.optimizedFailure.ends_with('\n')) outputs.optimizedFailure.pop_back();
    return outputs;
}

}  // namespace quantloupe
