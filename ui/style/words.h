// SPDX-License-Identifier: Apache-2.0
#pragma once
// Translatable texts outside widget classes: Words::tr("...") in free functions, tr("...") in classes. Texts
// in tables are marked with QT_TRANSLATE_NOOP("Words", "...") and translated when they are shown.

#include <QCoreApplication>
#include <string>
#include <vector>

namespace quantloupe::ui {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Words)
};

QString layersText(std::size_t count);                      ///< "1 layer", "1,000 layers"
QString layersText(const std::vector<std::string>& names);  ///< the name of a single layer, or the number
QString samplesText(std::size_t count);                     ///< "1 sample", "1,000 samples"
QString withMinusSigns(QString text);                       ///< replaces the hyphens of negative numbers

}  // namespace quantloupe::ui
