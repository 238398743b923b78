// SPDX-License-Identifier: Apache-2.0
#pragma once
// The range of each channel's weights, before the transforms and after them, side by side.

#include <QWidget>
#include <vector>

#include "session/studies/layer_details.h"

namespace quantloupe::ui {

class ChannelPlot : public QWidget {
    Q_OBJECT
  public:
    explicit ChannelPlot(QWidget* parent = nullptr);
    void setChannels(std::vector<ChannelDetails> channels);
    /// Text shown instead of bars if there are none.
    void setPlaceholder(const QString& text);
    const QString& placeholder() const { return m_placeholder; }
    void setQuiet(bool quiet);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  Q_SIGNALS:
    void channelClicked(int channel);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

  private:
    int channelAt(double x) const;

    std::vector<ChannelDetails> m_channels;
    QString m_placeholder;
    bool m_quiet = false;
};

/// Returns the ratio of the largest to the smallest nonzero maximum magnitude of the channels; empty without
/// weights.
std::optional<double> rangeRatio(const std::vector<ChannelDetails>& channels, bool after);

}  // namespace quantloupe::ui
