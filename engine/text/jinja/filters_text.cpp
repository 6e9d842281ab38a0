#include <algorithm>

#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/formatting.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/string_operations.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/jinja/text_tools.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

template <LetterCase to>
Value caseFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("upper", std::move(arguments), {});
    return Value(toCase(toText(input), to));
}

Value capitalizeFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("capitalize", std::move(arguments), {});
    return Value(capitalize(toText(input)));
}

/// Words begin after white space, - ( { [ <; what follows in them is lower case.
Value titleFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("title", std::move(arguments), {});
    const MarkedString text = toText(input);
    MarkedString out;
    std::size_t begin = 0;
    const auto word = [&](std::size_t end) {
        const std::size_t first = begin < end ? decodeUtf8(text.view(), begin).length : 0;
        out.append(toCase(text.cut(begin, first), LetterCase::Upper));
        out.append(toCase(text.cut(begin + first, end - begin - first), LetterCase::Lower));
    };
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text.view(), at);
        const bool separates = isSpace(character.codePoint) ||
                               std::u32string_view(U"-({[<").find(character.codePoint) != std::u32string_view::npos;
        if (separates) {
            word(at);
            out.append(text, at, character.length);
            begin = at + character.length;
        }
        at += character.length;
    }
    word(text.size());
    return Value(std::move(out));
}

Value trimFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("trim", std::move(arguments), {"chars"});
    const bool given = list.has(0) && !list[0].isNone();
    const auto characters = given ? std::optional<std::string_view>(list.string(0).view()) : std::nullopt;
    return Value(strip(toText(input), Side::Both, characters));
}

Value stringFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("string", std::move(arguments), {});
    return Value(toText(input));
}

Value replaceFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("replace", std::move(arguments), {"old", "new", "count"}, 2);
    const std::int64_t most = list.has(2) && list[2].isNone() ? -1 : list.integerOr(2, -1);
    return Value(replace(toText(input), toText(list[0]).view(), toText(list[1]), most));
}

Value centerFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("center", std::move(arguments), {"width"});
    return Value(pad(toText(input), list.integerOr(0, 80), Side::Both));
}

Value formatFilter(Interpreter&, const Value& input, Arguments arguments) {
    if (!arguments.named.empty() && !arguments.positional.empty()) {
        throw TemplateError("can't handle positional and keyword arguments at the same time");
    }
    if (arguments.named.empty())
        return Value(percentFormat(toText(input), Value::tuple(std::move(arguments.positional))));
    Dict names;
    for (auto& [name, value] : arguments.named) names.set(Value::text(name), std::move(value));
    return Value(percentFormat(toText(input), Value(std::move(names))));
}

Value indentFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("indent", std::move(arguments), {"width", "first", "blank"});
    const bool byText = list.has(0) && list[0].string() != nullptr;
    const std::int64_t width = byText ? 0 : std::clamp<std::int64_t>(list.integerOr(0, 4), 0, 10'000);
    const MarkedString indent = byText ? list.string(0) : trusted(std::string(static_cast<std::size_t>(width), ' '));
    const bool blank = list.trueOr(2, false);
    requireDefined(input);
    if (input.string() == nullptr) throw TemplateError("indent needs a string, not " + std::string(typeName(input)));
    MarkedString text = *input.string();
    text.append("\n", true);  // so that a last empty line counts
    const std::vector<MarkedString> lines = splitLines(text, false);
    MarkedString out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) out.append("\n", true);
        const bool indented = i == 0 ? list.trueOr(1, false) : blank || !lines[i].empty();
        if (indented) out.append(indent);
        out.append(lines[i]);
    }
    return Value(std::move(out));
}

Value truncateFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("truncate", std::move(arguments), {"length", "killwords", "end", "leeway"});
    const MarkedString text = toText(input);
    const std::string end = list.stringOr(2, "...");
    const std::int64_t length = list.integerOr(0, 255);
    const auto endLength = static_cast<std::int64_t>(countCodePoints(end));
    if (length < endLength) throw TemplateError("truncate: the length must be at least that of the end");
    const std::int64_t leeway = list.integerOr(3, 5);
    const std::vector<std::size_t> offsets = characterOffsets(text.view());
    const auto size = static_cast<std::int64_t>(offsets.size()) - 1;
    if (leeway < 0) throw TemplateError("truncate: the leeway must not be negative");
    if (size <= length || size - length <= leeway) return Value(text);
    MarkedString out = text.cut(0, offsets[static_cast<std::size_t>(length - endLength)]);
    if (!list.trueOr(1, false)) {
        const std::size_t space = out.bytes().rfind(' ');
        if (space != std::string::npos) out = out.cut(0, space);
    }
    out.append(end, true);
    return Value(std::move(out));
}

Value wordCountFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("wordcount", std::move(arguments), {});
    const MarkedString text = toText(input);
    std::size_t count = 0;
    bool inWord = false;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text.view(), at);
        const CharacterTraits traits = traitsOf(character.codePoint);
        const bool word = traits.letter() || traits.number() || character.codePoint == U'_';
        count += word && !inWord ? 1 : 0;
        inWord = word;
        at += character.length;
    }
    return Value::integer(count);
}

Value escapeFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("escape", std::move(arguments), {});
    const MarkedString text = toText(input);
    MarkedString out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text.bytes()[at];
        const char* entity = c == '&'    ? "&amp;"
                             : c == '<'  ? "&lt;"
                             : c == '>'  ? "&gt;"
                             : c == '"'  ? "&#34;"
                             : c == '\'' ? "&#39;"
                                         : nullptr;
        if (entity != nullptr) {
            out.append(entity, text.trustedAt(at));
        } else {
            out.append(text, at, 1);
        }
    }
    return Value(std::move(out));
}

constexpr NamedFilter filters[] = {{"upper", caseFilter<LetterCase::Upper>},
                                   {"lower", caseFilter<LetterCase::Lower>},
                                   {"capitalize", capitalizeFilter},
                                   {"title", titleFilter},
                                   {"trim", trimFilter},
                                   {"string", stringFilter},
                                   {"safe", stringFilter},
                                   {"replace", replaceFilter},
                                   {"center", centerFilter},
                                   {"format", formatFilter},
                                   {"indent", indentFilter},
                                   {"truncate", truncateFilter},
                                   {"wordcount", wordCountFilter},
                                   {"escape", escapeFilter},
                                   {"e", escapeFilter}};

}  // namespace

std::span<const NamedFilter> textFilters() { return filters; }

}  // namespace firsttoken::engine::jinja
