// SPDX-License-Identifier: Apache-2.0
#pragma once
// The undo command for a configuration change. Stores the configuration before and after the change.

#include <QElapsedTimer>
#include <QUndoCommand>
#include <functional>

#include "config/quantization_config.h"

namespace quantloupe::ui {

class ConfigCommand : public QUndoCommand {
  public:
    /// `apply` makes a configuration the current one. Commands with the same merge key (other than -1) are
    /// merged if they follow each other within 1.5 s.
    ConfigCommand(QuantizationConfig before, QuantizationConfig after, const QString& text, int mergeKey,
                  std::function<void(const QuantizationConfig&)> apply);

    void undo() override { m_apply(m_before); }
    void redo() override { m_apply(m_after); }
    int id() const override { return m_mergeKey; }
    bool mergeWith(const QUndoCommand* other) override;

  private:
    QuantizationConfig m_before, m_after;
    int m_mergeKey;
    std::function<void(const QuantizationConfig&)> m_apply;
    QElapsedTimer m_age;
};

}  // namespace quantloupe::ui
