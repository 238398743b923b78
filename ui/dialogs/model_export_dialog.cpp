// SPDX-License-Identifier: Apache-2.0
#include "dialogs/model_export_dialog.h"

#include <QDialogButtonBox>
#include <QPushButton>
#include <QVBoxLayout>

#include "dialogs/export_options.h"

namespace quantloupe::ui {

ModelExportDialog::ModelExportDialog(Document& document, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Export: Quantized model"));
    auto* what = makeLabel(QString::fromStdString(exportInfo(ExportKind::QuantizedModel).tip), "muted");
    what->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    QPushButton* save = buttons->addButton(tr("Save\u2026"), QDialogButtonBox::AcceptRole);
    save->setDefault(true);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(fontMetrics().height());
    column->addWidget(what);
    column->addWidget(new ExportOptionsRow(&document));
    column->addStretch(1);
    column->addWidget(buttons);
    setMinimumWidth(fontMetrics().height() * 32);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

}  // namespace quantloupe::ui
