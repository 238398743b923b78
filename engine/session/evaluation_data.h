// SPDX-License-Identifier: Apache-2.0
#pragma once
// The samples that a session evaluates, for who runs them elsewhere.

#include "session/session.h"

namespace quantloupe {

/// In the order of Session::outputs(); null without data. The session's thread; what it returns is for any.
DatasetPtr evaluationData(Session& session);

}  // namespace quantloupe
