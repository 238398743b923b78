// SPDX-License-Identifier: Apache-2.0
#pragma once
// Desktop notifications for a user who is working in another window.

#include <QString>
#include <QWidget>

namespace quantloupe::ui {

/// Marks the window in the task bar, and shows a notification if the desktop has a service for this
/// (org.freedesktop.Notifications). Does not wait for an answer. GUI thread.
void notifyDesktop(QWidget* window, const QString& title, const QString& text);

}  // namespace quantloupe::ui
