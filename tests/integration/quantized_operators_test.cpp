// SPDX-License-Identifier: Apache-2.0
// Integer operators compared with ONNX Runtime, code by code. Needs Python with onnx and onnxruntime; skipped
// without it.
#include <QTemporaryDir>
#include <QtTest>

#include "data/numpy_file.h"
#include "model/load_model.h"
#include "runtime/program/program.h"
#include "support/python.h"

using namespace quantloupe;
namespace fs = std::filesystem;

class QuantizedOperatorsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QStringList m_names;

  private Q_SLOTS:
    void initTestCase() {
        QUANTLOUPE_WRITE_MODELS(m_names, "quantized_operators.py", m_folder);
        QVERIFY(m_names.size() >= 27);
    }

    void codesEqualOnnxRuntimes() {
        for (const QString& name : std::as_const(m_names)) {
            const fs::path file = fs::path(m_folder.path().toStdString()) / name.toStdString();
            const auto arrays = loadNpz(fs::path(file).concat(".npz"));
            const GraphPtr graph = loadModel(fs::path(file).concat(".onnx")).graph;
            const ConstantPtr &x = arrays.at("x"), &expected = arrays.at("expected");
            const TensorId input = graph->inputs()[0], output = graph->outputs()[0];
            const auto program = Program::compile(
                floatProgram(graph, {{input, {x->type(), x->dims(), Layout::Plain}}}, {output}));
            Workspace workspace(program);
            workspace.bind(input, x->bytes().data());
            workspace.run();
            const TensorDesc& desc = program->desc(output);
            QCOMPARE(toString(desc.dims), toString(expected->dims()));
            QCOMPARE(desc.type, expected->type());
            const auto found = Constant::view(desc.type, desc.dims, nullptr,
                                              {static_cast<const std::byte*>(workspace.data(output)),
                                               expected->bytes().size()})
                                   ->toInt64s();
            const auto wanted = expected->toInt64s();
            std::int64_t most = 0;
            for (std::size_t i = 0; i < wanted.size(); ++i)
                most = std::max(most, std::abs(wanted[i] - found[i]));
            // ONNX Runtime's Softmax adds and divides in integers.
            const std::int64_t allowed = name.startsWith("Softmax") ? 1 : 0;
            QVERIFY2(most <= allowed, qPrintable(QString("%1: %2 codes apart").arg(name).arg(most)));
        }
    }
};

QTEST_GUILESS_MAIN(QuantizedOperatorsTest)
#include "quantized_operators_test.moc"
