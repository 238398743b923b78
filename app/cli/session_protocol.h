// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loop for other programs: a request in, a reply out. Only text; session.cpp connects it to stdin and stdout.
//
// Each successful edit is one step of the history. A request that fails leaves configuration and history as they
// were, also when it is the evaluation that fails.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json_output.h"
#include "session/session.h"
#include "session_request.h"

namespace quantloupe::cli {

class SessionProtocol {
  public:
    /// The session must outlive this and have its data.
    SessionProtocol(Session& session, QuantizationConfig config, EvaluationObserver observer = {});

    /// The reply to one line. Never throws for a bad request: the reply says {"ok":false,"error":"..."}.
    Json answer(std::string_view line);
    /// True after a "quit".
    bool ended() const { return m_ended; }

    const QuantizationConfig& config() const { return m_history[m_current]; }

  private:
    Json perform(const SessionRequest& request);
    QuantizationConfig edited(const SessionRequest& request) const;
    void describe(Json& reply, const Evaluation& evaluation, bool table);

    Session& m_session;
    EvaluationObserver m_observer;
    std::vector<QuantizationConfig> m_history;
    std::size_t m_current = 0;
    std::set<std::string> m_told;  ///< notices that a reply has had
    bool m_ended = false;
};

}  // namespace quantloupe::cli
