// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/profile_onnxruntime.h"

#include "base/error.h"
#include "base/temporary_folder.h"
#include "interchange/onnxruntime/run_onnxruntime.h"
#include "model/load_model.h"
#include "session/evaluation_data.h"
#include "session/studies/layer_work.h"

namespace quantloupe {
namespace {

constexpr std::size_t kWarmUps = 5;

// The warm-up runs use a separate session, because profiling starts when a session is created.
constexpr const char* kProfileScript = R"(
model, inputs, output, warm_ups, runs = sys.argv[1:]


def open_session(profile):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = output
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


for profile, count in ((False, int(warm_ups)), (True, int(runs))):
    session = open_session(profile)
    arrays = dict(np.load(inputs))
    for _ in range(count):
        session.run(None, arrays)
print(onnxruntime.__version__)
print(session.end_profiling())
)";

}  // namespace

ProfileSource prepareProfile(Session& session, const QuantizationConfig& config,
                             const std::filesystem::path& model, const CancelToken& cancel) {
    if (!session.hasData()) failInput("measuring the latency needs a sample: choose a data folder first");
    const EvaluationPtr evaluation = session.experiment(config, Depth::Rough, cancel);
    saveModel(*session.quantizedModel(config, cancel), model);
    const auto sample =
        std::make_shared<SampleBatches>(subset(evaluationData(session), {0}), session.graph(), 1);
    return {model, sample, networkWork(session, *evaluation)};
}

RuntimeProfile profileOnnxRuntime(const ProfileSource& source, std::size_t runs, const CancelToken& cancel,
                                  const std::filesystem::path& python) {
    const TemporaryFolder folder;
    writeInputs(*source.sample, folder.path(), cancel);
    const std::string said = runRuntimeScript(
        kProfileScript,
        {std::filesystem::absolute(source.model).string(), (folder.path() / "inputs_000000.npz").string(),
         (folder.path() / "profile").string(), std::to_string(kWarmUps), std::to_string(runs)},
        600 + 10 * static_cast<double>(runs), cancel, python);
    const auto end = said.find('\n');
    const std::string file = said.substr(end + 1, said.find('\n', end + 1) - end - 1);
    return {readLatencyFile(file), "ONNX Runtime " + said.substr(0, end)};
}

}  // namespace quantloupe
