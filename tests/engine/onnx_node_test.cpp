// SPDX-License-Identifier: Apache-2.0
// Every operator against ONNX's own node tests (Debian's libonnx-testdata). Weights and parameters are made
// constant, as they are in the networks we meet.
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
    "abs", "acos", "add", "and", "argmax", "argmin", "asin", "atan", "averagepool_1d", "averagepool_2d", "averagepool_3d",
    "basic_conv", "basic_convinteger", "batchnorm_e", "cast", "ceil", "celu", "clip", "concat_", "constantofshape", "conv_with", "convinteger", "convtranspose",
    "cos", "cumsum", "depthtospace", "dequantizelinear", "div", "dynamicquantizelinear", "einsum", "edge_pad", "constant_pad", "reflect_pad", "wrap_pad", "elu", "equal", "erf", "exp_example", "expand_dim",
    "flatten", "floor", "gather", "gelu", "gemm_alpha", "gemm_beta", "gemm_default_no", "gemm_default_single",
    "gemm_default_vector", "gemm_default_zero", "gemm_transposeA", "gemm_transposeB", "globalaveragepool", "globalmaxpool",
    "greater", "gridsample", "gru", "group_normalization", "hardmax", "hardsigmoid", "hardswish", "identity", "instancenorm", "isinf", "isnan",
    "layer_normalization", "leakyrelu", "less", "log_example", "logsoftmax", "lrn", "lstm", "matmul", "matmulinteger", "max_", "maxpool_1d",
    "maxpool_2d", "maxpool_3d", "mean_", "min_", "mish", "mod_", "mul", "neg", "not_", "onehot", "or", "pow", "prelu", "qlinear", "quantizelinear", "range",
    "reciprocal", "reduce_", "relu", "reshape", "resize", "rnn", "round", "scatter", "selu", "shape", "shrink", "sigmoid", "sign", "simple_rnn", "sin",
    "size", "slice", "softmax", "softplus", "softsign", "spacetodepth", "split_", "sqrt", "squeeze", "sub", "sum_", "tan",
    "thresholdedrelu", "tile", "top_k", "transpose", "tril", "triu", "unsqueeze", "upsample", "where", "xor"};

/// Parts of names: other types than networks have, training, and what is refused with words.
const std::set<std::string> kLeftOut = {
    "_expanded", "_uint", "float64", "float16", "_types", "seq", "loss", "sequence", "optional", "identity_opt", "training", "with_argmax",
    "bool_", "mask", "STRING", "_int8", "int16", "bernoulli", "FLOAT8",
    "crop_and_resize", "not_larger", "not_smaller",  // Resize on a region, and keeping the aspect ratio
    "downsample_scales_cubic_align", "downsample_scales_linear_align",  // they count a fraction of a pixel; ONNX Runtime does not
    "tf_half_pixel_for_nn",                          // names an input that it does not have
    "BFLOAT16",                                      // stored as another type than declared
    "zero_size", "tril_zero", "triu_zero"};

/// Inputs after the first that come with the data; the others are constants, as they are in networks.
bool comesWithData(const std::string& op, std::size_t input) {
    static const std::set<std::string> kOperands = {
        "Add", "Sub", "Mul", "Div", "Pow", "Mod", "MatMul", "Concat", "PRelu", "Max", "Min", "Sum", "Mean", "Equal", "Greater",
        "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Where", "Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND", "Einsum", "GridSample"};
    static const std::set<std::string> kAllConstant = {"ConstantOfShape", "Range"};
    return kOperands.contains(op) || (input == 0 && !kAllConstant.contains(op));
}

bool wanted(const std::string& name) {
    for (const std::string& part : kLeftOut)
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
        std::vector<ConstantPtr> values;
        GraphBuilder fixed;
        fixed.facts() = model.graph->facts();
        for (std::size_t i = 0; i < model.graph->inputs().size(); ++i) {
            values.push_back(readTensor(data / fmt::format("input_{}.pb", i)));
            QVERIFY(values.back());
            const TensorInfo& info = model.graph->tensor(model.graph->inputs()[i]);
            const TensorId id = fixed.tensor(info.name);
            if (comesWithData(op, i)) fixed.addInput(id, info.type, info.shape);
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
        spec.observed.assign(graph->outputs().begin(), graph->outputs().end());
        std::vector<ConstantPtr> inputs;
        for (const TensorId id : graph->inputs()) {
            for (std::size_t i = 0; i < values.size(); ++i)
                if (model.graph->tensor(model.graph->inputs()[i]).name == graph->tensor(id).name) inputs.push_back(values[i]);
            spec.inputs[id] = {inputs.back()->type(), inputs.back()->dims(), Layout::Plain};
        }
        const auto program = Program::compile(std::move(spec));
        Workspace workspace(program);
        for (std::size_t i = 0; i < inputs.size(); ++i) workspace.bind(graph->inputs()[i], inputs[i]->bytes().data());
        workspace.run();

        for (std::size_t o = 0; o < graph->outputs().size(); ++o) {
            const ConstantPtr expected = readTensor(data / fmt::format("output_{}.pb", o));
            const TensorDesc& desc = program->desc(graph->outputs()[o]);
            QCOMPARE(dataTypeName(desc.type), dataTypeName(expected->type()));
            QCOMPARE(toString(desc.dims), toString(expected->dims()));
            std::vector<std::byte> plain(desc.bytes());
            convertLayout(desc, workspace.data(graph->outputs()[o]), Layout::Plain, plain.data());
            compare(Constant::fromBytes(desc.type, desc.dims, plain)->toDoubles(), expected->toDoubles());
        }
    }

    void compare(const std::vector<double>& found, const std::vector<double>& truth) {
        double largest = 1, worst = 0;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            if (found[i] == truth[i] || (std::isnan(found[i]) && std::isnan(truth[i]))) continue;
            QVERIFY2(std::isfinite(truth[i]) && std::isfinite(found[i]), "not a number or infinite where the other is not");
            largest = std::max(largest, std::abs(truth[i]));
            worst = std::max(worst, std::abs(truth[i] - found[i]));
        }
        QVERIFY2(worst <= 1e-5 * largest, qPrintable(QString("off by %1 of %2").arg(worst).arg(largest)));
    }
};

QTEST_GUILESS_MAIN(OnnxNodeTest)
#include "onnx_node_test.moc"
