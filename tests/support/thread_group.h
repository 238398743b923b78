// SPDX-License-Identifier: Apache-2.0
#pragma once
// A group of processes that are threads of one program: tests how a session shares its work, without MPI.

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/process_group.h"

namespace quantloupe::test {

/// The place where the threads of a group exchange their messages.
class Meeting {
  public:
    explicit Meeting(std::size_t size) : m_messages(size) {}
    std::size_t size() const { return m_messages.size(); }
    std::size_t count() const { return m_count; }
    std::size_t bytes() const { return m_bytes; }

    std::vector<std::string> exchange(std::size_t rank, const std::string& own) {
        std::unique_lock lock(m_mutex);
        m_messages[rank] = own;
        const std::size_t round = m_count;
        if (++m_arrived == size()) {
            m_arrived = 0;
            ++m_count;
            m_complete = m_messages;
            for (const std::string& message : m_messages) m_bytes += message.size();
            m_changed.notify_all();
        } else {
            m_changed.wait(lock, [&] { return m_count != round; });
        }
        return m_complete;
    }

  private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<std::string> m_messages, m_complete;
    std::size_t m_arrived = 0, m_count = 0, m_bytes = 0;
};

class ThreadGroup final : public ProcessGroup {
  public:
    ThreadGroup(Meeting& meeting, std::size_t rank) : m_meeting(meeting), m_rank(rank) {}
    std::size_t rank() const override { return m_rank; }
    std::size_t size() const override { return m_meeting.size(); }

  protected:
    void exchange(const std::string& own, const Take& take) override {
        const std::vector<std::string> all = m_meeting.exchange(m_rank, own);
        for (std::size_t rank = 0; rank < all.size(); ++rank) take(rank, all[rank]);
    }

  private:
    Meeting& m_meeting;
    std::size_t m_rank;
};

/// Runs `work` in every process of a group. Returns what each of them returns, or "error: " and the message.
inline std::vector<std::string> inGroup(
    Meeting& meeting, const std::function<std::string(const std::shared_ptr<ProcessGroup>&)>& work) {
    std::vector<std::string> results(meeting.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < meeting.size(); ++rank)
        threads.emplace_back([&, rank] {
            const auto group = std::make_shared<ThreadGroup>(meeting, rank);
            try {
                results[rank] = work(group);
                group->leave({});
            } catch (const std::exception& error) {
                results[rank] = std::string("error: ") + error.what();
                group->leave(error.what());
            }
        });
    for (std::thread& thread : threads) thread.join();
    return results;
}

}  // namespace quantloupe::test
