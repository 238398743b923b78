// SPDX-License-Identifier: Apache-2.0
// Target for the session protocol.

#include "session_protocol.h"
#include "support.h"
#include "targets.h"

namespace quantloupe::fuzz {

void requests(std::string_view bytes) {
    constexpr int kMost = 8;  // requests of one input: each may be a search
    Session session(smallModel(), {.threads = 1, .memory = 64 << 20});
    session.useRandomInputs(4);
    cli::SessionProtocol protocol(session, {});
    for (int count = 0; count < kMost && !bytes.empty() && !protocol.ended(); ++count) {
        const std::size_t end = bytes.find('\n');
        const OrderedJson reply = protocol.answer(bytes.substr(0, end));
        const bool good = reply.at("ok").get<bool>();
        require(good || !reply.at("error").get<std::string>().empty(), "a refusal without a message");
        // At the start: messages quote the request, which may contain these words.
        require(
            good || !reply["error"].get<std::string>().starts_with("the request failed because of an error"),
            "an exception other than Error");
        bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    }
}

const std::vector<Target>& targets() {
    static const std::vector<Target> kAll = {{"arrays", arrays},     {"configurations", configurations},
                                             {"images", images},     {"imports", imports},
                                             {"models", models},     {"profiles", profiles},
                                             {"projects", projects}, {"requests", requests},
                                             {"settings", settings}};
    return kAll;
}

}  // namespace quantloupe::fuzz
