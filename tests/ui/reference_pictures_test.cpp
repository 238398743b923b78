// SPDX-License-Identifier: Apache-2.0
// The window in 21 states (light and dark, three networks, three sizes, 100 % and 200 %), compared with
// reference pictures in tests/data/pictures. QUANTLOUPE_UPDATE=1 replaces them; look at each before you
// commit it.
//
// The pictures do not depend on the machine: the program waits until everything has been answered and omits
// durations, results are the same on every processor, and the only font is DejaVu without hinting. Pictures
// are reduced to a width of 736 pixels and compared in cells of 8 by 8 pixels, by the mean of each color
// channel.
#include <QDir>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <vector>

#include "block_model.h"

namespace {

constexpr int kWidth = 736, kCell = 8;
/// A cell differs if a channel's mean differs by more than this, of 255. Another version of FreeType may draw
/// glyphs differently: light hinting instead of none redraws every glyph and changes means by up to 7.
constexpr int kLevels = 12;
/// A layer of another color changes at least 4 cells even in the smallest state, a panel that is missing or
/// moved changes hundreds.
constexpr std::size_t kMostCells = 3;

struct State {
    const char* name;
    QStringList arguments;
    int scale = 1;  ///< device pixels per point
};

QStringList words(const char* text) { return QString::fromUtf8(text).split(QLatin1Char('|')); }

std::vector<State> states(const QString& folder) {
    // A hundred images are enough to draw something, and five times faster.
    const QStringList data{QStringLiteral("--data"), folder + QStringLiteral("/images/val"),
                           QStringLiteral("--calibration-data"),
                           QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/calibration")};
    const QStringList demo = QStringList{QStringLiteral("--demo")} + data;
    const QStringList transformer =
        QStringList{QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/assets/models/vit_2_blocks.onnx")} + data;
    const QStringList generated{folder + QStringLiteral("/blocks.onnx")};  // evaluated on random inputs
    const QStringList light = words("--theme|light"), dark = words("--theme|dark");
    const QStringList laptop = words("--size|1280x720"), usual = words("--size|1472x912"),
                      large = words("--size|1920x1080");
    return {
        {"start_light", light + usual},
        {"start_dark_200", dark + laptop, 2},
        {"demo_light", demo + light + usual},
        {"demo_dark", demo + dark + usual},
        {"demo_laptop", demo + light + laptop},
        {"demo_large_dark", demo + dark + large},
        {"demo_light_200", demo + light + laptop, 2},
        {"demo_blocks", demo + light + usual + words("--command|Collapse All Blocks|--command|Fit Graph")},
        {"demo_block_matrix",
         demo + light + usual + words("--command|Skip Quantization|--command|Show Repeated Blocks")},
        {"demo_loss_by_step", demo + dark + usual + words("--command|Show Accuracy Loss by Step")},
        {"demo_skipped", demo + light + laptop + words("--command|Skip Quantization")},
        {"demo_side_by_side",
         demo + light + large + words("--command|Skip Quantization|--command|Side by Side")},
        {"demo_history", demo + dark + laptop + words("--command|Skip Quantization|--command|History")},
        {"demo_improve", demo + light + usual + words("--command|Improve Accuracy")},
        {"transformer_light", transformer + light + usual},
        {"transformer_dark", transformer + dark + usual},
        {"transformer_large", transformer + light + large},
        {"transformer_dark_200", transformer + dark + laptop, 2},
        {"generated_light", generated + light + usual},
        {"generated_dark", generated + dark + laptop},
        {"generated_large", generated + light + large + words("--command|Collapse All Blocks")},
    };
}

QImage reduced(const QImage& picture) {
    return picture.scaledToWidth(kWidth, Qt::SmoothTransformation).convertToFormat(QImage::Format_RGB32);
}

std::array<int, 3> meanOf(const QImage& picture, int left, int top) {
    std::array<int, 3> sum{};
    int count = 0;
    for (int y = top; y < std::min(top + kCell, picture.height()); ++y)
        for (int x = left; x < std::min(left + kCell, picture.width()); ++x, ++count) {
            const QRgb pixel = picture.pixel(x, y);
            sum[0] += qRed(pixel), sum[1] += qGreen(pixel), sum[2] += qBlue(pixel);
        }
    for (int& channel : sum) channel /= count;
    return sum;
}

/// The corners of the cells that differ. The pictures have the same size.
std::vector<QPoint> differingCells(const QImage& a, const QImage& b) {
    std::vector<QPoint> cells;
    for (int top = 0; top < a.height(); top += kCell)
        for (int left = 0; left < a.width(); left += kCell) {
            const auto x = meanOf(a, left, top), y = meanOf(b, left, top);
            for (std::size_t c = 0; c < x.size(); ++c)
                if (std::abs(x[c] - y[c]) > kLevels) {
                    cells.emplace_back(left, top);
                    break;
                }
        }
    return cells;
}

QImage shifted(const QImage& picture, int by) {
    return picture.copy(by, by, picture.width(), picture.height());
}

}  // namespace

class ReferencePicturesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        quantloupe::test::writeBlockModel(m_folder.path().toStdString(), 12);
        writeImages();
        const QString fonts = QStringLiteral("/usr/share/fonts/truetype/dejavu");
        QVERIFY2(QDir(fonts).exists(), "install fonts-dejavu-core (packaging/dependencies.txt)");
        QFile file(m_folder.filePath(QStringLiteral("fonts.conf")));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(QStringLiteral(R"(<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
            <dir>%1</dir><cachedir>%2</cachedir>
            <match target="font"><edit name="antialias" mode="assign"><bool>true</bool></edit>
            <edit name="hinting" mode="assign"><bool>false</bool></edit>
            <edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
            <edit name="rgba" mode="assign"><const>none</const></edit></match>
            <match target="pattern"><test qual="all" name="family" compare="not_eq"><string>monospace</string></test>
            <edit name="family" mode="append_last"><string>sans-serif</string></edit></match>
            <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
            <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
            </fontconfig>)")
                       .arg(fonts, m_folder.filePath(QStringLiteral("fonts")))
                       .toUtf8());
    }

    void windowEqualsItsReference_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("scale");
        const std::vector<State> all = states(m_folder.path());
        QCOMPARE(all.size(), 21u);
        for (const State& state : all) QTest::newRow(state.name) << state.arguments << state.scale;
    }
    void windowEqualsItsReference() {
        QFETCH(QStringList, arguments);
        QFETCH(int, scale);
        const QString name = QString::fromUtf8(QTest::currentDataTag());
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
        if (name.startsWith(QLatin1String("transformer")))
            QSKIP(
                "the pictures are those of Debian 12, whose ONNX infers fewer of the shapes that are shown");
#endif
        const QString reference = referenceOf(name);
        const QImage picture = pictureOf(name, arguments, scale);
        QVERIFY(!picture.isNull());
        if (qEnvironmentVariableIsSet("QUANTLOUPE_UPDATE")) {
            QVERIFY(QDir().mkpath(QFileInfo(reference).path()));
            QVERIFY2(picture.save(reference), qPrintable(reference));
            return;
        }
        const QImage expected = QImage(reference).convertToFormat(QImage::Format_RGB32);
        QVERIFY2(!expected.isNull(), qPrintable(reference));
        QCOMPARE(picture.size(), expected.size());
        const std::vector<QPoint> cells = differingCells(expected, picture);
        if (cells.size() <= kMostCells) return;
        const QString kept = QDir::tempPath() + QStringLiteral("/quantloupe_%1.png").arg(name);
        picture.save(kept);
        QString where;
        for (std::size_t i = 0; i < std::min<std::size_t>(cells.size(), 12); ++i)
            where += QStringLiteral(" (%1, %2)").arg(cells[i].x()).arg(cells[i].y());
        QFAIL(qPrintable(QStringLiteral("%1 cells differ, at most %2 may:%3. Compare %4 with %5. If the new "
                                        "picture is right, run this test with QUANTLOUPE_UPDATE=1")
                             .arg(cells.size())
                             .arg(kMostCells)
                             .arg(where, kept, reference)));
    }

    /// The comparison notices a layer of another color, and a shift by 4 points.
    void changesAreDetected() {
        const QImage reference =
            QImage(referenceOf(QStringLiteral("demo_light"))).convertToFormat(QImage::Format_RGB32);
        QVERIFY(!reference.isNull());
        QVERIFY(differingCells(reference, reference).empty());
        QImage recolored = reference;  // the size of a layer in the smallest state
        for (int y = 200; y < 212; ++y)
            for (int x = 300; x < 334; ++x) recolored.setPixel(x, y, qRgb(250, 210, 60));
        QVERIFY(differingCells(reference, recolored).size() > kMostCells);
        QVERIFY(differingCells(reference, shifted(reference, 2)).size() > 10 * kMostCells);
    }

    void aWindowThatDoesNotFinishIsReported() {
        QProcess program;
        start(program, QStringLiteral("paused"),
              {QStringLiteral("--demo"), QStringLiteral("--command"), QStringLiteral("Pause"),
               QStringLiteral("--command"), QStringLiteral("Skip Quantization"), QStringLiteral("--timeout"),
               QStringLiteral("2")});
        QVERIFY(program.waitForFinished(600'000));
        QCOMPARE(program.exitCode(), 1);
        const QString error = QString::fromUtf8(program.readAllStandardError());
        QVERIFY2(
            error.contains(QLatin1String("without progress")) && error.contains(QLatin1String("--timeout")),
            qPrintable(error));
        QVERIFY(!QFileInfo::exists(m_folder.filePath(QStringLiteral("paused.png"))));
    }

  private:
    /// Copies ten images of each class of the demo.
    void writeImages() {
        const QDir all(QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/val"));
        for (const QString& name : all.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
            const QDir from(all.filePath(name)), to(m_folder.filePath(QStringLiteral("images/val/") + name));
            QVERIFY(QDir().mkpath(to.path()));
            for (const QString& image : from.entryList(QDir::Files, QDir::Name).first(10))
                QVERIFY(QFile::copy(from.filePath(image), to.filePath(image)));
        }
    }

    static QString referenceOf(const QString& name) {
        return QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/data/pictures/%1.png").arg(name);
    }

    /// Starts the program with empty settings of its own, which writes NAME.png.
    void start(QProcess& program, const QString& name, const QStringList& arguments, int scale = 1) {
        const QString home = m_folder.filePath(name);
        QDir().mkpath(home);
        QFile::setPermissions(home, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        QProcessEnvironment environment;
        const auto all = QProcessEnvironment::systemEnvironment();
        for (const char* kept : {"PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",
                                 "ONEDNN_MAX_CPU_ISA"})
            if (all.contains(QLatin1String(kept)))
                environment.insert(QLatin1String(kept), all.value(QLatin1String(kept)));
        for (const char* folder :
             {"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"})
            environment.insert(QLatin1String(folder), home);
        environment.insert(QStringLiteral("FONTCONFIG_FILE"),
                           m_folder.filePath(QStringLiteral("fonts.conf")));
        environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("C.UTF-8"));
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        environment.insert(QStringLiteral("QT_SCALE_FACTOR"), QString::number(scale));
        environment.insert(QStringLiteral("QT_FONT_DPI"), QStringLiteral("96"));
        program.setProcessEnvironment(environment);
        program.start(
            QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe"),
            QStringList{QStringLiteral("--screenshot"), m_folder.filePath(name + QStringLiteral(".png"))} +
                arguments);
    }

    /// The program's picture, reduced; null if it failed.
    QImage pictureOf(const QString& name, const QStringList& arguments, int scale) {
        QProcess program;
        program.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        start(program, name, arguments, scale);
        if (!program.waitForFinished(600'000) || program.exitCode() != 0) return {};
        const QImage picture(m_folder.filePath(name + QStringLiteral(".png")));
        return picture.isNull() ? QImage() : reduced(picture);
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(ReferencePicturesTest)
#include "reference_pictures_test.moc"
