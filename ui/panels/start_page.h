// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page of an empty window: open the demo, a model or a recent model, or drop a file.

#include <QVBoxLayout>
#include <QWidget>

#include "widgets/basics.h"

namespace quantloupe::ui {

class StartPage : public QWidget {
    Q_OBJECT
  public:
    explicit StartPage(bool hasDemo, QWidget* parent = nullptr);
    void refresh();
    void setBusy(const QString& text);  ///< "Opening x.onnx…"; empty: not busy

  Q_SIGNALS:
    void demoRequested();
    void openRequested();
    void recentChosen(QString path);

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QWidget* m_card;
    QLabel* m_busy;
    QVBoxLayout* m_recent;
    QLabel* m_recentHeading;
};

}  // namespace quantloupe::ui
