// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work in a separate thread, with progress and cancellation.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/cancel.h"
#include "base/json.h"
#include "results/evaluation.h"

namespace quantloupe::python {

/// Arrays that Python uses without a copy. They live until Python releases this.
class Held {
  public:
    std::vector<ConstantPtr> arrays;
};

class Job {
  public:
    using Work = std::function<OrderedJson(Job&)>;

    explicit Job(Work work);
    /// Cancels the job and waits until it has ended.
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Waits until the job has ended, at most this long, and then frees its thread: results are kept longer.
    /// Returns whether it has ended.
    bool wait(double seconds);
    const CancelToken& cancelToken() const { return m_cancel; }
    /// Reports progress. For each stage, only the latest report is kept until it is taken. `best` is null, or
    /// the best result of a search so far.
    void report(const std::string& stage, std::size_t done, std::size_t total,
                const OrderedJson& best = nullptr);
    OrderedJson takeProgress();
    const std::string& reply() const { return m_reply; }

    EvaluationPtr evaluation;  ///< of an "evaluate" request, for its picture

  private:
    void join();

    const CancelToken m_cancel;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_ended = false;
    OrderedJson m_progress = OrderedJson::array();
    std::string m_reply;
    std::mutex m_joining;
    std::thread m_thread;  // last: it uses the others
};

/// Returns {"result": ...} of the work, {"error": text} with the message that the command line would print,
/// or {"cancelled": true}.
std::string replyOf(const std::function<OrderedJson()>& work);
/// Returns the JSON text. Bytes that are not valid UTF-8, for example in file names, are replaced.
std::string jsonText(const OrderedJson& json);

}  // namespace quantloupe::python
