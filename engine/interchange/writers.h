// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writers and readers of all formats, for the registry. file_format.h documents parameters, results and
// errors.

#include "interchange/file_format.h"

namespace quantloupe {

ExportResult writeAmct(const ExportSource& source);
ExportResult writeAmctMinimal(const ExportSource& source);
ExportResult writeAmctSimple(const ExportSource& source);
ImportResult readAmctSimple(const ImportSource& source);
ImportResult readAmct(const ImportSource& source);
ExportResult writeOnnxRuntime(const ExportSource& source);
ImportResult readOnnxRuntime(const ImportSource& source);
ExportResult writeQuark(const ExportSource& source);
ImportResult readQuark(const ImportSource& source);
ExportResult writeClika(const ExportSource& source);
ImportResult readClika(const ImportSource& source);
ExportResult writeAimet(const ExportSource& source);
ImportResult readAimet(const ImportSource& source);
ExportResult writeNncf(const ExportSource& source);
ExportResult writeModelOpt(const ExportSource& source);
ExportResult writeQnn(const ExportSource& source);
ExportResult writeTpuMlir(const ExportSource& source);
ExportResult writeTidl(const ExportSource& source);
ExportResult writeRknn(const ExportSource& source);
ExportResult writePulsar2(const ExportSource& source);
ExportResult writeModelExplorer(const ExportSource& source);
ExportResult writeClikaGraphs(const ExportSource& source);
ExportResult writeCsvReport(const ExportSource& source);
ExportResult writeJsonReport(const ExportSource& source);
ExportResult writeHtmlReport(const ExportSource& source);
ExportResult writeQdqModel(const ExportSource& source);
ExportResult writeQOperator(const ExportSource& source);
ImportResult readQdq(const ImportSource& source);

}  // namespace quantloupe
