// SPDX-License-Identifier: Apache-2.0
#pragma once
// The style of the application.

#include <QProxyStyle>

namespace quantloupe::ui {

/// Fusion, with outlines of check boxes and radio buttons that can be seen on dark windows: Fusion makes them
/// darker than the window.
class VisibleIndicators : public QProxyStyle {
    Q_OBJECT
  public:
    VisibleIndicators();
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
};

}  // namespace quantloupe::ui
