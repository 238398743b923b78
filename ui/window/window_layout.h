// SPDX-License-Identifier: Apache-2.0
#pragma once
// Position and size of a window and its panels, stored in the user's settings.

#include <QMainWindow>
#include <QSplitter>
#include <vector>

namespace quantloupe::ui {

class WindowLayout {
  public:
    /// Takes the current layout as the one that reset() restores.
    WindowLayout(QMainWindow* window, std::vector<QSplitter*> splitters);
    void save() const;
    /// Restores the layout that was saved last, if there is one.
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
