// SPDX-License-Identifier: Apache-2.0
#include "style/words.h"

#include <QRegularExpression>

#include "data/with_thousands.h"

namespace quantloupe::ui {

QString layersText(std::size_t count) {
    return count == 1 ? Words::tr("1 layer")
                      : Words::tr("%1 layers").arg(QString::fromStdString(withThousands(count)));
}

QString layersText(const std::vector<std::string>& names) {
    return names.size() == 1 ? QString::fromStdString(names.front()) : layersText(names.size());
}

QString samplesText(std::size_t count) {
    return count == 1 ? Words::tr("1 sample")
                      : Words::tr("%1 samples").arg(QString::fromStdString(withThousands(count)));
}

QString withMinusSigns(QString text) {
    static const QRegularExpression kHyphen(QStringLiteral("(?:^|(?<=[\\s(\\[]))-(?=\\d)"));
    return text.replace(kHyphen, QStringLiteral("\u2212"));
}

}  // namespace quantloupe::ui
