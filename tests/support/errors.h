// SPDX-License-Identifier: Apache-2.0
#pragma once
// The messages of errors that a test expects.

#include <QString>

#include "base/error.h"

namespace quantloupe::test {

/// Returns the message of the Error that `action` throws; empty if it throws none.
template <typename Action>
QString errorOf(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

}  // namespace quantloupe::test
