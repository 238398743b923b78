// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include "base/short_text.h"

namespace quantloupe {

Error::Error(ErrorKind kind, const std::string& message)
    : m_kind(kind), m_message(shortMessage(message)), m_what(m_message) {}

Error& Error::addContext(const std::string& context) {
    m_context = context;
    m_what = shortMessage(context) + ": " + m_what;
    return *this;
}

}  // namespace quantloupe
