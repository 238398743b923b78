// SPDX-License-Identifier: Apache-2.0
// Nodes that ONNX does not allow are rejected when a model is opened, with the node and the cause; valid
// nodes are accepted.
#include "model/operator_signatures.h"

#include <onnx/onnx_pb.h>

#include <QtTest>

#include "base/error.h"
#include "model/load_model.h"
#include "support/errors.h"

using namespace quantloupe;

namespace {

onnx::AttributeProto attribute(const char* name, onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto made;
    made.set_name(name);
    made.set_type(type);
    return made;
}

onnx::AttributeProto integers(const char* name, const std::vector<std::int64_t>& values) {
    onnx::AttributeProto made = attribute(name, onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) made.add_ints(value);
    return made;
}

onnx::AttributeProto integer(const char* name, std::int64_t value) {
    onnx::AttributeProto made = attribute(name, onnx::AttributeProto::INT);
    made.set_i(value);
    return made;
}

onnx::AttributeProto text(const char* name, const char* value) {
    onnx::AttributeProto made = attribute(name, onnx::AttributeProto::STRING);
    made.set_s(value);
    return made;
}

onnx::AttributeProto real(const char* name, float value) {
    onnx::AttributeProto made = attribute(name, onnx::AttributeProto::FLOAT);
    made.set_f(value);
    return made;
}

/// Opens a model of one node that reads x (float[1,4,4,4]) and "" (omitted).
void open(const std::string& op, const std::vector<std::string>& inputs, int outputs,
          const std::vector<onnx::AttributeProto>& attributes = {}, const std::string& domain = {}) {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(13);
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::ValueInfoProto& x = *graph.add_input();
    x.set_name("x");
    x.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    for (const int dim : {1, 4, 4, 4})
        x.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
    onnx::NodeProto& node = *graph.add_node();
    node.set_name("n");
    node.set_op_type(op);
    node.set_domain(domain);
    for (const std::string& input : inputs) node.add_input(input);
    for (int o = 0; o < outputs; ++o) {
        node.add_output("y" + std::to_string(o));
        graph.add_output()->set_name("y" + std::to_string(o));
    }
    for (const onnx::AttributeProto& item : attributes) *node.add_attribute() = item;
    const std::string bytes = model.SerializeAsString();
    parseModel(bytes.data(), bytes.size(), {});
}

}  // namespace

class OperatorSignaturesTest : public QObject {
    Q_OBJECT

    static void refused(const char* message, const std::string& op, const std::vector<std::string>& inputs,
                        int outputs, const std::vector<onnx::AttributeProto>& attributes = {}) {
        try {
            open(op, inputs, outputs, attributes);
            QFAIL((op + ": no error that says: " + message).c_str());
        } catch (const Error& error) {
            QCOMPARE(error.kind(), ErrorKind::BadInput);
            QVERIFY2(QString(error.what()).contains(message), error.what());
            QVERIFY2(QString(error.what()).contains("node 'n' (" + QString::fromStdString(op) + ")"),
                     error.what());
        }
    }

  private Q_SLOTS:
    void invalidNodesAreRejected() {
        refused("its input 0 is missing", "Relu", {}, 1);
        refused("its input 1 is missing", "Conv", {"x"}, 1);
        refused("it has 2 inputs, but Relu takes at most 1", "Relu", {"x", "x"}, 1);
        refused("its input 0 is missing", "Add", {"", "x"}, 1);
        refused("needs at least one", "Concat", {}, 1, {integer("axis", 0)});
        refused("it has 2 outputs, but Relu has at most 1", "Relu", {"x"}, 2);
        refused("'strides' is 0", "MaxPool", {"x"}, 1,
                {integers("kernel_shape", {1, 1}), integers("strides", {0, 1})});
        refused("'blocksize' is 4294967296", "DepthToSpace", {"x"}, 1,
                {integer("blocksize", std::int64_t{1} << 32)});
        refused("'auto_pad' is 'BOGUS'", "MaxPool", {"x"}, 1,
                {integers("kernel_shape", {1, 1}), text("auto_pad", "BOGUS")});
        refused("its attribute 'axis' must be an integer, not a number", "Softmax", {"x"}, 1,
                {real("axis", 1.5f)});
        refused("'perm' is -1", "Transpose", {"x"}, 1, {integers("perm", {-1, 0, 1, 2})});
        refused("begins with 'quantloupe.', which is reserved", "Relu", {"x"}, 1,
                {integer("quantloupe.swish", 1)});
        refused("begins with 'quantloupe.', which is reserved", "quantloupe.ErfGelu", {"x"}, 1);
        // replaced by several nodes
        refused("its attribute 'alpha' must be a number, not an integer", "Swish", {"x"}, 1,
                {integer("alpha", 2)});
        refused("it has 3 inputs, but Swish takes at most 1", "Swish", {"x", "x", "x"}, 1);
        refused("'hidden_size' is 2147483648", "LSTM", {"x", "x", "x"}, 1,
                {integer("hidden_size", std::int64_t{1} << 31)});
    }

    void missingSubgraphsAreRejected() {
        refused("its subgraph 'body' is missing", "Scan", {"x"}, 1, {integer("num_scan_inputs", 1)});
        refused("its subgraph 'then_branch' is missing", "If", {"x"}, 1);
    }

    /// An attribute of a later version could change the result: the node opens, but it is not evaluated.
    void unknownAttributesAreNotIgnored() {
        const auto failure = [](const char* op, const char* domain) {
            Node node;
            node.op = op;
            node.domain = domain;
            node.attributes.set("axis", std::int64_t{1});
            node.attributes.set("quantloupe.swish", std::int64_t{1});
            node.attributes.set("sharpness", 0.5f);
            return test::errorOf([&] { requireKnownAttributes(node); });
        };
        QCOMPARE(failure("Softmax", ""),
                 QStringLiteral("the attribute 'sharpness' of Softmax is not supported"));
        QCOMPARE(failure("Softmax", "com.example"), QString());
        open("Softmax", {"x"}, 1, {integer("sharpness", 1)});
    }

    void requiredOutputsMayNotBeOmitted() {
        onnx::ModelProto model;
        model.set_ir_version(8);
        model.add_opset_import()->set_version(17);
        onnx::NodeProto& node = *model.mutable_graph()->add_node();
        node.set_op_type("MaxPool");
        node.add_input("x");
        node.add_output("");
        node.add_output("places");
        model.mutable_graph()->add_input()->set_name("x");
        model.mutable_graph()->add_output()->set_name("places");
        const std::string bytes = model.SerializeAsString();
        const QString error = test::errorOf([&] { parseModel(bytes.data(), bytes.size()); });
        QVERIFY2(error.contains("its output 0 is missing"), qPrintable(error));
    }

    void validNodesAreAccepted() {
        open("Clip", {"x", "", "x"}, 1);
        open("Max", {"x", "x", "x"}, 1);
        open("RandomNormal", {}, 1, {integers("shape", {1})});
        open("SequenceEmpty", {}, 1);
        open("Softmax", {"x"}, 1, {integer("axis", -1)});
        open("Whatever", {"x", "", "x"}, 3);     // not an operator of ONNX
        open("Relu", {}, 1, {}, "com.example");  // another domain
    }
};

QTEST_GUILESS_MAIN(OperatorSignaturesTest)
#include "operator_signatures_test.moc"
