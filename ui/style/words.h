// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words of the window that no widget class of its own says: Words::tr("...") in free functions, tr("...") in classes.
// A table's words are marked with QT_TRANSLATE_NOOP("Words", "...") where they stand, translated where they are shown.

#include <QCoreApplication>

namespace quantloupe::ui {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Words)
};

}  // namespace quantloupe::ui
