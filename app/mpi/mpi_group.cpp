// SPDX-License-Identifier: Apache-2.0
#include "mpi_group.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "base/error.h"

namespace quantloupe::mpi {
namespace {

/// Counts of MPI are int, so long messages are counted in blocks.
constexpr std::size_t kBlock = 64;
/// Messages up to this size, together with their size, are exchanged in one step.
constexpr std::size_t kShort = 248;
struct Frame {
    std::uint64_t size = 0;
    char bytes[kShort] = {};
};

/// Waits without using the processor for long: other processes may need it for their part of the work.
void waitFor(MPI_Request& request, const volatile std::sig_atomic_t& stop) {
    constexpr int kYields = 200;
    constexpr auto kNap = std::chrono::microseconds(50);
    for (int tries = 0;; ++tries) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done != 0) return;
        if (stop != 0) throw Cancelled();
        if (tries < kYields)
            sched_yield();
        else
            std::this_thread::sleep_for(kNap);
    }
}

int toInt(std::size_t count) {
    if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        fail(ErrorKind::Unsupported, "a message of {} MiB is too long for MPI", count * kBlock >> 20);
    return static_cast<int>(count);
}

/// A type of kBlock bytes.
class BlockType {
  public:
    BlockType() {
        MPI_Type_contiguous(kBlock, MPI_BYTE, &m_type);
        MPI_Type_commit(&m_type);
    }
    ~BlockType() { MPI_Type_free(&m_type); }
    BlockType(const BlockType&) = delete;
    BlockType& operator=(const BlockType&) = delete;
    MPI_Datatype get() const { return m_type; }

  private:
    MPI_Datatype m_type = MPI_DATATYPE_NULL;
};

}  // namespace

MpiGroup::MpiGroup(const volatile std::sig_atomic_t& stop) : m_stop(stop) {
    int provided = 0, rank = 0, size = 1, local = 1, length = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    m_rank = static_cast<std::size_t>(rank);
    m_size = static_cast<std::size_t>(size);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &local);
    MPI_Comm_free(&machine);
    m_local = static_cast<std::size_t>(local);
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    MPI_Get_processor_name(name, &length);
    m_machines.resize(m_size * sizeof name);
    MPI_Allgather(name, sizeof name, MPI_CHAR, m_machines.data(), sizeof name, MPI_CHAR, MPI_COMM_WORLD);
}

std::string MpiGroup::nameOf(std::size_t rank) const {
    return fmt::format("process {} on '{}'", rank, m_machines.data() + rank * MPI_MAX_PROCESSOR_NAME);
}

void MpiGroup::exchange(const std::string& own, const Take& take) {
    // Must stay in memory until MPI is done, even if this function throws because the run is stopped.
    static Frame frame;
    static std::vector<Frame> frames;
    frame = {};
    frame.size = own.size();
    std::memcpy(frame.bytes, own.data(), std::min(own.size(), kShort));
    frames.resize(m_size);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&frame, sizeof frame, MPI_BYTE, frames.data(), sizeof frame, MPI_BYTE, MPI_COMM_WORLD,
                   &request);
    waitFor(request, m_stop);
    std::size_t longest = 0;
    for (const Frame& one : frames) longest = std::max<std::size_t>(longest, one.size);
    if (longest <= kShort) {
        for (std::size_t rank = 0; rank < m_size; ++rank)
            take(rank, {frames[rank].bytes, static_cast<std::size_t>(frames[rank].size)});
        return;
    }
    static std::string sent, received;
    static std::vector<int> counts, begins;
    counts.clear();
    begins.clear();
    std::size_t blocks = 0;
    for (const Frame& one : frames) {
        begins.push_back(toInt(blocks));
        counts.push_back(toInt((one.size + kBlock - 1) / kBlock));
        blocks += static_cast<std::size_t>(counts.back());
    }
    sent = own;
    sent.resize(static_cast<std::size_t>(counts[m_rank]) * kBlock);
    received.resize(blocks * kBlock);
    const BlockType block;
    MPI_Iallgatherv(sent.data(), counts[m_rank], block.get(), received.data(), counts.data(), begins.data(),
                    block.get(), MPI_COMM_WORLD, &request);
    waitFor(request, m_stop);
    for (std::size_t rank = 0; rank < m_size; ++rank)
        take(rank, std::string_view(received).substr(static_cast<std::size_t>(begins[rank]) * kBlock,
                                                     frames[rank].size));
    if (received.size() > kBlock << 10) {
        received = {};
        sent = {};
    }
}

void MpiGroup::finish() {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

}  // namespace quantloupe::mpi
