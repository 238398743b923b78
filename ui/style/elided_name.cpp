// SPDX-License-Identifier: Apache-2.0
#include "style/elided_name.h"

#include <QStringList>

namespace quantloupe::ui {

QString elidedName(const QString& name, const QFontMetricsF& metrics, double width) {
    const auto fits = [&](const QString& text) { return metrics.horizontalAdvance(text) <= width; };
    if (fits(name)) return name;
    const QStringList parts = name.split(QLatin1Char('/'));
    qsizetype block = 0;
    while (block < parts.size() && !(parts[block].size() > 1 && parts[block].back().isDigit())) ++block;
    if (block + 1 >= parts.size()) return metrics.elidedText(name, Qt::ElideMiddle, width);
    const QString ellipsis(QChar(0x2026)), slash(QLatin1Char('/'));
    QString shortened = ellipsis + parts.mid(block).join(slash);
    QStringList initials = parts.mid(block);
    for (qsizetype part = 1; part + 1 < initials.size() && !fits(shortened); ++part) {
        if (initials[part].size() > 2) initials[part] = initials[part].left(1) + ellipsis;
        shortened = initials.join(slash);
    }
    for (qsizetype end = block + 2; end < parts.size() && !fits(shortened); ++end)
        shortened = parts[block] + slash + ellipsis + slash + parts.mid(end).join(slash);
    return metrics.elidedText(shortened, Qt::ElideMiddle, width);
}

}  // namespace quantloupe::ui
