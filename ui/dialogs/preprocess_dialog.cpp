// SPDX-License-Identifier: Apache-2.0
#include "dialogs/preprocess_dialog.h"

#include <fmt/format.h>

#include <QDialogButtonBox>
#include <QMessageBox>
#include <QPainter>
#include <QScreen>
#include <QScrollArea>
#include <QShowEvent>
#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/atomic_file.h"
#include "document/metric.h"
#include "style/path_text.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

using Sides = std::optional<std::array<int, 2>>;

constexpr std::array<const char*, 3> kColors = {"RGB", "BGR", "GRAY"};
constexpr std::array<const char*, 2> kOrders = {"NCHW", "NHWC"};

struct UsualValues {
    QString name, meaning;
    float scale;
    std::vector<float> mean, std;
};

const std::vector<UsualValues>& usualValues() {
    static const std::vector<UsualValues> kUsual = {
        {Words::tr("0 to 1"), Words::tr("pixel / 255"), 1.0f / 255, {0, 0, 0}, {1, 1, 1}},
        {Words::tr("0 to 255"), Words::tr("Pixels as they are"), 1, {0, 0, 0}, {1, 1, 1}},
        {Words::tr("\u22121 to 1"),
         Words::tr("pixel / 127.5 \u2212 1, as for TensorFlow models"),
         1.0f / 255,
         {0.5f, 0.5f, 0.5f},
         {0.5f, 0.5f, 0.5f}},
        {Words::tr("ImageNet mean and std"),
         Words::tr("As for torchvision models"),
         1.0f / 255,
         {0.485f, 0.456f, 0.406f},
         {0.229f, 0.224f, 0.225f}},
    };
    return kUsual;
}

bool startsWith(const std::vector<float>& values, const std::vector<float>& start) {
    return std::ranges::mismatch(values, start).in2 == start.end();
}

int usualIndex(const Preprocess& preprocess) {
    for (std::size_t i = 0; i < usualValues().size(); ++i) {
        const UsualValues& usual = usualValues()[i];
        if (preprocess.scale == usual.scale && startsWith(usual.mean, preprocess.mean) &&
            startsWith(usual.std, preprocess.std))
            return static_cast<int>(i);
    }
    return -1;
}

QString sidesText(const Sides& sides) {
    return sides ? QStringLiteral("%1 \u00d7 %2").arg((*sides)[0]).arg((*sides)[1]) : QString();
}

QString scaleText(float scale) {
    return scale == 1.0f / 255 ? QStringLiteral("1/255") : QString::fromStdString(fmt::format("{}", scale));
}

QString listText(const std::vector<float>& values) {
    QStringList texts;
    for (const float value : values) texts << QString::fromStdString(fmt::format("{}", value));
    return texts.join(QStringLiteral(", "));
}

/// Converts the entered text to JSON: "32 × 32" and "32, 32" become lists, an empty field is omitted.
void addList(QStringList& keys, const char* key, QString text) {
    static const QRegularExpression kBetween(QStringLiteral("[\\s,;x\u00d7]+"));
    text = text.trimmed();
    if (!text.isEmpty())
        keys << QStringLiteral("\"%1\":[%2]")
                    .arg(QLatin1String(key), text.split(kBetween, Qt::SkipEmptyParts).join(QLatin1Char(',')));
}

}  // namespace

QString preprocessInWords(const Preprocess& preprocess) {
    QStringList parts{QLatin1String(kColors[static_cast<std::size_t>(preprocess.color)])};
    if (preprocess.resize) parts << sidesText(preprocess.resize).remove(QLatin1Char(' '));
    if (preprocess.resize && preprocess.fit == Preprocess::Fit::Letterbox) parts << Words::tr("letterboxed");
    if (preprocess.resize && preprocess.interpolation == Interpolation::Bicubic)
        parts << Words::tr("bicubic");
    if (preprocess.centerCrop)
        parts << Words::tr("cropped to %1").arg(sidesText(preprocess.centerCrop).remove(QLatin1Char(' ')));
    parts << QLatin1String(kOrders[static_cast<std::size_t>(preprocess.layout)]);
    const int usual = usualIndex(preprocess);
    parts << (usual < 0 ? Words::tr("custom values") : usualValues()[static_cast<std::size_t>(usual)].name);
    return parts.join(QStringLiteral(", "));
}

PreprocessDialog::PreprocessDialog(Document& document, QWidget* parent)
    : QDialog(parent), m_document(document) {
    setWindowTitle(tr("Preprocessing"));
    const int unit = fontMetrics().height();
    // On small screens, the settings scroll.
    m_settings = new QWidget;
    auto* column = new QVBoxLayout(m_settings);
    column->setContentsMargins({});
    column->setSpacing(unit / 2);
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidgetResizable(true);
    scroll->setWidget(m_settings);
    for (QWidget* clear : {static_cast<QWidget*>(m_settings), scroll->viewport()})
        clear->setAutoFillBackground(false);  // that of the dialog shows
    auto* outer = new QVBoxLayout(this);
    outer->setSpacing(unit / 2);
    outer->addWidget(scroll, 1);
    auto* what = makeLabel(tr("x = (pixel \u00d7 scale \u2212 mean) / std, after resize and crop"), "muted");
    column->addWidget(what);
    const auto line = [&](const QString& name, const QString& placeholder, const QString& tip) {
        auto* field = new QLineEdit;
        field->setAccessibleName(name);
        field->setPlaceholderText(placeholder);
        column->addWidget(makeRow(name, field, tip));
        connect(field, &QLineEdit::textEdited, this, [this] { complain({}); });
        return field;
    };
    m_color = new SegmentedControl({tr("RGB"), tr("BGR"), tr("gray")});
    column->addWidget(
        makeRow(tr("Colors"), m_color, tr("The channel order that the network was trained with")));
    m_layout = new SegmentedControl({tr("channels first"), tr("channels last")});
    column->addWidget(makeRow(tr("Layout"), m_layout, tr("NCHW as in PyTorch, or NHWC as in TensorFlow")));
    m_resize = line(tr("Resize"), tr("height \u00d7 width; empty: no resize"),
                    tr("Before the crop, with antialiasing"));
    m_fit = new SegmentedControl({tr("stretch"), tr("letterbox")});
    column->addWidget(makeRow(tr("Fit"), m_fit,
                              tr("Stretch to exactly this size, or keep the aspect ratio and pad with gray, "
                                 "as YOLO networks expect")));
    m_interpolation = new SegmentedControl({tr("bilinear"), tr("bicubic")});
    column->addWidget(makeRow(tr("Interpolation"), m_interpolation,
                              tr("Interpolation of the resize, as in Pillow; torchvision uses bilinear by "
                                 "default, timm mostly bicubic")));
    m_crop = line(tr("Center crop"), tr("height \u00d7 width; empty: none"), tr("After the resize"));
    m_values = new ChoiceBox(tr("Values"));
    for (const UsualValues& usual : usualValues()) m_values->addChoice(usual.name, usual.meaning);
    m_values->addChoice(tr("custom"), tr("Scale, mean and std as entered below"));
    column->addWidget(makeRow(tr("Values"), m_values, tr("Common values of scale, mean and std")));
    m_scale =
        line(tr("Scale"), {}, tr("Each pixel value (0 to 255) is multiplied by this; you can enter 1/255"));
    m_mean = line(tr("Mean"), tr("one value per channel"), tr("Subtracted from the scaled pixels"));
    m_std = line(tr("Std"), tr("one value per channel"), tr("The result is divided by this"));
    int widest = 0;  // the fields are stacked
    QList<QLabel*> names;
    for (int i = 1; i < column->count(); ++i) names << column->itemAt(i)->widget()->findChild<QLabel*>();
    for (const QLabel* name : names) widest = std::max(widest, name->sizeHint().width());
    for (QLabel* name : names) name->setFixedWidth(widest);
    m_views = new QLabel;
    column->addWidget(m_views);
    m_status = makeLabel({}, "muted");
    m_status->setWordWrap(true);
    outer->addWidget(m_status);
    column->addStretch(1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_apply = buttons->addButton(tr("Apply"), QDialogButtonBox::ApplyRole);
    m_apply->setDefault(true);
    m_save = buttons->addButton(tr("Save Next to Model"), QDialogButtonBox::ActionRole);
    m_save->setAutoDefault(false);
    m_color->setObjectName(QStringLiteral("colors"));
    m_layout->setObjectName(QStringLiteral("layout"));
    m_resize->setObjectName(QStringLiteral("resize"));
    m_scale->setObjectName(QStringLiteral("scale"));
    m_mean->setObjectName(QStringLiteral("mean"));
    m_apply->setObjectName(QStringLiteral("apply"));
    m_save->setObjectName(QStringLiteral("save"));
    m_status->setObjectName(QStringLiteral("result"));
    outer->addWidget(buttons);
    setMinimumWidth(unit * 32);

    connect(m_color, &SegmentedControl::chosen, this, [this](int index) {
        complain({});
        for (QLineEdit* field : {m_mean, m_std}) {  // one value per channel
            const QStringList numbers = field->text().split(QLatin1Char(','));
            if (index == 2 && numbers.size() == 3) field->setText(numbers.front().trimmed());
            if (index != 2 && numbers.size() == 1)
                field->setText(QStringList(3, numbers.front().trimmed()).join(QStringLiteral(", ")));
        }
    });
    for (const SegmentedControl* choice : {m_layout, m_fit, m_interpolation})
        connect(choice, &SegmentedControl::chosen, this, [this] { complain({}); });
    connect(m_values, &QComboBox::activated, this, [this](int index) {
        if (index >= static_cast<int>(usualValues().size())) return;
        const UsualValues& usual = usualValues()[static_cast<std::size_t>(index)];
        const std::size_t channels = m_color->currentIndex() == 2 ? 1 : 3;
        const auto first = [channels](std::vector<float> values) {
            values.resize(channels);
            return listText(values);
        };
        m_scale->setText(scaleText(usual.scale));
        m_mean->setText(first(usual.mean));
        m_std->setText(first(usual.std));
        complain({});
    });
    connect(m_apply, &QPushButton::clicked, this, &PreprocessDialog::apply);
    connect(m_save, &QPushButton::clicked, this, &PreprocessDialog::save);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(&document, &Document::modelChanged, this, [this] {
        if (isVisible()) load();
    });
    connect(&document, &Document::dataChanged, this, &PreprocessDialog::showViews);
    connect(&document, &Document::evaluationChanged, this, &PreprocessDialog::showViews);
    connect(&document, &Document::failed, this, [this](const Failure& failure) {
        if (isVisible() && failure.during == Failure::During::Data) complain(sentence(failure.text));
    });
}

void PreprocessDialog::showEvent(QShowEvent* event) {
    QDialog::showEvent(event);
    if (!event->spontaneous()) load();
}

void PreprocessDialog::load() {
    complain({});
    try {
        fill(m_document.preprocess());
    } catch (const std::exception& error) {
        fill(Preprocess{});
        complain(sentence(QString::fromUtf8(error.what())));
    }
    m_save->setToolTip(tr("Writes %1, which the command line finds as well")
                           .arg(pathText(m_document.preprocessFile().filename())));
    showViews();
}

void PreprocessDialog::fill(const Preprocess& preprocess) {
    m_color->setCurrentIndex(static_cast<int>(preprocess.color));
    m_layout->setCurrentIndex(static_cast<int>(preprocess.layout));
    m_resize->setText(sidesText(preprocess.resize));
    m_fit->setCurrentIndex(static_cast<int>(preprocess.fit));
    m_interpolation->setCurrentIndex(static_cast<int>(preprocess.interpolation));
    m_crop->setText(sidesText(preprocess.centerCrop));
    const int usual = usualIndex(preprocess);
    m_values->setCurrentIndex(usual < 0 ? m_values->count() - 1 : usual);
    m_scale->setText(scaleText(preprocess.scale));
    m_mean->setText(listText(preprocess.mean));
    m_std->setText(listText(preprocess.std));
}

/// Shows the images with the settings that were applied last, and the accuracy of the network on them.
void PreprocessDialog::showViews() {
    if (!isVisible()) return;
    const auto& opened = m_document.data();
    const QList<QImage> images = opened ? opened->networkViews : QList<QImage>();
    m_views->setVisible(!images.isEmpty());
    if (!images.isEmpty()) {
        const int height = fontMetrics().height() * 4, gap = height / 8;
        QPixmap strip(QSize(static_cast<int>(images.size()) * (height + gap), height) * devicePixelRatioF());
        strip.setDevicePixelRatio(devicePixelRatioF());
        strip.fill(Qt::transparent);
        QPainter painter(&strip);
        painter.setRenderHint(QPainter::SmoothPixmapTransform);
        for (int i = 0; i < images.size(); ++i)
            painter.drawImage(QRect(i * (height + gap), 0, height, height), images[i]);
        m_views->setPixmap(strip);
        m_views->setMinimumSize(strip.deviceIndependentSize().toSize());  // the dialog grows
    }
    if (m_status->property("role").toString() == QLatin1String("bad")) return;
    QString text;
    if (!opened)
        text = tr("No data yet: these settings apply to the images that you open next.");
    else if (!images.isEmpty())
        text = tr("Images as the network receives them; values from %1.").arg(opened->networkSpan);
    const EvaluationPtr evaluation = m_document.evaluation();
    if (opened && evaluation && !m_document.accuracyStale() && evaluation->floating &&
        evaluation->floating->top1)
        text += QLatin1Char(' ') +
                tr("Accuracy of the float network: %1.").arg(formatRate(*evaluation->floating->top1));
    m_status->setText(text);
    fitHeight();
}

/// Shows all settings if the screen is large enough.
void PreprocessDialog::fitHeight() {
    m_settings->layout()->activate();
    layout()->activate();
    const QMargins margins = layout()->contentsMargins();
    const int settings = m_settings->sizeHint().height(), space = layout()->spacing(),
              rest = m_status->heightForWidth(width() - margins.left() - margins.right()) +
                     findChild<QDialogButtonBox*>()->sizeHint().height();
    const int needed = std::min(settings + rest + 2 * space + margins.top() + margins.bottom(),
                                screen()->availableSize().height() * 9 / 10);
    if (height() < needed) resize(width(), needed);
}

void PreprocessDialog::complain(const QString& text) {
    setRole(m_status, text.isEmpty() ? "muted" : "bad");
    m_status->setText(text);
    text.isEmpty() ? showViews() : fitHeight();
}

std::optional<Preprocess> PreprocessDialog::entered() {
    QStringList keys{QStringLiteral("\"color\":\"%1\"")
                         .arg(QLatin1String(kColors[static_cast<std::size_t>(m_color->currentIndex())])),
                     QStringLiteral("\"layout\":\"%1\"")
                         .arg(QLatin1String(kOrders[static_cast<std::size_t>(m_layout->currentIndex())]))};
    addList(keys, "resize", m_resize->text());
    addList(keys, "center_crop", m_crop->text());
    addList(keys, "mean", m_mean->text());
    addList(keys, "std", m_std->text());
    const QStringList fraction = m_scale->text().split(QLatin1Char('/'));
    bool first = false, second = true;
    const double scale =
        fraction.front().toDouble(&first) / (fraction.size() == 2 ? fraction.back().toDouble(&second) : 1.0);
    if (!first || !second || fraction.size() > 2 || !std::isfinite(scale)) {
        complain(tr("Scale must be a number, such as 1 or 1/255, not \u201c%1\u201d.").arg(m_scale->text()));
        m_scale->setFocus();
        return std::nullopt;
    }
    try {
        Preprocess preprocess =
            preprocessFromJson(QStringLiteral("{%1}").arg(keys.join(QLatin1Char(','))).toStdString());
        preprocess.scale = static_cast<float>(scale);
        preprocess.fit = static_cast<Preprocess::Fit>(m_fit->currentIndex());
        preprocess.interpolation = static_cast<Interpolation>(m_interpolation->currentIndex());
        return preprocess;
    } catch (const std::exception& error) {
        complain(sentence(QString::fromUtf8(error.what())));
        return std::nullopt;
    }
}

void PreprocessDialog::apply() {
    const auto preprocess = entered();
    if (!preprocess) return;
    complain({});
    fill(*preprocess);
    m_document.setPreprocess(preprocess);
}

/// Asks before a file with other settings is replaced.
bool PreprocessDialog::mayReplaceFile(const Preprocess& by) {
    const std::filesystem::path file = m_document.preprocessFile();
    if (!std::filesystem::exists(file)) return true;
    try {
        if (loadPreprocess(file) == by) return true;
    } catch (const std::exception&) {
        // It cannot be read, but may still be of value.
    }
    return QMessageBox::question(this, tr("Replace File"),
                                 tr("%1 exists, with other settings. Replace it?").arg(pathText(file)),
                                 QMessageBox::Yes | QMessageBox::Cancel) == QMessageBox::Yes;
}

void PreprocessDialog::save() {
    const auto preprocess = entered();
    if (!preprocess) return;
    try {
        m_document.openedPaths().checkOutput(m_document.preprocessFile());
        if (!mayReplaceFile(*preprocess)) return;
        writeFileAtomically(m_document.preprocessFile(), preprocessToJson(*preprocess));
    } catch (const std::exception& error) {
        return complain(sentence(QString::fromUtf8(error.what())));
    }
    complain({});
    fill(*preprocess);
    m_document.setPreprocess(std::nullopt);  // the file now has the same settings
    Q_EMIT saved();
    m_document.say(MessageKind::Note,
                   tr("Saved the preprocessing as %1.").arg(pathText(m_document.preprocessFile())));
}

}  // namespace quantloupe::ui
