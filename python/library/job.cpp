// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <fmt/format.h>

#include <new>

#include "base/error.h"

namespace quantloupe::python {

std::string jsonText(const OrderedJson& json) {
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string replyOf(const std::function<OrderedJson()>& work) {
    const auto failed = [](const char* text) { return jsonText({{"error", text}}); };
    try {
        return jsonText({{"result", work()}});
    } catch (const Cancelled&) {
        return jsonText({{"cancelled", true}});
    } catch (const Error& error) {
        return failed(error.what());
    } catch (const std::bad_alloc&) {
        return failed("not enough memory for this");
    } catch (const OrderedJson::type_error& error) {
        const std::string_view text = error.what();  // "[json.exception.type_error.302] type must be ..."
        return failed(
            fmt::format("an argument has the wrong type{}", text.substr(text.find(']') + 1)).c_str());
    } catch (const std::exception&) {
        return failed(
            "the call failed because of an error in Quantloupe itself: please report the call with its "
            "files");
    }
}

Job::Job(Work work)
    : m_thread([this, work = std::move(work)] {
          std::string reply = replyOf([&] { return work(*this); });
          const std::lock_guard lock(m_mutex);
          m_reply = std::move(reply);
          m_ended = true;
          m_changed.notify_all();
      }) {}

Job::~Job() {
    m_cancel.cancel();
    join();
}

bool Job::wait(double seconds) {
    {
        std::unique_lock lock(m_mutex);
        if (!m_changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return m_ended; }))
            return false;
    }
    join();
    return true;
}

void Job::join() {
    const std::lock_guard lock(m_joining);
    if (m_thread.joinable()) m_thread.join();
}

void Job::report(const std::string& stage, std::size_t done, std::size_t total, const OrderedJson& best) {
    const std::lock_guard lock(m_mutex);
    if (!m_progress.empty() && m_progress.back()["stage"] == stage && m_progress.back()["best"] == best)
        m_progress.erase(m_progress.size() - 1);
    m_progress.push_back({{"stage", stage}, {"done", done}, {"total", total}, {"best", best}});
}

OrderedJson Job::takeProgress() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_progress, OrderedJson::array());
}

}  // namespace quantloupe::python
