// SPDX-License-Identifier: Apache-2.0
#include "commands/config_command.h"

namespace quantloupe::ui {

namespace {
constexpr qint64 kMergeMilliseconds = 1500;
}

ConfigCommand::ConfigCommand(QuantizationConfig before, QuantizationConfig after, const QString& text,
                             int mergeKey, std::function<void(const QuantizationConfig&)> apply)
    : QUndoCommand(text),
      m_before(std::move(before)),
      m_after(std::move(after)),
      m_mergeKey(mergeKey),
      m_apply(std::move(apply)) {
    m_age.start();
}

bool ConfigCommand::mergeWith(const QUndoCommand* other) {
    if (other->id() != id() || m_age.elapsed() > kMergeMilliseconds) return false;
    const auto* next = static_cast<const ConfigCommand*>(other);
    m_after = next->m_after;
    setText(next->text());
    setObsolete(m_after == m_before);
    m_age.start();
    return true;
}

}  // namespace quantloupe::ui
