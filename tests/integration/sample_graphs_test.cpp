// SPDX-License-Identifier: Apache-2.0
// Random graphs that mix sample-dependent tensors with constants (sample_graphs.py), compared with ONNX
// Runtime: whole batches, each sample found in every tensor, and padded batches. Needs Python with onnx and
// onnxruntime.
#include <QTemporaryDir>
#include <QtTest>

#include "base/error.h"
#include "data/numpy_file.h"
#include "session/session.h"
#include "support/python.h"
#include "support/random_seed.h"
#include "support/small_graph.h"

using namespace quantloupe;
using namespace quantloupe::test;
namespace fs = std::filesystem;

namespace {

constexpr int kGraphs = 60;
constexpr double kTolerance = 2e-5;

/// One random graph and ONNX Runtime's outputs.
struct Truth {
    GraphPtr graph;
    std::map<std::string, ConstantPtr> arrays;
    std::string text;  ///< for messages

    const Constant& of(const std::string& run, TensorId tensor) const {
        return *arrays.at(run + "/" + graph->tensor(tensor).name);
    }

    /// The largest difference from the values of a run, as a fraction of the tensor's largest value in all
    /// runs: the values of one run may cancel out, for example in a mean, and leave mostly rounding errors.
    double deviation(std::span<const float> found, const std::string& run, TensorId tensor) const {
        const std::span<const float> expected = of(run, tensor).floats();
        if (found.size() != expected.size()) return INFINITY;
        double largest = 1e-30, difference = 0;
        for (const char* each : {"b1", "b2", "b3", "b5", "s0", "s1", "s2", "s3", "s4"})
            for (const float value : of(each, tensor).floats())
                largest = std::max(largest, std::fabs(static_cast<double>(value)));
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double error = std::fabs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
            if (!(error <= difference)) difference = error;  // also if it is not a number
        }
        return difference / largest;
    }
};

/// Compiles the program like the session: checked against a batch of one.
std::shared_ptr<const Program> compile(const Truth& truth, std::int64_t batch) {
    std::map<TensorId, TensorDesc> inputs;
    for (const TensorId input : truth.graph->inputs()) {
        const Constant& all = *truth.arrays.at(truth.graph->tensor(input).name);
        Dims dims = all.dims();
        dims[0] = batch;
        inputs[input] = {all.type(), dims, Layout::Plain, {1, batch}};
    }
    ProgramSpec spec =
        floatProgram(truth.graph, inputs, {truth.graph->outputs().begin(), truth.graph->outputs().end()});
    spec.partial = true;
    if (batch > 1) spec.one = compile(truth, 1);
    return Program::compile(std::move(spec));
}

/// Values of float outputs in plain layout; `first` is the first sample of the batch.
std::vector<float> valuesOf(const Workspace& workspace, TensorId tensor) {
    const TensorDesc& desc = workspace.program().desc(tensor);
    std::vector<float> plain(desc.count());
    convertLayout(desc, workspace.data(tensor), Layout::Plain, plain.data());
    return plain;
}

/// A program that ran, and the inputs that its outputs may be views of.
struct Run {
    Workspace workspace;
    std::vector<std::vector<std::byte>> inputs;
};

/// The samples from `first` on, the last one repeated where there are no more.
Run runFrom(const Truth& truth, const std::shared_ptr<const Program>& program, std::size_t first,
            std::size_t batch) {
    Run run{Workspace(program), {}};
    for (const TensorId input : truth.graph->inputs()) {
        const Constant& all = *truth.arrays.at(truth.graph->tensor(input).name);
        const std::size_t each = all.bytes().size() / 5;
        std::vector<std::byte>& buffer = run.inputs.emplace_back();
        for (std::size_t s = 0; s < batch; ++s) {
            const auto sample = all.bytes().subspan(std::min<std::size_t>(first + s, 4) * each, each);
            buffer.insert(buffer.end(), sample.begin(), sample.end());
        }
        run.workspace.bind(input, buffer.data());
    }
    run.workspace.run();
    return run;
}

}  // namespace

class SampleGraphsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::vector<Truth> m_truths;

  private Q_SLOTS:
    void initTestCase() {
        const unsigned seed = randomSeed();
        QString said;
        const int code =
            runPython({QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/sample_graphs.py"),
                       m_folder.path(), QString::number(seed), QString::number(kGraphs)},
                      &said);
        if (code == -1 || said.contains("ModuleNotFoundError"))
            QSKIP("Python with onnx and onnxruntime is not available (QUANTLOUPE_PYTHON)");
        QVERIFY2(code == 0, qPrintable(said));
        for (int k = 0; k < kGraphs; ++k) {
            const fs::path file = fs::path(m_folder.path().toStdString()) / std::to_string(k);
            m_truths.push_back({loadModel(fs::path(file).concat(".onnx")).graph,
                                loadNpz(fs::path(file).concat(".npz")),
                                "seed " + std::to_string(seed) + ", graph " + std::to_string(k)});
        }
    }

    void batchesOfEverySizeEqualOnnxRuntime() {
        for (const Truth& truth : m_truths)
            for (const std::size_t batch : {1, 2, 3, 5}) {
                const Run run = runFrom(truth, compile(truth, static_cast<std::int64_t>(batch)), 0, batch);
                const Workspace& workspace = run.workspace;
                for (const TensorId tensor : truth.graph->outputs()) {
                    const Constant& expected = truth.of("b" + std::to_string(batch), tensor);
                    const TensorDesc& desc = workspace.program().desc(tensor);
                    const std::string where = truth.text + ", batch " + std::to_string(batch) + ", " +
                                              truth.graph->tensor(tensor).name;
                    QVERIFY2(desc.dims == expected.dims(), where.c_str());
                    if (desc.type != DataType::Float32) continue;
                    const double error =
                        truth.deviation(valuesOf(workspace, tensor), "b" + std::to_string(batch), tensor);
                    QVERIFY2(error < kTolerance, (where + ": " + std::to_string(error)).c_str());
                }
            }
    }

    /// Each sample is at the position that the layout states: the values equal those of the sample alone.
    void everySampleIsFoundInEveryTensor() {
        std::size_t perSample = 0, separate = 0;
        for (const Truth& truth : m_truths) {
            bool mixes = false;
            const auto program = compile(truth, 3);
            for (const std::size_t first : {0, 3}) {  // 3 and 4, and one of padding
                const Run run = runFrom(truth, program, first, 3);
                const Workspace& workspace = run.workspace;
                const std::size_t present = std::min<std::size_t>(3, 5 - first);
                for (const TensorId tensor : truth.graph->outputs()) {
                    TensorDesc desc = program->desc(tensor);
                    desc.layout = Layout::Plain;
                    mixes = mixes || desc.samples.isMixed();
                    if (desc.type != DataType::Float32 || !desc.samples.perSample()) continue;
                    ++perSample;
                    const std::vector<float> plain = valuesOf(workspace, tensor);
                    std::vector<float> storage;
                    const auto values = presentValues(desc, plain.data(), present, storage);
                    const std::size_t each = values.size() / present;
                    for (std::size_t s = 0; s < present; ++s) {
                        const double error = truth.deviation(values.subspan(s * each, each),
                                                             "s" + std::to_string(first + s), tensor);
                        QVERIFY2(error < kTolerance,
                                 (truth.text + ", sample " + std::to_string(first + s) + " of " +
                                  truth.graph->tensor(tensor).name + ": " + std::to_string(error))
                                     .c_str());
                    }
                }
            }
            QCOMPARE(mixes, program->mixesSamples());
            separate += mixes ? 0 : 1;
        }
        // The claims must not be empty.
        QVERIFY2(perSample > 5 * kGraphs, qPrintable(QString::number(perSample)));
        QVERIFY2(separate > kGraphs / 10, qPrintable(QString::number(separate)));
    }

    /// The session decides how many samples run at once; the outputs are those of one run over all of them,
    /// or, where the samples depend on each other, those of each alone.
    void sessionsReturnTheOutputsOfAllSamples() {
        for (std::size_t k = 0; k < m_truths.size(); ++k) {
            const Truth& truth = m_truths[k];
            const fs::path file = fs::path(m_folder.path().toStdString()) / std::to_string(k);
            Session session(loadModel(fs::path(file).concat(".onnx")));
            const DatasetPtr data =
                openDataset(fs::path(file).concat(".inputs.npz"), inputSpecsOf(session.graph()), {});
            session.setData(data, data);
            const auto found = session.outputs(std::nullopt);
            const bool apart = !compile(truth, 8)->mixesSamples();  // graphs this small run in batches of 8
            const auto alone = compile(truth, 1);
            for (std::size_t o = 0; o < found.size(); ++o) {
                const TensorId tensor = truth.graph->outputs()[o];
                const std::string where = truth.text + ", " + truth.graph->tensor(tensor).name;
                const Constant& whole = truth.of("b5", tensor);
                if (found[o]->type() != DataType::Float32) continue;
                if (apart) {
                    QVERIFY2(found[o]->dims() == whole.dims(), where.c_str());
                    QVERIFY2(truth.deviation(found[o]->floats(), "b5", tensor) < kTolerance, where.c_str());
                } else if (alone->constantValue(tensor) == nullptr &&
                           found[o]->size() == 5 * truth.of("s0", tensor).size() &&
                           found[o]->dims()[0] == 5) {
                    const std::size_t each = static_cast<std::size_t>(found[o]->size()) / 5;
                    for (std::size_t s = 0; s < 5; ++s)
                        QVERIFY2(truth.deviation(found[o]->floats().subspan(s * each, each),
                                                 "s" + std::to_string(s), tensor) < kTolerance,
                                 where.c_str());
                }
            }
        }
    }
};

QTEST_GUILESS_MAIN(SampleGraphsTest)
#include "sample_graphs_test.moc"
