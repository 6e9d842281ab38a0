#include "app/cli/token_file.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sessions/models/files.h"

namespace firsttoken::app {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using nlohmann::json;

namespace {

constexpr std::uint64_t largestFile = 64ULL << 20;
constexpr std::size_t deepest = 64;  ///< objects and lists within each other

/// Where parsing stopped, counted from 1.
std::string placeOf(const std::string& text, std::size_t byte) {
    int line = 1;
    int column = 1;
    for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n' ? 1 : 0;
    }
    return fmt::format("{}:{}", line, column);
}

Result<json> parse(const std::string& path, const std::string& text) {
    const auto tooDeep = [](int depth, json::parse_event_t, json&) {
        if (depth > static_cast<int>(deepest)) throw std::length_error("nested too deeply");
        return true;
    };
    try {
        return json::parse(text, tooDeep);
    } catch (const json::parse_error& fault) {
        return Error{ErrorCode::BadInput,
                     fmt::format("{}:{}: this is not valid JSON", path, placeOf(text, fault.byte))};
    } catch (const std::exception& fault) {
        return Error{ErrorCode::BadInput, fmt::format("{} is not usable JSON: {}", path, fault.what())};
    }
}

/// A whole number of at most `most`; none otherwise.
std::optional<std::int64_t> whole(const json& value, std::int64_t least, std::int64_t most) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
        return std::nullopt;
    if (!value.is_number_integer()) return std::nullopt;
    const auto number = value.get<std::int64_t>();
    if (number < least || number > most) return std::nullopt;
    return number;
}

}  // namespace

Result<TokenFile> readTokenFile(const std::string& path) {
    const auto text = sessions::readWholeFile(path, largestFile);
    if (!text) return text.error();
    const auto document = parse(path, *text);
    if (!document) return document.error();
    const auto bad = [&](const std::string& what) { return Error{ErrorCode::BadInput, path + ": " + what}; };

    TokenFile file;
    const json* list = &*document;
    if (document->is_object()) {
        const auto prompt = document->find("prompt");
        if (prompt == document->end()) return bad("the object lacks the list \"prompt\"");
        list = &*prompt;
        const auto context = document->find("context");
        if (context != document->end() && !context->is_null()) {
            file.context = whole(*context, 1, std::numeric_limits<std::int32_t>::max());
            if (!file.context) return bad("\"context\" is not a whole number of at least 1");
        }
    }
    if (!list->is_array()) return bad("there is no list of token ids");
    if (list->empty()) return bad("the list of token ids is empty");
    file.ids.reserve(list->size());
    for (const auto& value : *list) {
        const auto id = whole(value, 0, std::numeric_limits<engine::TokenId>::max());
        if (!id) {
            const auto shown = value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40);
            return bad(fmt::format("entry {} of the list, {}, is no token id", file.ids.size() + 1, shown));
        }
        file.ids.push_back(static_cast<engine::TokenId>(*id));
    }
    return file;
}

}  // namespace firsttoken::app
