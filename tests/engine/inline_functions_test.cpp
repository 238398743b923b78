// SPDX-License-Identifier: Apache-2.0
// Functions that a model defines: their nodes replace each call, with unique names, attributes and nested
// calls.
#include <QtTest>
#include <set>

#include "base/error.h"
#include "support/small_graph.h"
#include "support/text_model.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

const std::string kHead = "<ir_version: 8, opset_import: [\"\" : 17, \"own\" : 1]> ";

/// scaled(x) = alpha * x + b, with b optional in the graph's calls.
const std::string kScaled = R"(
    <domain: "own", opset_import: ["" : 17]>
    scaled <alpha> (x, b) => (y) { k = Constant <value_float: float = @alpha> () m = Mul (k, x) y = Add (m, b) })";

std::string problemOf(const std::string& text) {
    try {
        textModel(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

class InlineFunctionsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void callsBecomeNodes() {
        const LoadedModel model = textModel(kHead + R"(g (float[2] X) => (float[2] Y) <float[2] B = {1, 2}>
            { A = own.scaled <alpha = 3.0> (X, B) Y = own.scaled <alpha = -1.0> (A, X) })" +
                                            kScaled);
        QCOMPARE(ops(*model.graph), QStringLiteral("Mul Add Mul Add"));
        QCOMPARE(run(model.graph, {2}, {10, 20}), (std::vector<float>{-21, -42}));
        QCOMPARE(model.graph->nodes()[0].name, std::string("scaled_0/Mul_1"));
        QVERIFY2(lines(model.notices).contains("2 calls of functions that the file defines"),
                 qPrintable(lines(model.notices)));
        // The original file and the saved one give the same network.
        const std::string bytes = modelBytes(*model.graph);
        QCOMPARE(run(parseModel(bytes.data(), bytes.size()).graph, {2}, {10, 20}),
                 (std::vector<float>{-21, -42}));
    }

    /// Inner calls, functions that return an input, tensors with the same names as in the graph, and
    /// subgraphs.
    void nestedCalls() {
        const LoadedModel model =
            textModel(kHead + R"(g (float[2] X) => (float[2] Y, float[2] Z)
            <bool C = {1}, float[2] m = {5, 5}>
            { Y, P = own.twice (X) Q = own.pass (P)
              Z = If <then_branch = t () => (float[2] u) { v = own.pass (Q) u = Add (v, m) },
                      else_branch = e () => (float[2] w) { w = Neg (Q) }> (C) })"
                              R"(<domain: "own", opset_import: ["" : 17]> pass (a) => (a) { unused = Neg (a) }
               <domain: "own", opset_import: ["" : 17, "own" : 1]> twice (a) => (d, n)
               { m = Add (a, a) d = own.pass (m) n = Neg (d) })");
        QCOMPARE(run(model.graph, {2}, {1, 2}), (std::vector<float>{2, 4}));
        std::set<std::string> names;
        for (const TensorInfo& tensor : model.graph->tensors()) QVERIFY(names.insert(tensor.name).second);
        for (const Node& node : model.graph->nodes()) QVERIFY2(node.domain.empty(), node.op.c_str());
    }

    void badFunctionsAreRefused() {
        const auto refuses = [&](const std::string& call, const std::string& functions, const char* text) {
            const std::string problem =
                problemOf(kHead + "g (float[2] X) => (float[2] Y) { " + call + " } " + functions);
            QVERIFY2(problem.find(text) != std::string::npos, problem.c_str());
        };
        const std::string header = R"(<domain: "own", opset_import: ["" : 17, "own" : 1]> )";
        refuses("Y = own.f (X)", header + "f (a) => (b) { b = own.f (a) }", "calls itself");
        refuses("Y = own.f (X, X)", header + "f (a) => (b) { b = Neg (a) }", "has 2 inputs");
        refuses("Y = own.f (X)", header + "f (a) => (b) { c = Neg (a) }", "nothing produces its output 'b'");
        refuses("Y = own.f (X)", header + "f (a) => (b) { b = Neg (c) }", "which nothing before it produces");
        refuses("Y = own.f (X)",
                header + "f (a) => (b) { b = Neg (a) }" + header + "f (a) => (b) { b = Abs (a) }",
                "there are two functions 'f'");
        // Each level calls the next one ten times.
        std::string bomb = header + "f9 (a) => (b) { b = Neg (a) }";
        for (int level = 8; level >= 0; --level) {
            bomb += header + "f" + std::to_string(level) + " (a) => (b) {";
            for (int i = 0; i < 10; ++i)
                bomb += (i == 9 ? std::string(" b") : " t" + std::to_string(i)) + " = own.f" +
                        std::to_string(level + 1) + (i == 0 ? " (a)" : " (t" + std::to_string(i - 1) + ")");
            bomb += " }";
        }
        refuses("Y = own.f0 (X)", bomb, "would become more than 200000 nodes");
    }
};

QTEST_GUILESS_MAIN(InlineFunctionsTest)
#include "inline_functions_test.moc"
