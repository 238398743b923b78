// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page of an empty window: a short description, the demo and the tour as pictures, recent files.

#include <QVBoxLayout>
#include <QWidget>
#include <filesystem>
#include <functional>

#include "widgets/basics.h"

namespace quantloupe::ui {

/// A button with a picture above its text and a remark.
class PictureButton : public QPushButton {
    Q_OBJECT
  public:
    using Paint = std::function<void(QPainter&, const QRectF&)>;
    PictureButton(const QString& text, const QString& remark, Paint picture, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QRectF pictureRect() const;
    QString m_remark;
    Paint m_picture;
};

class StartPage : public QWidget {
    Q_OBJECT
  public:
    /// `demoImages`: a folder with one subfolder per class; empty: no pictures.
    StartPage(bool hasDemo, const std::filesystem::path& demoImages, QWidget* parent = nullptr);
    void refresh();
    void setBusy(const QString& text);  ///< "Opening x.onnx…"; empty: not busy

  Q_SIGNALS:
    void demoRequested();
    void tourRequested();
    void openRequested();
    void recentChosen(QString path);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fit();

    QWidget *m_card, *m_pictures, *m_recentPart;
    QLabel* m_busy;
    QVBoxLayout* m_recent;
};

}  // namespace quantloupe::ui
