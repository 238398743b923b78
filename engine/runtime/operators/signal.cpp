// SPDX-License-Identifier: Apache-2.0
// Signal processing: DFT, STFT, windows (Hann, Hamming, Blackman), MelWeightMatrix.
#include <cmath>
#include <complex>
#include <numbers>

#include "base/error.h"
#include "base/memory_limit.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

using Complex = std::complex<double>;

/// A discrete Fourier transform of one length, without scaling. Immutable.
class Transform {
  public:
    Transform(std::size_t length, bool inverse) : m_roots(length) {
        const double turn = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(length);
        for (std::size_t i = 0; i < length; ++i) m_roots[i] = std::polar(1.0, turn * static_cast<double>(i));
    }

    std::size_t length() const { return m_roots.size(); }

    std::vector<Complex> operator()(const std::vector<Complex>& values) const {
        std::vector<Complex> result(length());
        transform(values.data(), 1, result.data(), length());
        return result;
    }

  private:
    /// Even and odd halves as long as they have the same length (J. W. Cooley, J. W. Tukey, 1965), then the
    /// sum.
    void transform(const Complex* in, std::size_t stride, Complex* out, std::size_t count) const {
        const std::size_t step = length() / count;  // between the roots of this length
        if (count % 2 != 0) {
            for (std::size_t k = 0; k < count; ++k) {
                Complex sum = 0;
                for (std::size_t i = 0; i < count; ++i) sum += in[i * stride] * m_roots[i * k % count * step];
                out[k] = sum;
            }
            return;
        }
        const std::size_t half = count / 2;
        transform(in, 2 * stride, out, half);
        transform(in + stride, 2 * stride, out + half, half);
        for (std::size_t k = 0; k < half; ++k) {
            const Complex even = out[k], odd = out[k + half] * m_roots[k * step];
            out[k] = even + odd;
            out[k + half] = even - odd;
        }
    }

    std::vector<Complex> m_roots;
};

/// A length that does not need more memory or time than a signal may.
std::size_t checkedLength(std::int64_t length, std::string_view what) {
    constexpr std::int64_t kMost = 1 << 22;
    if (length < 1 || length > kMost) failInput("{} is {}, not within 1 and {}", what, length, kMost);
    return static_cast<std::size_t>(length);
}

CompiledNode compileDft(const NodeContext& context) {
    requireFloat(context, 0);
    const Dims& dims = context.input(0).dims;
    const std::size_t rank = dims.size();
    if (rank < 2 || (dims.back() != 1 && dims.back() != 2))
        failInput("DFT needs real or complex numbers in the last dimension (1 or 2), not {}", toString(dims));
    std::int64_t given = context.node.attributes.integer("axis", context.opset() >= 20 ? -2 : 1);
    if (context.has(2)) given = integerOf(context.needConstant(2, "DFT's axis"));
    const std::size_t axis = normalizedAxis(given, rank);
    if (axis + 1 == rank) failInput("DFT's axis is the dimension of the complex numbers");
    const bool complex = dims.back() == 2;
    const bool inverse = context.node.attributes.integer("inverse", 0) != 0;
    const bool oneSided = context.node.attributes.integer("onesided", 0) != 0;
    if (oneSided && inverse != complex)
        failInput("a one-sided DFT needs real numbers, an inverse one complex numbers");
    const bool real = oneSided && inverse;  // the output
    const std::size_t length =
        checkedLength(context.has(1) ? integerOf(context.needConstant(1, "DFT's length"))
                      : real         ? 2 * (dims[axis] - 1)
                                     : dims[axis],
                      "DFT's length");
    TensorDesc output{DataType::Float32, dims, Layout::Plain};
    output.dims.back() = real ? 1 : 2;
    output.dims[axis] = static_cast<std::int64_t>(oneSided && !inverse ? length / 2 + 1 : length);

    const AxisExtents split = axisExtents({dims.begin(), dims.end() - 1}, axis);
    const auto kept = static_cast<std::size_t>(output.dims[axis]);
    return {{output}, makeKernel([=, transform = Transform(length, inverse)](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                const std::size_t parts = complex ? 2 : 1;
                const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
                std::vector<Complex> values(length);
                for (std::size_t line = 0; line < split.outer * split.inner; ++line) {
                    const std::size_t o = line / split.inner, i = line % split.inner;
                    for (std::size_t k = 0; k < length; ++k) {
                        const float* at = in + ((o * split.extent + k) * split.inner + i) * parts;
                        values[k] = k >= split.extent ? Complex() : Complex(at[0], complex ? at[1] : 0.0f);
                    }
                    for (std::size_t k = length / 2 + 1; real && k < length; ++k)
                        values[k] = std::conj(values[length - k]);
                    const std::vector<Complex> result = transform(values);
                    for (std::size_t k = 0; k < kept; ++k) {
                        float* at = out + ((o * kept + k) * split.inner + i) * (real ? 1 : 2);
                        at[0] = static_cast<float>(result[k].real() * scale);
                        if (!real) at[1] = static_cast<float>(result[k].imag() * scale);
                    }
                }
            })};
}

CompiledNode compileStft(const NodeContext& context) {
    requireFloat(context, 0);
    const Dims& dims = context.input(0).dims;
    const bool complex = dims.size() == 3 && dims[2] == 2;
    if (dims.size() != 2 && (dims.size() != 3 || (dims[2] != 1 && !complex)))
        failInput("STFT needs signals of shape N×L, N×L×1 or N×L×2, not {}", toString(dims));
    const std::size_t step = checkedLength(integerOf(context.needConstant(1, "STFT's step")), "STFT's step");
    if (context.has(2)) requireFloat(context, 2);
    if (!context.has(2) && !context.has(3)) failInput("STFT needs a window or the length of a frame");
    const std::size_t length =
        checkedLength(context.has(3) ? integerOf(context.needConstant(3, "STFT's frame length"))
                                     : elementCount(context.input(2).dims),
                      "STFT's frame length");
    if (context.has(2) && context.input(2).count() != length)
        failInput("STFT's window has {} values, but its frames have {}", context.input(2).count(), length);
    const bool oneSided = context.node.attributes.integer("onesided", 1) != 0;
    if (oneSided && complex) failInput("a one-sided STFT needs real numbers");
    const auto signal = static_cast<std::size_t>(dims[1]), batch = static_cast<std::size_t>(dims[0]);
    if (signal < length) failInput("STFT's frames of {} do not fit signals of {}", length, signal);
    const std::size_t frames = (signal - length) / step + 1, kept = oneSided ? length / 2 + 1 : length;
    const TensorDesc output{DataType::Float32,
                            {dims[0], static_cast<std::int64_t>(frames), static_cast<std::int64_t>(kept), 2},
                            Layout::Plain};
    return {{output}, makeKernel([=, transform = Transform(length, false)](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                const auto* window = a.inputs.size() > 2 ? static_cast<const float*>(a.inputs[2]) : nullptr;
                auto* out = static_cast<float*>(a.outputs[0]);
                const std::size_t parts = complex ? 2 : 1;
                std::vector<Complex> values(length);
                for (std::size_t n = 0; n < batch; ++n)
                    for (std::size_t frame = 0; frame < frames; ++frame) {
                        const float* at = in + (n * signal + frame * step) * parts;
                        for (std::size_t k = 0; k < length; ++k, at += parts)
                            values[k] = Complex(at[0], complex ? at[1] : 0.0f) *
                                        (window == nullptr ? 1.0 : static_cast<double>(window[k]));
                        const std::vector<Complex> result = transform(values);
                        for (std::size_t k = 0; k < kept; ++k) {
                            *out++ = static_cast<float>(result[k].real());
                            *out++ = static_cast<float>(result[k].imag());
                        }
                    }
            })};
}

/// Output 0, with values that are known when the node is compiled.
CompiledNode fixedValues(DataType type, Dims dims, const std::vector<double>& values, const char* what) {
    return withArithmeticType(type, what, [&]<typename T>(T) -> CompiledNode {
        std::vector<T> converted;
        for (const double value : values) converted.push_back(static_cast<T>(value));
        return {{{type, std::move(dims), Layout::Plain}},
                makeKernel([converted = std::move(converted)](const KernelArguments& a) {
                    std::copy(converted.begin(), converted.end(), static_cast<T*>(a.outputs[0]));
                })};
    });
}

DataType outputType(const NodeContext& context) {
    return static_cast<DataType>(
        context.node.attributes.integer("output_datatype", static_cast<std::int64_t>(DataType::Float32)));
}

/// A window c0 - c1 cos(x) + c2 cos(2x).
CompiledNode compileWindow(const NodeContext& context, double c0, double c1, double c2) {
    const std::string what = context.node.op + "'s size";
    const std::size_t size = checkedLength(integerOf(context.needConstant(0, what)), what);
    const bool periodic = context.node.attributes.integer("periodic", 1) != 0;
    const double period = static_cast<double>(periodic ? size : std::max<std::size_t>(1, size - 1));
    std::vector<double> values;
    for (std::size_t i = 0; i < size; ++i) {
        const double x = 2 * std::numbers::pi * static_cast<double>(i) / period;
        values.push_back(c0 - c1 * std::cos(x) + c2 * std::cos(2 * x));
    }
    return fixedValues(outputType(context), {static_cast<std::int64_t>(size)}, values, "a window");
}

/// Triangular filters whose centers are equally spaced on the mel scale, from the definition of the operator.
CompiledNode compileMelWeightMatrix(const NodeContext& context) {
    const auto number = [&](std::size_t i, const char* what) {
        const Constant& constant = context.needConstant(i, what);
        if (constant.size() != 1) failInput("{} is not one number", what);
        return constant.toDoubles()[0];
    };
    const std::size_t filters = checkedLength(static_cast<std::int64_t>(number(0, "the number of mel bins")),
                                              "the number of mel bins");
    const auto length = static_cast<std::int64_t>(number(1, "the length of the DFT"));
    const double rate = number(2, "the sample rate");
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double low = mel(number(3, "the lower frequency")), high = mel(number(4, "the upper frequency"));
    const std::size_t bins = checkedLength(length, "the length of the DFT") / 2 + 1;
    std::vector<std::int64_t> edges;
    for (std::size_t i = 0; i < filters + 2; ++i) {
        const double at = low + (high - low) / static_cast<double>(filters + 2) * static_cast<double>(i);
        const double hertz = 700 * (std::pow(10, at / 2595) - 1);
        const double edge = std::floor(static_cast<double>(length + 1) * hertz / rate);
        if (!(edge >= 0 && edge < static_cast<double>(bins)))
            failInput("MelWeightMatrix has a frequency of {} Hz, beyond its spectrum", hertz);
        edges.push_back(static_cast<std::int64_t>(edge));
    }
    requireMemory(bins * filters * sizeof(double));
    std::vector<double> values(bins * filters, 0.0);
    const auto set = [&](std::int64_t bin, std::size_t filter, std::int64_t part, std::int64_t whole) {
        values[static_cast<std::size_t>(bin) * filters + filter] =
            whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    for (std::size_t f = 0; f < filters; ++f) {
        const std::int64_t lower = edges[f], center = edges[f + 1], higher = edges[f + 2];
        for (std::int64_t bin = lower; bin <= center; ++bin) set(bin, f, bin - lower, center - lower);
        for (std::int64_t bin = center; bin < higher; ++bin) set(bin, f, higher - bin, higher - center);
    }
    return fixedValues(outputType(context),
                       {static_cast<std::int64_t>(bins), static_cast<std::int64_t>(filters)}, values,
                       "MelWeightMatrix");
}

}  // namespace

void addSignals(OperatorTable& table) {
    const auto plain = LayoutPolicy::Plain;
    table["DFT"] = {compileDft, plain, false};
    table["STFT"] = {compileStft, plain, false};
    const auto addWindow = [&](const char* name, double c0, double c1, double c2) {
        table[name] = {[=](const NodeContext& context) { return compileWindow(context, c0, c1, c2); }, plain,
                       false};
    };
    addWindow("HannWindow", 0.5, 0.5, 0);
    addWindow("HammingWindow", 25.0 / 46, 21.0 / 46, 0);
    addWindow("BlackmanWindow", 0.42, 0.5, 0.08);
    table["MelWeightMatrix"] = {compileMelWeightMatrix, plain, false};
}

}  // namespace quantloupe
