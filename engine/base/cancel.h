// SPDX-License-Identifier: Apache-2.0
#pragma once
// A flag by which one thread cancels the work of another, and a gate that pauses it.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/error.h"

namespace quantloupe {

/// While closed, blocks every thread that calls CancelToken::check() with a token created for this gate. Any
/// thread.
class PauseGate {
  public:
    void close() { set(true); }
    void open() { set(false); }
    bool closed() const { return m_closed.load(std::memory_order_relaxed); }
    /// Total time the gate has been closed so far, in seconds.
    double closedSeconds() const {
        const std::lock_guard lock(m_mutex);
        return m_seconds + (closed() ? sinceClosed() : 0);
    }

  private:
    friend class CancelToken;

    void set(bool closed) {
        {
            const std::lock_guard lock(m_mutex);
            if (closed == m_closed) return;
            if (closed)
                m_since = std::chrono::steady_clock::now();
            else
                m_seconds += sinceClosed();
            m_closed = closed;
        }
        m_moved.notify_all();
    }
    double sinceClosed() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_since).count();
    }
    void wait(const std::atomic<bool>& cancelled) {
        std::unique_lock lock(m_mutex);
        m_moved.wait(lock, [&] { return !m_closed || cancelled; });
    }
    /// The lock prevents the flag from being set between a waiting thread's check and its sleep.
    void setFlag(std::atomic<bool>& cancelled) {
        {
            const std::lock_guard lock(m_mutex);
            cancelled = true;
        }
        m_moved.notify_all();
    }

    mutable std::mutex m_mutex;
    std::condition_variable m_moved;
    std::atomic<bool> m_closed = false;
    std::chrono::steady_clock::time_point m_since;
    double m_seconds = 0;
};

/// Copies share the flag.
class CancelToken {
  public:
    CancelToken() : CancelToken(nullptr) {}
    /// check() also waits at `gate` while it is closed.
    explicit CancelToken(std::shared_ptr<PauseGate> gate) : m_state(std::make_shared<State>()) {
        m_state->gate = std::move(gate);
    }

    void cancel() const {
        if (m_state->gate)
            m_state->gate->setFlag(m_state->cancelled);
        else
            m_state->cancelled = true;
    }
    bool cancelled() const { return m_state->cancelled.load(std::memory_order_relaxed); }
    bool paused() const { return m_state->gate && m_state->gate->closed(); }
    /// Waits while the token's gate is closed and the token is not cancelled; throws Cancelled once it is.
    /// Do not call it in tasks of Workers::run(): a waiting thread of the pool would be missing from other
    /// work. run() itself waits at the gate.
    void check() const {
        if (paused()) m_state->gate->wait(m_state->cancelled);
        checkWithoutPause();
    }
    /// Throws Cancelled if the token is cancelled.
    void checkWithoutPause() const {
        if (cancelled()) throw Cancelled();
    }

  private:
    struct State {
        std::atomic<bool> cancelled = false;
        std::shared_ptr<PauseGate> gate;
    };
    std::shared_ptr<State> m_state;
};

}  // namespace quantloupe
