// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a window stands and how its panels divide it, kept in the person's settings from one start to the next.

#include <QMainWindow>
#include <QSplitter>
#include <vector>

namespace quantloupe::ui {

class WindowLayout {
  public:
    /// What they are now is what reset() goes back to.
    WindowLayout(QMainWindow* window, std::vector<QSplitter*> splitters);
    void save() const;
    /// As it was saved last; nothing where nothing was.
    void restore();
    void reset();

  private:
    struct Arrangement {
        QByteArray docks;
        std::vector<QList<int>> sizes;
        std::vector<QList<bool>> hidden;  ///< parts of each splitter
    };
    Arrangement arrangement() const;
    void apply(const Arrangement& wanted);

    QMainWindow* m_window;
    std::vector<QSplitter*> m_splitters;
    Arrangement m_initial;
};

}  // namespace quantloupe::ui
