// SPDX-License-Identifier: Apache-2.0
#include "window/notification.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QFile>
#include <QVariantMap>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

/// Connecting to a missing bus would start one, which takes seconds and is not the task of this program.
bool hasSessionBus() {
    if (qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS")) return true;
    const QString folder = qEnvironmentVariable("XDG_RUNTIME_DIR");
    return !folder.isEmpty() && QFile::exists(folder + QStringLiteral("/bus"));
}

}  // namespace

void notifyDesktop(QWidget* window, const QString& title, const QString& text) {
    QApplication::alert(window);
    if (!hasSessionBus()) return;
    QDBusMessage call = QDBusMessage::createMethodCall(
        QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("/org/freedesktop/Notifications"),
        QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("Notify"));
    constexpr uint kNew = 0;
    constexpr int kDesktopsChoice = -1;  // duration: chosen by the desktop
    call << Words::tr("Quantloupe") << kNew << QStringLiteral("quantloupe") << title << text.toHtmlEscaped()
         << QStringList() << QVariantMap() << kDesktopsChoice;
    QDBusConnection::sessionBus().send(call);
}

}  // namespace quantloupe::ui
