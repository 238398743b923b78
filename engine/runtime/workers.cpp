// SPDX-License-Identifier: Apache-2.0
#include "runtime/workers.h"

#include <omp.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <thread>

namespace quantloupe {
namespace {

/// Two OpenMP threads inside one convolution lose 5 to 20 times when workers contend for the cores.
class SingleThreadedOpenMp final : public tbb::task_scheduler_observer {
  public:
    explicit SingleThreadedOpenMp(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) { observe(true); }
    ~SingleThreadedOpenMp() override { observe(false); }
    void on_scheduler_entry(bool) override { limitOpenMpOfThisThread(); }
};

}  // namespace

void limitOpenMpOfThisThread() { omp_set_num_threads(1); }

struct Workers::Impl {
    explicit Impl(int threads) : arena(threads), openMp(arena) {}
    tbb::task_arena arena;
    SingleThreadedOpenMp openMp;
};

Workers::Workers(int threads)
    : m_impl(std::make_unique<Impl>([threads] {
          const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
          return threads > 0 ? std::min(threads, cores) : cores;  // more than the cores only get into each other's way
      }())) {
    m_impl->arena.initialize();
}

Workers::~Workers() = default;

int Workers::count() const { return m_impl->arena.max_concurrency(); }

void Workers::run(std::size_t tasks, const std::function<void(std::size_t, std::size_t)>& task,
                  const CancelToken& cancel) const {
    m_impl->arena.execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::size_t>(0, tasks, 1),
            [&](const tbb::blocked_range<std::size_t>& range) {
                const int slot = tbb::this_task_arena::current_thread_index();
                for (std::size_t i = range.begin(); i != range.end(); ++i) {
                    cancel.check();
                    task(i, static_cast<std::size_t>(slot));
                }
            },
            tbb::simple_partitioner());
    });
}

}  // namespace quantloupe
