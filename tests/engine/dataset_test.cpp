// SPDX-License-Identifier: Apache-2.0
// The sources that --data accepts: folders of images, arrays, ONNX test data; their order, labels and errors.

#include "data/dataset.h"

#include <onnx/onnx_pb.h>

#include <QTemporaryDir>
#include <QtTest>
#include <cstring>
#include <fstream>
#include <numeric>

#include "data/numpy_file.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::errorOf;
namespace fs = std::filesystem;

namespace {

// A PNG of one pixel, RGB (10, 20, 30).
const char* const kPixel =
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63e01291030000"
    "68003d5408a3f70000000049454e44ae426082";

const std::vector<InputSpec> kPixelInput = {{"x", DataType::Float32, {{-1, "N"}, {3, ""}, {1, ""}, {1, ""}}}};

std::vector<float> floatsOf(const SampleTensor& tensor) {
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

/// "name=label ..." in order.
QString listing(const DatasetPtr& data) {
    QStringList entries;
    for (std::size_t i = 0; i < data->size(); ++i) {
        const auto label = data->label(i);
        entries << QString::fromStdString(data->sampleName(i)) +
                       (label ? "=" + QString::number(*label) : QString());
    }
    return entries.join(' ');
}

}  // namespace

class DatasetTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_root;

    void write(const std::string& relative, const QByteArray& content) {
        fs::create_directories((m_root / relative).parent_path());
        std::ofstream(m_root / relative, std::ios::binary) << content.toStdString();
    }
    void writePixel(const std::string& relative) { write(relative, QByteArray::fromHex(kPixel)); }
    void writeTensor(const std::string& relative, const Dims& dims, const std::vector<float>& values) {
        onnx::TensorProto tensor;
        tensor.set_data_type(onnx::TensorProto::FLOAT);
        for (const auto dim : dims) tensor.add_dims(dim);
        for (const float value : values) tensor.add_float_data(value);
        write(relative, QByteArray::fromStdString(tensor.SerializeAsString()));
    }
    DatasetPtr open(const std::string& relative = "", const std::vector<InputSpec>& inputs = kPixelInput,
                    const Preprocess& preprocess = {}) {
        return openDataset(relative.empty() ? m_root : m_root / relative, inputs, preprocess);
    }
    QString openError(const std::string& relative = "", const std::vector<InputSpec>& inputs = kPixelInput,
                      const Preprocess& preprocess = {}) {
        return errorOf([&] { open(relative, inputs, preprocess); });
    }

  private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
        m_root = m_folder->path().toStdString();
    }

    void flatFolder() {
        for (const char* name : {"b.png", "a.PNG", "B.png", "10.png", "9.png"}) writePixel(name);
        write("notes.txt", "no image");
        write(".hidden.png", "no image");
        const DatasetPtr data = open();
        QCOMPARE(listing(data), QString("10.png 9.png B.png a.PNG b.png"));
        QVERIFY(!data->hasLabels());
        QCOMPARE(data->description(), std::string("5 images"));
        const std::vector<SampleTensor> sample = data->sample(3);
        QCOMPARE(sample.size(), std::size_t(1));
        QCOMPARE(sample[0].dims, (Dims{3, 1, 1}));
        const float scale = 1.0f / 255.0f;
        QCOMPARE(floatsOf(sample[0]), (std::vector<float>{10 * scale, 20 * scale, 30 * scale}));
    }

    // Samples sort by the joined path, where "a-b/" comes before "a/"; classes by the folder's name.
    void oneFolderPerClass() {
        for (const char* name : {"a/2.png", "a/1.png", "a-b/1.png", "zoo/1.png"}) writePixel(name);
        fs::create_directories(m_root / "m");  // a class without images still counts
        const DatasetPtr data = open();
        QCOMPARE(listing(data), QString("a-b/1.png=1 a/1.png=0 a/2.png=0 zoo/1.png=3"));
        QCOMPARE(data->classNames(), (std::vector<std::string>{"a", "a-b", "m", "zoo"}));
        QVERIFY(data->hasLabels());
        QCOMPARE(data->description(), std::string("4 images in 4 classes"));
    }

    void foldersWithoutData() {
        QVERIFY(openError("nowhere").contains("nowhere"));
        // The text of the message contains this name by chance.
        QCOMPARE(errorOf([] { openDataset("such file", kPixelInput, {}); }),
                 QString("data 'such file': there is no such file or folder"));
        QVERIFY2(openError().contains("no samples"), qPrintable(openError()));
        fs::create_directories(m_root / "class");
        QVERIFY(openError().contains("no samples"));
        write("readme.txt", "text");
        QVERIFY(openError("readme.txt").contains("readme.txt"));
        writePixel("class/1.png");
        writePixel("1.png");
        QVERIFY2(openError().contains("both images"), qPrintable(openError()));
        writePixel("deep/class/1.png");
        fs::remove(m_root / "1.png");
        QVERIFY2(openError().contains("'deep' contains folders"), qPrintable(openError()));
    }

    void undecodableImages() {
        writePixel("a.png");
        write("b.jpg", "this is no image");
        write("c.png", QByteArray::fromHex(kPixel).left(50));
        const DatasetPtr data = open();
        QCOMPARE(data->sample(0).size(), std::size_t(1));
        QVERIFY(errorOf([&] { data->sample(1); }).contains("b.jpg"));
        QVERIFY(errorOf([&] { data->sample(2); }).contains("c.png"));
    }

    void brokenLinkIsNamed() {
        writePixel("a.png");
        fs::create_symlink("gone.png", m_root / "link.png");
        QVERIFY2(openError().contains("link.png"), qPrintable(openError()));
    }

    void truncatedJpeg() {
        const fs::path assets = test::assets();
        const fs::path photo = assets / "data" / "collages" / "0.jpg";
        QFile file(QString::fromStdString(photo.string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray whole = file.readAll();
        write("whole.jpg", whole);
        write("half.jpg", whole.left(whole.size() / 2));
        Preprocess preprocess;
        preprocess.resize = {1, 1};
        const DatasetPtr data = open("", kPixelInput, preprocess);
        const QString error = errorOf([&] { data->sample(0); });
        QVERIFY2(error.contains("half.jpg") && error.contains("incomplete"), qPrintable(error));
        QCOMPARE(data->sample(1)[0].dims, (Dims{3, 1, 1}));
    }

    void imagesThatDoNotFitTheNetwork() {
        writePixel("a.png");
        const auto spec = [](Shape shape, DataType type = DataType::Float32) {
            return std::vector<InputSpec>{{"pixels", type, std::move(shape)}};
        };
        const Dim n{-1, "N"};
        const auto says = [&](const std::vector<InputSpec>& inputs, const char* wanted,
                              Preprocess preprocess = {}) {
            const QString error = openError("", inputs, preprocess);
            QVERIFY2(error.contains(wanted), qPrintable(QString("'%1' should say '%2'").arg(error, wanted)));
        };
        says(spec({n, {1, ""}, {8, ""}, {8, ""}}), "takes 1 channels in the layout NCHW");
        says(spec({n, {8, ""}, {8, ""}, {3, ""}}), "check its 'layout'");
        says(spec({n, {640, ""}}), "not an image");
        says(spec({n, {3, ""}, {8, ""}, {8, ""}}, DataType::Int64), "int64");
        says({kPixelInput[0], kPixelInput[0]}, "this one has 2");
        says({}, "no inputs");
        Preprocess resized;
        resized.resize = {8, 9};
        says(spec({n, {3, ""}, {8, ""}, {8, ""}}), "8×9", resized);
        Preprocess gray;
        gray.color = Preprocess::Color::Gray;
        says(spec({n, {1, ""}, {8, ""}, {8, ""}}), "'mean' has 3", gray);
        // Without a resize, a wrong size is detected only when the sample is read.
        const DatasetPtr unfit = open("", spec({n, {3, ""}, {8, ""}, {8, ""}}));
        const QString error = errorOf([&] { unfit->sample(0); });
        QVERIFY2(error.contains("a.png") && error.contains("1×1") && error.contains("resize"),
                 qPrintable(error));
    }

    void npyRows() {
        const std::vector<InputSpec> inputs = {{"x", DataType::Float32, {{-1, "N"}, {2, ""}}}};
        saveNpz({{"x", Constant::fromFloats({3, 2}, {0, 1, 2, 3, 4, 5})},
                 {"other", Constant::fromFloats({1}, {0})},
                 {"labels", Constant::fromInt64s({3}, {2, 0, 1})}},
                m_root / "data.npz");
        const DatasetPtr data = open("data.npz", inputs);
        QCOMPARE(listing(data), QString("row 0=2 row 1=0 row 2=1"));
        QCOMPARE(data->sample(1)[0].dims, (Dims{2}));
        QCOMPARE(floatsOf(data->sample(1)[0]), (std::vector<float>{2, 3}));
        QCOMPARE(data->description(), std::string("3 rows with labels"));
        QCOMPARE(data->notice(),
                 std::string("arrays that are neither inputs nor 'labels' are ignored: 'other'"));

        const auto wide = Constant::fromInt64s({1, 2}, {1, 300});
        saveNpz({{"arr_0", wide}}, m_root / "unnamed.npz");
        const DatasetPtr unnamed = open("unnamed.npz", inputs);
        QCOMPARE(floatsOf(unnamed->sample(0)[0]), (std::vector<float>{1, 300}));
        QCOMPARE(unnamed->notice(), std::string());
        const DatasetPtr narrow = open("unnamed.npz", {{"x", DataType::UInt8, {{-1, "N"}, {2, ""}}}});
        const QString error = errorOf([&] { narrow->sample(0); });
        QVERIFY2(error.contains("row 0") && error.contains("300"), qPrintable(error));
    }

    /// For example one label per pixel: the inputs are usable without them.
    void labelsOfAnotherShapeAreIgnored() {
        const std::vector<InputSpec> inputs = {{"x", DataType::Float32, {{-1, "N"}, {2, ""}}}};
        const std::map<std::string, ConstantPtr> arrays = {
            {"x", Constant::fromFloats({2, 2}, {0, 1, 2, 3})},
            {"labels", Constant::fromInt64s({2, 3, 1}, {0, 1, 2, 3, 4, 5})}};
        saveNpz(arrays, m_root / "pixels.npz");
        const DatasetPtr data = open("pixels.npz", inputs);
        QVERIFY(!data->hasLabels() && !data->taskLabels());
        QVERIFY2(data->notice().find("2\u00d73\u00d71") != std::string::npos, data->notice().c_str());
        QCOMPARE(subset(data, {1})->notice(), data->notice());
        QVERIFY(errorOf([&] { arrayDataset(arrays, arrays.at("labels"), inputs); }).contains("2\u00d73"));
    }

    /// Detectors of torchvision take one image without a batch dimension.
    void imagesWithoutABatchDimension() {
        const auto model = test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[3,16,20] x) => (float[3,16,20] y) { y = Relu(x) })");
        const std::vector<InputSpec> specs = inputSpecsOf(*model.graph);
        std::vector<float> values(5 * 3 * 16 * 20);
        std::iota(values.begin(), values.end(), 0.0f);
        saveNpz({{"x", Constant::fromFloats({5, 3, 16, 20}, values)}}, m_root / "five.npz");
        const DatasetPtr five = open("five.npz", specs);
        QCOMPARE(five->size(), std::size_t(5));
        QCOMPARE(five->sample(2)[0].dims, (Dims{3, 16, 20}));
        QCOMPARE(floatsOf(five->sample(2)[0])[0], 1920.0f);
        values.resize(3 * 16 * 20);
        saveNpz({{"x", Constant::fromFloats({3, 16, 20}, values)}}, m_root / "one.npz");
        QCOMPARE(open("one.npz", specs)->size(), std::size_t(1));
        writePixel("images/a.png");
        Preprocess preprocess;
        preprocess.resize = {16, 20};
        QCOMPARE(open("images", specs, preprocess)->sample(0)[0].dims, (Dims{3, 16, 20}));
        QVERIFY(errorOf([&] { open("images", specs)->sample(0); }).contains("1×1 pixels"));
    }

    void arraysThatDoNotFit() {
        const Dim n{-1, "N"};
        const auto says = [&](const std::map<std::string, ConstantPtr>& arrays,
                              const std::vector<InputSpec>& inputs, const char* wanted) {
            saveNpz(arrays, m_root / "data.npz");
            const QString error = openError("data.npz", inputs);
            QVERIFY2(error.contains("data.npz") && error.contains(wanted),
                     qPrintable(QString("'%1' should say '%2'").arg(error, wanted)));
        };
        const InputSpec x{"x", DataType::Float32, {n, {2, ""}}};
        const InputSpec ids{"ids", DataType::Int64, {n}};
        const auto two = Constant::fromFloats({2, 2}, {0, 1, 2, 3});
        says({{"y", two}}, {x}, "no array for input 'x'; the arrays are 'y'");
        says({{"x", Constant::fromFloats({2, 3}, {0, 1, 2, 3, 4, 5})}}, {x}, "2×3");
        says({{"x", Constant::fromFloats({4}, {0, 1, 2, 3})}}, {x}, "N×2");
        says({{"x", Constant::fromFloats({0, 2}, {})}}, {x}, "empty");
        says({{"x", two}, {"ids", Constant::fromFloats({2}, {0, 1})}}, {x, ids}, "save it as int64");
        says({{"x", two}, {"ids", Constant::fromInt64s({3}, {0, 1, 2})}}, {x, ids},
             "different numbers of samples");
        saveNpz({{"x", two}, {"labels", Constant::fromFloats({2}, {0, 1.5f})}}, m_root / "targets.npz");
        const DatasetPtr regression = open("targets.npz", {x});
        QVERIFY(regression->notice().find("only a metric program uses these values") != std::string::npos);
        QVERIFY(!regression->hasLabels() && regression->targets(1)->bytes.size() == sizeof(float));
        saveNpz({{"x", two}, {"labels", Constant::fromFloats({2}, {0, 1})}}, m_root / "binary.npz");
        QVERIFY(open("binary.npz", {x})->label(1) == 1);
        says({{"x", two}, {"labels", Constant::fromInt64s({2}, {0, -1})}}, {x}, "-1");
        write("one.npy", "");
        QVERIFY(openError("one.npy", {x, ids}).contains("2 inputs"));
    }

    /// A single row was refused, although the network accepts no other one.
    void oneRowOfAnInputOfOneRowIsThatOfAllSamples() {
        const std::vector<InputSpec> inputs = {{"x", DataType::Float32, {{-1, "batch"}, {2, ""}}},
                                               {"position", DataType::Int64, {{1, ""}}}};
        const auto x = Constant::fromFloats({2, 2}, {0, 1, 2, 3});
        saveNpz({{"x", x}, {"position", Constant::fromInt64s({1}, {7})}}, m_root / "one.npz");
        saveNpz({{"x", x}, {"position", Constant::fromInt64s({2}, {7, 8})}}, m_root / "two.npz");
        const auto position = [&](const char* file, std::size_t sample) {
            const auto bytes = open(file, inputs)->sample(sample)[1].bytes;
            std::int64_t value = 0;
            std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
            return value;
        };
        QCOMPARE(open("one.npz", inputs)->size(), 2u);
        QCOMPARE(position("one.npz", 0), 7);
        QCOMPARE(position("one.npz", 1), 7);
        QCOMPARE(position("two.npz", 1), 8);
    }

    void onnxTestData() {
        const std::vector<InputSpec> inputs = {{"a", DataType::Float32, {{1, ""}, {2, ""}}},
                                               {"b", DataType::Float32, {{1, ""}, {1, ""}}}};
        writeTensor("test_data_set_0/input_0.pb", {1, 2}, {1, 2});
        writeTensor("test_data_set_0/input_1.pb", {1, 1}, {3});
        write("test_data_set_0/output_0.pb", "ignored");
        writeTensor("test_data_set_1/input_0.pb", {2, 2}, {4, 5, 6, 7});
        writeTensor("test_data_set_1/input_1.pb", {2, 1}, {8, 9});
        const DatasetPtr data = open("", inputs);
        QCOMPARE(listing(data), QString("test_data_set_0 test_data_set_1 row 0 test_data_set_1 row 1"));
        QCOMPARE(floatsOf(data->sample(2)[0]), (std::vector<float>{6, 7}));
        QCOMPARE(floatsOf(data->sample(2)[1]), (std::vector<float>{9}));
        QCOMPARE(data->description(), std::string("3 samples in 2 test data sets"));
        QCOMPARE(listing(open("test_data_set_0/", inputs)), QString("test_data_set_0"));

        write("test_data_set_1/input_1.pb", "\xff\xff");
        QVERIFY2(openError("", inputs).contains("test_data_set_1/input_1.pb"),
                 qPrintable(openError("", inputs)));
        fs::remove(m_root / "test_data_set_1/input_1.pb");
        QVERIFY2(openError("", inputs).contains("test_data_set_1/input_1.pb"),
                 qPrintable(openError("", inputs)));
        writeTensor("test_data_set_1/input_1.pb", {3, 1}, {8, 9, 10});
        QVERIFY(openError("", inputs).contains("different numbers of samples"));
    }

    void versionsFollowTheContent() {
        writePixel("a.png");
        const Version first = open()->version();
        QCOMPARE(open()->version().hex(), first.hex());
        Preprocess other;
        other.scale = 1;
        QVERIFY(open("", kPixelInput, other)->version() != first);
        const DatasetPtr data = open();
        QVERIFY(subset(data, {0})->version() != first);
        fs::last_write_time(m_root / "a.png",
                            fs::last_write_time(m_root / "a.png") + std::chrono::seconds(5));
        QVERIFY(open()->version() != first);
        writePixel("b.png");
        QVERIFY(open()->version() != first);
    }

    void subsetsAndHalves() {
        for (const char* name : {"0.png", "1.png", "2.png", "3.png", "4.png"}) writePixel(name);
        const DatasetPtr data = open();
        const DatasetPtr some = subset(data, {4, 1});
        QCOMPARE(listing(some), QString("4.png 1.png"));
        QCOMPARE(some->description(), std::string("2 of 5 images"));
        QVERIFY(errorOf([&] { subset(data, {5}); }).contains("5"));
        const auto [calibration, evaluation] = splitForCalibration(data);
        QCOMPARE(listing(calibration), QString("1.png 3.png"));
        QCOMPARE(listing(evaluation), QString("0.png 2.png 4.png"));
        const auto [one, same] = splitForCalibration(subset(data, {2}));
        QCOMPARE(listing(one), QString("2.png"));
        QCOMPARE(listing(same), QString("2.png"));
    }

    void specsOfAGraph() {
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,3,8,8] x, int64[N] ids) => "
            "(float[N,3,8,8] y) { y = Relu(x) }");
        const std::vector<InputSpec> specs = inputSpecsOf(*model.graph);
        QCOMPARE(specs.size(), std::size_t(2));
        QCOMPARE(specs[0].name, std::string("x"));
        QCOMPARE(toString(specs[0].shape), std::string("N×3×8×8"));
        QCOMPARE(std::string(dataTypeName(specs[1].type)), std::string("int64"));
    }

    void cifarFolder() {
        const fs::path assets = test::assets();
        const fs::path model = assets / "models" / "mobilenetv2_cifar10.onnx";
        const Preprocess preprocess = loadPreprocess(preprocessBeside(model).value());
        const std::vector<InputSpec> inputs = {
            {"x", DataType::Float32, {{-1, "N"}, {3, ""}, {32, ""}, {32, ""}}}};
        const DatasetPtr data = openDataset(assets / "data" / "cifar10" / "val", inputs, preprocess);
        QCOMPARE(data->description(), std::string("1,000 images in 10 classes"));
        QCOMPARE(data->sampleName(0), std::string("airplane/00000.jpg"));
        QCOMPARE(data->label(999).value(), 9);
        QCOMPARE(data->classNames().at(9), std::string("truck"));
        QCOMPARE(data->sample(999)[0].dims, (Dims{3, 32, 32}));
        QCOMPARE(openDataset(assets / "data" / "cifar10" / "calibration", inputs, preprocess)->size(),
                 std::size_t(256));
        const QString error = errorOf([&] { openDataset(assets / "data" / "cifar10", inputs, preprocess); });
        QVERIFY2(error.contains("'val' contains folders"), qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(DatasetTest)
#include "dataset_test.moc"
