// SPDX-License-Identifier: Apache-2.0
#pragma once
// The protocol for other programs: one reply per request. It handles text only; session.cpp connects it to
// stdin and stdout.
//
// Each successful edit is one step of the history. A request that fails, even in its evaluation, leaves
// configuration and history unchanged.

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
    /// The session must outlive this object and already have its data.
    SessionProtocol(Session& session, QuantizationConfig config, EvaluationObserver observer = {});

    /// Returns the reply to one line. Does not throw for a bad request: the reply is
    /// {"ok":false,"error":"..."}.
    OrderedJson answer(std::string_view line);
    /// True after a "quit" request.
    bool ended() const { return m_ended; }

    const QuantizationConfig& config() const { return m_history[m_current]; }

  private:
    OrderedJson perform(const SessionRequest& request);
    QuantizationConfig edited(const SessionRequest& request) const;
    void describe(OrderedJson& reply, const Evaluation& evaluation, bool table) const;

    Session& m_session;
    EvaluationObserver m_observer;
    std::vector<QuantizationConfig> m_history;
    std::size_t m_current = 0;
    std::set<std::string> m_reported;  ///< notices that a reply has already contained
    bool m_ended = false;
};

}  // namespace quantloupe::cli
