// SPDX-License-Identifier: Apache-2.0
#include "dialogs/verify_dialog.h"

#include <QGridLayout>
#include <QVBoxLayout>

#include "document/metric.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {
namespace {

QString percent(double rate) { return QStringLiteral("%1 %").arg(100 * rate, 0, 'f', 2); }

QString comparison(const Verification& r, const RuntimeComparison& found) {
    QStringList parts;
    if (found.rate)
        parts << VerifyDialog::tr("the %1 is %2")
                     .arg(r.classifies ? VerifyDialog::tr("accuracy") : QLatin1String(found.rate->title()),
                          percent(found.rate->value));
    if (r.classifies)
        parts << VerifyDialog::tr("the predicted class agrees for %1 of %2")
                     .arg(percent(found.agreement), samplesText(r.samples));
    parts << VerifyDialog::tr("SQNR is %1 (%2 in the preview)")
                 .arg(formatDecibel(found.error.result().sqnrDb), formatDecibel(r.error.result().sqnrDb));
    parts << VerifyDialog::tr("the largest output difference is %1")
                 .arg(QString::number(found.maxAbsDiff, 'g', 3));
    return parts.join(QStringLiteral("; ")) + QLatin1Char('.');
}

}  // namespace

VerifyDialog::VerifyDialog(Document& document, QWidget* parent)
    : QDialog(parent),
      m_document(document),
      m_job(document.job()),
      m_preview(makeLabel({}, "muted")),
      m_runtime(makeLabel({}, "muted")),
      m_here(makeLabel(QStringLiteral("\u2013"), "", 1.8, QFont::DemiBold)),
      m_there(makeLabel(QStringLiteral("\u2013"), "", 1.8, QFont::DemiBold)),
      m_verdict(makeLabel({}, "muted", 1.15, QFont::DemiBold)),
      m_details(makeLabel({}, "muted")),
      m_scrolled(new QScrollArea(this)),
      m_stage(makeLabel({}, "muted")),
      m_python(new PythonField(this)),
      m_run(new QPushButton(tr("Run"), this)),
      m_progress(new QProgressBar(this)) {
    setWindowTitle(tr("Verify in ONNX Runtime"));
    setObjectName(QStringLiteral("verify"));
    resizeWithinScreen(this, QSize(560, 320));
    auto* what = makeLabel(
        tr("Runs the quantized model, as exported, in ONNX Runtime on the same samples and compares it with "
           "the preview. For the verdict, ONNX Runtime's graph optimizations are off, because they change "
           "where values are rounded."),
        "muted");
    for (QLabel* label : {what, m_verdict, m_details, m_stage}) label->setWordWrap(true);
    for (QLabel* label : {m_verdict, m_details}) label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* numbers = new QGridLayout;
    showHeadings({}, tr("ONNX Runtime"));
    numbers->addWidget(m_preview, 0, 0);
    numbers->addWidget(m_runtime, 0, 1);
    numbers->addWidget(m_here, 1, 0);
    numbers->addWidget(m_there, 1, 1);
    m_progress->setRange(0, 0);
    m_progress->setTextVisible(false);
    m_progress->hide();
    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_stage, 1);
    bottom->addWidget(m_run);
    auto* close = new QPushButton(tr("Close"), this);
    bottom->addWidget(close);
    m_details->setAlignment(Qt::AlignTop);
    m_scrolled->setWidgetResizable(true);
    m_scrolled->setFrameShape(QFrame::NoFrame);
    m_scrolled->setWidget(m_details);
    // The background of the dialog.
    for (QWidget* widget : {static_cast<QWidget*>(m_details), m_scrolled->viewport()})
        widget->setAutoFillBackground(false);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(12);
    layout->addWidget(what);
    layout->addLayout(numbers);
    layout->addWidget(m_verdict);
    layout->addWidget(m_scrolled, 1);
    layout->addWidget(PythonField::row(m_python));
    layout->addWidget(m_progress);
    layout->addLayout(bottom);
    m_run->setDefault(true);
    m_run->setObjectName(QStringLiteral("run"));
    m_verdict->setObjectName(QStringLiteral("verdict"));
    m_here->setObjectName(QStringLiteral("here"));
    m_there->setObjectName(QStringLiteral("there"));
    m_details->setObjectName(QStringLiteral("details"));
    connect(m_run, &QPushButton::clicked, this, [this] {
        if (m_job.running())
            m_job.cancel();
        else
            start();
    });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(&m_job, &VerifyJob::stageChanged, m_stage, &QLabel::setText);
    connect(&m_job, &VerifyJob::finished, this, &VerifyDialog::present);
    connect(&m_job, &VerifyJob::failed, this, &VerifyDialog::presentFailure);
    connect(&m_job, &VerifyJob::cancelled, this, [this] {
        idle();
        m_stage->setText(tr("Cancelled"));
    });
    connect(&document, &Document::configChanged, this, &VerifyDialog::markStale);
    connect(&document, &Document::dataChanged, this, [this] {
        m_otherData = true;
        markStale();
    });
    connect(&document, &Document::modelChanged, this, [this] {
        m_job.cancel();
        m_answered = false;
        showHeadings({}, tr("ONNX Runtime"));
        for (QLabel* label : {m_here, m_there}) label->setText(QStringLiteral("\u2013"));
        for (QLabel* label : {m_verdict, m_details, m_stage}) label->clear();
    });
}

void VerifyDialog::start() {
    m_config = m_document.config();
    m_answered = m_otherData = false;
    m_verdict->clear();
    m_details->clear();
    m_run->setText(tr("Cancel"));
    m_progress->show();
    m_job.start(m_config, m_python->path());
}

void VerifyDialog::idle() {
    m_progress->hide();
    m_stage->clear();
    m_run->setText(tr("Run Again"));
}

void VerifyDialog::showHeadings(const QString& metric, const QString& runtime) {
    m_preview->setText(metric.isEmpty() ? tr("Preview") : tr("%1 in the preview").arg(metric));
    m_runtime->setText(metric.isEmpty() ? runtime : tr("%1 in %2").arg(metric, runtime));
}

void VerifyDialog::showVerdict(const QString& text, const char* role) {
    setRole(m_verdict, role);
    m_verdict->setText(text);
}

void VerifyDialog::present(const Verification& r) {
    idle();
    m_answered = true;
    // Without labels, the preview is the reference, and only the fraction of equal classes is known, if any.
    showHeadings(r.here         ? QLatin1String(r.here->title())
                 : r.classifies ? QString()
                                : tr("SQNR"),
                 QString::fromStdString(r.runtime));
    const QString none = QStringLiteral("\u2013");
    m_here->setText(r.here         ? percent(r.here->value)
                    : r.classifies ? none
                                   : formatDecibel(r.error.result().sqnrDb));
    m_there->setText(r.plain.rate   ? percent(r.plain.rate->value)
                     : r.classifies ? tr("same class: %1").arg(percent(r.plain.agreement))
                                    : formatDecibel(r.plain.error.result().sqnrDb));
    const std::string why = whyVerificationFailed(r), advice = optimizationAdvice(r);
    if (!why.empty())
        showVerdict(tr("Verification failed: %1.").arg(QString::fromStdString(why)), "bad");
    else if (advice.empty())
        showVerdict(tr("Verified."), "good");
    else
        showVerdict(tr("Verified without optimizations; the default level is less accurate."), "muted");
    QStringList details{sentence(comparison(r, r.plain))};
    if (r.metric)
        details << tr("Your metric is %1 in the preview and %2 in ONNX Runtime.")
                       .arg(QString::number(*r.metric, 'g', 6), QString::number(*r.plain.metric, 'g', 6));
    if (!r.whyNoRate.empty())
        details << tr("The labels are not used, and only the values are compared: %1.")
                       .arg(QString::fromStdString(r.whyNoRate));
    if (r.optimized)
        details << tr("At ONNX Runtime's default optimization level: %1").arg(comparison(r, *r.optimized));
    if (r.exact && !advice.empty()) details << tr("Without saturation: %1").arg(comparison(r, *r.exact));
    if (!advice.empty()) details << sentence(QString::fromStdString(advice));
    m_details->setText(details.join(QLatin1Char('\n')));
    growToFit();
    markStale();
}

void VerifyDialog::presentFailure(const QString& text) {
    idle();
    showVerdict(tr("The model could not be run."), "bad");
    m_details->setText(sentence(text));
    growToFit();
}

void VerifyDialog::growToFit() {
    layout()->activate();
    const int missing =
        m_details->heightForWidth(m_scrolled->viewport()->width()) - m_scrolled->viewport()->height();
    if (missing > 0) resizeWithinScreen(this, QSize(width(), height() + missing));
}

void VerifyDialog::markStale() {
    if (!m_answered) return;
    m_stage->setText(m_otherData ? tr("The data have changed since this run. Run again.")
                     : m_document.config() != m_config
                         ? tr("The configuration has changed since this run. Run again.")
                         : QString());
}

}  // namespace quantloupe::ui
