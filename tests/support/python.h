// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs Python reference programs with QUANTLOUPE_PYTHON or python3.

#include <QtTest>

#include "support/run_program.h"

namespace quantloupe::test {

/// Returns the exit code, -1 without Python or after a timeout. The output goes to `said`.
int runPython(const QStringList& arguments, QString* said = nullptr, int seconds = 300);

/// Prints Python's output if it fails.
bool runsInPython(const QStringList& arguments);

/// Whether Python has ONNX and ONNX Runtime; determined once.
bool pythonHasOnnxRuntime();

}  // namespace quantloupe::test

/// Skips the test without the Python packages onnx, onnxruntime and numpy, which packaging/test installs.
#define QUANTLOUPE_NEEDS_ONNXRUNTIME               \
    if (!quantloupe::test::pythonHasOnnxRuntime()) \
    QSKIP("Python with onnx, onnxruntime and numpy is not available (QUANTLOUPE_PYTHON)")

/// Runs a program of tests/integration that writes networks into a folder, and puts the names that it prints
/// into a variable. Skips the test like QUANTLOUPE_NEEDS_ONNXRUNTIME.
#define QUANTLOUPE_WRITE_MODELS(names, program, folder)                                          \
    QUANTLOUPE_NEEDS_ONNXRUNTIME;                                                                \
    const quantloupe::test::Outcome written = quantloupe::test::runProgram(                      \
        qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3"),                                    \
        {QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/" program), (folder).path()}); \
    QVERIFY2(written.code == 0, written.text());                                                 \
    names = QString(written.out).split('\n', Qt::SkipEmptyParts)
