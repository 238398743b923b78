// SPDX-License-Identifier: Apache-2.0
// Operators with attributes that ONNX's node tests do not cover. ONNX Runtime 1.32 computed the expected
// values.
#include <QtTest>

#include "support/small_graph.h"

using namespace quantloupe;

class OperatorValuesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void values_data() {
        QTest::addColumn<int>("opset");
        QTest::addColumn<QString>("shape");
        QTest::addColumn<QString>("constant");
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, int opset, const char* shape, const char* constant,
                            const char* node, const char* expected) {
            QTest::newRow(name) << opset << shape << constant << node << expected;
        };
        row("backwards to the end", 13, "1,1,5",
            "int64[1] s = {-1}, int64[1] e = {9223372036854775807}, int64[1] a = {2}",
            "Slice (X, s, e, a, s)", "3 6.75 -0.5 3.25 -4");
        row("type of an early Cast", 5, "1,1,3", "",
            "Cast <to = \"INT32\"> (X) Y = Cast <to = \"FLOAT\"> (d)", "-4 3 0");
        row("axis of an early Concat", 3, "2,1,2", "", "Concat (X, X)",
            "-4 3.25 -4 3.25 -0.5 6.75 -0.5 6.75");
        row("average over declared padding only", 17, "1,1,5,5", "",
            "AveragePool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, count_include_pad = 1, "
            "pads = [0, 0, 1, 0]> (X)",
            "1.25 2 4.625 2.25 5.75 5.625 3.5625 2.5625 2.5");
        row("average with dilations", 19, "1,1,6", "",
            "AveragePool <kernel_shape = [3], strides = [2], dilations = [2], ceil_mode = 1, "
            "count_include_pad = 1, pads = [1, 0]> (X)",
            "3.33333 3.08333");
        row("average of a window larger than the input", 17, "1,2,3", "",
            "AveragePool <kernel_shape = [5], strides = [5], ceil_mode = 1> (X)", "-0.41666666 3");
        row("maximum of a window larger than the input", 17, "1,1,3,6", "",
            "MaxPool <kernel_shape = [5, 4], strides = [5, 4], ceil_mode = 1> (X)", "9.5 9.25");
        row("antialiased linear", 18, "1,1,8", "float[3] S = {1, 1, 0.5}",
            "Resize <mode = \"linear\", antialias = 1> (X, , S)", "-0.84375 3.125 2.5 3.71875");
        row("antialiased cubic", 18, "1,1,4,4", "float[4] S = {1, 1, 0.5, 0.5}",
            "Resize <mode = \"cubic\", antialias = 1> (X, , S)", "0.256107 3.34608 3.90081 4.30138");
        row("antialiased cubic, edges excluded", 18, "1,1,4,4", "float[4] S = {1, 1, 0.5, 0.5}",
            "Resize <mode = \"cubic\", antialias = 1, exclude_outside = 1> (X, , S)",
            "0.575552 3.26872 3.77136 4.23557");
        row("crop without a region", 18, "1,1,4", "float[3] S = {1, 1, 0.5}",
            "Resize <mode = \"nearest\", coordinate_transformation_mode = \"tf_crop_and_resize\"> (X, , S)",
            "-4 6.75");
        row("nearest in opset 10", 10, "1,1,4", "float[3] S = {1, 1, 0.75}",
            "Resize <mode = \"nearest\"> (X, S)", "-4 -0.5 6.75");
        row("nearest in opset 10, enlarged", 10, "1,1,3", "float[3] S = {1, 1, 1.7}",
            "Resize <mode = \"nearest\"> (X, S)", "-4 -4 3.25 3.25 -0.5");
        row("nearest pixels, half way", 13, "1,1,6", "float[3] S = {1, 1, 0.7}",
            "Resize <mode = \"nearest\"> (X, , S)", "-4 -0.5 6.75 3");
        row("nearest pixels of a size rounded in float32", 13, "1,1,10", "float[3] S = {1, 1, 0.7}",
            "Resize <mode = \"nearest\"> (X, , S)", "-4 -0.5 6.75 3 6.5 2.75 6.25");
        row("nearest pixels of the same size", 13, "1,1,6", "float[3] S = {1, 1, 1.1}",
            "Resize <mode = \"nearest\"> (X, , S)", "-4 3.25 -0.5 6.75 3 -0.75");
        row("sum of squares without axes", 18, "1,3", "", "ReduceSumSquare <noop_with_empty_axes = 1> (X)",
            "16 10.5625 0.25");
        row("L1 norm without axes", 18, "1,3", "", "ReduceL1 <noop_with_empty_axes = 1> (X)", "4 3.25 0.5");
        row("L2 norm without axes", 18, "1,3", "", "ReduceL2 <noop_with_empty_axes = 1> (X)", "4 3.25 0.5");
        for (const char* type : {"2", "3", "6"})
            row(qPrintable(QStringLiteral("nearest pixels of integers, type %1").arg(type)), 17, "1,1,2,3",
                "float[4] S = {1, 1, 2, 0.7}",
                qPrintable(
                    QStringLiteral("Abs (X) i = Cast <to = %1> (d) r = Resize <mode = \"nearest\"> (i, , S) "
                                   "Y = Cast <to = 1> (r)")
                        .arg(type)),
                "4 0 4 0 6 0 6 0");
        row("sum without axes", 18, "1,3", "", "ReduceSum <noop_with_empty_axes = 1> (X)", "-4 3.25 -0.5");
        row("large exponentials", 18, "1,3", "float k = {400}, int64[1] a = {1}",
            "Mul (X, k) Y = ReduceLogSumExp (d, a)", "1300");
        row("tiny exponentials", 18, "1,3", "float k = {2000}, int64[1] a = {1}",
            "Sub (X, k) Y = ReduceLogSumExp (d, a)", "-1996.7261");
        row("exponentials close to the largest number", 17, "1,3",
            "float[3] c = {92.625, 85.4, 89.21}, float k = {2e-38}", "Add (X, c) e = Exp (d) Y = Mul (e, k)",
            "6.171326 6.327562 6.71882");
        row("roots of minus infinity as powers", 17, "1,3", "float z = {0}, float h = {0.5}",
            "Mul (X, z) l = Log (d) p = Pow (l, h) n = IsInf <detect_negative = 0> (p) Y = Cast <to = 1> (n)",
            "1 1 1");
        row("index of a scalar", 17, "1,3", "float k = {2}",
            "NonZero (k) n = Cast <to = 1> (d) Y = Add (X, n)", "-4 3.25 -0.5");
        row("maximum of NaN and numbers", 18, "1,3", "int64[1] a = {1}",
            "Sqrt (X) m = ReduceMax (d, a) n = IsNaN (m) Y = Cast <to = 1> (n)", "1");
        row("NaN as float64", 17, "1,3", "",
            "Sqrt (X) f = Cast <to = 11> (d) n = IsNaN (f) i = IsInf (f) o = Or (n, i) Y = Cast <to = 1> (o)",
            "1 0 1");
        for (const char* node : {"Relu (d)", "Clip (d, k, k)", "HardSigmoid (d)", "Sign (d)", "Max (d, k)",
                                 "Max (k, d)", "Min (d, k)", "Min (k, d)"})
            row(node, 17, "1,3", "float k = {1}",
                qPrintable(QStringLiteral("Sqrt (X) f = %1 n = IsNaN (f) Y = Cast <to = 1> (n)").arg(node)),
                "1 0 1");
        row("one scale for a row", 17, "1,1,4", "float[1] s = {2}, float b = {1}",
            "LayerNormalization (X, s, b)", "-1.6706005 1.9316049 0.06839515 3.6706007");
        row("scale and bias along other dimensions", 17, "1,2,3",
            "float[3] s = {2, 1, 0.5}, float[2,1] b = {1, -1}", "LayerNormalization <axis = 1> (X, s, b)",
            "-2.0566921 1.5656084 0.7412642 2.1529658 -0.5065969 -1.2948384");
        row("maximum of minus infinity", 17, "1,1,2,3", "float z = {0}",
            "Mul (X, z) l = Log (d) m = MaxPool <kernel_shape = [2, 2]> (l) n = IsInf (m) "
            "Y = Cast <to = 1> (n)",
            "1 1");
        row("NaN plus a computed matrix", 17, "1,3", "float[3,3] W = {1, 0, 0, 0, 1, 0, 0, 0, 1}",
            "Sqrt (X) m = Neg (d) g = Gemm (d, W, m) n = IsNaN (g) Y = Cast <to = 1> (n)", "1 1 1");
        row("normalized NaN", 17, "1,3",
            "float[3] s = {1, 2, 1}, float[3] t = {0, 0, 0}, float[3] v = {1, 1, 1}",
            "Sqrt (X) b = BatchNormalization (d, s, t, t, v) r = Relu (b) n = IsNaN (r) Y = Cast <to = 1> "
            "(n)",
            "1 0 1");
        row("batch normalization in training mode, then Relu", 15, "2,1,2",
            "float[1] s = {1}, float[1] t = {0}, float[1] v = {1}",
            "Identity (X) b, m, w = BatchNormalization <training_mode = 1, momentum = 0.5> (d, s, t, t, v) "
            "r = Relu (b) Y = Add (r, m)",
            "0.6875 1.1533 0.6875 2.0228");
        row("maximum of integers that are not exact in float64", 18, "1,3",
            "int64[1] a = {1}, int64 z = {0}, int64[3] c = {9007199254740993, 0, 5}, "
            "int64 b = {9007199254740992}",
            "Cast <to = 7> (X) n = Mul (d, z) v = Add (n, c) m = ReduceMax (v, a) s = Sub (m, b) "
            "Y = Cast <to = 1> (s)",
            "1");
        row("products that do not fit int32", 18, "1,3", "int32 k = {1000000000}",
            "Cast <to = 6> (X) m = Mul (d, k) Y = Cast <to = 1> (m)", "294967296 -1294967296 0");
        row("the largest step", 18, "1,3",
            "int64[1] s = {0}, int64[1] e = {3}, int64[1] a = {1}, int64[1] t = {9223372036854775807}",
            "Slice (X, s, e, a, t)", "-4");
        row("cubic grid, border", 16, "1,1,3,4", "float[1,1,3,2] G = {2.118, -1.112, -0.3, 0.9, -1.6, 1.4}",
            "GridSample <mode = \"bicubic\", padding_mode = \"border\"> (X, G)", "6.97089 6.63373 -1");
        row("cubic grid, reflection", 16, "1,1,3,4", "float[1,1,3,2] G = {1.6, -1.112, -0.3, 0.9, -1.3, 1.2}",
            "GridSample <mode = \"bicubic\", padding_mode = \"reflection\"> (X, G)",
            "0.253746 7.0378 -0.743039");
        row("cubic grid, zeros", 16, "1,1,3,4", "float[1,1,2,2] G = {1.1, -1.112, -0.3, 0.9}",
            "GridSample <mode = \"bicubic\"> (X, G)", "0.787835 4.66746");
        row("linear grid, outside", 16, "1,1,3,4", "float[1,1,2,2] G = {50, -50, -5, 0.9}",
            "GridSample <padding_mode = \"border\"> (X, G)", "6.75 -1");
        row("functions and products of float64", 17, "1,3",
            "double[3,3] W = {1, 2, 3, 4, -5, 6, 0.5, 0.25, 1}, double[3] c = {1, 2, 3}",
            "Cast <to = 11> (X) m = MatMul(d, W) g = Gemm <transB = 1, alpha = 0.5, beta = 2.0> (m, W, c) "
            "s = Sin(g) e = Exp(s) f = Sqrt(e) Y = Cast <to = 1> (f)",
            "0.6256276 1.1235007 1.4234918");
        row("product of integers", 17, "1,3", "int64[2,3,2] W = {1, 2, 3, 4, -5, 6, 7, 8, 9, 10, 11, 12}",
            "Cast <to = 7> (X) m = MatMul(d, W) Y = Cast <to = 1> (m)", "5 4 -1 -2");
        row("patches that overlap", 18, "1,8,4", "int64[2] image = {3, 4}, int64[2] block = {2, 2}",
            "Col2Im <strides = [1, 2], pads = [1, 0, 0, 1], dilations = [2, 1]> (X, image, block)",
            "-0.5 6.5 6.75 2.75 -1 6 6.25 2.25 2.5 9.5 -1.25 5.75 5.5 1.5 1.75 8.75 5 12 12.25 8.25 8.5 4.5 "
            "4.75 11.75");
        const char* const keys =
            "float[1,3,2] K = {0.5, -1, 0.25, 1, -0.5, 0.125}, float[1,3,2] V = {1, 2, 3, 4, 5, 6}, "
            "float[2,3] M = {0, -1, 2, 0.5, 0, -3}";
        row("attention with shared keys", 23, "1,3,4", keys,
            "Attention <q_num_heads = 2, kv_num_heads = 1, scale = 0.25> (X, K, V)",
            "3.80839 4.80839 3.3391 4.3391 2.36745 3.36745 2.71771 3.71771 3.39462 4.39462 2.32034 3.32034");
        row("causal attention", 23, "1,3,4", keys,
            "Attention <q_num_heads = 2, kv_num_heads = 1, scale = 0.25, is_causal = 1> (X, K, V)",
            "1 2 1 2 1.72594 2.72594 2.44974 3.44974 3.39462 4.39462 2.32034 3.32034");
        row("attention with a mask", 23, "1,2,4", keys,
            "Attention <q_num_heads = 2, kv_num_heads = 1> (X, K, V, M)",
            "4.91239 5.91239 3.57319 4.57319 1.22665 2.22665 2.80815 3.80815");
        row("attention with a mask of one column", 24, "1,2,4",
            std::string(keys).append(", float[2,1] N = {0.5, -1}").c_str(),
            "Attention <q_num_heads = 2, kv_num_heads = 1> (X, K, V, N)", "1 2 1 2 1 2 1 2");
        row("attention with a very wide window", 25, "1,2,4",
            std::string(keys).append(", int64[1] L = {1}").c_str(),
            "Attention <q_num_heads = 2, kv_num_heads = 1, left_window_size = 9223372036854775807> (X, K, V, "
            ", , , L)",
            "1 2 1 2 1 2 1 2");
        row("attention to the past", 23, "1,2,4",
            "float[1,2,2] K = {0.5, -1, 0.25, 1}, float[1,2,2] V = {1, 2, 3, 4}, "
            "float[1,1,2,2] P = {0.3, 0.2, -0.1, 1}, float[1,1,2,2] R = {7, 8, 9, -10}",
            "Identity (X) e, k, v = Attention <q_num_heads = 2, kv_num_heads = 1, is_causal = 1> "
            "(d, K, V, , P, R) Y = Identity (e)",
            "8.88852 -9.10196 8.96213 -9.66255 2.97976 2.80228 4.39457 2.7787");
        row("root mean square normalization", 23, "2,4", "float[4] S = {1, 2, -1, 0.5}",
            "RMSNormalization <epsilon = 0.01> (X, S)",
            "-0.940104 1.52767 0.117513 0.793212 0.778401 -0.3892 -1.68653 0.356767");
        row("deformable convolution with other steps in each direction", 19, "1,2,3,3",
            "float[1,2,1,2] W = {1, -1, 0.5, 2}, float[1,4,2,2] O = {-0.63, 0.11, -0.31, 0.25, 0.3, -1.04, "
            "-1.17, 0.81, -0.58, -0.64, 1.19, -0.07, 0.81, -0.06, 0.33, -0.84}, float[1] b = {0.5}, "
            "float[1,2,2,2] m = {0.25, 1, 0.25, 0.75, 0.75, 0.75, 0.75, 0.75}",
            "DeformConv <kernel_shape = [1, 2], strides = [2, 1], pads = [0, 1, 1, 0], dilations = [1, 2]> "
            "(X, W, O, b, m)",
            "0.07015631 0.02074993 0.5 6.351173");
        row("affine grid between the centers of the corners", 20, "1,2,3", "int64[4] S = {1, 1, 2, 3}",
            "AffineGrid <align_corners = 1> (X, S)",
            "0.25 -10.5 -3.75 -3.75 -7.75 3 6.75 -4.5 2.75 2.25 -1.25 9");
        row("GRU with a bias before the reset", 14, "3,1,2",
            "float[1,6,2] W = {0.5, -0.25, 0.1, 0.3, -0.4, 0.2, 0.6, -0.1, 0.2, 0.25, -0.3, 0.15}, "
            "float[1,6,2] R = {0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.2, 0.1, -0.3, 0.4, 0.5, -0.6}, "
            "float[1,12] B = {0.1, -0.1, 0.2, 0.3, -0.2, 0.4, 0.05, 0.15, -0.25, 0.35, 0.45, -0.55}",
            "GRU <hidden_size = 2, linear_before_reset = 1> (X, W, R, B)",
            "0.2002677 0.3367316 0.8461397 0.3875906 0.7668704 -0.02910727");
        for (const auto& [activation, expected] :
             {std::pair("\"affine\"], activation_alpha = [0.5], activation_beta = [1.0]", "-1 0.75 2.5"),
              std::pair("\"HardSigmoid\"], activation_alpha = [0.25]", "0 0.375 1"),
              std::pair("\"LeakyRelu\"], activation_alpha = [0.5]", "-2 -0.25 3")})
            row(qPrintable(QString("RNN with ") + activation), 14, "3,1,2",
                "float[1,1,2] W = {1, 0}, float[1,1,1] R = {0}",
                qPrintable(QString("RNN <hidden_size = 1, activations = [%1> (X, W, R)").arg(activation)),
                expected);
        row("float64", 14, "1,2", "", "Cast <to = 11> (X) e = Sigmoid (d) f = Tanh (e) Y = Cast <to = 1> (f)",
            "0.0179843 0.7454668");
        row("the absolute value of a negative zero", 14, "1,2",
            "float Z = {0}, float M = {-1}, float P = {1}",
            "Mul (X, Z) e = Abs (d) f = Reciprocal (e) Y = Clip (f, M, P)", "1 1");
        row("RNN followed by a Relu", 14, "3,1,2",
            "float[1,2,2] W = {0.5, -0.25, 0.1, 0.3}, float[1,2,2] R = {0.1, -0.2, 0.3, 0.4}, "
            "float[1,4] B = {0.1, -0.1, 0.2, 0.3}",
            "RNN <hidden_size = 2> (X, W, R, B) Y = Relu (d)", "0 0.6498275 0 0.9726306 0.9351145 0.3610379");
        row("identity matrix", 17, "1,3", "", "EyeLike <k = 1, dtype = 1> (X)", "0 1 0");
    }
    void values() {
        QFETCH(int, opset);
        QFETCH(QString, shape);
        QFETCH(QString, constant);
        QFETCH(QString, node);
        QFETCH(QString, expected);
        const GraphPtr graph =
            test::graph(QStringLiteral("(float[%1] X) => (float[a,b,c] Y) <float unused = {0.0}%2> "
                                       "{ %3 = %4 }")
                            .arg(shape, constant.isEmpty() ? constant : ", " + constant,
                                 node.contains("Y = ") ? "d" : "Y", node),
                        opset);
        std::size_t count = 1;
        for (const QString& extent : shape.split(',')) count *= extent.toUInt();
        std::vector<float> values;
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(static_cast<float>(i * 7 % 11) - 4 + 0.25f * static_cast<float>(i));
        const std::vector<float> found = test::run(graph, values);
        std::vector<float> wanted;
        for (const QString& value : expected.split(' ')) wanted.push_back(value.toFloat());
        QVERIFY2(test::deviation(found, wanted) < 2e-5, qPrintable(test::list(found)));
    }

    /// To the last bit, because a scale that is a power of two turns small differences into other codes.
    void linearResize_data() {
        QTest::addColumn<QString>("sizes");
        QTest::addColumn<QString>("expected");
        QTest::newRow("both axes") << "1, 1, 3, 5"
                                   << "0.100000001 0.340000033 0.699999988 -0.500000238 -1.29999995 1.5 "
                                      "1.10599995 0.514999986 -0.247000158 -0.754999995 2.9000001 1.87199998 "
                                      "0.330000013 0.00599992275 -0.209999993";
        QTest::newRow("columns") << "1, 1, 2, 5"
                                 << "0.100000001 0.340000033 0.699999988 -0.500000238 -1.29999995 2.9000001 "
                                    "1.87199998 0.330000013 0.00599992275 -0.209999993";
    }
    void linearResize() {
        QFETCH(QString, sizes);
        QFETCH(QString, expected);
        const GraphPtr graph = test::graph("(float[1,1,2,3] X) => (float[a,b,c,d] Y) <int64[4] Z = {" +
                                               sizes + "}> { Y = Resize <mode = \"linear\"> (X, , , Z) }",
                                           18);
        QCOMPARE(test::list(test::run(graph, {0.1f, 0.7f, -1.3f, 2.9f, 0.33f, -0.21f}), 9), expected);
    }

    void scalesPerRowAreRefused() {
        const GraphPtr graph = test::graph(
            "(float[2,2] X) => (float[2,2] Y) <float[2] s = {0.1, 0.2}, float t = {0.1}, uint8 z = {0}, "
            "uint8[2] w = {0, 0}, int8[2,2] W = {1, 2, 3, 4}, int8 v = {0}> "
            "{ x = QuantizeLinear (X, t, z) y = QLinearMatMul (x, s, w, W, t, v, t, z) "
            "Y = DequantizeLinear (y, t, z) }",
            17);
        QVERIFY_THROWS_EXCEPTION(Error, test::run(graph, {1, 2, 3, 4}));
    }

    /// They have as many values as a row, but along another dimension.
    void scalesAcrossRowsAreRefused_data() {
        QTest::addColumn<QString>("node");
        QTest::newRow("scale") << "LayerNormalization (X, c)";
        QTest::newRow("bias") << "LayerNormalization (X, r, c)";
        QTest::newRow("mean square") << "RMSNormalization (X, c)";
    }
    void scalesAcrossRowsAreRefused() {
        QFETCH(QString, node);
        const GraphPtr graph = test::graph(
            "(float[1,2,2] X) => (float[1,2,2] Y) <float[2,1] c = {1, 2}, float[2] r = {1, 2}> { Y = " +
                node + " }",
            23);
        QVERIFY_THROWS_EXCEPTION(Error, test::run(graph, {1, 2, 3, 4}));
    }
};

QTEST_GUILESS_MAIN(OperatorValuesTest)
#include "operator_values_test.moc"
