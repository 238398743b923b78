// SPDX-License-Identifier: Apache-2.0
#pragma once
// The distribution of a tensor's values, float as an area and quantized as a line, and the values that the
// quantizer clips.

#include <QWidget>
#include <optional>

#include "session/studies/layer_details.h"

namespace quantloupe::ui {

class HistogramPlot : public QWidget {
    Q_OBJECT
  public:
    explicit HistogramPlot(QWidget* parent = nullptr);
    /// Sets the tensor; empty: shows a blank frame with the remark.
    void setTensor(const std::optional<TensorDetails>& tensor, const QString& remark = {});
    void setQuiet(bool quiet);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

  private:
    double heightOf(std::uint64_t count, std::uint64_t most) const;
    QRectF area() const;

    std::optional<TensorDetails> m_tensor;
    QString m_remark;
    bool m_quiet = false;
};

}  // namespace quantloupe::ui
