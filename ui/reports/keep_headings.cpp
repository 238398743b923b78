// SPDX-License-Identifier: Apache-2.0
#include "reports/keep_headings.h"

#include <QAbstractTextDocumentLayout>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextLayout>

namespace quantloupe::ui {

namespace {

/// The page on which the block's first line is.
int pageOf(const QTextDocument& document, const QTextBlock& block) {
    const QRectF box = document.documentLayout()->blockBoundingRect(block);
    const qreal line = block.layout()->lineCount() > 0 ? block.layout()->lineAt(0).y() : 0;
    return static_cast<int>((box.top() + line + 1) / document.pageSize().height());
}

}  // namespace

void keepHeadingsWithText(QTextDocument& document) {
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        const QTextBlock text = block.next();
        if (block.blockFormat().headingLevel() == 0 || !text.isValid()) continue;
        if (pageOf(document, block) == pageOf(document, text)) continue;
        QTextBlockFormat format = block.blockFormat();
        format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
        QTextCursor(block).setBlockFormat(format);
    }
}

}  // namespace quantloupe::ui
