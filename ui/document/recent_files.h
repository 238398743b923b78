// SPDX-License-Identifier: Apache-2.0
#pragma once
// The models opened last, newest first, kept in the settings of the user.

#include <QString>
#include <QStringList>

namespace quantloupe::ui {

QStringList recentModels();
void rememberModel(const QString& path);
void forgetModels();

}  // namespace quantloupe::ui
