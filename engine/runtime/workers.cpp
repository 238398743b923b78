// SPDX-License-Identifier: Apache-2.0
#include "runtime/workers.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <numeric>
#include <thread>
#include <vector>

#include "base/tsan_annotations.h"

namespace quantloupe {
namespace {

/// Orders the caller's work before that of every worker's slot, and the workers' results before the caller
/// continues.
class Round {
  public:
    explicit Round(const std::vector<char>& slots) : m_slots(slots) {
        for (const char& slot : m_slots) annotateRelease(&slot);
    }
    ~Round() {
        for (const char& slot : m_slots) annotateAcquire(&slot);
    }
    Round(const Round&) = delete;
    Round& operator=(const Round&) = delete;

  private:
    const std::vector<char>& m_slots;
};

/// A worker's task, ordered after the previous one at the same slot.
class Turn {
  public:
    explicit Turn(const char& slot) : m_slot(slot) { annotateAcquire(&m_slot); }
    ~Turn() { annotateRelease(&m_slot); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    const char& m_slot;
};

}  // namespace

struct Workers::Impl {
    Impl(int threads, bool background)
        : arena(threads, 1, background ? tbb::task_arena::priority::low : tbb::task_arena::priority::normal),
          slots(static_cast<std::size_t>(threads)) {}
    tbb::task_arena arena;
    std::vector<char> slots;  ///< one per worker, the addresses used in annotations
};

Workers::Workers(int threads, bool background) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    // More threads than cores would only slow each other down.
    m_impl = std::make_unique<Impl>(threads > 0 ? std::min(threads, cores) : cores, background);
    m_impl->arena.initialize();
}

Workers::~Workers() = default;

int Workers::count() const { return m_impl->arena.max_concurrency(); }

void Workers::run(std::size_t tasks, const std::function<void(std::size_t, std::size_t)>& task,
                  const CancelToken& cancel) const {
    std::vector<std::size_t> left(tasks);
    std::iota(left.begin(), left.end(), std::size_t(0));
    while (!left.empty()) {
        // A pause blocks only this thread. The pool's threads skip tasks that have not started, and do other
        // work meanwhile.
        cancel.check();
        std::vector<char> done(left.size());
        const Round round(m_impl->slots);
        m_impl->arena.execute([&] {
            tbb::parallel_for(
                tbb::blocked_range<std::size_t>(0, left.size(), 1),
                [&](const tbb::blocked_range<std::size_t>& range) {
                    const auto slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
                    const Turn turn(m_impl->slots[slot]);
                    for (std::size_t i = range.begin(); i != range.end(); ++i) {
                        cancel.checkWithoutPause();
                        if (cancel.paused()) continue;
                        task(left[i], slot);
                        done[i] = 1;
                    }
                },
                tbb::simple_partitioner());
        });
        std::size_t kept = 0;
        for (std::size_t i = 0; i < left.size(); ++i)
            if (!done[i]) left[kept++] = left[i];
        left.resize(kept);
    }
}

}  // namespace quantloupe
