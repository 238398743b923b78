// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluation and calibration data.

#include <QFrame>
#include <QLabel>

#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

/// The form of the data: a folder of images or tensors, or a .npy or .npz file.
enum class DataForm { Folder, File };

class DataSection : public QWidget {
    Q_OBJECT
  public:
    explicit DataSection(Document* document, QWidget* parent = nullptr);

  Q_SIGNALS:
    void chooseDataRequested(quantloupe::ui::DataForm form);
    void chooseCalibrationRequested(quantloupe::ui::DataForm form);
    void preprocessRequested();
    void labelsRequested();

  private:
    void refresh();
    QFrame* buildDataRequest();

    Document* m_document;
    SectionHeading* m_heading;
    QList<QImage> m_shown, m_shownViews;  ///< the images of m_thumbnails and m_views
    QLabel *m_thumbnails, *m_notice, *m_warning, *m_views, *m_viewText;
    QFrame *m_wrong, *m_dataRequest;
    ElidedLabel *m_path, *m_calibrationPath;
    QLabel *m_description, *m_calibration;
    QPushButton *m_choose, *m_chooseCalibration, *m_changePreprocess, *m_changeLabels;
    ElidedLabel *m_preprocessHead, *m_labelsHead;
    QLabel *m_preprocess, *m_labels;
};

}  // namespace quantloupe::ui
