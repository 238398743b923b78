// SPDX-License-Identifier: Apache-2.0
#pragma once
// The undo step of a preprocessing change.

#include <QUndoCommand>
#include <functional>
#include <optional>

#include "data/preprocess.h"

namespace quantloupe::ui {

class PreprocessCommand : public QUndoCommand {
  public:
    /// Nothing: the preprocessing file next to the model applies. `apply` reads the data again.
    using Choice = std::optional<Preprocess>;
    PreprocessCommand(Choice before, Choice after, const QString& text,
                      std::function<void(const Choice&)> apply)
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

}  // namespace quantloupe::ui
