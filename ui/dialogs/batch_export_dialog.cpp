// SPDX-License-Identifier: Apache-2.0
#include "dialogs/batch_export_dialog.h"

#include <QFileDialog>
#include <QHeaderView>
#include <QMessageBox>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>

#include "dialogs/export_options.h"
#include "document/output_folder.h"
#include "style/path_text.h"
#include "style/theme.h"
#include "widgets/basics.h"

namespace quantloupe::ui {
namespace {

/// The exports that were checked last, by their suffixes.
const QString kKey = QStringLiteral("batchExport");
enum ExportColumn { kExportName, kExportState };

/// The file name is in the row's format and the folder in the field above, so the reason gets the room.
QString withoutPath(QString failure, const std::filesystem::path& path) {
    const QString quoted = QStringLiteral("'%1' ").arg(pathText(path));
    if (failure.startsWith(quoted)) failure.remove(0, quoted.size());
    return sentence(failure);
}

}  // namespace

BatchExportDialog::BatchExportDialog(Document& document, QWidget* parent)
    : QDialog(parent),
      m_document(document),
      m_folder(new QLineEdit(this)),
      m_list(new QTreeWidget(this)),
      m_status(makeLabel({}, "muted")) {
    setWindowTitle(tr("Export Several Formats"));
    resizeWithinScreen(this, QSize(860, 700));
    m_folder->setAccessibleName(tr("Folder"));
    m_folder->setText(pathText(outputFolder(document.model()->path)));
    auto* choose = new QPushButton(tr("Choose\u2026"), this);
    auto* row = new QWidget(this);
    auto* rowLayout = new QHBoxLayout(row);
    rowLayout->setContentsMargins(0, 0, 0, 0);
    rowLayout->addWidget(m_folder, 1);
    rowLayout->addWidget(choose);
    m_list->setHeaderHidden(true);
    m_list->setColumnCount(2);
    m_list->setRootIsDecorated(true);
    m_list->setAccessibleName(tr("Export formats"));
    const QStringList checked = QSettings().value(kKey).toStringList();
    QTreeWidgetItem* heading = nullptr;  // its box checks all exports below it
    std::optional<FormatFamily> family;
    QFont bold = font();
    bold.setBold(true);
    for (const ExportInfo& info : exportKinds()) {
        if (family != info.family) {
            family = info.family;
            heading = new QTreeWidgetItem(m_list, {formatFamilyName(info.family)});
            heading->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable |
                              Qt::ItemIsAutoTristate);
            heading->setFont(kExportName, bold);
            heading->setFirstColumnSpanned(true);
        }
        auto* item = new QTreeWidgetItem(heading, {QString::fromStdString(info.title)});
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsUserCheckable | Qt::ItemIsSelectable);
        item->setCheckState(
            kExportName, checked.contains(QString::fromStdString(info.suffix)) ? Qt::Checked : Qt::Unchecked);
        item->setToolTip(kExportName, QString::fromStdString(info.tip));
        m_items.push_back(item);
    }
    m_list->expandAll();
    m_list->setCurrentItem(m_items.front());
    m_list->header()->setSectionResizeMode(kExportName, QHeaderView::ResizeToContents);
    m_list->header()->setStretchLastSection(true);
    m_status->setWordWrap(true);
    m_export = new QPushButton(tr("Export"), this);
    m_export->setDefault(true);
    m_folder->setObjectName(QStringLiteral("folder"));
    m_export->setObjectName(QStringLiteral("export"));
    m_status->setObjectName(QStringLiteral("result"));
    auto* close = new QPushButton(tr("Close"), this);
    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_status, 1);
    bottom->addWidget(m_export);
    bottom->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(makeRow(tr("Folder"), row));
    layout->addWidget(m_list, 1);
    layout->addWidget(makeRow(tr("Quantized models"), new ExportOptionsRow(&document)));
    layout->addLayout(bottom);
    m_poll.setInterval(100);
    connect(choose, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getExistingDirectory(this, tr("Export Folder"), m_folder->text());
        if (!path.isEmpty()) m_folder->setText(path);
    });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_export, &QPushButton::clicked, this, &BatchExportDialog::start);
    connect(m_list, &QTreeWidget::itemChanged, this, &BatchExportDialog::refresh);
    connect(m_folder, &QLineEdit::textChanged, this, &BatchExportDialog::refresh);
    connect(&m_poll, &QTimer::timeout, this, &BatchExportDialog::showProgress);
    const auto over = [this] {
        if (m_batch) finish();
    };
    connect(document.job(), &EvaluationJob::exported, this, [this, over] {
        if (m_batch && m_batch->done == m_batch->entries.size()) over();
    });
    connect(document.job(), &EvaluationJob::busyChanged, this, [over](bool busy) {
        if (!busy) over();
    });
    for (auto [before, after] : {std::pair<QWidget*, QWidget*>{m_folder, choose}, {choose, m_list}})
        setTabOrder(before, after);
    m_list->setFocus();
    refresh();
}

QTreeWidgetItem* BatchExportDialog::item(const std::string& format) const {
    for (std::size_t i = 0; i < m_items.size(); ++i)
        if (exportKinds()[i].kind == ExportKind::FileFormat && exportKinds()[i].format == format)
            return m_items[i];
    return nullptr;
}

void BatchExportDialog::setChecked(const std::string& format, bool on) {
    if (QTreeWidgetItem* found = item(format))
        found->setCheckState(kExportName, on ? Qt::Checked : Qt::Unchecked);
}

void BatchExportDialog::refresh() {
    if (m_batch) return;
    const auto count = std::ranges::count_if(
        m_items, [](const QTreeWidgetItem* item) { return item->checkState(kExportName) == Qt::Checked; });
    m_export->setText(count == 0 ? tr("Export") : tr("Export %1").arg(count));
    m_export->setEnabled(count > 0 && !m_folder->text().trimmed().isEmpty());
}

void BatchExportDialog::start() {
    const std::filesystem::path folder = m_folder->text().trimmed().toStdString();
    auto batch = std::make_shared<BatchExport>();
    QStringList checked, there;
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        if (m_items[i]->checkState(kExportName) != Qt::Checked) continue;
        const ExportInfo& info = exportKinds()[i];
        checked.append(QString::fromStdString(info.suffix));
        batch->entries.push_back({i, exportPath(m_document, info, folder), {}, {}});
        std::error_code ignored;
        if (std::filesystem::exists(batch->entries.back().path, ignored))
            there.append(pathText(batch->entries.back().path.filename()));
    }
    if (!there.isEmpty()) {
        QMessageBox box(QMessageBox::Question, tr("Overwrite Files?"),
                        tr("These files already exist: %1.").arg(there.join(QStringLiteral(", "))),
                        QMessageBox::Cancel, this);
        const QPushButton* overwrite = box.addButton(tr("Overwrite"), QMessageBox::AcceptRole);
        box.exec();
        if (box.clickedButton() != overwrite) return;  // the results of the last export stay
    }
    for (QTreeWidgetItem* item : m_items) {
        qDeleteAll(item->takeChildren());
        item->setText(kExportState, {});
        item->setToolTip(kExportState, {});
        item->setData(kExportState, Qt::ForegroundRole, {});
    }
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
        setRole(m_status, "bad");
        m_status->setText(tr("Could not create the folder '%1': %2")
                              .arg(m_folder->text(), QString::fromStdString(failed.message())));
        return;
    }
    QSettings().setValue(kKey, checked);
    rememberOutputFolder(m_document.model()->path, folder);
    setRole(m_status, "muted");
    m_status->setText(tr("Exporting\u2026"));
    for (const BatchExport::Entry& entry : batch->entries)
        m_items[entry.kind]->setText(kExportState, tr("waiting"));
    m_export->setEnabled(false);
    m_batch = batch;
    m_shown = 0;
    m_poll.start();
    startBatchExport(m_document, batch);
}

void BatchExportDialog::showProgress() {
    const Theme& colors = themeOf(palette());
    for (const std::size_t done = m_batch->done; m_shown < done; ++m_shown) {
        const BatchExport::Entry& entry = m_batch->entries[m_shown];
        QTreeWidgetItem* item = m_items[entry.kind];
        const bool good = entry.failure.isEmpty();
        item->setText(kExportState,
                      good ? pathText(entry.path.filename()) : withoutPath(entry.failure, entry.path));
        item->setToolTip(kExportState, good ? item->text(kExportState) : sentence(entry.failure));
        item->setForeground(kExportState, good ? colors.good : colors.error);
        for (const std::string& notice : entry.notices) {
            auto* child = new QTreeWidgetItem(item, {sentence(QString::fromStdString(notice))});
            child->setFirstColumnSpanned(true);
            child->setToolTip(kExportName, child->text(kExportName));
        }
    }
    if (m_batch->done < m_batch->entries.size())
        m_status->setText(tr("Exporting %1 of %2\u2026").arg(m_batch->done + 1).arg(m_batch->entries.size()));
}

void BatchExportDialog::finish() {
    m_poll.stop();
    showProgress();
    int written = 0, noticed = 0;
    const std::size_t all = m_batch->entries.size();
    for (std::size_t i = 0; i < m_batch->done; ++i) {
        written += m_batch->entries[i].failure.isEmpty();
        noticed += !m_batch->entries[i].notices.empty();
    }
    for (std::size_t i = m_batch->done; i < all; ++i)
        m_items[m_batch->entries[i].kind]->setText(kExportState, tr("cancelled"));
    setRole(m_status, written == static_cast<int>(all) ? "good" : "bad");
    QString text = tr("Wrote %1 of %2.").arg(written).arg(all);
    if (noticed > 0)
        text += tr(" %1 of them cannot express the whole configuration: expand them in the list for details.")
                    .arg(noticed);
    m_status->setText(text);
    m_batch.reset();
    refresh();
}

}  // namespace quantloupe::ui
