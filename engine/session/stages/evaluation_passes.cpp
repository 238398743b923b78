// SPDX-License-Identifier: Apache-2.0
#include "session/stages/evaluation_passes.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "analysis/class_output.h"
#include "base/error.h"
#include "base/short_text.h"
#include "session/stages/unit_comparison.h"

namespace quantloupe {
namespace {

/// Compares the first output as an image with that of the float network.
void judgeImage(const NetworkOutputs& outputs, const NetworkOutputs& reference, std::size_t samples,
                Accuracy& accuracy) {
    const std::size_t width = outputs.widths[0];
    DifferenceSums difference;
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (std::size_t s = 0; s < samples; ++s) {
        const float* floating = reference.row(s);
        difference.add(floating, outputs.row(s), width);
        for (std::size_t i = 0; i < width; ++i) {
            low = floating[i] < low ? floating[i] : low;
            high = floating[i] > high ? floating[i] : high;
        }
    }
    const double span = static_cast<double>(high) - static_cast<double>(low);
    if (!(span > 0) || !std::isfinite(span)) return;
    const ImageQuality quality = imageQuality(difference, span);
    accuracy.mse = quality.mse;
    accuracy.psnrDb = quality.psnrDb;
}

/// Converts `count` integers from the index `first` on.
void integersToFloats(const std::vector<std::byte>& bytes, DataType type, std::size_t first, float* target,
                      std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t wide = 0;
        std::int32_t narrow = 0;
        if (type == DataType::Int64)
            std::memcpy(&wide, bytes.data() + (first + i) * sizeof wide, sizeof wide);
        else
            std::memcpy(&narrow, bytes.data() + (first + i) * sizeof narrow, sizeof narrow);
        target[i] = static_cast<float>(type == DataType::Int64 ? wide : narrow);
    }
}

/// Compares each of several outputs with that of the reference.
std::vector<OutputDifference> differencesByOutput(const NetworkOutputs& outputs,
                                                  const NetworkOutputs& reference, std::size_t samples) {
    std::vector<OutputDifference> list;
    if (outputs.compared.size() < 2 || &outputs == &reference) return list;
    std::size_t column = 0;
    for (std::size_t o = 0; o < outputs.compared.size(); column += outputs.widths[o++]) {
        DifferenceSums difference;
        for (std::size_t s = 0; s < samples; ++s)
            difference.add(reference.row(s) + column, outputs.row(s) + column, outputs.widths[o]);
        const TensorDifference result = difference.result();
        list.push_back({outputs.names[o], result.sqnrDb, result.maxAbsolute});
    }
    return list;
}

/// The memory of a chunk's outputs.
std::span<std::byte> rowsOf(NetworkOutputs& outputs, const SampleBatches& batches, std::size_t chunk) {
    return std::as_writable_bytes(
        std::span(outputs.values)
            .subspan(chunk * batches.batch() * outputs.stride, batches.samplesIn(chunk) * outputs.stride));
}

/// Removes the dimension of the samples.
Dims dimsOfSample(const TensorDesc& desc) {
    Dims dims = desc.dims;
    if (const auto axis = sampleDimension(desc)) dims[*axis] /= desc.samples.count;
    if (!dims.empty() && dims[0] == 1) dims.erase(dims.begin());
    return dims;
}

}  // namespace

SampleOutputs sampleOutputs(const NetworkOutputs& outputs, const Graph& source, std::size_t sample) {
    SampleOutputs result;
    for (const TensorId output : source.outputs()) {
        const TensorInfo& tensor = source.tensor(output);
        result.shapes.push_back({tensor.name, tensor.type, {}});
        result.values.emplace_back();
    }
    const float* row = outputs.row(sample);
    const auto set = [&](std::size_t index, const TensorDesc& desc, std::size_t width) {
        result.shapes[index].type = desc.type;
        result.shapes[index].dims = dimsOfSample(desc);
        result.values[index] = {result.shapes[index].dims, {row, width}};
        row += width;
    };
    for (std::size_t c = 0; c < outputs.compared.size(); ++c)
        set(outputs.compared[c], outputs.descs[c], outputs.widths[c]);
    for (const auto& other : outputs.others) set(other.index, other.desc, other.width);
    return result;
}

TensorDesc outputDesc(TensorDesc desc, const SampleBatches& batches) {
    const auto batch = static_cast<std::int64_t>(batches.batch());
    if (desc.samples.isMixed() && !desc.dims.empty() && desc.dims[0] == batch) desc.samples = {1, batch};
    return desc;
}

OutputRecorder::OutputRecorder(const Program& program, std::vector<TensorId> ends,
                               const SampleBatches& batches, NetworkOutputs& outputs)
    : m_ends(std::move(ends)), m_batches(batches), m_outputs(outputs) {
    if (!outputs.descs.empty() || !outputs.others.empty()) return;
    std::string unfit, ranked;
    std::vector<OutputVector> vectors;
    for (std::size_t o = 0; o < m_ends.size(); ++o) {
        const TensorDesc desc = outputDesc(program.desc(m_ends[o]), batches);
        const bool integer = desc.type == DataType::Int64 || desc.type == DataType::Int32;
        if (outputs.integers && integer && desc.samples.runs == 1 && desc.count() > 0)
            outputs.others.push_back({o, desc, desc.count() / batches.batch()});
        const bool isInput = program.graph().tensor(m_ends[o]).graphInput;  // no quantization changes it
        if (desc.type != DataType::Float32 || !desc.samples.perSample() || desc.count() == 0 || isInput) {
            unfit += fmt::format(
                "{}'{}' is {}{}", unfit.empty() ? "" : ", ", program.graph().tensor(m_ends[o]).name,
                desc.type == DataType::Float32 ? toString(desc.dims) : std::string(dataTypeName(desc.type)),
                isInput                    ? ", an input"
                : desc.samples.isMixed()   ? ", which depends on several samples"
                : desc.samples.perSample() ? ""
                                           : ", the same for all samples");
            continue;
        }
        outputs.compared.push_back(o);
        outputs.names.push_back(program.graph().tensor(m_ends[o]).name);
        outputs.descs.push_back(desc);
        outputs.widths.push_back(desc.count() / batches.batch());
        outputs.rowWidth += outputs.widths.back();
        vectors.push_back(
            {outputs.names.back(), scoreCount(program.graph(), m_ends[o], desc.dims, batches.batch())});
        if (isRanked(program.graph(), m_ends[o])) ranked = outputs.names.back();
    }
    if (outputs.descs.empty() && outputs.others.empty())
        fail(ErrorKind::Unsupported,
             "no output can be compared because only float32 outputs that depend on the sample can: {}",
             unfit);
    const bool binary = !outputs.thresholds.empty();
    if (outputs.task && outputs.classes) outputs.scores = classOutput(vectors, outputs.chosenScores, binary);
    if (outputs.task && outputs.classes && !outputs.scores && !ranked.empty())
        outputs.scoresNotice = fmt::format(
            "the positions of values in '{}' are not classes, because TopK has sorted them: no classes are "
            "compared",
            shortName(ranked));
    if (outputs.scores) {
        if (outputs.chosenScores.empty())
            outputs.scoresNotice = classOutputNotice(vectors, *outputs.scores, binary);
        if (outputs.widths[*outputs.scores] == 1) {
            outputs.threshold = outputs.thresholds.at(outputs.compared[*outputs.scores]);
            const std::string decision = binaryNotice(outputs.names[*outputs.scores], outputs.threshold);
            outputs.scoresNotice =
                outputs.scoresNotice.empty() ? decision : decision + "; " + outputs.scoresNotice;
        }
    }
    outputs.stride = outputs.rowWidth;
    for (const auto& other : outputs.others) outputs.stride += other.width;
    outputs.values.resize(outputs.stride * batches.samples());
}

void OutputRecorder::record(std::size_t chunk, const Workspace& workspace) const {
    const std::size_t present = m_batches.samplesIn(chunk);
    const auto rowOf = [&](std::size_t s) {
        return m_outputs.values.data() + (chunk * m_batches.batch() + s) * m_outputs.stride;
    };
    std::size_t column = 0;
    std::vector<float> plain, gathered;
    for (std::size_t o = 0; o < m_outputs.compared.size(); ++o) {
        const TensorDesc& desc = m_outputs.descs[o];
        const std::size_t width = m_outputs.widths[o];
        plain.resize(desc.count());
        convertLayout(desc, workspace.data(m_ends[m_outputs.compared[o]]), Layout::Plain, plain.data());
        const auto values = presentValues(desc, plain.data(), present, gathered);
        for (std::size_t s = 0; s < present; ++s)
            std::memcpy(rowOf(s) + column, values.data() + s * width, width * sizeof(float));
        column += width;
    }
    std::vector<std::byte> bytes;
    for (const auto& other : m_outputs.others) {
        bytes.resize(other.desc.bytes());
        convertLayout(other.desc, workspace.data(m_ends[other.index]), Layout::Plain, bytes.data());
        for (std::size_t s = 0; s < present; ++s)
            integersToFloats(bytes, other.desc.type, s * other.width, rowOf(s) + column, other.width);
        column += other.width;
    }
}

void OutputRecorder::finish(std::size_t end) const {
    m_outputs.known = std::min(end * m_batches.batch(), m_batches.samples());
}

void runOutputs(const BoundProgram& bound, const std::vector<TensorId>& ends, const SampleBatches& batches,
                std::size_t begin, std::size_t end, const RunControl& control, NetworkOutputs& outputs) {
    BoundProgram own = bound;
    own.shard = shardOf(control.group);
    const OutputRecorder recorder(*own.program, ends, batches, outputs);
    const auto run = [&](const RunControl& chosen) {
        runChunks({own}, batches, begin, end, chosen,
                  [&](std::size_t chunk, std::size_t, std::vector<Workspace>& workspaces) {
                      recorder.record(chunk, workspaces[0]);
                  });
    };
    if (control.group != nullptr) {
        shareChunks(
            *control.group, "outputs", begin, end, [&] { run(control); },
            [&](std::size_t chunk) { return rowsOf(outputs, batches, chunk); });
        recorder.finish(end);
        return;
    }
    RunControl counting = control;
    std::size_t done = 0;
    counting.progress = [&](std::size_t samples, std::size_t total) {
        done = samples;
        if (control.progress) control.progress(samples, total);
    };
    try {
        run(counting);
    } catch (const Cancelled&) {  // the next run of this network continues here
        if (done > 0) recorder.finish(begin + done / batches.batch());
        throw;
    }
    recorder.finish(end);
}

std::vector<std::int32_t> classesOf(const NetworkOutputs& outputs, std::size_t samples) {
    std::vector<std::int32_t> classes;
    if (!outputs.classifies()) return classes;
    for (std::size_t s = 0; s < samples; ++s) classes.push_back(outputs.verdict(s).predicted);
    return classes;
}

Accuracy accuracyOf(const NetworkOutputs& outputs, const NetworkOutputs& reference, const Dataset& dataset,
                    const TaskJudge* judging, std::size_t samples) {
    Accuracy accuracy;
    accuracy.samples = samples;
    if (judging != nullptr && judging->labeled())
        judging->measure(outputs.records, reference.records, samples, accuracy);
    if (outputs.descs.empty()) return accuracy;  // only integers
    DifferenceSums difference;
    for (std::size_t s = 0; s < samples; ++s)
        difference.add(reference.row(s), outputs.row(s), outputs.rowWidth);
    const TensorDifference result = difference.result();
    accuracy.sqnrDb = result.sqnrDb;
    accuracy.maxAbsDiff = result.maxAbsolute;
    accuracy.outputs = differencesByOutput(outputs, reference, samples);

    if (outputs.task && outputs.descs[0].dims.size() == 4) judgeImage(outputs, reference, samples, accuracy);

    if (!outputs.classifies()) return accuracy;
    const bool labeled = dataset.hasLabels();
    TaskCounts counts;
    for (std::size_t s = 0; s < samples; ++s) {
        const std::optional<int> label = labeled ? dataset.label(s) : std::nullopt;
        counts.add(outputs.verdict(s, label), reference.verdict(s).predicted, label);
    }
    accuracy.agreement = counts.agreement();
    accuracy.top1 = counts.top1Rate();
    accuracy.top5 = counts.top5Rate();
    if (accuracy.top1) accuracy.top1Interval = wilsonInterval(counts.top1, counts.labeled);
    return accuracy;
}

UnitDifferences measureUnits(UnitComparison comparison, const RunControl& control) {
    const std::size_t local = comparison.local.size(), cumulative = comparison.cumulative.size(),
                      chunks = comparison.batches.chunks();
    std::vector<std::vector<DifferenceSums>> localSums(chunks), cumulativeSums(chunks);
    const auto into = [](std::vector<std::vector<DifferenceSums>>& sums, std::size_t units) {
        for (auto& chunk : sums) chunk.resize(units);
        return [&sums](const ComparedTensor& tensor) {
            DifferenceSums& sum = sums[tensor.chunk][tensor.index];
            if (tensor.codes != nullptr)
                sum.add(tensor.reference, tensor.codes, *tensor.quantizer, tensor.elements);
            else
                sum.add(tensor.reference, tensor.tested, tensor.elements);
        };
    };
    comparison.compareLocal = into(localSums, local);
    comparison.compareCumulative = into(cumulativeSums, cumulative);
    comparison.readsCodes = true;
    const auto bytesOf = [](std::vector<std::vector<DifferenceSums>>& sums) {
        return [&sums](std::size_t chunk) { return std::as_writable_bytes(std::span(sums[chunk])); };
    };
    if (control.group == nullptr) {
        compareUnits(comparison, control);
    } else {
        static_assert(std::is_trivially_copyable_v<DifferenceSums>);
        ProcessGroup& group = *control.group;
        shareChunks(
            group, "local metrics", 0, chunks, [&] { compareUnits(comparison, control); },
            bytesOf(localSums));
        shareChunks(
            group, "cumulative metrics", 0, chunks, [] {}, bytesOf(cumulativeSums));
        if (comparison.floatOutputs != nullptr)
            shareChunks(
                group, "transformed float network", 0, chunks, [] {},
                [&](std::size_t chunk) {
                    return rowsOf(*comparison.floatOutputs, comparison.batches, chunk);
                });
    }

    // Merge in the order of the chunks, so that the sums do not depend on the number of workers.
    UnitDifferences result{std::vector<DifferenceSums>(local), std::vector<DifferenceSums>(cumulative)};
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        for (std::size_t w = 0; w < local; ++w) result.local[w].merge(localSums[chunk][w]);
        for (std::size_t u = 0; u < cumulative; ++u) result.cumulative[u].merge(cumulativeSums[chunk][u]);
    }
    return result;
}

}  // namespace quantloupe
