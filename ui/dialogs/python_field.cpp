// SPDX-License-Identifier: Apache-2.0
#include "dialogs/python_field.h"

#include <QFileDialog>
#include <QSettings>

#include "interchange/onnxruntime/run_onnxruntime.h"
#include "style/path_text.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {
const QString kPythonKey = QStringLiteral("python");
}

PythonField::PythonField(QWidget* parent) : QWidget(parent), m_line(new QLineEdit(this)) {
    auto* choose = new QPushButton(tr("Choose\u2026"), this);
    choose->setAutoDefault(false);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(m_line, 1);
    row->addWidget(choose);
    m_line->setText(QSettings().value(kPythonKey).toString());
    const QString found = pathText(findPython());
    m_line->setPlaceholderText(found.isEmpty() ? tr("none found on PATH") : found);
    m_line->setAccessibleName(tr("Python"));
    connect(choose, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Python Interpreter"), m_line->text());
        if (!path.isEmpty()) m_line->setText(path);
    });
    connect(m_line, &QLineEdit::textChanged, this,
            [](const QString& path) { QSettings().setValue(kPythonKey, path.trimmed()); });
}

/// Another dialog may have changed it.
void PythonField::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_line->setText(QSettings().value(kPythonKey).toString());
}

QWidget* PythonField::row(PythonField* field) {
    return makeRow(tr("Python"), field,
                   tr("A Python with onnxruntime and numpy. Empty: QUANTLOUPE_PYTHON, or python3 on PATH"));
}

}  // namespace quantloupe::ui
