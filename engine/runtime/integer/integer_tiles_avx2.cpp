// SPDX-License-Identifier: Apache-2.0
// Two of the loops are written in assembly: they need all 16 registers, and compilers would spill the sums to
// memory.
#include "runtime/integer/integer_tiles.h"

#if defined(__x86_64__)
#include <cstring>

#include "runtime/integer/integer_simd.h"
#endif

namespace quantloupe {

#if defined(__x86_64__)

namespace {

alignas(32) constexpr std::int16_t kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// One row, 8 depths, 16 columns: ymm8 to ymm11 contain the weights.
#define BYTE_ROW(X0, X1, LEFT, RIGHT)           \
    "vpbroadcastd " X0                          \
    ", %%ymm12\n\t"                             \
    "vpmaddubsw %%ymm8, %%ymm12, %%ymm13\n\t"   \
    "vpmaddubsw %%ymm9, %%ymm12, %%ymm12\n\t"   \
    "vpbroadcastd " X1                          \
    ", %%ymm14\n\t"                             \
    "vpmaddubsw %%ymm10, %%ymm14, %%ymm15\n\t"  \
    "vpmaddubsw %%ymm11, %%ymm14, %%ymm14\n\t"  \
    "vpaddw %%ymm15, %%ymm13, %%ymm13\n\t"      \
    "vpaddw %%ymm14, %%ymm12, %%ymm12\n\t"      \
    "vpmaddwd (%[ones]), %%ymm13, %%ymm13\n\t"  \
    "vpmaddwd (%[ones]), %%ymm12, %%ymm12\n\t"  \
    "vpaddd %%ymm13, %%ymm" LEFT ", %%ymm" LEFT \
    "\n\t"                                      \
    "vpaddd %%ymm12, %%ymm" RIGHT ", %%ymm" RIGHT "\n\t"

// One row, 2 depths, 16 columns: ymm12 and ymm13 contain the weights.
#define WORD_ROW(X, LEFT, RIGHT)                \
    "vpbroadcastd " X                           \
    ", %%ymm14\n\t"                             \
    "vpmaddwd %%ymm12, %%ymm14, %%ymm15\n\t"    \
    "vpmaddwd %%ymm13, %%ymm14, %%ymm14\n\t"    \
    "vpaddd %%ymm15, %%ymm" LEFT ", %%ymm" LEFT \
    "\n\t"                                      \
    "vpaddd %%ymm14, %%ymm" RIGHT ", %%ymm" RIGHT "\n\t"

#define LOAD(AT, N) "vmovdqu " AT "(%[sums]), %%ymm" N "\n\t"
#define ZERO(AT, N) "vpxor %%ymm" N ", %%ymm" N ", %%ymm" N "\n\t"
#define STORE(AT, N) "vmovdqu %%ymm" N ", " AT "(%[sums])\n\t"
#define START(ROWS) "test %[first], %[first]\n\tjnz 2f\n\t" ROWS(LOAD) "jmp 1f\n\t2:\n\t" ROWS(ZERO)
#define ONE_ROW(DO) DO("0", "0") DO("32", "1")
#define FOUR_ROWS(DO) \
    DO("0", "0")      \
    DO("32", "1") DO("64", "2") DO("96", "3") DO("128", "4") DO("160", "5") DO("192", "6") DO("224", "7")
#define SIX_ROWS(DO) FOUR_ROWS(DO) DO("256", "8") DO("288", "9") DO("320", "10") DO("352", "11")
#define EACH_BYTE_STEP(ROWS)             \
    "1:\n\t"                             \
    "vmovdqa (%[weight]), %%ymm8\n\t"    \
    "vmovdqa 32(%[weight]), %%ymm9\n\t"  \
    "vmovdqa 64(%[weight]), %%ymm10\n\t" \
    "vmovdqa 96(%[weight]), %%ymm11\n\t" ROWS "add $128, %[weight]\n\t"
#define EACH_WORD_STEP(ROWS)           \
    "1:\n\t"                           \
    "vmovdqa (%[weight]), %%ymm12\n\t" \
    "vmovdqa 32(%[weight]), %%ymm13\n\t" ROWS "add $64, %[weight]\n\t"
#define YMM                                                                                           \
    "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "ymm8", "ymm9", "ymm10", "ymm11", \
        "ymm12", "ymm13", "ymm14", "ymm15", "cc", "memory"

void fourByteRows(const char* row, std::size_t stride, const char* weight, std::size_t steps, int first,
                  std::int32_t* sums) {
    const char* last = row + 3 * stride;
    asm volatile(START(FOUR_ROWS)                                                                    //
                 EACH_BYTE_STEP(BYTE_ROW("(%[row])", "4(%[row])", "0", "1")                          //
                                BYTE_ROW("(%[row],%[stride])", "4(%[row],%[stride])", "2", "3")      //
                                BYTE_ROW("(%[row],%[stride],2)", "4(%[row],%[stride],2)", "4", "5")  //
                                BYTE_ROW("(%[last])", "4(%[last])", "6", "7"))                       //
                 "add $8, %[row]\n\t"
                 "add $8, %[last]\n\t"
                 "dec %[steps]\n\t"
                 "jnz 1b\n\t" FOUR_ROWS(STORE) "vzeroupper\n\t"
                 : [row] "+r"(row), [last] "+r"(last), [weight] "+r"(weight), [steps] "+r"(steps)
                 : [stride] "r"(stride), [sums] "r"(sums), [first] "r"(first), [ones] "r"(kOnes)
                 : YMM);
}

void oneByteRow(const char* row, const char* weight, std::size_t steps, int first, std::int32_t* sums) {
    asm volatile(START(ONE_ROW) EACH_BYTE_STEP(BYTE_ROW(
        "(%[row])", "4(%[row])", "0",
        "1")) "add $8, %[row]\n\t"
              "dec %[steps]\n\t"
              "jnz 1b\n\t" ONE_ROW(STORE) "vzeroupper\n\t"
                 : [row] "+r"(row), [weight] "+r"(weight), [steps] "+r"(steps)
                 : [sums] "r"(sums), [first] "r"(first), [ones] "r"(kOnes)
                 : YMM);
}

void sixWordRows(const char* row, std::size_t stride, const char* weight, std::size_t steps, int first,
                 std::int32_t* sums) {
    const char* last = row + 3 * stride;
    asm volatile(START(SIX_ROWS)                                      //
                 EACH_WORD_STEP(WORD_ROW("(%[row])", "0", "1")           //
                                WORD_ROW("(%[row],%[stride])", "2", "3")  //
                                WORD_ROW("(%[row],%[stride],2)", "4", "5")  //
                                WORD_ROW("(%[last])", "6", "7")          //
                                WORD_ROW("(%[last],%[stride])", "8", "9")  //
                                WORD_ROW("(%[last],%[stride],2)", "10", "11"))
                 "add $4, %[row]\n\t"
                 "add $4, %[last]\n\t"
                 "dec %[steps]\n\t"
                 "jnz 1b\n\t" SIX_ROWS(STORE) "vzeroupper\n\t"
                 : [row] "+r"(row), [last] "+r"(last), [weight] "+r"(weight), [steps] "+r"(steps)
                 : [stride] "r"(stride), [sums] "r"(sums), [first] "r"(first)
                 : YMM);
}

void oneWordRow(const char* row, const char* weight, std::size_t steps, int first, std::int32_t* sums) {
    asm volatile(START(ONE_ROW) EACH_WORD_STEP(WORD_ROW(
        "(%[row])", "0",
        "1")) "add $4, %[row]\n\t"
              "dec %[steps]\n\t"
              "jnz 1b\n\t" ONE_ROW(STORE) "vzeroupper\n\t"
                 : [row] "+r"(row), [weight] "+r"(weight), [steps] "+r"(steps)
                 : [sums] "r"(sums), [first] "r"(first)
                 : YMM);
}

/// 16 columns. The sums over 32 depths stay in 16 bits: two multiplications by ones per 32 depths instead of
/// eight.
template <std::size_t Rows>
QUANTLOUPE_AVX2 void smallByteRows(const char* row, std::size_t stride, const char* weight, std::size_t steps,
                                   bool first, std::int32_t* sums) {
    constexpr std::size_t kGroups = kSmallStep / 4;
    const __m256i ones = _mm256_set1_epi16(1);
    auto* at = reinterpret_cast<__m256i*>(sums);
    for (std::size_t s = 0; s < steps; ++s, row += kSmallStep) {
        __m256i left[Rows], right[Rows];
#pragma GCC unroll 8
        for (std::size_t g = 0; g < kGroups; ++g, weight += 64) {
            const __m256i leftWeight = _mm256_load_si256(reinterpret_cast<const __m256i*>(weight)),
                          rightWeight = _mm256_load_si256(reinterpret_cast<const __m256i*>(weight + 32));
#pragma GCC unroll 4
            for (std::size_t r = 0; r < Rows; ++r) {
                std::int32_t codes;
                std::memcpy(&codes, row + r * stride + 4 * g, sizeof codes);
                const __m256i x = _mm256_set1_epi32(codes);
                const __m256i l = _mm256_maddubs_epi16(x, leftWeight),
                              h = _mm256_maddubs_epi16(x, rightWeight);
                left[r] = g == 0 ? l : _mm256_add_epi16(left[r], l);
                right[r] = g == 0 ? h : _mm256_add_epi16(right[r], h);
                // Otherwise, the compiler would multiply all groups before it adds, and spill the products.
                asm("" : "+x"(left[r]), "+x"(right[r]));
            }
        }
        const bool fresh = first && s == 0;
#pragma GCC unroll 4
        for (std::size_t r = 0; r < Rows; ++r) {
            left[r] = _mm256_madd_epi16(left[r], ones);
            right[r] = _mm256_madd_epi16(right[r], ones);
            if (!fresh) {
                left[r] = _mm256_add_epi32(left[r], _mm256_loadu_si256(at + 2 * r));
                right[r] = _mm256_add_epi32(right[r], _mm256_loadu_si256(at + 2 * r + 1));
            }
            _mm256_storeu_si256(at + 2 * r, left[r]);
            _mm256_storeu_si256(at + 2 * r + 1, right[r]);
        }
    }
}

}  // namespace

void addSmallBytesAvx2(const PanelArguments& a) {
    const auto* rows = static_cast<const char*>(a.rows);
    const auto* weight = static_cast<const char*>(a.weight);
    std::size_t r = 0;
    for (; r + 4 <= a.count; r += 4)
        smallByteRows<4>(rows + r * a.stride, a.stride, weight, a.steps, a.first, a.sums + r * kPanelColumns);
    for (; r < a.count; ++r)
        smallByteRows<1>(rows + r * a.stride, a.stride, weight, a.steps, a.first, a.sums + r * kPanelColumns);
}

void addBytesAvx2(const PanelArguments& a) {
    const auto* rows = static_cast<const char*>(a.rows);
    const auto* weight = static_cast<const char*>(a.weight);
    std::size_t r = 0;
    for (; r + 4 <= a.count; r += 4)
        fourByteRows(rows + r * a.stride, a.stride, weight, a.steps, a.first, a.sums + r * kPanelColumns);
    for (; r < a.count; ++r)
        oneByteRow(rows + r * a.stride, weight, a.steps, a.first, a.sums + r * kPanelColumns);
}

void addWordsAvx2(const PanelArguments& a) {
    const auto* rows = static_cast<const char*>(a.rows);
    const auto* weight = static_cast<const char*>(a.weight);
    std::size_t r = 0;
    for (; r + 6 <= a.count; r += 6)
        sixWordRows(rows + r * a.stride, a.stride, weight, a.steps, a.first, a.sums + r * kPanelColumns);
    for (; r < a.count; ++r)
        oneWordRow(rows + r * a.stride, weight, a.steps, a.first, a.sums + r * kPanelColumns);
}

#else

void addSmallBytesAvx2(const PanelArguments&) {}
void addBytesAvx2(const PanelArguments&) {}
void addWordsAvx2(const PanelArguments&) {}

#endif

}  // namespace quantloupe
