// SPDX-License-Identifier: Apache-2.0
#pragma once
// Editor for the conversion of images to network inputs. Shows the first images as the network receives them,
// and evaluates the float accuracy again. Applied settings are saved in the project; they can also be written
// next to the model, where the command line finds them.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

/// Describes the settings in one line: "RGB, 32×32, NHWC, values as they are".
QString preprocessInWords(const Preprocess& preprocess);

class PreprocessDialog : public QDialog {
    Q_OBJECT
  public:
    explicit PreprocessDialog(Document& document, QWidget* parent = nullptr);

  Q_SIGNALS:
    void saved();  ///< the file next to the model was written

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void load();
    void fitHeight();
    void fill(const Preprocess& preprocess);
    void showViews();
    void complain(const QString& text);
    std::optional<Preprocess> entered();
    void apply();
    bool mayReplaceFile(const Preprocess& by);
    void save();

    Document& m_document;
    ChoiceBox* m_values;
    SegmentedControl *m_color, *m_layout, *m_fit, *m_interpolation;
    QLineEdit *m_resize, *m_crop, *m_scale, *m_mean, *m_std;
    QWidget* m_settings;
    QLabel *m_views, *m_status;
    QPushButton *m_apply, *m_save;
};

}  // namespace quantloupe::ui
