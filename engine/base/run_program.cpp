// SPDX-License-Identifier: Apache-2.0
#include "base/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

extern char** environ;

namespace quantloupe {
namespace {

constexpr std::size_t kMaxOutput = 1 << 20;
constexpr int kSliceMs = 20;  // interval at which cancellation and the timeout are checked

[[noreturn]] void failSystem(const char* what, int error) {
    fail(ErrorKind::Io, "cannot {}: {}", what, std::strerror(error));
}

/// A pipe that no other child inherits; reads do not block.
struct Pipe {
    int ends[2] = {-1, -1};
    Pipe() {
        if (pipe2(ends, O_CLOEXEC) != 0) failSystem("make a pipe", errno);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        closeEnd(0);
        closeEnd(1);
    }
    void closeEnd(int end) {
        if (ends[end] >= 0) close(ends[end]);
        ends[end] = -1;
    }
    /// Appends the available data; closes the read end once all writers are gone.
    void drain(std::string& text) {
        char buffer[4096];
        while (ends[0] >= 0) {
            const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
            if (got > 0)
                text.append(buffer, static_cast<std::size_t>(got));
            else if (got < 0 && errno == EINTR)
                continue;
            else if (got < 0 && errno == EAGAIN)
                return;
            else
                closeEnd(0);
            if (text.size() > kMaxOutput) return;
        }
    }
};

/// A started program. The destructor kills its process group.
class Child {
  public:
    Child(const ProgramRun& run, const Pipe& out, const Pipe& err) {
        const std::string program = std::filesystem::absolute(run.program).string();
        std::vector<char*> words = {const_cast<char*>(program.c_str())};
        for (const std::string& argument : run.arguments)
            words.push_back(const_cast<char*>(argument.c_str()));
        words.push_back(nullptr);

        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, out.ends[1], 1);
        posix_spawn_file_actions_adddup2(&files, err.ends[1], 2);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
        posix_spawn_file_actions_addclosefrom_np(&files, 3);
#endif
#endif
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(
            &attributes,
            static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        const int error = posix_spawn(&m_pid, program.c_str(), &files, &attributes, words.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        if (error == ENOEXEC)
            failInput(
                "the system cannot run it: a script needs a first line such as '#!/usr/bin/env python3'");
        if (error != 0) failInput("the system cannot run it: {}", std::strerror(error));
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        // The group is killed first: its id cannot be reused until its leader has been waited for.
        kill(-m_pid, SIGKILL);
        while (waitpid(m_pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    /// The child stays a zombie until the destructor.
    bool ended(ProgramOutput& output) const {
        siginfo_t info{};
        if (waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == 0)
            return false;
        const bool exited = info.si_code == CLD_EXITED;
        output.exitCode = exited ? info.si_status : -1;
        output.signal = exited ? 0 : info.si_status;
        return true;
    }

  private:
    pid_t m_pid = -1;
};

void checkProgram(const std::filesystem::path& program) {
    std::error_code error;
    const auto status = std::filesystem::status(program, error);
    if (!std::filesystem::exists(status)) failInput("there is no such file");
    if (!std::filesystem::is_regular_file(status)) failInput("it is not a regular file");
    if (access(program.c_str(), X_OK) != 0) failInput("it is not executable; run chmod +x on it");
}

ProgramOutput runToItsEnd(const ProgramRun& run, const CancelToken& cancel) {
    checkProgram(run.program);
    Pipe out, err;
    const Child child(run, out, err);
    out.closeEnd(1);
    err.closeEnd(1);
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(run.timeoutSeconds);
    ProgramOutput output;
    for (;;) {
        const bool over = child.ended(output);  // checked before the last drain, so that no output is missed
        out.drain(output.out);
        err.drain(output.err);
        if (output.out.size() > kMaxOutput || output.err.size() > kMaxOutput)
            failInput("it was stopped: it wrote more than a megabyte");
        if (over) return output;
        cancel.checkWithoutPause();  // another program continues during a pause anyway
        if (std::chrono::steady_clock::now() >= deadline)
            failInput("it was stopped: it took more than {:g} seconds", run.timeoutSeconds);
        // Closed ends are negative: ignored.
        pollfd ends[2] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
        if (out.ends[0] < 0 && err.ends[0] < 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        else
            poll(ends, 2, kSliceMs);
    }
}

}  // namespace

ProgramOutput runProgram(const ProgramRun& run, const CancelToken& cancel) {
    try {
        return runToItsEnd(run, cancel);
    } catch (Error& error) {
        error.addContext(fmt::format("program '{}'", run.program.string()));
        throw;
    }
}

}  // namespace quantloupe
