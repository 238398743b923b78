// SPDX-License-Identifier: Apache-2.0
#pragma once
// The undo commands for a change of the configuration, and of the file that it is saved to.

#include <QElapsedTimer>
#include <QUndoCommand>
#include <filesystem>
#include <functional>
#include <utility>

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

/// Makes `file` the current file of the configuration. Undo returns to the file before, and redo to the one
/// that was current when it was undone: the user may have saved to a third file in between.
class ConfigFileCommand : public QUndoCommand {
  public:
    ConfigFileCommand(std::filesystem::path& current, std::filesystem::path file)
        : m_current(current), m_other(std::move(file)) {}

    void undo() override { std::swap(m_current, m_other); }
    void redo() override { std::swap(m_current, m_other); }

  private:
    std::filesystem::path& m_current;
    std::filesystem::path m_other;
};

}  // namespace quantloupe::ui
