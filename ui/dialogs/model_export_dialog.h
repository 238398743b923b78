// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options for exporting the quantized model: the types in which its numbers are stored.

#include <QDialog>

#include "dialogs/exports.h"

namespace quantloupe::ui {

class ModelExportDialog : public QDialog {
    Q_OBJECT
  public:
    explicit ModelExportDialog(Document& document, QWidget* parent = nullptr);
};

}  // namespace quantloupe::ui
