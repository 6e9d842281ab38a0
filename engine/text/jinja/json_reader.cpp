#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/text/jinja/json.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

/// Builds values while the parser walks the text, so that no deep tree of its own is made.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
public:
    Value take() { return std::move(m_root); }

    bool null() override { return put(Value()); }
    bool boolean(bool value) override { return put(Value(value)); }
    bool number_integer(number_integer_t value) override { return put(Value(std::int64_t{value})); }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > INT64_MAX) return put(Value(static_cast<double>(value)));
        return put(Value(static_cast<std::int64_t>(value)));
    }
    bool number_float(number_float_t value, const string_t&) override { return put(Value(double{value})); }
    bool binary(binary_t&) override { return false; }
    bool string(string_t& value) override {
        const bool isTrusted = isTrustedPlace(value);
        return put(Value(MarkedString(std::move(value), isTrusted)));
    }
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool key(string_t& value) override {
        m_open.back().key = std::move(value);
        return true;
    }
    bool end_object() override {
        Value value(std::move(m_open.back().dict));
        m_open.pop_back();
        return put(std::move(value));
    }
    bool end_array() override {
        Value value = Value::list(std::move(m_open.back().items));
        m_open.pop_back();
        return put(std::move(value));
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        throw TemplateError(std::string("the given values are no JSON: ") + error.what());
    }

private:
    struct Level {
        bool isObject = false;
        std::string key;
        Dict dict;
        std::vector<Value> items;
    };

    bool open(bool isObject) {
        if (m_open.size() >= static_cast<std::size_t>(maxValueDepth)) {
            throw TemplateError("the given values are nested too deep (100 levels)");
        }
        m_open.emplace_back();
        m_open.back().isObject = isObject;
        return true;
    }

    bool put(Value value) {
        if (m_open.empty()) {
            m_root = std::move(value);
        } else if (m_open.back().isObject) {
            m_open.back().dict.set(Value(MarkedString(m_open.back().key, false)), std::move(value));
        } else {
            m_open.back().items.push_back(std::move(value));
        }
        return true;
    }

    bool isTrustedPlace(const std::string& value) const {
        if (m_open.size() == 1 && m_open[0].isObject) {
            const std::string& key = m_open[0].key;
            return key == "bos_token" || key == "eos_token" || key == "unk_token" || key == "pad_token" ||
                   key == "sep_token" || key == "cls_token" || key == "mask_token";
        }
        return m_open.size() == 3 && m_open[0].key == "messages" && !m_open[1].isObject && m_open[2].isObject &&
               m_open[2].key == "role" && isPlainRole(value);
    }

    std::vector<Level> m_open;
    Value m_root;
};

}  // namespace

bool isPlainRole(std::string_view role) {
    return std::all_of(role.begin(), role.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; });
}

Value readJson(std::string_view json) {
    Builder builder;
    if (!nlohmann::json::sax_parse(json, &builder)) throw TemplateError("the given values are no JSON");
    return builder.take();
}

}  // namespace firsttoken::engine::jinja
