// SPDX-License-Identifier: Apache-2.0
// Every operator against ONNX's own node tests (Debian's libonnx-testdata). All inputs but the first are made constant, as they
// are in the networks we meet; operators with two data operands get both.
#include <onnx/onnx_pb.h>

#include <QtTest>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "model/graph_builder.h"
#include "model/load_model.h"
#include "model/onnx_proto.h"
#include "runtime/program.h"
#include "runtime/workers.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

const fs::path kTests = "/usr/share/libonnx-testdata/data/node";

/// The node tests that this version runs, by the beginning of their names.
const std::set<std::string> kBeginnings = {
    "averagepool_1d", "averagepool_2d", "averagepool_3d", "basic_conv", "batchnorm_e", "clip", "concat_", "conv_with",
    "elu", "erf", "exp_example", "flatten", "gather_0", "gather_1", "gather_2d", "gather_neg", "gemm_alpha", "gemm_beta", "gemm_default_no",
    "gemm_default_single", "gemm_default_vector", "gemm_default_zero", "gemm_transposeA", "gemm_transposeB", "globalaveragepool",
    "globalmaxpool", "hardsigmoid", "hardswish", "identity", "layer_normalization", "leakyrelu", "matmul", "maxpool_1d",
    "maxpool_2d", "maxpool_3d", "mul", "neg", "pow", "prelu", "reduce_mean", "reduce_sum_d", "reduce_sum_k", "reduce_sum_n", "relu",
    "reshape", "sigmoid", "softmax", "softplus", "sqrt", "squeeze", "sub", "tanh", "transpose", "unsqueeze", "add", "div",
    "abs", "log_example", "reciprocal", "shape"};

bool wanted(const std::string& name) {
    for (const char* part : {"_expanded", "_uint", "int32", "int64", "float64", "float16", "_types", "seq", "loss", "sequence", "opt",
                             "training", "with_argmax", "integer", "bool", "mask", "str", "int8"})
        if (name.find(part) != std::string::npos) return false;
    for (const std::string& beginning : kBeginnings)
        if (name.rfind("test_" + beginning, 0) == 0) return true;
    return false;
}

ConstantPtr readTensor(const fs::path& path) {
    auto tensor = std::make_shared<onnx::TensorProto>();
    if (!tensor->ParseFromString(readFile(path))) return nullptr;
    return constantFromProto(*tensor, tensor, {});
}

}  // namespace

class OnnxNodeTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        limitOpenMpOfThisThread();
        if (!fs::exists(kTests)) QSKIP("Debian's package libonnx-testdata is not installed");
    }

    void node_data() {
        QTest::addColumn<QString>("folder");
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(kTests)) names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        for (const std::string& name : names)
            if (wanted(name)) QTest::newRow(name.c_str()) << QString::fromStdString((kTests / name).string());
    }

    void node() {
        QFETCH(QString, folder);
        try {
            runNode(folder.toStdString());
        } catch (const Error& error) {
            QFAIL(error.what());
        }
    }

  private:
    void runNode(const fs::path& path) {
        const LoadedModel model = loadModel(path / "model.onnx");
        QVERIFY(unknownOperators(*model.graph).empty());
        const fs::path data = path / "test_data_set_0";
        const std::string& op = model.graph->nodes()[0].op;
        const bool twoOperands = op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow" || op == "MatMul" ||
                                 op == "Concat" || op == "PRelu";
        std::vector<ConstantPtr> values;
        GraphBuilder fixed;
        fixed.facts() = model.graph->facts();
        for (std::size_t i = 0; i < model.graph->inputs().size(); ++i) {
            values.push_back(readTensor(data / fmt::format("input_{}.pb", i)));
            QVERIFY(values.back());
            const TensorInfo& info = model.graph->tensor(model.graph->inputs()[i]);
            const TensorId id = fixed.tensor(info.name);
            if (i == 0 || twoOperands) fixed.addInput(id, info.type, info.shape);
            else fixed.setConstant(id, values.back());
        }
        for (Node node : model.graph->nodes()) {
            for (auto* list : {&node.inputs, &node.outputs})
                for (TensorId& id : *list)
                    if (id.valid()) id = fixed.tensor(model.graph->tensor(id).name);
            fixed.addNode(std::move(node));
        }
        for (const TensorId id : model.graph->outputs()) fixed.addOutput(fixed.tensor(model.graph->tensor(id).name));
        const GraphPtr graph = fixed.build();

        ProgramSpec spec;
        spec.graph = graph;
        spec.observed = {graph->outputs()[0]};
        for (std::size_t i = 0; i < graph->inputs().size(); ++i)
            spec.inputs[graph->inputs()[i]] = {values[i]->type(), values[i]->dims(), Layout::Plain};
        const auto program = Program::compile(std::move(spec));
        Workspace workspace(program);
        for (std::size_t i = 0; i < graph->inputs().size(); ++i)
            workspace.bind(graph->inputs()[i], values[i]->bytes().data());
        workspace.run();

        const ConstantPtr expected = readTensor(data / "output_0.pb");
        const TensorDesc& desc = program->desc(graph->outputs()[0]);
        QCOMPARE(toString(desc.dims), toString(expected->dims()));
        std::vector<std::byte> plain(desc.bytes());
        convertLayout(desc, workspace.data(graph->outputs()[0]), Layout::Plain, plain.data());
        const auto found = Constant::fromBytes(desc.type, desc.dims, plain)->toDoubles();
        const auto truth = expected->toDoubles();
        double largest = 0, worst = 0;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            largest = std::max(largest, std::abs(truth[i]));
            worst = std::max(worst, std::abs(truth[i] - found[i]));
        }
        QVERIFY2(worst <= 1e-5 * std::max(largest, 1.0), qPrintable(QString("off by %1 of %2").arg(worst).arg(largest)));
    }
};

QTEST_GUILESS_MAIN(OnnxNodeTest)
#include "onnx_node_test.moc"
