// SPDX-License-Identifier: Apache-2.0
#include "dialogs/import_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QHeaderView>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "config/skip_rules.h"
#include "interchange/guess_format.h"
#include "models/config_difference.h"
#include "style/path_text.h"
#include "style/theme.h"
#include "widgets/basics.h"

namespace quantloupe::ui {
namespace {

constexpr const char* kOwn = "quantloupe";
// data of a clickable line; an empty kMeantRole undoes the replacement
constexpr int kNameRole = Qt::UserRole, kMeantRole = Qt::UserRole + 1;

/// Wraps the text of rows at the width of the list, because names of layers are long.
class WrappedRows final : public QStyledItemDelegate {
  public:
    explicit WrappedRows(QTreeWidget* tree) : QStyledItemDelegate(tree), m_tree(tree) {}
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        constexpr int kMargins = 12;
        int depth = 1;
        for (QModelIndex above = index.parent(); above.isValid(); above = above.parent()) ++depth;
        const int indent = m_tree->indentation() * depth;
        const int width = std::max(80, m_tree->viewport()->width() - indent - kMargins);
        const QRect text = option.fontMetrics.boundingRect(QRect(0, 0, width, 100'000), Qt::TextWordWrap,
                                                           index.data().toString());
        return {width, text.height() + option.fontMetrics.leading() + 4};
    }

  private:
    QTreeWidget* m_tree;
};

QTreeWidgetItem* addGroup(QTreeWidget* tree, const QString& title, const QStringList& lines) {
    if (lines.isEmpty()) return nullptr;
    auto* group = new QTreeWidgetItem(tree, {QStringLiteral("%1 (%2)").arg(title).arg(lines.size())});
    QFont bold = tree->font();
    bold.setBold(true);
    group->setFont(0, bold);
    group->setFlags(Qt::ItemIsEnabled);
    for (const QString& line : lines) {
        auto* item = new QTreeWidgetItem(group, {line});
        item->setToolTip(0, line);
    }
    group->setExpanded(true);
    return group;
}

QStringList listOf(const std::vector<std::string>& texts) {
    QStringList list;
    for (const std::string& text : texts) list.append(sentence(QString::fromStdString(text)));
    return list;
}

QTreeWidgetItem* addLink(QTreeWidgetItem* parent, const QString& text, const std::string& name,
                         const std::string& meant) {
    auto* link = new QTreeWidgetItem(parent, {text});
    QFont font = parent->treeWidget()->font();
    font.setUnderline(true);
    link->setFont(0, font);
    link->setForeground(0, themeOf(parent->treeWidget()->palette()).accent);
    link->setData(0, kNameRole, QString::fromStdString(name));
    link->setData(0, kMeantRole, QString::fromStdString(meant));
    return link;
}

}  // namespace

ImportDialog::ImportDialog(Document& document, const std::filesystem::path& path, QWidget* parent)
    : QDialog(parent),
      m_document(document),
      m_file(new ElidedLabel({}, Qt::ElideMiddle, this)),
      m_format(new ChoiceBox(tr("Format"), this)),
      m_what(makeLabel({}, "muted")),
      m_status(makeLabel({}, "muted")),
      m_review(new QTreeWidget(this)),
      m_thread(QStringLiteral("import")) {
    setWindowTitle(tr("Import from Another Tool"));
    resizeWithinScreen(this, QSize(720, 560));
    for (const std::string& name : formatNames(true)) {
        const FileFormat& format = formatNamed(name, true);
        m_names.push_back(name);
        m_format->addChoice(QString::fromStdString(format.title), QString::fromStdString(format.what));
    }
    auto* choose = new QPushButton(tr("Choose\u2026"), this);
    auto* fileRow = new QWidget(this);
    auto* fileLayout = new QHBoxLayout(fileRow);
    fileLayout->setContentsMargins(0, 0, 0, 0);
    fileLayout->addWidget(m_file, 1);
    fileLayout->addWidget(choose);
    m_what->setWordWrap(true);
    m_status->setWordWrap(true);
    m_status->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_review->setHeaderHidden(true);
    m_review->setWordWrap(true);
    m_review->setUniformRowHeights(false);
    m_review->setTextElideMode(Qt::ElideNone);
    m_review->setItemDelegate(new WrappedRows(m_review));
    m_review->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_review->setAccessibleName(tr("Settings to import"));
    auto* buttons = new QDialogButtonBox(this);
    m_import = buttons->addButton(tr("Import"), QDialogButtonBox::AcceptRole);
    m_import->setObjectName(QStringLiteral("import"));
    m_status->setObjectName(QStringLiteral("result"));
    buttons->addButton(QDialogButtonBox::Cancel);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(makeRow(tr("File"), fileRow));
    layout->addWidget(
        makeRow(tr("Format"), m_format, tr("Detected from the file; you can choose another one")));
    layout->addWidget(m_what);
    layout->addWidget(m_review, 1);
    layout->addWidget(m_status);
    layout->addWidget(buttons);
    connect(choose, &QPushButton::clicked, this, &ImportDialog::chooseAnother);
    connect(m_review, &QTreeWidget::itemClicked, this, [this](const QTreeWidgetItem* item) { follow(item); });
    for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* enter = new QShortcut(key, m_review);
        enter->setContext(Qt::WidgetShortcut);
        connect(enter, &QShortcut::activated, this, [this] {
            const QTreeWidgetItem* item = m_review->currentItem();
            if (item && item->data(0, kNameRole).isValid())
                follow(item);
            else if (m_import->isEnabled())
                m_import->click();
        });
    }
    connect(m_format, &QComboBox::activated, this, [this] {
        m_guess.clear();
        read();
    });
    connect(buttons, &QDialogButtonBox::accepted, this, &ImportDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    openFile(path);
}

void ImportDialog::resizeEvent(QResizeEvent* event) {
    QDialog::resizeEvent(event);
    m_review->doItemsLayout();
}

QString ImportDialog::chooseFile(QWidget* parent, const QString& folder) {
    QStringList patterns;
    for (const std::string_view ending : kImportEndings)
        patterns << QLatin1Char('*') + QLatin1String(ending.data(), qsizetype(ending.size()));
    return QFileDialog::getOpenFileName(
        parent, tr("Import from Another Tool"), folder,
        tr("Configurations (%1);;All files (*)").arg(patterns.join(QLatin1Char(' '))));
}

void ImportDialog::chooseAnother() {
    const QString path = chooseFile(this, pathText(m_path.parent_path()));
    if (!path.isEmpty()) openFile(path.toStdString());
}

void ImportDialog::openFile(const std::filesystem::path& path) {
    m_path = path;
    m_renamed.clear();
    m_file->setFullText(pathText(path));
    const std::string guess = guessFormat(path);
    const auto found = std::find(m_names.begin(), m_names.end(), guess);
    if (guess == kOwn) {
        m_format->setCurrentIndex(-1);
        return refuse(tr("This is a Quantloupe configuration. Open it with File \u2192 Open Configuration."));
    }
    if (found == m_names.end()) {
        m_format->setCurrentIndex(-1);
        return refuse(tr("The format of the file could not be detected: choose it from the list."));
    }
    m_format->setCurrentIndex(static_cast<int>(found - m_names.begin()));
    m_guess = tr(" (detected from the file)");
    read();
}

void ImportDialog::read() {
    const quint64 generation = ++m_generation;
    m_result.reset();
    m_import->setEnabled(false);
    if (m_format->currentIndex() < 0) return;
    const FileFormat& format = formatNamed(m_names[static_cast<std::size_t>(m_format->currentIndex())], true);
    m_what->setText(QString::fromStdString(format.what) + m_guess);
    m_review->clear();
    setRole(m_status, "muted");
    m_status->setText(tr("Reading\u2026"));
    m_reading = true;
    m_thread.post([this, generation, &format, path = m_path, renamed = m_renamed, graph = m_document.graph(),
                   start = m_document.config()] {
        std::optional<ImportResult> result;
        QString why;
        std::optional<UnknownName> unknown;
        try {
            result = importFile(format, graph, start, path, renamed);
            resolveSkips(*graph, result->config);  // throws for a rule that does not fit this model
        } catch (const std::exception& error) {
            result.reset();
            why = sentence(QString::fromUtf8(error.what()));
            if (const auto* ours = dynamic_cast<const Error*>(&error)) unknown = ours->unknownName();
        }
        m_thread.reply([this, generation, result = std::move(result), why, unknown] {
            if (generation != m_generation) return;
            if (result)
                present(*result);
            else
                refuse(why, unknown);
        });
    });
}

void ImportDialog::present(const ImportResult& result) {
    m_reading = false;
    m_result = result;
    m_review->clear();
    const Theme& colors = themeOf(palette());
    // Unknown layer names come first, because a click can fix them.
    std::vector<std::string> missing, left;
    for (const std::string& line : result.left)
        (result.unknown.contains(line) ? missing : left).push_back(line);
    const auto listLeft = [&](const QString& title, const std::vector<std::string>& lines) {
        auto* group = addGroup(m_review, title, listOf(lines));
        if (group == nullptr) return;
        group->setForeground(0, colors.warning);
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (const auto unknown = result.unknown.find(lines[i]); unknown != result.unknown.end())
                offerNames(group->child(static_cast<int>(i)), unknown->second);
    };
    listLeft(tr("Not in the model"), missing);
    addGroup(m_review, tr("Recognized"), listOf(result.taken));
    listLeft(tr("Not imported"), left);
    showRenamed();
    const QStringList changes = configDifference(m_document.config(), result.config);
    addGroup(m_review, tr("Changes to the configuration"), changes);
    const bool same = result.config == m_document.config();
    m_import->setText(result.left.empty() ? tr("Import") : tr("Import Recognized Settings"));
    m_import->setEnabled(!same);
    m_import->setDefault(!same);
    m_status->setText(
        same ? tr("The file matches the current configuration: nothing would change.")
        : result.left.empty()
            ? tr("Everything in this file can be imported.")
            : tr("Some settings are not supported or do not fit this model: see the list. The rest can be "
                 "imported."));
    Q_EMIT reviewed();
}

void ImportDialog::refuse(const QString& why, const std::optional<UnknownName>& unknown) {
    ++m_generation;
    m_reading = false;
    m_result.reset();
    m_review->clear();
    m_import->setEnabled(false);
    setRole(m_status, "bad");
    m_status->setText(why);
    if (unknown) offerNames(addGroup(m_review, tr("Not in the model"), {why})->child(0), *unknown);
    showRenamed();
    Q_EMIT reviewed();
}

/// Adds similar layer names below a line that reports an unknown layer.
void ImportDialog::offerNames(QTreeWidgetItem* line, const UnknownName& unknown) {
    for (const std::string& name : unknown.similar)
        if (m_document.graph()->findNode(name))
            addLink(line, tr("Use %1").arg(QString::fromStdString(name)), unknown.name, name);
    line->setExpanded(true);
}

void ImportDialog::showRenamed() {
    QStringList lines;
    for (const auto& [name, meant] : m_renamed)
        lines << tr("%1 is imported as %2").arg(QString::fromStdString(name), QString::fromStdString(meant));
    auto* group = addGroup(m_review, tr("Names that you replaced"), lines);
    int row = 0;
    for (const auto& [name, meant] : m_renamed) {
        addLink(group->child(row), tr("Undo This"), name, {});
        group->child(row++)->setExpanded(true);
    }
}

void ImportDialog::follow(const QTreeWidgetItem* item) {
    if (!item->data(0, kNameRole).isValid()) return;
    const std::string name = item->data(0, kNameRole).toString().toStdString(),
                      meant = item->data(0, kMeantRole).toString().toStdString();
    if (meant.empty())
        m_renamed.erase(name);
    else
        m_renamed[name] = meant;
    read();
}

void ImportDialog::accept() {
    if (!m_result) return;
    const QString text = tr("Import %1").arg(pathText(m_path.filename()));
    if (m_document.edit({m_result->config, text, {}, -1})) QDialog::accept();
}

}  // namespace quantloupe::ui
