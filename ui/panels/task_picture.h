// SPDX-License-Identifier: Apache-2.0
#pragma once
// The predictions of the float and the quantized network for an image, side by side: boxes with their classes
// and scores, or the classes of the pixels as colors.

#include <QImage>
#include <QWidget>
#include <optional>

#include "session/studies/task_predictions.h"

namespace quantloupe::ui {

/// Returns the color of a class, which is the same in every picture.
QColor classColor(std::int32_t index);

class TaskPicture : public QWidget {
    Q_OBJECT
  public:
    /// Detections below this score are not drawn.
    static constexpr double kShownScore = 0.3;

    explicit TaskPicture(QWidget* parent = nullptr);
    /// Sets the picture. `image` may be null (arrays); the boxes are then drawn on a plain area.
    void setPicture(const QImage& image, const std::optional<TaskPredictions>& predictions);
    const std::optional<TaskPredictions>& predictions() const { return m_predictions; }
    QSize sizeHint() const override { return {fontMetrics().height() * 20, fontMetrics().height() * 9}; }

  Q_SIGNALS:
    void clicked();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

  private:
    void paintHalf(QPainter& painter, const QRectF& area, const QString& title,
                   const std::vector<Detection>& detections, const QImage& classes) const;

    QImage m_image;
    QImage m_floatClasses, m_quantizedClasses;  ///< colored, transparent
    std::optional<TaskPredictions> m_predictions;
};

}  // namespace quantloupe::ui
