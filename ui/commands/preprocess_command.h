// SPDX-License-Identifier: Apache-2.0
#pragma once
// Undo commands for changes to the preprocessing and the labels, which read the data again.

#include <QUndoCommand>
#include <functional>
#include <optional>

#include "data/preprocess.h"
#include "data/task_settings.h"

namespace quantloupe::ui {

template <typename Choice>
class DataCommand : public QUndoCommand {
  public:
    /// `apply` reads the data again.
    DataCommand(Choice before, Choice after, const QString& text, std::function<void(const Choice&)> apply)
        : QUndoCommand(text),
          m_before(std::move(before)),
          m_after(std::move(after)),
          m_apply(std::move(apply)) {}

    void undo() override { m_apply(m_before); }
    void redo() override { m_apply(m_after); }

  private:
    Choice m_before, m_after;
    std::function<void(const Choice&)> m_apply;
};

/// Empty: the preprocessing file next to the model is used.
using PreprocessCommand = DataCommand<std::optional<Preprocess>>;
using TaskCommand = DataCommand<TaskSettings>;

}  // namespace quantloupe::ui
