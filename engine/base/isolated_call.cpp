// SPDX-License-Identifier: Apache-2.0
#include "base/isolated_call.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>

namespace quantloupe {
namespace {

using Clock = std::chrono::steady_clock;
using Work = std::function<std::string()>;

std::optional<std::string> call(const Work& work) {
    try {
        return work();
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

constexpr char kComplete = '\n';  ///< follows the result

/// Runs in the fork and writes the result to `file`. A crash leaves no core file and prints nothing. No
/// exception may leave this function, because the fork would continue as a second copy of the program.
[[noreturn]] void runFork(const Work& work, int file, std::chrono::seconds limit) noexcept {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    // The fork must end even if this program ends first and can no longer kill it.
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, nullptr);
    alarm(static_cast<unsigned>(limit.count()) + 1);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) {
        dup2(nowhere, 1);
        dup2(nowhere, 2);
    }
    std::optional<std::string> result = call(work);
    if (!result) _exit(1);
    result->push_back(kComplete);
    for (std::size_t at = 0; at < result->size();) {
        const ssize_t written = write(file, result->data() + at, result->size() - at);
        if (written > 0)
            at += static_cast<std::size_t>(written);
        else if (written == 0 || errno != EINTR)
            _exit(1);
    }
    _exit(0);
}

/// Everything that can be read from `file`; nothing if that takes too long or does not fit into memory.
std::optional<std::string> readAll(int file, Clock::time_point deadline) try {
    std::string text;
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd state{file, POLLIN, 0};
        const int ready = poll(&state, 1, static_cast<int>(std::clamp<long long>(left, 0, 1 << 30)));
        if (ready == 0) return std::nullopt;
        if (ready < 0 && errno != EINTR) return std::nullopt;
        if (ready < 0) continue;
        char buffer[1 << 16];
        const ssize_t got = read(file, buffer, sizeof buffer);
        if (got == 0) return text;
        if (got > 0)
            text.append(buffer, static_cast<std::size_t>(got));
        else if (errno != EINTR)
            return std::nullopt;
    }
} catch (const std::bad_alloc&) {
    return std::nullopt;
}

}  // namespace

std::optional<std::string> callIsolated(const Work& work, std::chrono::seconds limit) {
    int ends[2];
    // A fork inherits all open files. One made by another thread while this pipe is open for writing would
    // keep it open.
    static std::mutex forking;
    std::unique_lock lock(forking);
    if (pipe2(ends, O_CLOEXEC) != 0) return call(work);
    const pid_t copy = fork();
    if (copy == 0) {
        close(ends[0]);
        runFork(work, ends[1], limit);
    }
    close(ends[1]);
    lock.unlock();
    if (copy < 0) {
        close(ends[0]);
        return call(work);
    }
    std::optional<std::string> result = readAll(ends[0], Clock::now() + limit);
    close(ends[0]);
    if (!result) kill(copy, SIGKILL);
    // The exit code is not needed, and unknown if this process was started with SIGCHLD ignored.
    while (waitpid(copy, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (!result || !result->ends_with(kComplete)) return std::nullopt;
    result->pop_back();
    return result;
}

}  // namespace quantloupe
