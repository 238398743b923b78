// SPDX-License-Identifier: Apache-2.0
// Einsum: sums of products over named dimensions, "bhqd,bhkd->bhqk". The innermost loop runs over the
// output's last dimension, so that it writes contiguously; the sums run in the order of the names. Cost: the
// product of all extents.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

/// The name of a dimension: a letter, or a character from '0' on for those that "..." replaces.
using Labels = std::string;

struct Equation {
    std::vector<Labels> operands;
    Labels output;
};

Labels read(std::string_view term, std::size_t rank, std::string_view text) {
    Labels labels;
    const std::size_t dots = term.find("...");
    for (std::size_t i = 0; i < term.size(); ++i) {
        if (term[i] == ' ') continue;
        if (i == dots) {
            std::size_t letters = 0;
            for (const char c : term) letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (letters > rank || rank - letters > 10)
                failInput("Einsum '{}' does not fit an operand of rank {}", text, rank);
            // The last of them is always '9', so that operands of different ranks are aligned at their ends.
            for (std::size_t k = rank - letters; k > 0; --k)
                labels += static_cast<char>('9' + 1 - static_cast<char>(k));
            i += 2;
            continue;
        }
        labels += term[i];
    }
    return labels;
}

Equation readEquation(const NodeContext& context) {
    const std::string text = context.node.attributes.text("equation", "");
    const std::size_t arrow = text.find("->");
    Equation equation;
    std::string_view left = std::string_view(text).substr(0, arrow);
    for (std::size_t i = 0; i < context.inputs.size(); ++i) {
        const std::size_t comma = left.find(',');
        equation.operands.push_back(read(left.substr(0, comma), context.input(i).dims.size(), text));
        if (equation.operands.back().size() != context.input(i).dims.size() ||
            (comma == left.npos) != (i + 1 == context.inputs.size()))
            failInput("Einsum '{}' does not fit its {} operands", text, context.inputs.size());
        left = comma == left.npos ? std::string_view() : left.substr(comma + 1);
    }
    std::map<char, int> seen;
    for (const Labels& labels : equation.operands)
        for (const char label : labels) ++seen[label];
    std::size_t dotted = 0;
    for (const auto& [label, count] : seen) dotted += label <= '9';
    if (arrow == text.npos) {  // labels that occur once, in alphabetical order, after those of "..."
        for (const auto& [label, count] : seen)
            if (label <= '9' || count == 1) equation.output += label;
        return equation;
    }
    const std::string_view right = std::string_view(text).substr(arrow + 2);
    std::size_t letters = 0;
    for (const char c : right) letters += c != ' ' && c != '.';
    equation.output = read(right, letters + (right.find("...") == right.npos ? 0 : dotted), text);
    for (const char label : equation.output)
        if (std::ranges::count(equation.output, label) > 1)
            failInput("Einsum '{}': the result has the dimension '{}' twice", text, label);
    for (const char label : equation.output)
        if (!seen.contains(label)) failInput("Einsum '{}': no operand has the dimension '{}'", text, label);
    return equation;
}

struct Loop {
    std::size_t extent;
    std::vector<std::size_t> steps;  ///< for each operand, then for the output
};

/// The extents of the dimensions; an operand may have 1 where another one has more.
std::map<char, std::int64_t> extentsOf(const NodeContext& context, const Equation& equation) {
    std::map<char, std::int64_t> extents;
    for (std::size_t i = 0; i < equation.operands.size(); ++i) {
        if (context.input(i).type != context.input(0).type)
            failInput("Einsum's operands are of different types");
        for (std::size_t d = 0; d < equation.operands[i].size(); ++d) {
            const std::int64_t extent = context.input(i).dims[d];
            std::int64_t& known = extents.try_emplace(equation.operands[i][d], extent).first->second;
            if (known == 1) known = extent;
            if (extent != known && extent != 1)
                failInput("Einsum '{}': the dimension '{}' is {} and {}",
                          context.node.attributes.text("equation", ""), equation.operands[i][d], known,
                          extent);
        }
    }
    return extents;
}

/// Nested loops, outermost first: the output's dimensions, with the summed ones before the last of them.
std::vector<Loop> loopsOf(const NodeContext& context, const Equation& equation,
                          const std::map<char, std::int64_t>& extents, const TensorDesc& output) {
    const std::size_t operands = equation.operands.size();
    Labels order = equation.output;
    for (const auto& [label, extent] : extents)
        if (order.find(label) == order.npos)
            order.insert(order.empty() ? 0 : order.size() - (equation.output.empty() ? 0 : 1), 1, label);
    std::vector<Loop> loops;
    for (const char label : order) {
        Loop loop{static_cast<std::size_t>(extents.at(label)), std::vector<std::size_t>(operands + 1, 0)};
        for (std::size_t i = 0; i <= operands; ++i) {
            const Labels& labels = i == operands ? equation.output : equation.operands[i];
            const TensorDesc& desc = i == operands ? output : context.input(i);
            // A label that occurs twice selects a diagonal.
            for (std::size_t d = 0; d < labels.size(); ++d)
                if (labels[d] == label && desc.dims[d] != 1)
                    loop.steps[i] += static_cast<std::size_t>(desc.strides()[d]);
        }
        loops.push_back(std::move(loop));
    }
    if (loops.empty()) loops.push_back({1, std::vector<std::size_t>(operands + 1, 0)});
    return loops;
}

QUANTLOUPE_SIMD void addScaled(float* out, const float* in, std::size_t count, float factor) {
    for (std::size_t i = 0; i < count; ++i) out[i] += factor * in[i];
}

/// Adds the products of the innermost loop to the output; `offsets` are the starts of the operands and the
/// output.
template <typename T>
void addProducts(const Loop& loop, const KernelArguments& a, const std::vector<std::size_t>& offsets) {
    const std::size_t operands = loop.steps.size() - 1;
    const auto at = [&](std::size_t i) { return static_cast<const T*>(a.inputs[i]) + offsets[i]; };
    T* out = static_cast<T*>(a.outputs[0]) + offsets[operands];
    if constexpr (std::is_same_v<T, float>) {
        // A scalar times an operand that is contiguous along the output: the usual case with two operands.
        if (operands == 2 && loop.steps[2] == 1 && loop.steps[0] == 0 && loop.steps[1] == 1) {
            addScaled(out, at(1), loop.extent, *at(0));
            return;
        }
    }
    for (std::size_t k = 0; k < loop.extent; ++k) {
        T product = at(0)[k * loop.steps[0]];
        for (std::size_t i = 1; i < operands; ++i) product *= at(i)[k * loop.steps[i]];
        out[k * loop.steps[operands]] += product;
    }
}

/// Advances the outer loops by one step; false after the last.
bool advance(const std::vector<Loop>& loops, std::vector<std::size_t>& at,
             std::vector<std::size_t>& offsets) {
    for (std::size_t d = loops.size() - 1; d-- > 0;) {
        const Loop& loop = loops[d];
        for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] += loop.steps[i];
        if (++at[d] < loop.extent) return true;
        for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] -= loop.extent * loop.steps[i];
        at[d] = 0;
    }
    return false;
}

CompiledNode compileEinsum(const NodeContext& context) {
    const Equation equation = readEquation(context);
    const auto extents = extentsOf(context, equation);
    TensorDesc output{context.input(0).type, {}, Layout::Plain};
    for (const char label : equation.output) output.dims.push_back(extents.at(label));
    const std::vector<Loop> loops = loopsOf(context, equation, extents, output);
    return withArithmeticType(output.type, "Einsum", [&]<typename T>(T) -> CompiledNode {
        return {{output}, makeKernel([loops, count = output.count()](const KernelArguments& a) {
                    std::fill_n(static_cast<T*>(a.outputs[0]), count, T{});
                    if (std::ranges::any_of(loops, [](const Loop& loop) { return loop.extent == 0; })) return;
                    std::vector<std::size_t> at(loops.size(), 0), offsets(loops[0].steps.size(), 0);
                    do addProducts<T>(loops.back(), a, offsets);
                    while (advance(loops, at, offsets));
                })};
    });
}

}  // namespace

void addEinsum(OperatorTable& table) { table["Einsum"] = {compileEinsum}; }

}  // namespace quantloupe
