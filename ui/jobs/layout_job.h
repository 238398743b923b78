// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lays a graph out in a separate thread; the latest request wins.

#include <QObject>
#include <memory>

#include "base/cancel.h"
#include "jobs/worker_thread.h"
#include "picture/picture.h"

namespace quantloupe::ui {

using PicturePtr = std::shared_ptr<const Picture>;

class LayoutJob : public QObject {
    Q_OBJECT
  public:
    explicit LayoutJob(QObject* parent = nullptr);
    ~LayoutJob() override;

    void layout(GraphPtr graph, const LayoutOptions& options);

  Q_SIGNALS:
    void laidOut(quantloupe::ui::PicturePtr picture);
    void failed(QString text);

  private:
    WorkerThread m_thread;
    CancelToken m_token;
    quint64 m_generation = 0;
};

}  // namespace quantloupe::ui
