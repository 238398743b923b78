// SPDX-License-Identifier: Apache-2.0
// Decoding, resizing and scaling of images. The reference for pixels is Pillow: golden numbers here, and the
// pixels that the reference runs used as network inputs.

#include "data/image.h"

#include <jpeglib.h>

#include <QBuffer>
#include <QImage>
#include <QtTest>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "base/atomic_file.h"
#include "data/image_codecs.h"
#include "data/image_input.h"
#include "data/numpy_file.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::errorOf;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::uint8_t>;

QString show(const Bytes& pixels) {
    QStringList numbers;
    for (const int pixel : pixels) numbers << QString::number(pixel);
    return numbers.join(' ');
}

/// (37x + 91y + 13xy) mod 256.
Image pattern(int width, int height) {
    Image image{width, height, 1, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            image.pixels.push_back(static_cast<std::uint8_t>(x * 37 + y * 91 + x * y * 13));
    return image;
}

/// Red the pattern, green its complement, blue the pattern moved to the right by one (around the edge).
Image colorPattern(int width, int height) {
    const Image gray = pattern(width, height);
    Image image{width, height, 3, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const auto at = [&](int column) {
                return gray.pixels[static_cast<std::size_t>(y * width + (column + width) % width)];
            };
            image.pixels.insert(image.pixels.end(),
                                {at(x), static_cast<std::uint8_t>(255 - at(x)), at(x - 1)});
        }
    return image;
}

Bytes png(const QImage& image) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    image.save(&buffer, "PNG");
    return {bytes.begin(), bytes.end()};
}

Bytes jpeg(int width, int height, int channels, J_COLOR_SPACE colors, bool progressive = false) {
    jpeg_compress_struct state{};
    jpeg_error_mgr errors{};
    state.err = jpeg_std_error(&errors);
    jpeg_create_compress(&state);
    unsigned char* data = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&state, &data, &size);
    state.image_width = static_cast<JDIMENSION>(width);
    state.image_height = static_cast<JDIMENSION>(height);
    state.input_components = channels;
    state.in_color_space = colors;
    jpeg_set_defaults(&state);
    if (progressive) jpeg_simple_progression(&state);
    jpeg_start_compress(&state, TRUE);
    const Image gray = pattern(width * channels, height);
    for (int y = 0; y < height; ++y) {
        Bytes row(gray.pixels.begin() + y * width * channels,
                  gray.pixels.begin() + (y + 1) * width * channels);
        JSAMPROW rows[] = {row.data()};
        jpeg_write_scanlines(&state, rows, 1);
    }
    jpeg_finish_compress(&state);
    Bytes bytes(data, data + size);
    jpeg_destroy_compress(&state);
    free(data);
    return bytes;
}

/// FNV-1a of the pixels.
std::string hashOf(const Image& image) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const std::uint8_t byte : image.pixels) value = (value ^ byte) * 0x100000001b3;
    return fmt::format("{:016x}", value);
}

Image decode(const Bytes& bytes) { return decodeImage(bytes.data(), bytes.size(), "it.jpg"); }

/// Paths of the images under a folder of the assets, sorted as the reference runs sorted them.
std::vector<fs::path> imagesUnder(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) names.push_back(entry.path().generic_string());
    std::sort(names.begin(), names.end());
    return {names.begin(), names.end()};
}

}  // namespace

class ImageTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// As in Pillow's open(), the orientation in EXIF data is ignored (docs/command_line.md).
    void jpegsAreNotRotated() {
        const Bytes plain = jpeg(24, 16, 3, JCS_RGB);
        // one entry
        Bytes exif = {0xff, 0xe1, 0x00, 0x22, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                      // orientation: 6, turned right
                      0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0};
        Bytes turned = plain;
        turned.insert(turned.begin() + 2, exif.begin(), exif.end());
        const Image image = decode(turned);
        QCOMPARE(image.width, 24);
        QCOMPARE(image.height, 16);
        QVERIFY(image.pixels == decode(plain).pixels);
    }

    void pixelsEqualThoseOfTheReference_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("folder");
        QTest::newRow("collages, resized") << "mlperf_tiny_vww_mobilenet"
                                           << "collages";
        QTest::newRow("cifar, as they are") << "mobilenetv2_cifar10"
                                            << "cifar10/val";
    }
    void pixelsEqualThoseOfTheReference() {
        QFETCH(QString, model);
        QFETCH(QString, folder);
        const fs::path assets = test::assets();
        const std::string name = model.toStdString();
        const auto oracle = loadNpz(assets / "oracles" / ("float_" + name + ".npz")).at("input_pixels");
        const Preprocess preprocess = loadPreprocess(assets / "models" / (name + ".preprocess.json"));
        const ImageInput input({"x", DataType::Float32, {}}, preprocess);
        const std::vector<fs::path> images = imagesUnder(assets / "data" / folder.toStdString());
        const auto count = static_cast<std::size_t>(oracle->dims().front());
        const std::size_t size = oracle->bytes().size() / count;
        QVERIFY(count > 0 && images.size() >= count);
        for (std::size_t i = 0; i < count; ++i) {
            const Image image = input.pixels(decodeImage(images[i]));
            const auto wanted = oracle->bytes().subspan(i * size, size);
            QCOMPARE(image.pixels.size(), size);
            const auto differing = std::ranges::mismatch(std::as_bytes(std::span(image.pixels)), wanted);
            QVERIFY2(differing.in2 == wanted.end(),
                     qPrintable(QString("%1 differs from byte %2 on")
                                    .arg(QString::fromStdString(images[i].filename().string()))
                                    .arg(differing.in2 - wanted.begin())));
        }
    }

    void resizeEqualsPillow() {
        const Image image = pattern(7, 5);
        QCOMPARE(show(resizeImage(image, 3, 2).pixels), QString("110 141 141 122 145 137"));
        QCOMPARE(show(resizeImage(image, 7, 3).pixels),
                 QString("39 82 124 167 100 142 185 125 188 109 172 121 184 105 69 152 90 173 147 84 167"));
        QCOMPARE(show(resizeImage(image, 4, 5).pixels),
                 QString("19 77 145 203 117 195 103 109 203 108 173 137 57 175 131 177 142 88 150 96"));
        QCOMPARE(
            show(resizeImage(image, 9, 8).pixels),
            QString("0 25 53 82 111 140 169 197 222 40 68 101 135 168 114 123 155 184 97 130 163 194 233 86 "
                    "72 107 130 154 193 160 109 154 138 166 154 75 130 175 149 104 156 146 180 174 101 27 78 "
                    "129 179 237 109 114 167 206 68 124 125 110 174 152 112 113 168 108 167 123 50 119 188 "
                    "115 71 130"));
        QCOMPARE(show(resizeImage(colorPattern(7, 5), 2, 2).pixels),
                 QString("122 133 120 140 115 136 131 124 127 140 115 140"));
        QVERIFY(resizeImage(image, 7, 5).pixels == image.pixels);
        QVERIFY(errorOf([&] { resizeImage(image, 0, 5); }).contains("0×5"));
    }

    // Real sizes in color and gray. tests/data/pillow_resize.py computes them with Pillow.
    void resizeEqualsPillow13_data() {
        QTest::addColumn<QString>("row");
        const auto document = nlohmann::json::parse(
            readFile(fs::path(QUANTLOUPE_SOURCE_DIR) / "tests/data/pillow_resize.json"));
        for (const auto& row : document.at("images"))
            QTest::addRow("%s to %s", row["from"].dump().c_str(), row["to"].dump().c_str())
                << QString::fromStdString(row.dump());
    }
    void resizeEqualsPillow13() {
        QFETCH(QString, row);
        const auto wanted = nlohmann::json::parse(row.toStdString());
        const int width = wanted["from"][0], height = wanted["from"][1], newWidth = wanted["to"][0],
                  newHeight = wanted["to"][1];
        for (const auto& [name, how] :
             {std::pair{"bilinear", Interpolation::Bilinear}, {"bicubic", Interpolation::Bicubic}}) {
            QCOMPARE(hashOf(resizeImage(colorPattern(width, height), newWidth, newHeight, how)),
                     wanted[name].get<std::string>());
            QCOMPARE(hashOf(resizeImage(pattern(width, height), newWidth, newHeight, how)),
                     wanted[std::string(name) + "_gray"].get<std::string>());
        }
    }

    void grayEqualsPillow() {
        QCOMPARE(show(toGray(colorPattern(7, 1)).pixels), QString("175 139 133 126 120 113 107"));
    }

    void cropTakesTheMiddle() {
        const Image image = pattern(5, 4);
        const Image crop = centerCrop(image, 2, 2);  // a space of 3: 1.5 rounds to 2
        QCOMPARE(crop.width, 2);
        QCOMPARE(show(crop.pixels),
                 show({image.pixels[7], image.pixels[8], image.pixels[12], image.pixels[13]}));
        const QString error = errorOf([&] { centerCrop(image, 6, 2); });
        QVERIFY2(error.contains("5×4") && error.contains("6×2"), qPrintable(error));
    }

    void pngsOfAllKindsBecomeRgb() {
        QImage color(2, 1, QImage::Format_ARGB32);
        color.setPixelColor(0, 0, QColor(1, 2, 3, 4));
        color.setPixelColor(1, 0, QColor(250, 128, 7, 0));
        QCOMPARE(show(decode(png(color)).pixels), QString("1 2 3 250 128 7"));

        QImage palette(2, 1, QImage::Format_Indexed8);
        palette.setColorTable({qRgba(9, 8, 7, 100), qRgb(60, 50, 40)});
        palette.setPixel(0, 0, 1);
        palette.setPixel(1, 0, 0);
        QCOMPARE(show(decode(png(palette)).pixels), QString("60 50 40 9 8 7"));

        QImage gray(2, 1, QImage::Format_Grayscale8);
        gray.setPixelColor(0, 0, QColor(77, 77, 77));
        gray.setPixelColor(1, 0, QColor(255, 255, 255));
        QCOMPARE(show(decode(png(gray)).pixels), QString("77 77 77 255 255 255"));

        QImage deep(1, 1, QImage::Format_RGBX64);
        deep.setPixelColor(0, 0, QColor::fromRgba64(0x12ff, 0x3400, 0xffff, 0xffff));
        QCOMPARE(show(decode(png(deep)).pixels), QString("18 52 255"));
    }

    void grayJpegBecomesRgb() {
        const Image image = decode(jpeg(9, 6, 1, JCS_GRAYSCALE));
        QCOMPARE(image.channels, 3);
        QCOMPARE(image.pixels.size(), std::size_t(9 * 6 * 3));
        for (std::size_t i = 0; i < image.pixels.size(); i += 3)
            QVERIFY(image.pixels[i] == image.pixels[i + 1] && image.pixels[i] == image.pixels[i + 2]);
        QVERIFY(*std::ranges::max_element(image.pixels) > *std::ranges::min_element(image.pixels));
    }

    void cmykIsRefused() {
        const QString error = errorOf([] { decode(jpeg(8, 8, 4, JCS_CMYK)); });
        QVERIFY2(error.contains("it.jpg") && error.contains("CMYK"), qPrintable(error));
    }

    // libjpeg itself would fill the missing part with gray and only warn.
    void truncatedFilesAreErrors_data() {
        QTest::addColumn<QByteArray>("file");
        const auto row = [](const char* name, const Bytes& bytes) {
            QTest::newRow(name) << QByteArray(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<qsizetype>(bytes.size()));
        };
        row("baseline", jpeg(50, 40, 3, JCS_RGB));
        row("progressive", jpeg(50, 40, 3, JCS_RGB, true));
        QImage image(50, 40, QImage::Format_RGB888);
        for (int y = 0; y < 40; ++y)
            for (int x = 0; x < 50; ++x) image.setPixelColor(x, y, QColor(x * 5, y * 6, x * y % 256));
        row("png", png(image));
    }
    void truncatedFilesAreErrors() {
        QFETCH(QByteArray, file);
        const Bytes whole(file.begin(), file.end());
        QCOMPARE(decode(whole).width, 50);
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            const QString error = errorOf([&] { decode(part); });
            // The last byte is the second byte of the end marker: not every decoder notices its loss.
            QVERIFY2(error.contains("it.jpg") || size + 1 == whole.size(),
                     qPrintable(QString("%1 of %2 bytes decode").arg(size).arg(whole.size())));
        }
    }

    void damagedBytesNeverCrash() {
        const unsigned seed = 20240611;
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        for (const Bytes& whole : {jpeg(50, 40, 3, JCS_RGB), jpeg(50, 40, 3, JCS_RGB, true),
                                   png(QImage(50, 40, QImage::Format_RGB888))})
            for (int round = 0; round < 300; ++round) {
                Bytes damaged = whole;
                for (int i = 0; i < 3; ++i)
                    damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
                errorOf([&] { decode(damaged); });  // an image or an Error
            }
    }

    void errorsNameFilesOfOtherFormats() {
        const QString text = errorOf([] { decode({'h', 'e', 'l', 'l', 'o'}); });
        QVERIFY2(text.contains("it.jpg") && text.contains("neither a JPEG nor a PNG"), qPrintable(text));
        QVERIFY(errorOf([] { decode({}); }).contains("empty"));
        const QString missing = errorOf([] { decodeImage("no/such.jpg"); });
        QVERIFY2(missing.contains("no/such.jpg"), qPrintable(missing));
    }

    void decompressionBombsAreRefused() {
        QVERIFY(errorOf([] { allocateRgb(65500, 65500, 1 << 20); }).contains("too large"));
        QVERIFY(errorOf([] { allocateRgb(0xffffffffu, 0xffffffffu, 1 << 20); }).contains("too large"));
        QVERIFY(errorOf([] { allocateRgb(8000, 8000, 300); }).contains("damaged or malicious"));
        QCOMPARE(allocateRgb(1000, 1000, 300).pixels.size(), std::size_t(3000000));
        // A real header: the height of a small JPEG, after the marker FF C0, set to 65,500.
        Bytes bomb = jpeg(8, 8, 3, JCS_RGB);
        const Bytes marker = {0xff, 0xc0};
        const auto at = std::search(bomb.begin(), bomb.end(), marker.begin(), marker.end()) - bomb.begin();
        for (const std::ptrdiff_t side : {5, 7}) {
            bomb[static_cast<std::size_t>(at + side)] = 0xff;
            bomb[static_cast<std::size_t>(at + side + 1)] = 0xdc;
        }
        QVERIFY(errorOf([&] { decode(bomb); }).contains("65500×65500"));
    }

    // (pixel * scale - mean) / std with each step in float32, as numpy computes it.
    void scalingRoundsEachStepToFloat() {
        Preprocess preprocess;
        preprocess.scale = 0.00392156862745098f;
        preprocess.mean = {0.4914f, 0.4822f, 0.4465f};
        preprocess.std = {0.2470f, 0.2435f, 0.2616f};
        const Image image{3, 1, 3, {0, 1, 77, 128, 255, 0, 77, 128, 255}};
        const auto values = [&](Preprocess::Layout layout) {
            preprocess.layout = layout;
            const SampleTensor tensor = ImageInput({"x", DataType::Float32, {}}, preprocess).convert(image);
            std::vector<float> floats(tensor.bytes.size() / sizeof(float));
            std::memcpy(floats.data(), tensor.bytes.data(), tensor.bytes.size());
            return std::pair(tensor.dims, floats);
        };
        const auto [dims, floats] = values(Preprocess::Layout::Nhwc);
        QCOMPARE(dims, (Dims{1, 3, 3}));
        QCOMPARE(floats, (std::vector<float>{-0x1.fd4e26p+0f, -0x1.f6d4aap+0f, -0x1.1ae3e4p-1f, 0x1.5e428p-5f,
                                             0x1.1030c8p+1f, -0x1.b4f122p+0f, -0x1.88af08p-1f, 0x1.4c675cp-4f,
                                             0x1.0ed362p+1f}));
        const auto [planarDims, planar] = values(Preprocess::Layout::Nchw);
        QCOMPARE(planarDims, (Dims{3, 1, 3}));
        QCOMPARE(planar, (std::vector<float>{floats[0], floats[3], floats[6], floats[1], floats[4], floats[7],
                                             floats[2], floats[5], floats[8]}));
    }

    void interpolationOfThePreprocessing() {
        const Image image = colorPattern(64, 48);
        Preprocess preprocess;
        preprocess.resize = {20, 24};
        QVERIFY(ImageInput({"x", DataType::Float32, {}}, preprocess).pixels(image).pixels ==
                resizeImage(image, 24, 20, Interpolation::Bilinear).pixels);
        preprocess.interpolation = Interpolation::Bicubic;
        QVERIFY(ImageInput({"x", DataType::Float32, {}}, preprocess).pixels(image).pixels ==
                resizeImage(image, 24, 20, Interpolation::Bicubic).pixels);
    }

    void colorOrderAndGray() {
        const Image image{1, 1, 3, {10, 20, 30}};
        Preprocess preprocess;
        preprocess.color = Preprocess::Color::Bgr;
        QCOMPARE(show(ImageInput({"x", DataType::Float32, {}}, preprocess).pixels(image).pixels),
                 QString("30 20 10"));
        preprocess.color = Preprocess::Color::Gray;
        preprocess.mean = {0};
        preprocess.std = {1};
        preprocess.scale = 1;
        const SampleTensor tensor = ImageInput({"x", DataType::UInt8, {}}, preprocess).convert(image);
        QCOMPARE(tensor.dims, (Dims{1, 1, 1}));
        QCOMPARE(std::to_integer<int>(tensor.bytes.at(0)), 18);
    }
};

QTEST_GUILESS_MAIN(ImageTest)
#include "image_test.moc"
