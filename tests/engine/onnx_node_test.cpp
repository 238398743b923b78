// SPDX-License-Identifier: Apache-2.0
// Every operator on ONNX's own node tests: those of Debian's libonnx-testdata, those of the Python package
// onnx, which knows more operators, and the latter with the opsets of other versions of each operator,
// compared with ONNX Runtime. Weights and parameters are made constant, as they usually are in networks.
#include <onnx/onnx_pb.h>

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>
#include <array>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "model/graph_builder.h"
#include "model/load_model.h"
#include "model/onnx_proto.h"
#include "runtime/program/program.h"
#include "support/python.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

constexpr const char* kRelu = "/relu";
const fs::path kTests = "/usr/share/libonnx-testdata/data";

/// Tests whose expected values differ from those of ONNX Runtime 1.32, which Quantloupe computes: the
/// expected ones count a fraction of a pixel in the size of a resized image, take the indices of a MaxUnpool
/// for positions in the smallest possible output, and, in ONNX 1.12, truncate floats to bfloat16 instead of
/// rounding them.
const std::map<std::string, std::vector<double>> kOnnxRuntimeValues = [] {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::map<std::string, std::vector<double>> all{
        {"test_resize_downsample_scales_cubic_align_corners", {1, 2.5, 4, 7, 8.5, 10, 13, 14.5, 16}},
        {"test_resize_downsample_scales_linear_align_corners", {1, 4}},
        {"test_maxunpool_export_with_output_shape",
         {0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0}}};
    for (const char* name : {"test_cast_FLOAT_to_BFLOAT16", "test_castlike_FLOAT_to_BFLOAT16",
                             "test_castlike_FLOAT_to_BFLOAT16_expanded"})
        all[name] = {0.478515625, 0.48046875,  0.5,
                     0.8203125,   0.470703125, 0.81640625,
                     0.2109375,   0.72265625,  std::numeric_limits<double>::quiet_NaN(),
                     kInfinity,   kInfinity,   -kInfinity};
    return all;
}();

/// Tests of ONNX 1.17 (Debian 13) whose expected values were corrected later.
const std::set<std::string> kCorrected = {
    "test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True",
    "test_qlinearmatmul_2D_int8_float32", "test_qlinearmatmul_3D_int8_float32"};

/// Tolerance relative to max |expected|. ONNX uses 1e-3.
double toleranceOf(const std::string& name) {
    // float32 operations one by one against float64
    if (name.find("window") != std::string::npos) return 1e-4;
    if (name.find("roialign") != std::string::npos) return 1e-4;  // expected values of four decimals
    return 1e-5;
}

/// Inputs after the first that are data inputs; the others are constants, as in networks. (Constant weights
/// of convolutions are folded in the second pass.)
bool comesWithData(const std::string& op, std::size_t input) {
    static const std::set<std::string> kOperands = {"Add",
                                                    "Sub",
                                                    "Mul",
                                                    "Div",
                                                    "Pow",
                                                    "Mod",
                                                    "MatMul",
                                                    "Concat",
                                                    "Conv",
                                                    "ConvTranspose",
                                                    "PRelu",
                                                    "Max",
                                                    "Min",
                                                    "Sum",
                                                    "Mean",
                                                    "Equal",
                                                    "Greater",
                                                    "GreaterOrEqual",
                                                    "Less",
                                                    "LessOrEqual",
                                                    "And",
                                                    "Or",
                                                    "Xor",
                                                    "Where",
                                                    "Gather",
                                                    "GatherElements",
                                                    "GatherND",
                                                    "Scatter",
                                                    "ScatterElements",
                                                    "ScatterND",
                                                    "Einsum",
                                                    "GridSample"};
    static const std::set<std::string> kAllConstant = {"ConstantOfShape", "Range"};
    return kOperands.contains(op) || (input == 0 && !kAllConstant.contains(op));
}

/// The files have the bits of bfloat16 as uint16: `declared` is the type in the model.
ConstantPtr readTensor(const fs::path& path, const onnx::ValueInfoProto& declared) {
    if (!declared.type().has_tensor_type()) return nullptr;
    auto tensor = std::make_shared<onnx::TensorProto>();
    if (!tensor->ParseFromString(readFile(path))) return nullptr;
    if (declared.type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16)
        tensor->set_data_type(onnx::TensorProto::BFLOAT16);
    return constantFromProto(*tensor, tensor, {});
}

}  // namespace

class OnnxNodeTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder, m_others;  ///< the tests of the Python package, and those with other opsets
    QString m_version;                 ///< of the Python package onnx; empty without it

    /// The tests of the Python package by outcome, and each operator's.
    std::map<std::string, std::string> m_refused;           ///< test, reason
    std::map<std::string, std::array<int, 2>> m_operators;  ///< passed, refused
    std::set<std::string> m_substituted;                    ///< passed with values of kOnnxRuntimeValues

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid() && m_others.isValid());
        if (test::pythonHasOnnxRuntime()) {
            m_version = written(m_folder, {});
            QVERIFY(!m_version.isEmpty() && written(m_others, {"--versions"}).toInt() > 500);
        }
        if (m_version.isEmpty() && !fs::exists(kTests))
            QSKIP("neither Debian's package libonnx-testdata nor the Python package onnx is installed");
    }

    void node_data() {
        QTest::addColumn<QString>("folder");
        const auto add = [](const fs::path& folder, const char* prefix) {
            std::vector<std::string> names;
            for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
            std::sort(names.begin(), names.end());
            for (const std::string& name : names)
                if (folder.parent_path() != kTests || !kCorrected.contains(name))
                    QTest::newRow((prefix + name).c_str())
                        << QString::fromStdString((folder / name).string());
        };
        for (const std::string kind : {"node", "simple", "pytorch-converted", "pytorch-operator"})
            if (fs::exists(kTests / kind)) add(kTests / kind, (kind + '/').c_str());
        if (m_version.isEmpty()) return;
        add(m_folder.path().toStdString(), "python/");
        add(m_others.path().toStdString(), "versions/");
    }

    /// Results are right or refused with a reason, never wrong.
    void node() {
        QFETCH(QString, folder);
        const fs::path path = folder.toStdString();
        const std::string name = path.filename();
        const std::string op = operatorOf(path);
        const bool counted = isCounted(path);
        try {
            try {
                runNode(path, false);
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::Unsupported) throw;
                runNode(path, true);  // as in the part of a network that is evaluated with known values
            }
            if (counted && !QTest::currentTestFailed()) ++m_operators[op][0];
        } catch (const Error& error) {
            QVERIFY2(error.kind() != ErrorKind::Internal, error.what());
            if (counted) refuse(name, op, error.what());
        }
    }

    /// docs/operators.md lists the supported operators. QUANTLOUPE_UPDATE=1 writes it.
    void documentIsUpToDate() {
        if (m_version.isEmpty()) QSKIP("the document needs the Python package onnx (QUANTLOUPE_PYTHON)");
        int passed = 0, refused = 0;
        std::string table;
        for (const auto& [op, counts] : m_operators) {
            passed += counts[0];
            refused += counts[1];
            table += fmt::format("| {} | {} | {} |\n", op, counts[0], counts[1]);
        }
        std::map<std::string, std::vector<std::string>> byReason;
        for (const auto& [name, reason] : m_refused) byReason[reason].push_back(name);
        std::string text = fmt::format(
            "# Operators\n\nGenerated by `onnx_node_test` with `QUANTLOUPE_UPDATE=1`; do not edit.\n\n"
            "The test runs all {} node tests of ONNX {} and compares the results with the expected values: "
            "**{} "
            "pass, {} are refused with a reason, 0 are wrong.** Of those that pass, {} have the values that "
            "ONNX Runtime computes, which differ from the expected ones: {}. The older tests of Debian's "
            "package "
            "libonnx-testdata are run, too.\n\n"
            "A network with an operator that is refused is evaluated up to that operator, see "
            "[Networks that are evaluated in part](command_line.md#networks-that-are-evaluated-in-part).\n\n"
            "## By operator\n\n| operator | passed | refused |\n|---|---|---|\n{}\n## Why tests are "
            "refused\n\n",
            passed + refused, m_version.toStdString(), passed, refused, m_substituted.size(),
            fmt::join(m_substituted, ", "), table);
        for (const auto& [reason, names] : byReason)
            text += fmt::format("- {}: {}\n", reason, fmt::join(names, ", "));
        const fs::path file = fs::path(QUANTLOUPE_SOURCE_DIR) / "docs/operators.md";
        if (qEnvironmentVariableIsSet("QUANTLOUPE_UPDATE")) writeFileAtomically(file, text);
        QVERIFY2(fs::exists(file) && readFile(file) == text,
                 "run this test with QUANTLOUPE_UPDATE=1 and look at the changes");
    }

  private:
    /// Runs the Python script that writes the tests into a folder. Returns its output; empty if it fails.
    static QString written(const QTemporaryDir& folder, const QStringList& how) {
        const test::Outcome outcome = test::runProgram(
            qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3"),
            QStringList{QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/onnx_node_tests.py"),
                        folder.path()} +
                how);
        if (outcome.code != 0) qWarning("%s", outcome.text().constData());
        return outcome.code == 0 ? outcome.out.trimmed() : QString();
    }

    static onnx::ModelProto modelOf(const fs::path& path) {
        onnx::ModelProto model;
        model.ParseFromString(readFile(path / "model.onnx"));
        return model;
    }
    static std::string operatorOf(const fs::path& path) {
        const onnx::ModelProto model = modelOf(path);
        return model.graph().node_size() > 0 ? model.graph().node(0).op_type() : "(no node)";
    }

    void refuse(const std::string& name, const std::string& op, std::string reason) {
        // Names of tensors and nodes differ from test to test.
        static const std::vector<std::pair<QRegularExpression, QString>> general = {
            {QRegularExpression("model 'model.onnx': "), ""},
            {QRegularExpression("^node '[^']*' \\(([^)]*)\\): "), "\\1: "},
            {QRegularExpression("tensor '[^']*'"), "a tensor"}};
        QString text = QString::fromStdString(reason);
        for (const auto& [pattern, with] : general) text.replace(pattern, with);
        m_refused[name] = text.toStdString();
        ++m_operators[op][1];
    }

    bool isCounted(const fs::path& path) const { return path.parent_path() == m_folder.path().toStdString(); }

    /// The graph with a Relu after each output in float32, because operators can compute it themselves.
    static GraphPtr withRelus(const Graph& graph) {
        GraphBuilder builder(graph);
        for (const TensorId output : graph.outputs()) {
            if (graph.tensor(output).type != DataType::Float32) continue;
            Node relu;
            relu.op = "Relu";
            relu.name = graph.tensor(output).name + kRelu;
            relu.inputs = {output};
            relu.outputs = {builder.tensor(relu.name)};
            builder.addNode(std::move(relu));
        }
        return builder.build();
    }

    void runNode(const fs::path& path, bool allKnown) {
        const GraphPtr graph = loadModel(path / "model.onnx").graph;
        runGraph(graph, path, allKnown);
        try {
            runGraph(withRelus(*graph), path, allKnown);
        } catch (const Error& error) {
            // The shapes of some outputs depend on the data, so nothing can read them.
            if (error.kind() != ErrorKind::Unsupported) throw;
        }
    }

    void runGraph(const GraphPtr& graph, const fs::path& path, bool allKnown) {
        const onnx::ModelProto file = modelOf(path);
        const fs::path data = path / "test_data_set_0";
        const std::string op = graph->nodeCount() > 0 ? graph->nodes()[0].op : "";
        ProgramSpec spec;
        spec.graph = graph;
        std::vector<TensorId> observed;
        for (const TensorId output : graph->outputs())
            observed.push_back(graph->findTensor(graph->tensor(output).name + kRelu).value_or(output));
        spec.observed = observed;
        std::map<TensorId, ConstantPtr> bound;
        for (std::size_t i = 0; i < graph->inputs().size(); ++i) {
            const TensorId input = graph->inputs()[i];
            ConstantPtr value =
                readTensor(data / fmt::format("input_{}.pb", i), file.graph().input(static_cast<int>(i)));
            if (!value) fail(ErrorKind::Unsupported, "inputs that are not tensors are not supported");
            std::size_t position = 0;
            if (graph->nodeCount() > 0) {
                const auto& inputs = graph->nodes()[0].inputs;
                position =
                    static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), input) - inputs.begin());
            }
            if (!allKnown && comesWithData(op, position)) {
                spec.inputs[input] = {value->type(), value->dims(), Layout::Plain};
                bound[input] = value;
            } else {
                spec.constants[input] = value;
            }
        }
        const auto program = Program::compile(std::move(spec));
        Workspace workspace(program);
        for (const auto& [input, value] : bound) workspace.bind(input, value->bytes().data());
        workspace.run();

        for (std::size_t o = 0; o < observed.size(); ++o) {
            const TensorId output = observed[o];
            const ConstantPtr expected =
                readTensor(data / fmt::format("output_{}.pb", o), file.graph().output(static_cast<int>(o)));
            if (!expected) fail(ErrorKind::Unsupported, "outputs that are not tensors are not supported");
            const TensorDesc& desc = program->desc(output);
            QCOMPARE(dataTypeName(desc.type), dataTypeName(expected->type()));
            QCOMPARE(toString(desc.dims), toString(expected->dims()));
            std::vector<std::byte> plain(desc.bytes());
            if (!plain.empty()) convertLayout(desc, workspace.data(output), Layout::Plain, plain.data());
            std::vector<double> truth = expected->toDoubles();
            const auto other = kOnnxRuntimeValues.find(path.filename());
            if (other != kOnnxRuntimeValues.end()) {
                if (isCounted(path) && !same(truth, other->second)) m_substituted.insert(path.filename());
                truth = other->second;
            }
            if (output != graph->outputs()[o])
                for (double& value : truth) value = value < 0 ? 0 : value;
            compare(Constant::fromBytes(desc.type, desc.dims, plain)->toDoubles(), truth,
                    toleranceOf(path.filename()));
        }
    }

    static bool same(const std::vector<double>& left, const std::vector<double>& right) {
        return std::ranges::equal(
            left, right, [](double l, double r) { return l == r || (std::isnan(l) && std::isnan(r)); });
    }

    void compare(const std::vector<double>& found, const std::vector<double>& truth, double tolerance) {
        double largest = 1, worst = 0;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            if (found[i] == truth[i] || (std::isnan(found[i]) && std::isnan(truth[i]))) continue;
            QVERIFY2(std::isfinite(truth[i]) && std::isfinite(found[i]),
                     "not a number or infinite where the other is not");
            largest = std::max(largest, std::abs(truth[i]));
            worst = std::max(worst, std::abs(truth[i] - found[i]));
        }
        QVERIFY2(worst <= tolerance * largest,
                 qPrintable(QString("off by %1 of %2").arg(worst).arg(largest)));
    }
};

QTEST_GUILESS_MAIN(OnnxNodeTest)
#include "onnx_node_test.moc"
