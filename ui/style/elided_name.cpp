// SPDX-License-Identifier: Apache-2.0
#include "style/elided_name.h"

#include <QStringList>

namespace quantloupe::ui {
namespace {

const QChar kEllipsis(0x2026);

/// "f….12" for the block "features.12".
QString shortBlock(const QString& block) {
    qsizetype number = block.size();
    while (number > 0 && block[number - 1].isDigit()) --number;
    if (number > 0 && !block[number - 1].isLetter()) --number;
    return number > 2 ? block.left(1) + kEllipsis + block.mid(number) : block;
}

}  // namespace

QString elidedName(const QString& name, const QFontMetricsF& metrics, double width) {
    const auto fits = [&](const QString& text) { return metrics.horizontalAdvance(text) <= width; };
    if (fits(name)) return name;
    const QStringList parts = name.split(QLatin1Char('/'));
    qsizetype block = 0;
    while (block < parts.size() && !(parts[block].size() > 1 && parts[block].back().isDigit())) ++block;
    if (block + 1 >= parts.size()) return metrics.elidedText(name, Qt::ElideMiddle, width);
    const QString ellipsis(kEllipsis), slash(QLatin1Char('/'));
    QString shortened = (block > 0 ? ellipsis : QString()) + parts.mid(block).join(slash);
    QStringList initials = parts.mid(block);
    for (qsizetype part = 1; part + 1 < initials.size() && !fits(shortened); ++part) {
        if (initials[part].size() > 2) initials[part] = initials[part].left(1) + ellipsis;
        shortened = initials.join(slash);
    }
    for (qsizetype end = block + 2; end < parts.size() && !fits(shortened); ++end)
        shortened = parts[block] + slash + ellipsis + slash + parts.mid(end).join(slash);
    if (!fits(shortened))
        shortened.replace(shortened.indexOf(parts[block]), parts[block].size(), shortBlock(parts[block]));
    return metrics.elidedText(shortened, Qt::ElideMiddle, width);
}

}  // namespace quantloupe::ui
