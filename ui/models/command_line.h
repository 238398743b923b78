// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command lines that are equivalent to actions in the window. Words are quoted for a POSIX shell. GUI
// thread.

#include "document/document.h"

namespace quantloupe::ui {

/// Returns the text as one word for a POSIX shell.
QString shellQuoted(QString text);

/// Returns a command that evaluates this configuration on the open data: the data with its labels and
/// preprocessing, the preset, and each key that differs from it as --set, including rules and layer settings.
QString analyzeCommand(const Document& document, const QuantizationConfig& config);

/// As analyzeCommand(), for `command` ("export", "quantize", ...) with these options, which follow the model.
/// The current configuration applies.
QString outputCommand(const Document& document, const QString& command, const QStringList& options);

}  // namespace quantloupe::ui
