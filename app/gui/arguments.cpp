// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <QCommandLineParser>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "common/program_description.h"

namespace quantloupe {
namespace {

constexpr int kExitUsage = 2;

[[noreturn]] void wrongUsage(const QString& text) {
    std::fprintf(stderr, "quantloupe: %s\n", qPrintable(text));
    std::exit(kExitUsage);
}

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

/// The parser, the manual page and the shell completions follow this table.
ProgramDescription description() {
    ProgramDescription program;
    program.name = "quantloupe";
    program.summary = "see which layers of a network quantization hurts, and tune them";
    program.positionals = {{{"MODEL"}, "FILE", {}, "ONNX file or project (.quantloupe) to open"}};
    program.options = {
        {{"--data"}, "DATA", {}, "images or tensors to evaluate on"},
        {{"--calibration-data"}, "DATA", {}, "calibration images or tensors; default: half of the data"},
        {{"--config"}, "FILE", {}, "configuration to start from"},
        {{"--save-config"},
         "FILE",
         {},
         "write the configuration to this file after every change, and close without asking to save it"},
        {{"--demo"}, "", {}, "open the bundled model"},
        {{"--screenshot"},
         "FILE.png",
         {},
         "save a picture of the window after the first evaluation and exit"},
        {{"--select"}, "LAYER", {}, "for the screenshot: layer to select; can be repeated"},
        {{"--until"},
         "LAYER",
         {},
         "for the screenshot: preview skipping from the selected layer until this one"},
        {{"--command"}, "NAME", {}, "for the screenshot: menu entry to choose first; can be repeated"},
        {{"--size"}, "WIDTHxHEIGHT", {}, "for the screenshot: window size"},
        {{"--theme"},
         "THEME",
         {"light", "dark", "system"},
         "light, dark or system; default: as chosen in the View menu"},
        {{"--document"},
         "KIND",
         documentKinds(),
         "print the manual page, or the completions of a shell, and exit: man, bash, zsh or fish"}};
    program.exitCodes = {{"0", "Success"}, {"1", "Failure; stderr says why"}, {"2", "Wrong usage"}};
    program.environment = {
        {"QUANTLOUPE_PYTHON",
         "The Python that verification runs ONNX Runtime in; otherwise python3 on the PATH"},
        {"QT_QPA_PLATFORM", "The window system to use, for example offscreen"}};
    program.examples = {{"Open the bundled demo:", "quantloupe --demo"},
                        {"Open a model with a folder of images:", "quantloupe model.onnx --data images"}};
    program.seeAlso = "quantloupe-cli(1). The documentation is in share/doc/quantloupe of the installation.";
    return program;
}

void addOptions(QCommandLineParser& parser, const ProgramDescription& program) {
    for (const OptionDescription& option : program.options) {
        const QString name = text(option.names.front()).mid(2);
        parser.addOption({name, text(option.help), text(option.value)});
    }
    parser.addHelpOption();
    parser.addVersionOption();
    for (const OptionDescription& positional : program.positionals) {
        const QString name = text(positional.names.front());
        parser.addPositionalArgument(name, text(positional.help), QLatin1Char('[') + name + QLatin1Char(']'));
    }
}

[[noreturn]] void printDocument(ProgramDescription program, const QString& kind) {
    const auto& kinds = documentKinds();
    if (std::find(kinds.begin(), kinds.end(), kind.toStdString()) == kinds.end())
        wrongUsage(QStringLiteral("--document takes man, bash, zsh or fish"));
    program.options.push_back({{"-h", "--help"}, "", {}, "print the options and exit"});
    program.options.push_back({{"-v", "--version"}, "", {}, "print the version and exit"});
    std::fputs(programDocument(program, kind.toStdString()).c_str(), stdout);
    std::exit(0);
}

QSize windowSize(const QString& value) {
    const QStringList sides = value.split(QLatin1Char('x'));
    const QSize size = sides.size() == 2 ? QSize(sides[0].toInt(), sides[1].toInt()) : QSize();
    if (size.isEmpty()) wrongUsage(QStringLiteral("--size takes WIDTHxHEIGHT, for example 1280x720"));
    return size;
}

}  // namespace

Arguments readArguments(const QCoreApplication& application) {
    const ProgramDescription program = description();
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QStringLiteral("A loupe for quantized networks: see which layers quantization hurts and tune them."));
    addOptions(parser, program);
    if (!parser.parse(application.arguments())) wrongUsage(parser.errorText());
    parser.process(application);  // --help and --version
    const auto value = [&parser](const char* name) { return parser.value(QString::fromLatin1(name)); };
    if (parser.isSet(QStringLiteral("document"))) printDocument(program, value("document"));

    Arguments arguments;
    const QStringList positional = parser.positionalArguments();
    if (positional.size() > 1) wrongUsage(QStringLiteral("only one model can be opened at a time"));
    if (!positional.isEmpty()) arguments.request.model = positional.front().toStdString();
    arguments.request.data = value("data").toStdString();
    arguments.request.calibration = value("calibration-data").toStdString();
    arguments.request.config = value("config").toStdString();
    arguments.savedConfig = value("save-config").toStdString();
    arguments.demo = parser.isSet(QStringLiteral("demo"));
    arguments.screenshot.path = value("screenshot");
    arguments.screenshot.select = parser.values(QStringLiteral("select"));
    arguments.screenshot.until = value("until");
    arguments.screenshot.commands = parser.values(QStringLiteral("command"));
    if (!value("size").isEmpty()) arguments.screenshot.size = windowSize(value("size"));
    arguments.theme = value("theme");
    if (arguments.demo && !positional.isEmpty()) wrongUsage(QStringLiteral("--demo opens its own model"));
    if (positional.isEmpty() && !arguments.demo &&
        (!arguments.request.data.empty() || !arguments.request.config.empty() ||
         !arguments.request.calibration.empty()))
        wrongUsage(QStringLiteral("--data, --calibration-data and --config need a MODEL"));
    if (!parser.isSet(QStringLiteral("screenshot")))
        for (const char* option : {"select", "until", "command", "size"})
            if (parser.isSet(QString::fromLatin1(option)))
                wrongUsage(QStringLiteral("--%1 needs --screenshot").arg(QString::fromLatin1(option)));
    if (!QStringList{{}, QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("system")}.contains(
            arguments.theme))
        wrongUsage(QStringLiteral("--theme takes light, dark or system"));
    return arguments;
}

bool onlyPrintsText(int argc, char** argv) {
    return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
        return argument == "-h" || argument == "--help" || argument == "--help-all" || argument == "-v" ||
               argument == "--version" || argument.starts_with("--document");
    });
}

bool pictureWithoutDisplay(int argc, char** argv) {
    for (const char* known : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (qEnvironmentVariableIsSet(known)) return false;
    return std::any_of(argv + 1, argv + argc,
                       [](std::string_view argument) { return argument.starts_with("--screenshot"); });
}

}  // namespace quantloupe
