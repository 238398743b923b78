// SPDX-License-Identifier: Apache-2.0
#pragma once
// The processes of an MPI run.

#include <csignal>

#include "base/process_group.h"

namespace quantloupe::mpi {

/// Calls MPI_Init. All functions must be called on the same thread.
class MpiGroup : public ProcessGroup {
  public:
    /// Exchanges throw Cancelled once `stop` is not 0, because a process that has ended does not answer.
    explicit MpiGroup(const volatile std::sig_atomic_t& stop);

    std::size_t rank() const override { return m_rank; }
    std::size_t size() const override { return m_size; }
    /// Number of processes on this machine.
    std::size_t onThisMachine() const { return m_local; }
    /// Waits for all processes and calls MPI_Finalize; to be called when everything is printed.
    void finish();

  protected:
    void exchange(const std::string& own, const Take& take) override;
    std::string nameOf(std::size_t rank) const override;

  private:
    const volatile std::sig_atomic_t& m_stop;
    std::size_t m_rank = 0, m_size = 1, m_local = 1;
    std::string m_machines;  ///< names, each padded to the same length
};

}  // namespace quantloupe::mpi
