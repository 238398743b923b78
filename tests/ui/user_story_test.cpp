// SPDX-License-Identifier: Apache-2.0
// The main user story by mouse and keyboard alone, from the start of the program to the replay on the command
// line: open the demo, see the colors, change them, skip the worst layer, skip a range, undo, equalize,
// export, replay.
#include <QApplication>
#include <QComboBox>
#include <QFileDialog>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMouseEvent>
#include <QProcess>
#include <QTimer>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "config/config_json.h"
#include "dialogs/export_dialog.h"
#include "dialogs/model_export_dialog.h"
#include "style/theme.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class UserStoryTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        test::keepSettingsIn(m_folder);
        QSettings().setValue(QStringLiteral("measureWhileIdle"), false);
        m_window = std::make_unique<MainWindow>(std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "resources");
        m_window->setAskBeforeClosing(false);
        m_window->resize(1500, 950);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    // The functions are steps: each continues after the previous one.

    void opensTheDemoFromTheEmptyWindow() {
        QPushButton* open = nullptr;
        for (QPushButton* button : m_window->findChildren<QPushButton*>())
            if (button->isVisible() && button->text() == QLatin1String("Open the Demo")) open = button;
        QVERIFY(open);
        QTest::mouseClick(open, Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return canvas()->picture() && document().evaluation(); }, kPatience));
        QVERIFY(evaluated());
        QCOMPARE(document().evaluation()->quantized->samples, std::size_t(500));
        m_start = top1();
        QVERIFY(m_start > 0.3 && m_start < 0.9);  // weights of 4 bits hurt
        QVERIFY(m_window->windowTitle().contains("mobilenetv2_cifar10"));
    }

    void showsInputsBlueAndQuantizedLayersGreen() {
        const Theme& colors = themeOf(canvas()->palette());
        QTest::keyClick(canvas(), Qt::Key_0, Qt::ControlModifier);
        int ends = 0;
        for (const PictureNode& box : canvas()->picture()->nodes) {
            if (box.kind != PictureNode::Kind::Input && box.kind != PictureNode::Kind::Output) continue;
            QVERIFY2(sameHue(bandOf(box), colors.io), box.title.c_str());
            ++ends;
        }
        QCOMPARE(ends, 2);
        QVERIFY(sameHue(bandOf(boxOf(kFirst)), colors.quantized));
    }

    void recolorsByAMetricAndGoesToTheWorstLayer() {
        QTest::keyClick(canvas(), Qt::Key_2);
        QVERIFY(canvas()->metric() != Metric::None);
        QTest::keyClick(canvas(), Qt::Key_BracketRight);
        const LayerResult* worst = document().layer(document().current());
        QVERIFY(worst && worst->local);
        for (const LayerResult& layer : document().layers())
            if (layer.local && std::isfinite(layer.local->qs)) QVERIFY(layer.local->qs <= worst->local->qs);
        QTest::keyClick(canvas(), Qt::Key_1);
    }

    void skipsALayerWithTheSpaceBar() {
        click(kFirst);
        QTest::keyClick(canvas(), Qt::Key_Space);
        QVERIFY(document().layer(node(kFirst))->state == LayerState::Skipped);  // at once, and yellow
        QVERIFY(sameHue(bandOf(boxOf(kFirst)), themeOf(canvas()->palette()).inFloat));
        QVERIFY(evaluated());
        m_skipped = top1();
        QVERIFY2(m_skipped > m_start + 0.05, qPrintable(QString::number(m_skipped)));
    }

    void skipsUntilAnotherLayerAndUndoes() {
        click(kFirst);
        QTest::keyClick(canvas(), Qt::Key_U);
        hover(kFifth);
        QVERIFY2(m_window->graphView()->bannerText().contains("nodes"),
                 qPrintable(m_window->graphView()->bannerText()));
        click(kFifth);
        QVERIFY(evaluated());
        QVERIFY(document().layer(node(kFifth))->state == LayerState::Skipped);
        QVERIFY(document().evaluation()->counts.skipped > 3);
        QTest::keyClick(canvas(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(evaluated());
        QCOMPARE(top1(), m_skipped);
        QVERIFY(document().layer(node(kFifth))->state == LayerState::Quantized);
    }

    void equalizes() {
        auto* box = visible<QComboBox>("Cross-layer equalization");
        QVERIFY(box);
        box->setFocus();
        while (box->currentIndex() != static_cast<int>(EqualizationProfile::Quantloupe))
            QTest::keyClick(box, Qt::Key_Down);
        QVERIFY(evaluated());
        QVERIFY(document().config().transforms.equalization.profile == EqualizationProfile::Quantloupe);
        m_equalized = top1();
        QVERIFY(m_equalized != m_skipped);
        QVERIFY(document().history().entries().size() >= 4);
    }

    void exportsTheTunedConfiguration() {
        exportBy("AMCT configuration", file("amct.json"));
        const auto amct = nlohmann::json::parse(readFile(file("amct.json")));
        QVERIFY(amct[kFirst]["quant_enable"] == false);
        QVERIFY(amct[kFifth]["quant_enable"] == true);
        exportBy("Quantized model", file("tuned.onnx"));
        exportBy("Save Configuration As", file("tuned.json"));
        QVERIFY(loadConfig(file("tuned.json")) == document().config());
    }

    void replaysItWithoutAWindow() {
        const QString demo = QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/");
        QProcess process;
        process.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"),
                      {"analyze", demo + "mobilenetv2_cifar10.onnx", "--config",
                       QString::fromStdString(file("tuned.json").string()), "--data", demo + "val",
                       "--calibration-data", demo + "calibration", "--json"});
        QVERIFY(process.waitForFinished(kPatience));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
        const auto result = nlohmann::json::parse(process.readAllStandardOutput().toStdString());
        QCOMPARE(result["quantized"]["top1"].get<double>(), m_equalized);
    }

    void cleanupTestCase() { m_window.reset(); }

  private:
    static constexpr int kPatience = 600000;
    static constexpr const char* kFirst = "/features/features.0/features.0.0/Conv";
    static constexpr const char* kFifth = "/features/features.2/conv/conv.0/conv.0.0/Conv";

    Document& document() { return *m_window->document(); }
    GraphCanvas* canvas() { return m_window->graphView()->canvas(); }
    NodeId node(const char* name) { return document().graph()->findNode(name).value_or(NodeId()); }
    double top1() { return document().evaluation()->quantized->top1.value_or(-1); }
    std::filesystem::path file(const char* name) const { return m_folder.path().toStdString() + "/" + name; }
    bool evaluated() {
        return QTest::qWaitFor([&] { return !document().evaluating() && document().evaluation()->complete; },
                               kPatience);
    }

    const PictureNode& boxOf(const char* name) {
        return canvas()->picture()->nodes[*canvas()->index().boxOf(node(name))];
    }
    QPointF middleOf(const char* name) {
        return canvas()->view()->transform().toView(toRectF(boxOf(name).box).center());
    }
    void bringIntoSight(const char* name) {
        document().select(node(name));
        QTest::keyClick(canvas(), Qt::Key_C);
    }
    void click(const char* name) {
        if (!canvas()->until()->active()) bringIntoSight(name);
        QTest::mouseClick(canvas(), Qt::LeftButton, {}, middleOf(name).toPoint());
    }
    void hover(const char* name) {
        canvas()->view()->ensureVisible(node(name));
        const QPointF at = middleOf(name);
        QMouseEvent move(QEvent::MouseMove, at, canvas()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(canvas(), &move);
    }
    static bool sameHue(const QColor& seen, const QColor& wanted) {
        return std::abs(seen.hsvHue() - wanted.hsvHue()) < 12;
    }
    /// Returns the color of the box's left band, with the box centered.
    QColor bandOf(const PictureNode& box) {
        const QRectF at = toRectF(box.box);
        canvas()->view()->centerScene(at.center());
        const QImage image = canvas()->grab().toImage();
        const QPointF place = canvas()->view()->transform().toView(QPointF(at.left() + 2, at.center().y()));
        return image.pixelColor((place * image.devicePixelRatio()).toPoint());
    }
    template <typename Widget>
    Widget* visible(const char* accessibleName) {
        for (Widget* widget : m_window->findChildren<Widget*>())
            if (widget->isVisible() && widget->accessibleName() == QLatin1String(accessibleName))
                return widget;
        return nullptr;
    }

    /// Chooses the menu entry whose name begins with this text, and answers the dialogs as a user would.
    void exportBy(const char* entry, const std::filesystem::path& path) {
        QAction* action = nullptr;
        for (QAction* candidate : m_window->allActions())
            if (!action && candidate->text().remove('&').startsWith(QLatin1String(entry))) action = candidate;
        QVERIFY2(action, entry);
        QTimer answers;
        connect(&answers, &QTimer::timeout, this, [path] {
            QWidget* modal = QApplication::activeModalWidget();
            if (auto* dialog = qobject_cast<ExportDialog*>(modal)) {
                if (test::button(*dialog, "save")->isEnabled())
                    QTest::mouseClick(test::button(*dialog, "save"), Qt::LeftButton);
            } else if (auto* model = qobject_cast<ModelExportDialog*>(modal)) {
                QTest::keyClick(model, Qt::Key_Return);
            } else if (auto* files = qobject_cast<QFileDialog*>(modal)) {
                auto* line = files->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
                line->setText(QString::fromStdString(path.string()));
                QTest::keyClick(line, Qt::Key_Return);
            }
        });
        answers.start(50);
        action->trigger();
        QVERIFY2(QTest::qWaitFor([&] { return std::filesystem::exists(path); }, kPatience), path.c_str());
    }

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
    double m_start = 0, m_skipped = 0, m_equalized = 0;
};

QTEST_MAIN(UserStoryTest)
#include "user_story_test.moc"
