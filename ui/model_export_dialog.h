// SPDX-License-Identifier: Apache-2.0
#pragma once
// Before the quantized model is written: how its numbers are to be stored.

#include <QDialog>

#include "exports.h"

namespace quantloupe::ui {

class ModelExportDialog : public QDialog {
    Q_OBJECT
  public:
    explicit ModelExportDialog(Document& document, QWidget* parent = nullptr);
};

}  // namespace quantloupe::ui
