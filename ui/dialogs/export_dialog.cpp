// SPDX-License-Identifier: Apache-2.0
#include "dialogs/export_dialog.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QVBoxLayout>

#include "interchange/file_format.h"
#include "models/config_difference.h"
#include "widgets/basics.h"

namespace quantloupe::ui {
namespace {

constexpr qsizetype kMostChanges = 12, kMostInToolTip = 60;  ///< lines

QString bullets(const std::vector<std::string>& texts) {
    QString list;
    for (const std::string& text : texts) {
        if (!list.isEmpty()) list += QLatin1Char('\n');
        list += QStringLiteral("\u2022 ") + QString::fromStdString(text);
    }
    return list;
}

QLabel* wrapped(QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

}  // namespace

ExportDialog::ExportDialog(Document& document, const ExportInfo& info, const std::filesystem::path& output,
                           QWidget* parent)
    : QDialog(parent),
      m_document(document),
      m_config(document.config()),
      m_limits(wrapped(this)),
      m_notices(wrapped(this)),
      m_changes(wrapped(this)),
      m_text(new QPlainTextEdit(this)),
      m_job(document.job()),
      m_result(std::make_shared<ExportPreview>()) {
    setWindowTitle(tr("Export: ") + QString::fromStdString(info.title));
    resizeWithinScreen(this, QSize(760, 560));
    const FileFormat& format = formatNamed(info.format, false);
    auto* what = wrapped(this);
    what->setText(QString::fromStdString(format.what));
    m_limits->setText(format.limits.empty() ? tr("This format can express every setting.")
                                            : tr("Limits of this format:\n") + bullets(format.limits));
    m_notices->setText(tr("Working\u2026"));
    m_text->setReadOnly(true);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    auto* buttons = new QDialogButtonBox(this);
    m_copy = buttons->addButton(tr("Copy Text"), QDialogButtonBox::ActionRole);
    m_apply = buttons->addButton(tr("Preview as Exported"), QDialogButtonBox::ActionRole);
    m_apply->setToolTip(tr(
        "Applies the changes to the configuration, so that the window shows the accuracy that the tool will "
        "have. Can be undone"));
    m_save = buttons->addButton(tr("Save\u2026"), QDialogButtonBox::AcceptRole);
    buttons->addButton(QDialogButtonBox::Cancel);
    m_copy->setEnabled(false);
    m_save->setEnabled(false);
    m_apply->hide();
    m_changes->hide();
    m_limits->setObjectName(QStringLiteral("limits"));
    m_notices->setObjectName(QStringLiteral("notices"));
    m_changes->setObjectName(QStringLiteral("changes"));
    m_apply->setObjectName(QStringLiteral("apply"));
    m_save->setObjectName(QStringLiteral("save"));
    m_copy->setObjectName(QStringLiteral("copy"));
    auto* layout = new QVBoxLayout(this);
    auto* texts = new QWidget;
    auto* lines = new QVBoxLayout(texts);
    lines->setContentsMargins(0, 0, 0, 0);
    for (QLabel* label : {what, m_changes, m_notices, m_limits}) lines->addWidget(label);
    lines->addStretch(1);
    m_texts = new QScrollArea(this);
    m_texts->setWidgetResizable(true);
    m_texts->setFrameShape(QFrame::NoFrame);
    m_texts->setWidget(texts);
    for (QWidget* part : {texts, m_texts->viewport()}) part->setAutoFillBackground(false);
    layout->addWidget(m_texts, 3);
    layout->addWidget(m_text, 2);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(m_text->toPlainText()); });
    connect(m_apply, &QPushButton::clicked, this, &ExportDialog::apply);
    connect(document.job(), &EvaluationJob::exported, this, [this] {
        if (m_result->ready) present(*m_result);
    });
    m_token = startPreview(document, info, output, m_result);
}

ExportDialog::~ExportDialog() {
    if (m_job) m_job->cancelExport(m_token);
}

void ExportDialog::present(const ExportPreview& preview) {
    if (!preview.failure.empty()) {
        m_notices->setText(sentence(QString::fromStdString(preview.failure)));
        setRole(m_notices, "bad");
        m_limits->hide();
        return fitTexts();
    }
    if (preview.changed) {
        const QStringList lines = configDifference(m_config, *preview.changed);
        QString changes;
        for (const QString& line : lines.mid(0, kMostChanges)) changes += QStringLiteral("\n\u2022 ") + line;
        if (const auto more = lines.size() - kMostChanges; more > 0)
            changes +=
                QStringLiteral("\n\u2022 ") + tr("and %1 more, for example of single layers").arg(more);
        m_changes->setText(tr("Changed in the export:") + changes);
        m_changes->setToolTip(lines.mid(0, kMostInToolTip).join(QLatin1Char('\n')));
    }
    m_changes->setVisible(preview.changed.has_value());
    m_apply->setVisible(preview.changed.has_value());
    m_notices->setText(preview.notices.empty() && !preview.changed
                           ? tr("This configuration is exported completely.")
                       : preview.notices.empty() ? QString()
                                                 : tr("Notes:\n") + bullets(preview.notices));
    m_notices->setVisible(!m_notices->text().isEmpty());
    m_text->setPlainText(QString::fromStdString(preview.text));
    fitTexts();
    m_text->setPlaceholderText(tr("No text preview: this format is a model file."));
    m_copy->setEnabled(!preview.text.empty());
    m_save->setEnabled(true);
    m_save->setDefault(true);
}

/// Gives the texts the height that they need; if there is less, they scroll.
void ExportDialog::fitTexts() {
    const QLayout* lines = m_texts->widget()->layout();
    m_texts->setMaximumHeight(lines->totalHeightForWidth(m_texts->viewport()->width()));
}

void ExportDialog::resizeEvent(QResizeEvent* event) {
    QDialog::resizeEvent(event);
    fitTexts();
}

void ExportDialog::apply() {
    m_document.edit({*m_result->changed, tr("Preview as Exported"), {}});
    reject();
}

}  // namespace quantloupe::ui
