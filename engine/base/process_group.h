// SPDX-License-Identifier: Apache-2.0
#pragma once
// Processes that run the same program on the same inputs and divide the work over samples among themselves.
// Each process computes a part of a pass, and all processes receive all parts. Between these exchanges, every
// process makes the same decisions, because they depend only on data that is the same everywhere; everything
// else (the time, files that are written) comes from the first process. app/mpi implements the exchange with
// MPI.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace quantloupe {

class ProcessGroup {
  public:
    /// Gets the part of one process.
    using Take = std::function<void(std::size_t rank, std::string_view part)>;

    virtual ~ProcessGroup() = default;
    virtual std::size_t rank() const = 0;
    virtual std::size_t size() const = 0;

    /// Calls `make` in every process, and `take` in every process with what each of them made, by rank. All
    /// processes must call it in the same order with the same `what`. If `make` fails in one process, throws
    /// Error in all of them; throws Error, too, if a process has ended.
    void allGather(std::string_view what, const std::function<std::string()>& make, const Take& take);
    /// Returns in every process what `make` returns in the first one, which is the only one to call it.
    std::string fromFirst(std::string_view what, const std::function<std::string()>& make);
    /// Returns the smallest value of all processes.
    std::uint64_t least(std::string_view what, std::uint64_t value);
    /// To be called last. With the text of an error, the other processes end with it; otherwise waits until
    /// all of them have finished.
    void leave(const std::string& error);

  protected:
    /// Exchanges one message per process.
    virtual void exchange(const std::string& own, const Take& take) = 0;
    /// "process 3 on node7", for messages about another process.
    virtual std::string nameOf(std::size_t rank) const;

  private:
    enum class Status : std::uint64_t { Working, Failed, Leaving };
    void gather(std::string_view what, Status status, const std::string& own, const Take& take);

    std::uint64_t m_calls = 0;
    bool m_over = false;  ///< a process has left
};

/// Fills the memory of all chunks [begin, end). `work` computes the chunks that this process owns (chunk
/// modulo the number of processes), which `place` then returns; the others are received into what `place`
/// returns. Large messages are split.
void shareChunks(ProcessGroup& group, std::string_view what, std::size_t begin, std::size_t end,
                 const std::function<void()>& work,
                 const std::function<std::span<std::byte>(std::size_t chunk)>& place);

}  // namespace quantloupe
