// SPDX-License-Identifier: Apache-2.0
// session: interactive tuning for other programs: one JSON request per line in, one JSON reply per line out.

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include "base/error.h"
#include "commands.h"
#include "open_session.h"
#include "progress_line.h"
#include "session_protocol.h"

namespace quantloupe::cli {
namespace {

void printReply(const OrderedJson& reply) {
    const std::string text = reply.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        fail(ErrorKind::Io, "the reply could not be written");
}

}  // namespace

void runSession(const Options& options) {
    OpenedSession opened = openSession(options, {.randomInputs = true});
    useMetricProgram(*opened.session, options);
    std::optional<ProgressLine> progress;
    if (options.progress) progress.emplace();
    SessionProtocol protocol(*opened.session, options.config,
                             progress ? progress->observer() : EvaluationObserver{});
    std::string line;
    while (!protocol.ended() && std::getline(std::cin, line)) {
        const OrderedJson reply = protocol.answer(line);
        if (progress) progress->clear();
        printReply(reply);
    }
}

}  // namespace quantloupe::cli
