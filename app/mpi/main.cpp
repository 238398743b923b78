// SPDX-License-Identifier: Apache-2.0
// quantloupe-mpi: analyze, leave-one-out and tune on all processes of an MPI run. Every process runs the same
// command and computes a part of every pass over the samples (base/process_group.h). Only the first one
// prints and writes files.

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>

#include "base/error.h"
#include "command_line.h"
#include "common/installed_files.h"
#include "mpi_group.h"
#include "session/caches/activation_store.h"

namespace quantloupe::mpi {
namespace {

// For the signal handler.
volatile std::sig_atomic_t stopped = 0;
const CancelToken* searching =
    nullptr;  ///< what the handler cancels while a search can still save its results

constexpr const char* kStopped =
    "quantloupe-mpi: the run was stopped, or one of its processes ended. See the message of mpirun\n";

/// The launcher sends SIGTERM when a process has ended, and soon afterwards SIGKILL.
extern "C" void stop(int) {
    stopped = 1;
    if (searching != nullptr) return searching->cancel();
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kStopped, std::strlen(kStopped));
    ::_exit(1);
}

/// The number of cores that this process may use, without those of other processes of the run.
int ownCores(const MpiGroup& group) {
    const std::size_t all = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
    std::size_t usable = all;
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) == 0) usable = static_cast<std::size_t>(CPU_COUNT(&set));
    // The launcher usually binds each process to its own cores. Otherwise all of them see the same ones.
    const auto machine = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    const std::size_t share = std::max<std::size_t>(machine / group.onThisMachine(), 1);
    return static_cast<int>(std::clamp<std::size_t>(usable, 1, share));
}

void prepare(cli::Options& options, const std::shared_ptr<MpiGroup>& group, const CancelToken& token) {
    if (group->size() > 1) options.group = group;
    options.cancel = token;
    if (options.threads == 0) options.threads = ownCores(*group);
    if (!options.memoryMiB) {
        const std::uint64_t own = defaultActivationBudget() / group->onThisMachine();
        options.memoryMiB = group->least("memory", own) * group->size() >> 20;
    }
    options.saveMeasurements = true;  // so that they are not lost with a process
    if (group->rank() == 0) return;
    options.saveConfig.clear();
    options.saveFound.clear();
}

/// Ends this process. The launcher ends the others.
[[noreturn]] void endStopped(const std::filesystem::path& measurements) {
    std::fputs(kStopped, stderr);
    std::error_code ignored;
    if (!measurements.empty() && std::filesystem::exists(measurements, ignored))
        fmt::print(stderr,
                   "quantloupe-mpi: the evaluations so far are in '{}'; run the command again with --resume "
                   "to continue\n",
                   measurements.string());
    std::fflush(nullptr);
    ::_exit(1);  // MPI_Finalize would wait for the process that has ended
}

int execute(const std::shared_ptr<MpiGroup>& group, const cli::Program::Read& read,
            const cli::Program::Run& run) {
    static const CancelToken token;
    std::filesystem::path measurements;
    const auto finished = [&] {
        searching = nullptr;  // from now on, the handler ends the process
        if (stopped != 0) endStopped(measurements);
    };
    try {
        cli::Options options = read();
        prepare(options, group, token);
        measurements = options.measurements;
        if (!measurements.empty()) searching = &token;
        std::error_code ignored;
        const bool kept = options.resume || std::filesystem::exists(measurements, ignored);
        const int code = run(options);
        finished();
        if (!kept && group->rank() == 0) std::filesystem::remove(measurements, ignored);
        std::fflush(stdout);
        group->leave({});
        return code;
    } catch (const Cancelled&) {
        endStopped(measurements);
    } catch (const std::exception& error) {
        finished();
        group->leave(error.what());
        throw;
    }
}

cli::Program program() {
    cli::Program program;
    program.name = "quantloupe-mpi";
    program.description =
        "Runs commands of quantloupe-cli on several machines: mpirun -n 8 quantloupe-mpi COMMAND ...";
    program.summary = "tune the post-training quantization of ONNX models on several machines";
    program.examples = {{"Evaluate a model with eight processes:",
                         "mpirun -n 8 quantloupe-mpi analyze model.onnx --data images"},
                        {"Search for the precision of each layer, and continue a search that was stopped:",
                         "mpirun -n 8 quantloupe-mpi tune model.onnx --data images --max-drop 1 --resume"}};
    program.seeAlso = "quantloupe-cli(1), mpirun(1)";
    program.commands = {"analyze", "leave-one-out", "tune"};
    return program;
}

}  // namespace
}  // namespace quantloupe::mpi

int main(int argc, char** argv) {
    using namespace quantloupe;
    useBundledFiles();
    cli::Program program = mpi::program();
    // The manual page is written when the program is built, where MPI may not work.
    if (argc > 1 && std::strcmp(argv[1], "--document") == 0) return cli::runCommandLine(argc, argv, program);

    const auto group = std::make_shared<mpi::MpiGroup>(mpi::stopped);
    const bool first = group->rank() == 0;
    if (first) {
        std::signal(SIGTERM, mpi::stop);
        std::signal(SIGINT, mpi::stop);
    } else if (std::freopen("/dev/null", "w", stdout) == nullptr ||
               std::freopen("/dev/null", "w", stderr) == nullptr) {
        return 1;
    }
    program.execute = [&](const cli::Program::Read& read, const cli::Program::Run& run) {
        return mpi::execute(group, read, run);
    };
    const int code = cli::runCommandLine(argc, argv, program);
    std::fflush(nullptr);
    group->finish();
    return first ? code : 0;
}
