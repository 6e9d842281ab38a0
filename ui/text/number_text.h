#pragma once

#include <QCoreApplication>
#include <QLocale>
#include <QString>
#include <cstdint>
#include <optional>

namespace firsttoken::ui {

/// Numbers as people read them: three significant digits, their unit after a space that does not break, digits and
/// separators of the person's language. What is empty or no finite number reads "not measured", never 0.
/// A value: any thread.
class NumberText {
    Q_DECLARE_TR_FUNCTIONS(firsttoken::ui::NumberText)
public:
    explicit NumberText(QLocale locale = QLocale());

    /// "212 ms", "8.41 ms", "12,345 ms": the unit stays, so that figures of one kind compare at a glance.
    QString milliseconds(std::optional<double> value) const;
    /// How long something lasts, for clocks and sentences: "850 ms", "1.2 s", "2 min 5 s", "3 h 20 min".
    QString duration(std::optional<double> milliseconds) const;
    /// "41.3 tok/s"
    QString tokensPerSecond(std::optional<double> value) const;
    /// In the largest binary unit that leaves at least 1: "1.2 GiB", "96 MiB", "512 B".
    QString bytes(std::optional<std::uint64_t> value) const;
    /// Two amounts in the unit of the larger: "1.2 of 3.0 GiB".
    QString bytesOf(std::optional<std::uint64_t> part, std::optional<std::uint64_t> whole) const;
    /// "2,048"
    QString count(std::optional<std::int64_t> value) const;
    /// 0.711 is "71.1 %".
    QString percent(std::optional<double> fraction) const;
    /// For a numeric column, whose head has the unit: always `decimals` digits after the separator, so that right-
    /// aligned tabular digits stand under each other.
    QString column(std::optional<double> value, int decimals) const;

    QString notMeasured() const;

private:
    /// Three significant digits, none after the separator from 100 on.
    QString significant(double value) const;
    QString fixed(double value, int decimals) const;

    QLocale m_locale;
};

}  // namespace firsttoken::ui
