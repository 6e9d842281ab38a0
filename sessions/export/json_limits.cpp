#include "sessions/export/json_limits.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace firsttoken::sessions {

namespace {

/// Ends the parse by returning false.
class LimitCheck final : public nlohmann::json_sax<nlohmann::ordered_json> {
public:
    explicit LimitCheck(const JsonLimits& limits) : m_limits(limits) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(); }
    bool key(string_t&) override { return ++m_keys.back() <= m_limits.keysOfObject; }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception&) override {
        m_result = {JsonVerdict::Malformed, byte};
        return false;
    }
    /// After a parse that ended early.
    const JsonCheck& result() const { return m_result; }

private:
    bool open() {
        m_keys.push_back(0);
        return m_keys.size() <= m_limits.depth;
    }
    bool close() {
        m_keys.pop_back();
        return true;
    }

    const JsonLimits m_limits;
    JsonCheck m_result{JsonVerdict::OverLimit, 0};
    std::vector<std::size_t> m_keys;  ///< of each open object or array
};

}  // namespace

JsonCheck checkJson(std::string_view text, const JsonLimits& limits) {
    LimitCheck check(limits);
    if (nlohmann::ordered_json::sax_parse(text, &check)) return {};
    return check.result();
}

}  // namespace firsttoken::sessions
