// SPDX-License-Identifier: Apache-2.0
// Layers with weights on integers: ConvInteger, MatMulInteger, QLinearConv and QLinearMatMul of ONNX, and
// QGemm of com.microsoft. Sums are exact in int32. Source: the ONNX operator specification; ONNX Runtime's
// ContribOperators.md. Limitation: simple loops, since such networks are inspected, not tuned.
#include <memory>

#include "base/error.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/quantized_codes.h"
#include "runtime/operators/quantized_pointwise.h"
#include "runtime/operators/window.h"

namespace quantloupe {
namespace {

/// Integers as int32, with the zero point subtracted.
std::vector<std::int32_t> centered(const Constant& values, const std::vector<std::int64_t>& zeros,
                                   std::size_t stride) {
    const std::vector<std::int64_t> all = values.toInt64s();
    std::vector<std::int32_t> result(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        result[i] =
            static_cast<std::int32_t>(all[i] - zeros[zeros.size() == 1 ? 0 : i / stride % zeros.size()]);
    return result;
}

void requireChannels(const NodeContext& context, std::size_t count, std::int64_t channels, const char* what) {
    if (count > 1 && count != static_cast<std::size_t>(channels))
        failInput("{} has {} {} for {} channels", context.node.op, count, what, channels);
}

std::int32_t onlyZero(const NodeContext& context, std::size_t input) {
    const auto zeros = zerosAt(context, input);
    if (std::any_of(zeros.begin(), zeros.end(), [&](std::int64_t z) { return z != zeros[0]; }))
        fail(ErrorKind::Unsupported, "{} with several zero points is not supported", context.node.op);
    return static_cast<std::int32_t>(zeros.at(0));
}

/// One for each column of a weight; empty if there is only one.
std::vector<std::int32_t> columnZeros(const NodeContext& context, std::size_t input) {
    if (!context.has(input) || context.constant(input) == nullptr) return {};
    const auto zeros = zerosAt(context, input);
    if (zeros.size() == 1) return {};
    return {zeros.begin(), zeros.end()};
}

/// A zero point that is constant or, with dynamic quantization, computed.
class ZeroPoint {
  public:
    ZeroPoint() = default;
    ZeroPoint(const NodeContext& context, std::size_t input) : m_input(input) {
        if (!context.has(input) || context.constant(input) != nullptr) {
            m_value = onlyZero(context, input);
        } else {
            if (context.input(input).count() != 1)
                fail(ErrorKind::Unsupported, "{} with several zero points is not supported", context.node.op);
            m_load = codeReader(context.input(input).type, context.node.op);
        }
    }

    std::int32_t at(const KernelArguments& a) const {
        std::int32_t value = m_value;
        if (m_load) m_load(a.inputs[m_input], 1, 0, &value);
        return value;
    }

  private:
    std::size_t m_input = 0;
    std::int32_t m_value = 0;
    CodeReader m_load;  ///< null for a constant
};

/// Output of the sums: they stay int32, or are scaled (per output channel) and rounded.
struct Requantize {
    std::vector<float> factors;  ///< empty: int32
    DataType type = DataType::Int32;
    CodeWriter store;

    void put(std::int32_t sum, std::size_t channel, void* target, std::size_t i) const {
        if (factors.empty())
            static_cast<std::int32_t*>(target)[i] = sum;
        else
            store(static_cast<float>(sum) * factors[factors.size() == 1 ? 0 : channel], target, i);
    }
};

/// x_scale * w_scale / y_scale, multiplied in ONNX Runtime's order.
Requantize requantize(const NodeContext& context, std::size_t x, std::size_t w, std::size_t y) {
    Requantize result;
    result.type = context.has(y + 1) ? context.input(y + 1).type : DataType::UInt8;
    result.store = codeWriter(result.type, zeroAt(context, y + 1), context.node.op);
    for (const float scale : scalesAt(context, w))
        result.factors.push_back(scaleAt(context, x) * scale / scaleAt(context, y));
    return result;
}

/// A convolution in two dimensions; one in a single dimension has a height of 1.
struct IntegerConvolution {
    TensorDesc input;
    Window window;
    std::int64_t groups = 1;
    Dims weightDims;
    std::vector<std::int32_t> weight, bias;
    CodeReader load;
    Requantize out;

    /// One image: the input is padded with its zero point, which is 0 here.
    void run(const void* source, std::int32_t zero, void* target) const;
};

void IntegerConvolution::run(const void* source, std::int32_t zero, void* target) const {
    const std::int64_t channels = input.dims[1], height = input.dims[2], width = input.dims[3];
    const std::int64_t outHeight = window.output[0], outWidth = window.output[1], perGroup = weightDims[1];
    const std::int64_t outPerGroup = weightDims[0] / groups;
    std::vector<std::int32_t> image(static_cast<std::size_t>(channels * height * width));
    std::vector<std::int32_t> sums(static_cast<std::size_t>(outHeight * outWidth));
    for (std::int64_t n = 0; n < input.dims[0]; ++n) {
        const std::size_t size = elementSize(input.type);
        load(static_cast<const std::byte*>(source) + static_cast<std::size_t>(n) * image.size() * size,
             image.size(), zero, image.data());
        for (std::int64_t o = 0; o < weightDims[0]; ++o) {
            std::fill(sums.begin(), sums.end(), bias.empty() ? 0 : bias[static_cast<std::size_t>(o)]);
            for (std::int64_t i = 0; i < perGroup; ++i) {
                const std::int32_t* plane =
                    image.data() + ((o / outPerGroup) * perGroup + i) * height * width;
                for (std::int64_t ky = 0; ky < weightDims[2]; ++ky)
                    for (std::int64_t kx = 0; kx < weightDims[3]; ++kx) {
                        const std::int32_t w = weight[static_cast<std::size_t>(
                            ((o * perGroup + i) * weightDims[2] + ky) * weightDims[3] + kx)];
                        // Columns start + stride * x inside the input: a contiguous run, which compilers
                        // vectorize.
                        const std::int64_t stride = window.strides[1],
                                           start = kx * window.dilations[1] - window.padBegin[1];
                        const std::int64_t from = start >= 0 ? 0 : (-start + stride - 1) / stride;
                        const std::int64_t to =
                            start >= width ? 0 : std::min(outWidth, (width - 1 - start) / stride + 1);
                        if (w == 0) continue;
                        for (std::int64_t y = 0; y < outHeight; ++y) {
                            const std::int64_t row =
                                y * window.strides[0] - window.padBegin[0] + ky * window.dilations[0];
                            if (row < 0 || row >= height) continue;
                            std::int32_t* sum = sums.data() + y * outWidth;
                            const std::int32_t* values = plane + row * width + start;
                            if (stride == 1)
                                for (std::int64_t x = from; x < to; ++x) sum[x] += w * values[x];
                            else
                                for (std::int64_t x = from; x < to; ++x) sum[x] += w * values[x * stride];
                        }
                    }
            }
            const std::size_t base = static_cast<std::size_t>(n * weightDims[0] + o) * sums.size();
            for (std::size_t p = 0; p < sums.size(); ++p)
                out.put(sums[p], static_cast<std::size_t>(o), target, base + p);
        }
    }
}

/// Adds a height of 1.
void addHeight(IntegerConvolution& conv) {
    conv.input.dims.insert(conv.input.dims.begin() + 2, 1);
    conv.weightDims.insert(conv.weightDims.begin() + 2, 1);
    for (Dims* dims :
         {&conv.window.kernel, &conv.window.strides, &conv.window.dilations, &conv.window.output})
        dims->insert(dims->begin(), 1);
    conv.window.padBegin.insert(conv.window.padBegin.begin(), 0);
}

CompiledNode convolution(const NodeContext& context, std::size_t weightInput, const ZeroPoint& inputZero,
                         const std::vector<std::int64_t>& weightZeros, std::size_t biasInput,
                         Requantize out) {
    IntegerConvolution conv;
    conv.input = context.input(0);
    const Constant& weight = context.needConstant(weightInput, "the weight of " + context.node.op);
    conv.weightDims = weight.dims();
    conv.groups = context.node.attributes.integer("group", 1);
    const std::size_t rank = conv.input.dims.size();
    if ((rank != 3 && rank != 4) || conv.weightDims.size() != rank)
        fail(ErrorKind::Unsupported, "{} is supported in one and two dimensions only", context.node.op);
    if (conv.groups < 1 || conv.weightDims[1] * conv.groups != conv.input.dims[1] ||
        conv.weightDims[0] % conv.groups != 0)
        failInput("the weight {} with {} groups does not fit an input of {} channels",
                  toString(conv.weightDims), conv.groups, conv.input.dims[1]);
    if (elementCount(conv.weightDims) == 0) failInput("the weight {} is empty", toString(conv.weightDims));
    requireChannels(context, weightZeros.size(), conv.weightDims[0], "zero points");
    requireChannels(context, out.factors.size(), conv.weightDims[0], "scales");
    conv.window = windowOf(context, {conv.input.dims.begin() + 2, conv.input.dims.end()},
                           {conv.weightDims.begin() + 2, conv.weightDims.end()});
    conv.weight = centered(weight, weightZeros,
                           static_cast<std::size_t>(elementCount(conv.weightDims) / conv.weightDims[0]));
    if (context.has(biasInput))
        for (const std::int64_t value :
             context.needConstant(biasInput, "the bias of " + context.node.op).toInt64s())
            conv.bias.push_back(static_cast<std::int32_t>(value));
    if (!conv.bias.empty() && conv.bias.size() != static_cast<std::size_t>(conv.weightDims[0]))
        failInput("the bias has {} values for {} channels", conv.bias.size(), conv.weightDims[0]);
    if (conv.window.kernel != Dims(conv.weightDims.begin() + 2, conv.weightDims.end()))
        failInput("kernel_shape {} differs from the weight's {}", toString(conv.window.kernel),
                  toString(conv.weightDims));
    conv.load = codeReader(conv.input.type, context.node.op);
    TensorDesc output{out.type, {conv.input.dims[0], conv.weightDims[0]}, Layout::Plain};
    output.dims.insert(output.dims.end(), conv.window.output.begin(), conv.window.output.end());
    if (rank == 3) addHeight(conv);
    conv.out = std::move(out);
    return {
        {output},
        makeKernel([conv = std::make_shared<const IntegerConvolution>(std::move(conv)), inputZero](
                       const KernelArguments& a) { conv->run(a.inputs[0], inputZero.at(a), a.outputs[0]); })};
}

CompiledNode compileConvInteger(const NodeContext& context) {
    return convolution(context, 1, ZeroPoint(context, 2), zerosAt(context, 3), 99, {});
}

CompiledNode compileQLinearConv(const NodeContext& context) {
    return convolution(context, 3, ZeroPoint(context, 2), zerosAt(context, 5), 8,
                       requantize(context, 1, 4, 6));
}

/// [..., M, K] times [K, N] or [..., K, N] with the same leading extents.
struct IntegerProduct {
    ZeroPoint leftZero, rightZero;
    std::vector<std::int32_t> columnZeros = {};  ///< instead of rightZero, if they differ
    std::size_t batches = 1, rows = 1, depth = 1, columns = 1;
    bool sharedRight = true, transposedRight = false;
    CodeReader left = {}, right = {};
    std::size_t leftSize = 1, rightSize = 1;
    std::vector<std::int32_t> bias = {};
    Requantize out = {};

    void subtractZeros(std::vector<std::int32_t>& r) const {
        for (std::size_t i = 0; i < r.size(); ++i)
            r[i] -= columnZeros[transposedRight ? i / depth : i % columns];
    }

    void run(const KernelArguments& a, std::size_t rightInput) const {
        std::vector<std::int32_t> l(rows * depth), r(depth * columns), sums(columns);
        for (std::size_t b = 0; b < batches; ++b) {
            left(static_cast<const std::byte*>(a.inputs[0]) + b * l.size() * leftSize, l.size(),
                 leftZero.at(a), l.data());
            if (b == 0 || !sharedRight)
                right(static_cast<const std::byte*>(a.inputs[rightInput]) +
                          (sharedRight ? 0 : b * r.size() * rightSize),
                      r.size(), columnZeros.empty() ? rightZero.at(a) : 0, r.data());
            if ((b == 0 || !sharedRight) && !columnZeros.empty()) subtractZeros(r);
            for (std::size_t m = 0; m < rows; ++m) {
                for (std::size_t n = 0; n < columns; ++n)
                    sums[n] = bias.empty() ? 0 : bias[bias.size() == 1 ? 0 : n];
                for (std::size_t k = 0; k < depth; ++k)
                    for (std::size_t n = 0; n < columns; ++n)
                        sums[n] +=
                            l[m * depth + k] * (transposedRight ? r[n * depth + k] : r[k * columns + n]);
                for (std::size_t n = 0; n < columns; ++n)
                    out.put(sums[n], n, a.outputs[0], (b * rows + m) * columns + n);
            }
        }
    }
};

/// The zero point of the left operand is input 2.
CompiledNode product(const NodeContext& context, std::size_t rightInput, std::size_t rightZero,
                     bool transposed, std::vector<std::int32_t> bias, Requantize out) {
    const TensorDesc &left = context.input(0), &right = context.input(rightInput);
    if (left.dims.size() < 2 || right.dims.size() < 2)
        fail(ErrorKind::Unsupported, "{} of {} and {} is not supported", context.node.op, toString(left.dims),
             toString(right.dims));
    std::vector<std::int32_t> zeros = columnZeros(context, rightZero);
    IntegerProduct p{ZeroPoint(context, 2), zeros.empty() ? ZeroPoint(context, rightZero) : ZeroPoint()};
    p.rows = static_cast<std::size_t>(left.dims[left.dims.size() - 2]);
    p.depth = static_cast<std::size_t>(left.dims.back());
    p.columns = static_cast<std::size_t>(right.dims[right.dims.size() - (transposed ? 2 : 1)]);
    p.transposedRight = transposed;
    for (std::size_t d = 0; d + 2 < left.dims.size(); ++d)
        p.batches *= static_cast<std::size_t>(left.dims[d]);
    p.sharedRight = right.dims.size() == 2;
    const std::int64_t depth = right.dims[right.dims.size() - (transposed ? 1 : 2)];
    if (depth != left.dims.back())
        failInput("{} of {} and {} is not possible", context.node.op, toString(left.dims),
                  toString(right.dims));
    if (!p.sharedRight &&
        !std::equal(left.dims.begin(), left.dims.end() - 2, right.dims.begin(), right.dims.end() - 2))
        fail(ErrorKind::Unsupported, "{} of {} and {} is not supported: their leading dimensions differ",
             context.node.op, toString(left.dims), toString(right.dims));
    p.left = codeReader(left.type, context.node.op);
    p.right = codeReader(right.type, context.node.op);
    p.leftSize = elementSize(left.type);
    p.rightSize = elementSize(right.type);
    requireChannels(context, zeros.size(), static_cast<std::int64_t>(p.columns), "zero points");
    p.columnZeros = std::move(zeros);
    requireChannels(context, bias.size(), static_cast<std::int64_t>(p.columns), "values of the bias");
    requireChannels(context, out.factors.size(), static_cast<std::int64_t>(p.columns), "scales");
    p.bias = std::move(bias);
    TensorDesc output{out.type, left.dims, Layout::Plain};
    output.dims.back() = static_cast<std::int64_t>(p.columns);
    p.out = std::move(out);
    return {{output},
            makeKernel([p = std::make_shared<const IntegerProduct>(std::move(p)),
                        rightInput](const KernelArguments& a) { p->run(a, rightInput); })};
}

CompiledNode compileMatMulInteger(const NodeContext& context) {
    return product(context, 1, 3, false, {}, {});
}

CompiledNode compileQLinearMatMul(const NodeContext& context) {
    return product(context, 3, 5, false, {}, requantize(context, 1, 4, 6));
}

CompiledNode compileQGemm(const NodeContext& context) {
    if (context.node.attributes.integer("transA", 0) != 0 || context.node.attributes.real("alpha", 1) != 1)
        fail(ErrorKind::Unsupported, "QGemm with transA or an alpha is not supported");
    if (!context.has(7)) fail(ErrorKind::Unsupported, "QGemm with a float output is not supported");
    std::vector<std::int32_t> bias;
    if (context.has(6))
        for (const std::int64_t value : context.needConstant(6, "the bias of QGemm").toInt64s())
            bias.push_back(static_cast<std::int32_t>(value));
    return product(context, 3, 5, context.node.attributes.integer("transB", 0) != 0, std::move(bias),
                   requantize(context, 1, 4, 7));
}

}  // namespace

void addQuantizedLayers(OperatorTable& table) {
    table["ConvInteger"] = {compileConvInteger};
    table["MatMulInteger"] = {compileMatMulInteger};
    table["QLinearConv"] = {compileQLinearConv};
    table["QLinearMatMul"] = {compileQLinearMatMul};
    table["com.microsoft.QGemm"] = {compileQGemm};
    addQuantizedPointwise(table);
}

}  // namespace quantloupe
