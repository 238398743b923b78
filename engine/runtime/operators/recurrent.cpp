// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN, in float. Step by step as ONNX specifies: gates = x Wt + h Rt + biases, with the input
// part of all steps computed as one product. Cost: the products. Samples are the second dimension (layout 0)
// or the first (1).
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "runtime/operators/operators.h"
#include "runtime/ordered/matrix_product.h"
#include "runtime/simd.h"

#define QUANTLOUPE_TILE
#include "runtime/ordered/curve_loops.h"

namespace quantloupe {
namespace {

using Scalar = PlainIsa<1>;

QUANTLOUPE_SIMD float sigmoid(float x) { return sigmoidTile<Scalar>({x}).lane[0]; }
QUANTLOUPE_SIMD float hyperbolic(float x) { return tanhTile<Scalar>({x}).lane[0]; }

/// An activation function with its parameters.
struct Function {
    float (*apply)(float x, float alpha, float beta);
    float alpha = 0, beta = 0;
    float operator()(float x) const { return apply(x, alpha, beta); }
};

struct NamedFunction {
    std::string_view name;  ///< in lower case, because exporters differ
    Function function;      ///< with the default parameters
    int parameters;         ///< how many it has
};
constexpr std::array kFunctions = {
    NamedFunction{"sigmoid", {[](float x, float, float) { return sigmoid(x); }}, 0},
    NamedFunction{"tanh", {[](float x, float, float) { return hyperbolic(x); }}, 0},
    NamedFunction{"relu", {[](float x, float, float) { return x > 0 ? x : 0.0f; }}, 0},
    NamedFunction{"softsign", {[](float x, float, float) { return x / (1.0f + std::fabs(x)); }}, 0},
    NamedFunction{"softplus", {[](float x, float, float) { return std::log1p(std::exp(x)); }}, 0},
    NamedFunction{"leakyrelu", {[](float x, float a, float) { return x >= 0 ? x : a * x; }, 0.01f}, 1},
    NamedFunction{"thresholdedrelu", {[](float x, float a, float) { return x > a ? x : 0.0f; }, 1}, 1},
    NamedFunction{"elu", {[](float x, float a, float) { return x >= 0 ? x : a * std::expm1(x); }, 1}, 1},
    NamedFunction{"hardsigmoid",
                  {[](float x, float a, float b) { return std::clamp(a * x + b, 0.0f, 1.0f); }, 0.2f, 0.5f},
                  2},
    NamedFunction{"affine", {[](float x, float a, float b) { return a * x + b; }, 1, 0}, 2},
    NamedFunction{"scaledtanh", {[](float x, float a, float b) { return a * std::tanh(b * x); }, 1, 1}, 2},
};

/// Returns the functions with these names. Each takes as many values as it has parameters from
/// activation_alpha and activation_beta, in the order of the names.
std::vector<Function> functionsOf(const std::vector<std::string>& names, const Attributes& attributes) {
    const std::vector<float> alphas = attributes.reals("activation_alpha"),
                             betas = attributes.reals("activation_beta");
    std::size_t alpha = 0, beta = 0;
    std::vector<Function> functions;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(kFunctions, lowerCase(name), &NamedFunction::name);
        if (found == kFunctions.end())
            fail(ErrorKind::Unsupported, "the activation '{}' of a recurrent layer is not supported", name);
        Function function = found->function;
        if (found->parameters > 0 && alpha < alphas.size()) function.alpha = alphas[alpha++];
        if (found->parameters > 1 && beta < betas.size()) function.beta = betas[beta++];
        functions.push_back(function);
    }
    return functions;
}

enum class Cell { Lstm, Gru, Rnn };

struct Recurrence {
    Cell cell;
    std::size_t gates, steps, batch, width, hidden, directions;
    bool batchFirst, linearBeforeReset, inputForget;
    float clip;
    std::vector<bool> backward;         ///< by direction
    std::vector<Function> activations;  ///< per direction: three (LSTM), two (GRU) or one

    /// The row of the input for one step of one sample.
    std::size_t inputRow(std::size_t step, std::size_t sample) const {
        return batchFirst ? sample * steps + step : step * batch + sample;
    }
    std::size_t outputAt(std::size_t step, std::size_t direction, std::size_t sample) const {
        return (batchFirst ? (sample * steps + step) * directions + direction
                           : (step * directions + direction) * batch + sample) *
               hidden;
    }
    std::size_t stateAt(std::size_t direction, std::size_t sample) const {
        return (batchFirst ? sample * directions + direction : direction * batch + sample) * hidden;
    }
    float bounded(float x) const { return clip > 0 ? std::clamp(x, -clip, clip) : x; }
};

/// The parameters of one direction; null if an input is omitted.
struct Weights {
    const float* bias;       ///< [2, gates, hidden]
    const float* peepholes;  ///< [3, hidden]: i, o, f
};

/// One step of one sample: `in` is x Wt and `back` is h Rt, both [gates, hidden]; modifies h and c.
void step(const Recurrence& r, const Weights& weights, const Function* f, const float* in, const float* back,
          float* h, float* c) {
    const std::size_t n = r.hidden;
    const auto bias = [&](std::size_t part, std::size_t gate, std::size_t j) {
        return weights.bias ? weights.bias[(part * r.gates + gate) * n + j] : 0.0f;
    };
    const auto gate = [&](std::size_t g, std::size_t j) {
        return in[g * n + j] + back[g * n + j] + bias(0, g, j) + bias(1, g, j);
    };
    const auto peep = [&](std::size_t which, std::size_t j, float cell) {
        return weights.peepholes ? weights.peepholes[which * n + j] * cell : 0.0f;
    };
    for (std::size_t j = 0; j < n; ++j) {
        if (r.cell == Cell::Rnn) {
            h[j] = f[0](r.bounded(gate(0, j)));
        } else if (r.cell == Cell::Lstm) {  // gates i, o, f, c
            const float i = f[0](r.bounded(gate(0, j) + peep(0, j, c[j])));
            const float forget = r.inputForget ? 1 - i : f[0](r.bounded(gate(2, j) + peep(2, j, c[j])));
            c[j] = forget * c[j] + i * f[1](r.bounded(gate(3, j)));
            const float o = f[0](r.bounded(gate(1, j) + peep(1, j, c[j])));
            h[j] = o * f[2](c[j]);
            // gates z, r, h; if the reset is applied first, `back` of the last gate is computed from the
            // reset h
        } else {
            const float z = f[0](r.bounded(gate(0, j)));
            const float candidate = r.linearBeforeReset
                                        ? in[2 * n + j] + bias(0, 2, j) +
                                              f[0](r.bounded(gate(1, j))) * (back[2 * n + j] + bias(1, 2, j))
                                        : gate(2, j);
            h[j] = (1 - z) * f[1](r.bounded(candidate)) + z * h[j];
        }
    }
}

class RecurrentKernel final : public Kernel {
  public:
    RecurrentKernel(Recurrence r) : m_r(std::move(r)) {}

    void run(const KernelArguments& a) const override {
        const Recurrence& r = m_r;
        const std::size_t n = r.hidden, row = r.gates * n;
        const auto floats = [&](std::size_t i) {
            return i < a.inputs.size() ? static_cast<const float*>(a.inputs[i]) : nullptr;
        };
        const auto output = [&](std::size_t i) {
            return i < a.outputs.size() ? static_cast<float*>(a.outputs[i]) : nullptr;
        };
        const auto* lengths = a.inputs.size() > 4 ? static_cast<const std::int32_t*>(a.inputs[4]) : nullptr;
        std::vector<float> in(r.steps * r.batch * row), back(row), h(n), c(n), reset(n);
        for (std::size_t d = 0; d < r.directions; ++d) {
            const Weights weights{floats(3) ? floats(3) + d * 2 * row : nullptr,
                                  floats(7) ? floats(7) + d * 3 * n : nullptr};
            const float* recurrent = floats(2) + d * row * n;
            const Function* f = r.activations.data() + d * (r.activations.size() / r.directions);
            multiply({floats(0), r.width, false}, {floats(1) + d * row * r.width, r.width, true},
                     r.steps * r.batch, r.width, row, in.data());
            const PackedMatrix packed({recurrent, n, true}, n, row);
            std::optional<PackedMatrix> candidate;
            if (r.cell == Cell::Gru && !r.linearBeforeReset)
                candidate.emplace(MatrixView{recurrent + 2 * n * n, n, true}, n, n);
            for (std::size_t sample = 0; sample < r.batch; ++sample) {
                start(floats(5), d, sample, h);
                start(floats(6), d, sample, c);
                if (lengths && (lengths[sample] < 0 || static_cast<std::size_t>(lengths[sample]) > r.steps))
                    failInput("the length of sequence {} is {}, but there are {} steps", sample,
                              lengths[sample], r.steps);
                const std::size_t length =
                    lengths ? std::min(r.steps, static_cast<std::size_t>(std::max(0, lengths[sample])))
                            : r.steps;
                if (float* y = output(0))
                    for (std::size_t t = length; t < r.steps; ++t)
                        std::fill_n(y + r.outputAt(t, d, sample), n, 0.0f);
                for (std::size_t k = 0; k < length; ++k) {
                    const std::size_t t = r.backward[d] ? length - 1 - k : k;
                    const float* mine = in.data() + r.inputRow(t, sample) * row;
                    packed.multiply({h.data(), n, false}, 1, back.data());
                    if (candidate) resetFirst(weights, f, mine, *candidate, h, back, reset);
                    step(r, weights, f, mine, back.data(), h.data(), c.data());
                    if (float* y = output(0)) std::copy(h.begin(), h.end(), y + r.outputAt(t, d, sample));
                }
                if (float* y = output(1)) std::copy(h.begin(), h.end(), y + r.stateAt(d, sample));
                if (float* y = output(2)) std::copy(c.begin(), c.end(), y + r.stateAt(d, sample));
            }
        }
    }

  private:
    void start(const float* initial, std::size_t direction, std::size_t sample,
               std::vector<float>& state) const {
        if (initial)
            std::copy_n(initial + m_r.stateAt(direction, sample), m_r.hidden, state.begin());
        else
            std::fill(state.begin(), state.end(), 0.0f);
    }

    /// Replaces the candidate's part of `back` by (r * h) Rht.
    void resetFirst(const Weights& weights, const Function* f, const float* in, const PackedMatrix& candidate,
                    const std::vector<float>& h, std::vector<float>& back, std::vector<float>& reset) const {
        const std::size_t n = m_r.hidden;
        for (std::size_t j = 0; j < n; ++j) {
            float sum = in[n + j] + back[n + j];
            if (weights.bias) sum += weights.bias[n + j] + weights.bias[(m_r.gates + 1) * n + j];
            reset[j] = f[0](m_r.bounded(sum)) * h[j];
        }
        candidate.multiply({reset.data(), n, false}, 1, back.data() + 2 * n);
    }

    Recurrence m_r;
};

/// Checks the optional inputs: bias, lengths of the sequences, initial states, peepholes.
void checkOperands(const NodeContext& context, const Recurrence& r, const Dims& state) {
    const auto extent = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    const auto check = [&](std::size_t i, const char* what, DataType type, const Dims& expected) {
        if (!context.has(i)) return;
        const TensorDesc& input = context.input(i);
        if (input.type != type || input.dims != expected)
            failInput("the {} of {} must be {} {}, not {} {}", what, context.node.op, toString(expected),
                      dataTypeName(type), toString(input.dims), dataTypeName(input.type));
    };
    const auto directions = extent(r.directions), hidden = extent(r.hidden);
    check(3, "bias", DataType::Float32, {directions, 2 * extent(r.gates) * hidden});
    check(4, "sequence lengths", DataType::Int32, {extent(r.batch)});
    check(5, "initial state", DataType::Float32, state);
    if (r.cell == Cell::Lstm) {
        check(6, "initial cell state", DataType::Float32, state);
        check(7, "peepholes", DataType::Float32, {directions, 3 * hidden});
    }
    const std::int64_t named = context.node.attributes.integer("hidden_size", hidden);
    if (named != hidden)
        failInput("{}'s hidden_size is {}, but its weights are for {}", context.node.op, named, hidden);
}

template <Cell kCell>
CompiledNode compileRecurrent(const NodeContext& context) {
    const Attributes& attributes = context.node.attributes;
    for (const std::size_t i : {0, 1, 2}) requireFloat(context, i);
    const Dims& x = context.input(0).dims;
    const Dims& w = context.input(1).dims;
    const Dims& back = context.input(2).dims;
    Recurrence r{};
    r.cell = kCell;
    r.gates = kCell == Cell::Lstm ? 4 : kCell == Cell::Gru ? 3 : 1;
    if (x.size() != 3 || w.size() != 3 || back.size() != 3 || w[2] != x[2] || back[1] != w[1] ||
        back[1] != back[2] * static_cast<std::int64_t>(r.gates) || back[0] != w[0])
        failInput("{} of {} with weights {} and {} does not fit", context.node.op, toString(x), toString(w),
                  toString(back));
    r.batchFirst = attributes.integer("layout", 0) != 0;
    r.steps = static_cast<std::size_t>(x[r.batchFirst ? 1 : 0]);
    r.batch = static_cast<std::size_t>(x[r.batchFirst ? 0 : 1]);
    r.width = static_cast<std::size_t>(x[2]);
    r.hidden = static_cast<std::size_t>(back[2]);
    r.directions = static_cast<std::size_t>(w[0]);
    r.clip = attributes.real("clip", 0);
    r.linearBeforeReset = attributes.integer("linear_before_reset", 0) != 0;
    r.inputForget = attributes.integer("input_forget", 0) != 0;
    const std::string direction = attributes.text("direction", "forward");
    if ((direction == "bidirectional" ? 2u : 1u) != r.directions)
        failInput("{} '{}' has weights for {} directions", context.node.op, direction, w[0]);
    r.backward = {direction == "reverse", true};
    std::vector<std::string> names;
    if (const auto found = std::find_if(attributes.begin(), attributes.end(),
                                        [](const auto& a) { return a.first == "activations"; });
        found != attributes.end())
        names = std::get<std::vector<std::string>>(found->second);
    const std::vector<std::string> usual = kCell == Cell::Lstm
                                               ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                                           : kCell == Cell::Gru ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                                : std::vector<std::string>{"Tanh"};
    for (std::size_t d = 0; names.size() < usual.size() * r.directions; ++d)
        names.push_back(usual[d % usual.size()]);
    if (names.size() != usual.size() * r.directions)
        failInput("{} has {} activations, but needs {}", context.node.op, names.size(),
                  usual.size() * r.directions);
    r.activations = functionsOf(names, attributes);
    const auto each = [](std::size_t extent) { return static_cast<std::int64_t>(extent); };
    const TensorDesc all{DataType::Float32,
                         r.batchFirst
                             ? Dims{each(r.batch), each(r.steps), each(r.directions), each(r.hidden)}
                             : Dims{each(r.steps), each(r.directions), each(r.batch), each(r.hidden)},
                         Layout::Plain};
    const TensorDesc state{DataType::Float32,
                           r.batchFirst ? Dims{each(r.batch), each(r.directions), each(r.hidden)}
                                        : Dims{each(r.directions), each(r.batch), each(r.hidden)},
                           Layout::Plain};
    checkOperands(context, r, state.dims);
    std::vector<TensorDesc> outputs{all, state, state};
    outputs.resize(std::min<std::size_t>(context.node.outputs.size(), kCell == Cell::Lstm ? 3 : 2));
    return {std::move(outputs), std::make_unique<RecurrentKernel>(std::move(r))};
}

}  // namespace

void addRecurrences(OperatorTable& table) {
    table["LSTM"] = {compileRecurrent<Cell::Lstm>};
    table["GRU"] = {compileRecurrent<Cell::Gru>};
    table["RNN"] = {compileRecurrent<Cell::Rnn>};
}

}  // namespace quantloupe
