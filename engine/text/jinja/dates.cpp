#include <array>
#include <cstdio>

#include "engine/text/jinja/formatting.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

constexpr std::array<std::string_view, 12> months = {"January",   "February", "March",    "April",
                                                     "May",       "June",     "July",     "August",
                                                     "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> weekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                      "Thursday", "Friday", "Saturday"};

struct Date {
    int year, month, day;

    int dayOfYear() const {
        constexpr std::array<int, 12> before = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
        const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        return before[static_cast<std::size_t>(month - 1)] + day + (leap && month > 2 ? 1 : 0);
    }
    /// 0 is Sunday.
    int weekday() const {
        const int past = year - 1;
        return (past + past / 4 - past / 100 + past / 400 + dayOfYear()) % 7;
    }
    std::string_view monthName() const { return months[static_cast<std::size_t>(month - 1)]; }
    std::string_view weekdayName() const { return weekdays[static_cast<std::size_t>(weekday())]; }
};

std::string padded(int value, int width, char fill = '0') {
    std::string digits = std::to_string(value);
    if (digits.size() < static_cast<std::size_t>(width)) {
        digits.insert(0, static_cast<std::size_t>(width) - digits.size(), fill);
    }
    return digits;
}

/// One directive; `bare`: without leading zeros (%-d).
std::string directive(char type, bool bare, const Date& date) {
    const auto number = [bare](int value, int width) { return bare ? std::to_string(value) : padded(value, width); };
    switch (type) {
        case 'Y':
        case 'G':
            return std::to_string(date.year);
        case 'y':
            return number(date.year % 100, 2);
        case 'C':
            return number(date.year / 100, 2);
        case 'm':
            return number(date.month, 2);
        case 'd':
            return number(date.day, 2);
        case 'e':
            return bare ? std::to_string(date.day) : padded(date.day, 2, ' ');
        case 'B':
            return std::string(date.monthName());
        case 'b':
        case 'h':
            return std::string(date.monthName().substr(0, 3));
        case 'A':
            return std::string(date.weekdayName());
        case 'a':
            return std::string(date.weekdayName().substr(0, 3));
        case 'j':
            return number(date.dayOfYear(), 3);
        case 'w':
            return std::to_string(date.weekday());
        case 'u':
            return std::to_string(date.weekday() == 0 ? 7 : date.weekday());
        case 'H':
        case 'M':
        case 'S':
            return number(0, 2);
        case 'I':
            return number(12, 2);
        case 'p':
            return "AM";
        case 'f':
            return "000000";
        case 'z':
        case 'Z':
            return "";
        case 'n':
            return "\n";
        case 't':
            return "\t";
        case '%':
            return "%";
        default:
            break;
    }
    throw TemplateError("strftime_now: the directive %" + std::string(1, type) + " is not supported");
}

/// What a directive that stands for several is made of.
std::string_view expansion(char type) {
    switch (type) {
        case 'F':
            return "%Y-%m-%d";
        case 'D':
        case 'x':
            return "%m/%d/%y";
        case 'T':
        case 'X':
            return "%H:%M:%S";
        case 'R':
            return "%H:%M";
        case 'r':
            return "%I:%M:%S %p";
        case 'c':
            return "%a %b %e %H:%M:%S %Y";
        default:
            return {};
    }
}

}  // namespace

std::string formatDate(std::string_view pattern, int year, int month, int day) {
    const Date date{year, month, day};
    std::string out;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] != '%' || at + 1 == pattern.size()) {
            out.push_back(pattern[at]);
            continue;
        }
        ++at;
        const bool bare = pattern[at] == '-' && at + 1 < pattern.size();
        if (bare) ++at;
        const std::string_view parts = expansion(pattern[at]);
        out += parts.empty() ? directive(pattern[at], bare, date) : formatDate(parts, year, month, day);
    }
    return out;
}

}  // namespace firsttoken::engine::jinja
