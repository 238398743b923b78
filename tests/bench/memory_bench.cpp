// SPDX-License-Identifier: Apache-2.0
// Memory over many edits of the bundled demo: resident memory of the process, and the memory that the session
// reports.
//
// Usage: memory_bench [EDITS [MEMORY_MIB [SAMPLES]]]; defaults: 2000 edits, the default budget and 256 images
#include <malloc.h>

#include <cstdio>
#include <cstdlib>

#include "support/demo.h"
#include "support/random_edits.h"

using namespace quantloupe;

int main(int count, char** arguments) {
    const auto number = [&](int i, std::size_t otherwise) {
        return count > i ? std::strtoul(arguments[i], nullptr, 10) : otherwise;
    };
    const std::size_t edits = number(1, 2000);
    SessionOptions options{2, number(3, 256), 0};
    if (count > 2) options.memory = number(2, 0) << 20;
    const auto session = test::openDemo(options);
    constexpr double kMiB = 1048576;
    std::printf("budget %.0f MiB\n%8s %12s %12s %12s %16s\n",
                static_cast<double>(session->cacheBudget()) / kMiB, "edit", "resident", "allocated", "kept",
                "of activations");
    test::RandomEdits random(session->graph(), 20261122);
    for (std::size_t edit = 1; edit <= edits; ++edit) {
        session->evaluate(random.next(), Depth::Metrics);
        if (edit % (edits < 20 ? 1 : edits / 20) != 0) continue;
        const auto heap = mallinfo2();
        std::printf("%8zu %8.0f MiB %8.0f MiB %8.0f MiB %12.0f MiB\n", edit,
                    static_cast<double>(test::residentBytes()) / kMiB,
                    static_cast<double>(heap.uordblks + heap.hblkhd) / kMiB,
                    static_cast<double>(session->cacheBytes()) / kMiB,
                    static_cast<double>(session->activationBytes()) / kMiB);
        std::fflush(stdout);
    }
}
