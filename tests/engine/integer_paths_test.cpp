// SPDX-License-Identifier: Apache-2.0
// Integer kernels give the same bits with every instruction set: each path that this processor has is
// compared with plain loops. Inputs end at a page that cannot be read, outputs at one that cannot be written.
#include "runtime/integer/integer_paths.h"

#include <sys/mman.h>

#include <QtTest>
#include <cmath>
#include <cstring>
#include <random>

#include "runtime/aligned.h"
#include "support/random_seed.h"

using namespace quantloupe;

namespace {

constexpr IntegerPath kPaths[] = {IntegerPath::Fastest, IntegerPath::Avx2, IntegerPath::AvxVnni,
                                  IntegerPath::Avx512Vnni, IntegerPath::Amx};
constexpr const char* kNames[] = {"fastest", "AVX2", "AVX-VNNI", "AVX-512 VNNI", "AMX"};

/// Memory that is followed by a page without access.
class GuardedBytes {
  public:
    explicit GuardedBytes(std::size_t count)
        : m_count(count), m_mapped((count + kPage - 1) / kPage * kPage + kPage) {
        m_memory = static_cast<std::uint8_t*>(
            mmap(nullptr, m_mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (m_memory == MAP_FAILED || mprotect(m_memory + m_mapped - kPage, kPage, PROT_NONE) != 0)
            qFatal("mmap failed");
    }
    ~GuardedBytes() { munmap(m_memory, m_mapped); }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;

    std::uint8_t* data() { return m_memory + m_mapped - kPage - m_count; }
    std::size_t size() const { return m_count; }

  private:
    static constexpr std::size_t kPage = 4096;
    std::size_t m_count, m_mapped;
    std::uint8_t* m_memory;
};

struct Layer {
    ConstantCodes weight, bias;
    CodedUnit unit;
};

}  // namespace

class IntegerPathsTest : public QObject {
    Q_OBJECT

    std::mt19937 m_random{test::randomSeed()};

    int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(m_random); }
    bool coin() { return pick(0, 1) == 1; }

    /// `dims`: of the weight, `columns` output channels. Scales are such that outputs spread over the codes.
    /// Some layers have only the largest or only the smallest weight: the largest sums.
    Layer layer(const Dims& dims, std::size_t columns, std::size_t depth) {
        Layer result;
        const int bits = pick(2, 8), most = (1 << (bits - 1)) - 1;
        const bool extreme = pick(0, 3) == 0, negative = coin();
        std::vector<std::int32_t> weights, biases;
        for (std::int64_t i = 0; i < elementCount(dims); ++i)
            weights.push_back(extreme ? (negative ? -most - 1 : most) : pick(-most - 1, most));
        result.weight.codes = CompactIntegers(weights);
        const std::size_t scales = coin() ? 1 : columns;
        for (std::size_t c = 0; c < scales; ++c)
            result.weight.scales.push_back(std::uniform_real_distribution<float>(0.5f, 1.5f)(m_random));
        for (std::size_t c = 0; c < columns; ++c) biases.push_back(pick(-20000, 20000));
        result.bias.codes = CompactIntegers(biases);
        CodedUnit& unit = result.unit;
        const int zero = pick(0, 255);
        unit.input = {0.02f, static_cast<float>(-zero), static_cast<float>(255 - zero)};
        if (pick(0, extreme ? 1 : 3) != 0) {
            const float spread = 0.02f * static_cast<float>(most) * 70 * std::sqrt(static_cast<float>(depth));
            const int low = -pick(0, 255), high = low + (coin() ? 255 : pick(3, 255));
            unit.output = FakeQuant{spread / 100, static_cast<float>(low), static_cast<float>(high)};
        }
        if (coin()) unit.activation.low = 0;
        if (pick(0, 3) == 0) unit.activation.high = 6;
        return result;
    }

    /// Binds the pointers of a layer that has its final address.
    static CodedUnit unitOf(const Layer& layer) {
        CodedUnit unit = layer.unit;
        unit.weight = &layer.weight;
        unit.bias = layer.bias.codes.empty() ? nullptr : &layer.bias;
        return unit;
    }

    /// The value of one output from the exact sum of (code - zero) * weight, as bytes.
    static void put(const Layer& layer, std::size_t column, std::int64_t sum,
                    std::vector<std::uint8_t>& bytes) {
        const CodedUnit& unit = layer.unit;
        if (!layer.bias.codes.empty()) sum += layer.bias.codes[column];
        const float weightScale = layer.weight.scales[layer.weight.scales.size() > 1 ? column : 0];
        const double outputScale = unit.output ? static_cast<double>(unit.output->scale) : 1.0;
        const auto factor = static_cast<float>(static_cast<double>(unit.input.scale) *
                                               static_cast<double>(weightScale) / outputScale);
        float value = static_cast<float>(static_cast<std::int32_t>(sum)) * factor;
        if (!unit.output) {
            value = std::min(std::max(value, unit.activation.low), unit.activation.high);
            const auto* raw = reinterpret_cast<const std::uint8_t*>(&value);
            bytes.insert(bytes.end(), raw, raw + sizeof value);
            return;
        }
        const float low = std::max(unit.output->low, unit.activation.low / unit.output->scale),
                    high = std::min(unit.output->high, unit.activation.high / unit.output->scale);
        value = std::nearbyint(std::min(std::max(value, low), high)) - unit.output->low;
        bytes.push_back(static_cast<std::uint8_t>(value));
    }

    /// Empty if the bytes are the same on each path, otherwise the path that differs.
    template <typename Make>
    QByteArray different(const Layer& layer, const std::vector<std::uint8_t>& codes,
                         const std::vector<std::uint8_t>& expected, Make make) {
        GuardedBytes input(codes.size());
        std::memcpy(input.data(), codes.data(), codes.size());
        for (std::size_t p = 0; p < std::size(kPaths); ++p) {
            if (!isAvailable(kPaths[p])) continue;
            const std::unique_ptr<Kernel> kernel = make(kPaths[p], unitOf(layer));
            if (!kernel) return QByteArray(kNames[p]) + ": no kernel";
            GuardedBytes output(expected.size());
            AlignedVector<std::byte> scratch(kernel->scratchBytes(), std::byte{0xa5});
            const void* inputs[] = {input.data()};
            void* outputs[] = {output.data()};
            kernel->run({inputs, outputs, scratch.data()});
            if (std::memcmp(output.data(), expected.data(), expected.size()) != 0) return kNames[p];
        }
        return {};
    }

    std::vector<std::uint8_t> randomCodes(std::size_t count) {
        std::vector<std::uint8_t> codes(count, 255);
        if (pick(0, 3) == 0) return codes;  // the largest sums
        for (auto& code : codes) code = static_cast<std::uint8_t>(m_random());
        return codes;
    }

    struct Geometry {
        TensorDesc input, output;
        Window window;
        Dims weight;
        std::int64_t groups = 1;
    };

    Geometry geometry(int mostChannels, bool depthwise) {
        Geometry g;
        const std::int64_t channels = pick(depthwise ? 16 : 1, mostChannels),
                           columns = depthwise ? channels : pick(1, 100);
        Dims extent{pick(1, 12), pick(1, 12)};
        for (std::size_t axis = 0; axis < 2; ++axis) {
            Window& w = g.window;
            w.kernel.push_back(pick(0, 2) == 0 ? 1 : pick(1, depthwise ? 7 : 4));
            w.strides.push_back(pick(0, 9) == 0 ? 30 : pick(1, 3));
            w.dilations.push_back(pick(0, 9) == 0 ? 12 : pick(0, 3) == 0 ? 2 : 1);
            w.padBegin.push_back(pick(-2, 3));
            w.padEnd.push_back(pick(-2, 3));
            const std::int64_t span = (w.kernel[axis] - 1) * w.dilations[axis] + 1,
                               missing = span - extent[axis] - w.padBegin[axis] - w.padEnd[axis];
            extent[axis] += std::max<std::int64_t>(missing, 0);
            w.output.push_back((extent[axis] + w.padBegin[axis] + w.padEnd[axis] - span) / w.strides[axis] +
                               1);
        }
        const std::int64_t images = pick(1, 3);
        g.input = {DataType::UInt8, {images, channels, extent[0], extent[1]}, Layout::ChannelsLast};
        g.output = {
            DataType::UInt8, {images, columns, g.window.output[0], g.window.output[1]}, Layout::ChannelsLast};
        g.weight = {columns, depthwise ? 1 : channels, g.window.kernel[0], g.window.kernel[1]};
        if (depthwise) g.groups = channels;
        return g;
    }

    void compareConvolutions(int rounds, int mostChannels, bool depthwise) {
        for (int round = 0; round < rounds; ++round) {
            const Geometry g = geometry(mostChannels, depthwise);
            const Window& w = g.window;
            const auto columns = static_cast<std::size_t>(g.weight[0]);
            const Layer l =
                layer(g.weight, columns, static_cast<std::size_t>(elementCount(g.weight)) / columns);
            const auto codes = randomCodes(g.input.count());
            const std::int64_t channels = g.input.dims[1], height = g.input.dims[2], width = g.input.dims[3];
            const auto zero = static_cast<std::int64_t>(-l.unit.input.low);
            std::vector<std::uint8_t> expected;
            for (std::int64_t n = 0; n < g.input.dims[0]; ++n)
                for (std::int64_t oy = 0; oy < w.output[0]; ++oy)
                    for (std::int64_t ox = 0; ox < w.output[1]; ++ox)
                        for (std::int64_t c = 0; c < g.weight[0]; ++c) {
                            std::int64_t sum = 0;
                            for (std::int64_t i = 0; i < g.weight[1]; ++i)
                                for (std::int64_t ky = 0; ky < w.kernel[0]; ++ky)
                                    for (std::int64_t kx = 0; kx < w.kernel[1]; ++kx) {
                                        const std::int64_t y = oy * w.strides[0] - w.padBegin[0] +
                                                               ky * w.dilations[0],
                                                           x = ox * w.strides[1] - w.padBegin[1] +
                                                               kx * w.dilations[1];
                                        if (y < 0 || y >= height || x < 0 || x >= width) continue;
                                        const std::int64_t channel = depthwise ? c : i;
                                        const auto at = static_cast<std::size_t>(
                                            ((n * height + y) * width + x) * channels + channel);
                                        const auto weightAt = static_cast<std::size_t>(
                                            ((c * g.weight[1] + i) * w.kernel[0] + ky) * w.kernel[1] + kx);
                                        sum += (codes[at] - zero) * l.weight.codes[weightAt];
                                    }
                            put(l, static_cast<std::size_t>(c), sum, expected);
                        }
            const QByteArray failed =
                different(l, codes, expected, [&](IntegerPath path, const CodedUnit& unit) {
                    return makeConvolutionOn(path, unit, g.input, g.output, w, g.groups, g.weight);
                });
            QVERIFY2(failed.isEmpty(), failed + qPrintable(QStringLiteral(", round %1").arg(round)));
        }
    }

  private Q_SLOTS:
    void initTestCase() {
        if (!isAvailable(IntegerPath::Avx2))
            QSKIP("this processor has no AVX2: quantized units are simulated in float");
        for (std::size_t p = 0; p < std::size(kPaths); ++p)
            qInfo("%s: %s", kNames[p], isAvailable(kPaths[p]) ? "tested" : "not available on this processor");
    }

    void products() {
        for (int round = 0; round < 300; ++round) {
            const auto rows = static_cast<std::size_t>(pick(1, 150)),
                       columns = static_cast<std::size_t>(pick(1, 110));
            const std::size_t depth = static_cast<std::size_t>(coin() ? pick(1, 40) : pick(1, 700));
            const bool transposed = coin();
            const Layer l =
                layer({static_cast<std::int64_t>(depth), static_cast<std::int64_t>(columns)}, columns, depth);
            const auto codes = randomCodes(rows * depth);
            const auto zero = static_cast<std::int64_t>(-l.unit.input.low);
            std::vector<std::uint8_t> expected;
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t c = 0; c < columns; ++c) {
                    std::int64_t sum = 0;
                    for (std::size_t k = 0; k < depth; ++k)
                        sum += (codes[r * depth + k] - zero) *
                               l.weight.codes[transposed ? c * depth + k : k * columns + c];
                    put(l, c, sum, expected);
                }
            const QByteArray failed =
                different(l, codes, expected, [&](IntegerPath path, const CodedUnit& unit) {
                    return makeProductOn(path, unit, rows, depth, columns, transposed);
                });
            QVERIFY2(failed.isEmpty(), failed + qPrintable(QStringLiteral(", round %1").arg(round)));
        }
    }

    void convolutions() { compareConvolutions(250, 90, false); }
    void depthwiseConvolutions() { compareConvolutions(250, 150, true); }

    /// Element-wise sums and products equal the simulation bit for bit; some of these quantizers produce
    /// ties.
    void sumsAndProducts() {
        for (int round = 0; round < 120; ++round) {
            const bool adds = coin(), floats = pick(0, 3) == 0;
            const auto quantizer = [&] {
                const int zero = pick(0, 255), high = coin() ? 255 : pick(1, 255);
                const float scale =
                    coin() ? 0.0625f : std::uniform_real_distribution<float>(0.01f, 3.0f)(m_random);
                return FakeQuant{scale, static_cast<float>(-zero), static_cast<float>(high - zero)};
            };
            const FakeQuant left = quantizer(), right = quantizer(), output = quantizer();
            Activation activation;
            if (coin()) activation.low = 0;
            if (coin()) activation.high = 6;
            RepeatedOperand operand;
            if (!floats) operand.quantizer = right;
            operand.images = static_cast<std::size_t>(pick(1, 3));
            operand.period = static_cast<std::size_t>(pick(1, 5000));
            const std::size_t repeats = static_cast<std::size_t>(pick(1, 5)),
                              ofImage = repeats * operand.period, count = operand.images * ofImage;
            const auto a = randomCodes(count), b = randomCodes(operand.images * operand.period);
            std::vector<float> values;
            for (const std::uint8_t code : b)
                values.push_back((static_cast<float>(code) + right.low) * right.scale);
            const std::size_t bytes = floats ? values.size() * sizeof(float) : b.size();
            GuardedBytes guardedA(count), guardedB(bytes), result(count);
            std::memcpy(guardedA.data(), a.data(), count);
            std::memcpy(guardedB.data(), floats ? static_cast<const void*>(values.data()) : b.data(), bytes);
            const void* inputs[] = {guardedA.data(), guardedB.data()};
            void* outputs[] = {result.data()};
            makeCodedBinary(adds ? CodedOperation::Add : CodedOperation::Multiply, left, operand, output,
                            activation, count)
                ->run({inputs, outputs, nullptr});
            for (std::size_t i = 0; i < count; ++i) {
                const float x = (static_cast<float>(a[i]) + left.low) * left.scale,
                            y = values[i / ofImage * operand.period + i % operand.period];
                const float sum = std::min(std::max(adds ? x + y : x * y, activation.low), activation.high);
                const float steps = std::min(std::max(sum / output.scale, output.low), output.high);
                QCOMPARE(result.data()[i], static_cast<std::uint8_t>(std::nearbyint(steps) - output.low));
            }
        }
    }

    void maps() {
        for (int round = 0; round < 60; ++round) {
            std::vector<float> results(256);
            for (float& result : results)
                result = std::uniform_real_distribution<float>(-3.0f, 3.0f)(m_random);
            const FakeQuant output{0.02f, -128, 127};
            const auto count = static_cast<std::size_t>(pick(1, 3000));
            const auto codes = randomCodes(count);
            GuardedBytes input(count), coded(count), floats(count * sizeof(float));
            std::memcpy(input.data(), codes.data(), count);
            const void* inputs[] = {input.data()};
            void* codedOutputs[] = {coded.data()};
            void* floatOutputs[] = {floats.data()};
            makeCodedMap(results, output, count)->run({inputs, codedOutputs, nullptr});
            makeCodedMap(results, {}, count)->run({inputs, floatOutputs, nullptr});
            std::vector<std::uint8_t> expected(256);
            encode(output, results.data(), expected.data(), 256);
            for (std::size_t i = 0; i < count; ++i) {
                QCOMPARE(coded.data()[i], expected[codes[i]]);
                QCOMPARE(reinterpret_cast<const float*>(floats.data())[i], results[codes[i]]);
            }
        }
    }

    void maxPools() {
        for (int round = 0; round < 100; ++round) {
            const Geometry g = geometry(150, true);
            const Window& w = g.window;
            const auto codes = randomCodes(g.input.count());
            const std::int64_t channels = g.input.dims[1], height = g.input.dims[2], width = g.input.dims[3];
            GuardedBytes input(codes.size()), result(g.output.count());
            std::memcpy(input.data(), codes.data(), codes.size());
            const void* inputs[] = {input.data()};
            void* outputs[] = {result.data()};
            makeCodedMaxPool(g.input, w)->run({inputs, outputs, nullptr});
            const std::uint8_t* found = result.data();
            for (std::int64_t n = 0; n < g.input.dims[0]; ++n)
                for (std::int64_t oy = 0; oy < w.output[0]; ++oy)
                    for (std::int64_t ox = 0; ox < w.output[1]; ++ox)
                        for (std::int64_t c = 0; c < channels; ++c) {
                            std::uint8_t largest = 0;
                            for (std::int64_t ky = 0; ky < w.kernel[0]; ++ky)
                                for (std::int64_t kx = 0; kx < w.kernel[1]; ++kx) {
                                    const std::int64_t y = oy * w.strides[0] - w.padBegin[0] +
                                                           ky * w.dilations[0],
                                                       x = ox * w.strides[1] - w.padBegin[1] +
                                                           kx * w.dilations[1];
                                    if (y >= 0 && y < height && x >= 0 && x < width)
                                        largest = std::max(
                                            largest, codes[static_cast<std::size_t>(
                                                         ((n * height + y) * width + x) * channels + c)]);
                                }
                            QCOMPARE(*found++, largest);
                        }
        }
    }

    /// The largest sums: all codes are 255 and all weights -128 or 127.
    void extremes() {
        for (const int weight : {-128, 127}) {
            constexpr std::size_t kRows = 33, kDepth = 9000, kColumns = 40;
            Layer l = layer({kDepth, kColumns}, kColumns, kDepth);
            l.weight.codes = CompactIntegers(std::vector<std::int32_t>(l.weight.codes.size(), weight));
            l.unit.input = {0.02f, 0, 255};
            const std::vector<std::uint8_t> codes(kRows * kDepth, 255);
            std::vector<std::uint8_t> expected;
            for (std::size_t r = 0; r < kRows; ++r)
                for (std::size_t c = 0; c < kColumns; ++c)
                    put(l, c, std::int64_t{255} * weight * static_cast<std::int64_t>(kDepth), expected);
            QCOMPARE(different(l, codes, expected,
                               [&](IntegerPath path, const CodedUnit& unit) {
                                   return makeProductOn(path, unit, kRows, kDepth, kColumns, false);
                               }),
                     QByteArray());
        }
    }
};

QTEST_GUILESS_MAIN(IntegerPathsTest)
#include "integer_paths_test.moc"
