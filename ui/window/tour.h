// SPDX-License-Identifier: Apache-2.0
#pragma once
// A guided tour: dims the window except for the part that a step explains, and shows the step's text next to
// it. The window stays usable: a step can be carried out while its text is shown.

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <functional>
#include <vector>

namespace quantloupe::ui {

struct TourStep {
    QString title, text;
    QWidget* target;
    std::function<void()> prepare = {};  ///< before the step is shown
};

class Tour : public QWidget {
    Q_OBJECT
  public:
    /// Covers the window; invisible until start().
    explicit Tour(QWidget* window);
    void start(std::vector<TourStep> steps);
    void stop();
    bool running() const { return isVisible(); }
    int step() const { return m_step; }
    void go(int step);  ///< after the last step: ends the tour

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    void place();
    bool pressKey(QPushButton* pressed, int key);
    QRect targetRect() const;

    std::vector<TourStep> m_steps;
    int m_step = 0;
    QFrame* m_bubble;
    QLabel *m_title, *m_text, *m_count;
    QPushButton *m_skip, *m_back, *m_next;
};

}  // namespace quantloupe::ui
