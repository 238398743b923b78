// SPDX-License-Identifier: Apache-2.0
#include "jobs/layout_job.h"

#include "jobs/freed_in_background.h"
#include "jobs/layout_cache.h"

namespace quantloupe::ui {

LayoutJob::LayoutJob(QObject* parent) : QObject(parent), m_thread(QStringLiteral("layout")) {}

LayoutJob::~LayoutJob() {
    m_token.cancel();
    m_thread.stop();
}

void LayoutJob::layout(GraphPtr graph, const LayoutOptions& options) {
    m_token.cancel();
    m_token = CancelToken();
    const quint64 generation = ++m_generation;
    m_thread.post([this, graph = std::move(graph), options, token = m_token, generation] {
        PicturePtr picture;
        QString error;
        try {
            token.check();
            picture =
                freedInBackground(std::make_shared<const Picture>(layoutWithCache(*graph, options, token)));
        } catch (const Cancelled&) {
            return;
        } catch (const std::exception& e) {
            error = QString::fromUtf8(e.what());
        }
        m_thread.reply([this, picture, error, generation] {
            if (generation != m_generation) return;
            if (picture)
                Q_EMIT laidOut(picture);
            else
                Q_EMIT failed(error);
        });
    });
}

}  // namespace quantloupe::ui
