// SPDX-License-Identifier: Apache-2.0
#pragma once

class QTextDocument;

namespace quantloupe::ui {

/// Starts a new page before each heading whose text would begin on the next page. The document's page size
/// must be set.
void keepHeadingsWithText(QTextDocument& document);

}  // namespace quantloupe::ui
