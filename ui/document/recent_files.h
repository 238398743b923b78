// SPDX-License-Identifier: Apache-2.0
#pragma once
// The most recently opened models, newest first, stored in the user's settings.

#include <QString>
#include <QStringList>

namespace quantloupe::ui {

QStringList recentModels();
void rememberModel(const QString& path);
void forgetModels();

}  // namespace quantloupe::ui
