#include <algorithm>

#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/formatting.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/string_operations.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/jinja/text_tools.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

Value listOf(std::vector<MarkedString> parts) {
    std::vector<Value> items;
    for (MarkedString& part : parts) items.emplace_back(std::move(part));
    return Value::list(std::move(items));
}

std::optional<std::string_view> optionalText(const ArgumentList& list, std::size_t index) {
    if (!list.has(index) || list[index].isNone()) return std::nullopt;
    return list.string(index).view();
}

template <Side side>
Value stripMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("strip", std::move(arguments), {"chars"});
    return Value(strip(*self.string(), side, optionalText(list, 0)));
}

template <bool fromRight>
Value splitMethod(Interpreter& interpreter, const Value& self, Arguments arguments) {
    const ArgumentList list("split", std::move(arguments), {"sep", "maxsplit"});
    auto parts = split(*self.string(), optionalText(list, 0), list.integerOr(1, -1), fromRight);
    interpreter.tick(4 * parts.size());
    return listOf(std::move(parts));
}

Value splitLinesMethod(Interpreter& interpreter, const Value& self, Arguments arguments) {
    const ArgumentList list("splitlines", std::move(arguments), {"keepends"});
    auto lines = splitLines(*self.string(), list.trueOr(0, false));
    interpreter.tick(4 * lines.size());
    return listOf(std::move(lines));
}

/// startswith and endswith: of one string, or of one in a tuple.
template <bool atStart>
Value affixMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list(atStart ? "startswith" : "endswith", std::move(arguments), {"prefix", "start", "end"}, 1);
    if (list.has(1) || list.has(2)) throw TemplateError("startswith() and endswith() with positions are not supported");
    const auto matches = [&](const Value& affix) {
        if (affix.string() == nullptr) {
            throw TemplateError("startswith first arg must be str or a tuple of str, not " +
                                std::string(typeName(affix)));
        }
        const std::string_view text = self.string()->view();
        return atStart ? text.starts_with(affix.string()->view()) : text.ends_with(affix.string()->view());
    };
    const Sequence* several = list[0].sequence();
    if (several == nullptr || several->kind != SequenceKind::Tuple) return Value(matches(list[0]));
    return Value(std::any_of(several->items.begin(), several->items.end(), matches));
}

Value replaceMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("replace", std::move(arguments), {"old", "new", "count"}, 2);
    return Value(replace(*self.string(), list.string(0).view(), list.string(1), list.integerOr(2, -1)));
}

template <LetterCase to>
Value caseMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("upper", std::move(arguments), {});
    return Value(toCase(*self.string(), to));
}

template <MarkedString (*change)(const MarkedString&)>
Value changeMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("title", std::move(arguments), {});
    return Value(change(*self.string()));
}

/// find, rfind, index, rindex: a code point's place, or −1 or an error.
template <bool fromRight, bool mustBe>
Value findMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list(mustBe ? "index" : "find", std::move(arguments), {"sub", "start", "end"}, 1);
    const std::vector<std::size_t> offsets = characterOffsets(self.string()->view());
    const auto length = static_cast<std::int64_t>(offsets.size()) - 1;
    const auto place = [&](std::int64_t index) {
        return static_cast<std::size_t>(std::clamp<std::int64_t>(index < 0 ? index + length : index, 0, length));
    };
    const std::size_t begin = offsets[place(std::max(list.integerOr(1, 0), -length))];
    const std::size_t end = offsets[place(std::max(list.integerOr(2, length), -length))];
    const std::string_view part = self.string()->view().substr(begin, end > begin ? end - begin : 0);
    const std::size_t found = fromRight ? part.rfind(list.string(0).view()) : part.find(list.string(0).view());
    if (found == std::string_view::npos) {
        if (mustBe) throw TemplateError("substring not found");
        return Value(std::int64_t{-1});
    }
    return Value::integer(countCodePoints(self.string()->view().substr(0, begin + found)));
}

Value countMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("count", std::move(arguments), {"sub"}, 1);
    const std::string_view sub = list.string(0).view();
    if (sub.empty()) return Value::integer(countCodePoints(self.string()->view()) + 1);
    std::int64_t count = 0;
    const std::string& all = self.string()->bytes();
    for (std::size_t at = all.find(sub); at != std::string::npos; at = all.find(sub, at + sub.size())) ++count;
    return Value(count);
}

Value joinMethod(Interpreter& interpreter, const Value& self, Arguments arguments) {
    const ArgumentList list("join", std::move(arguments), {"iterable"}, 1);
    std::vector<MarkedString> parts;
    for (const Value& item : interpreter.iterate(list[0])) {
        if (item.string() == nullptr) {
            throw TemplateError("sequence item " + std::to_string(parts.size()) + ": expected str instance, " +
                                std::string(typeName(item)) + " found");
        }
        parts.push_back(*item.string());
    }
    return Value(join(parts, *self.string()));
}

Value formatMethod(Interpreter&, const Value& self, Arguments arguments) {
    return Value(braceFormat(*self.string(), arguments));
}

template <bool prefix>
Value removeAffixMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list(prefix ? "removeprefix" : "removesuffix", std::move(arguments), {"affix"}, 1);
    const std::string_view affix = list.string(0).view();
    const MarkedString& text = *self.string();
    if (prefix && text.view().starts_with(affix)) return Value(text.cut(affix.size()));
    if (!prefix && text.view().ends_with(affix)) return Value(text.cut(0, text.size() - affix.size()));
    return self;
}

template <bool fromRight>
Value partitionMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("partition", std::move(arguments), {"sep"}, 1);
    const MarkedString& text = *self.string();
    const MarkedString& separator = list.string(0);
    if (separator.empty()) throw TemplateError("empty separator");
    const std::size_t at = fromRight ? text.bytes().rfind(separator.bytes()) : text.bytes().find(separator.bytes());
    if (at == std::string::npos) {
        const Value empty = Value::text("");
        return fromRight ? Value::tuple({empty, empty, self}) : Value::tuple({self, empty, empty});
    }
    return Value::tuple(
        {Value(text.cut(0, at)), Value(text.cut(at, separator.size())), Value(text.cut(at + separator.size()))});
}

template <Side filled>
Value padMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("center", std::move(arguments), {"width", "fillchar"}, 1);
    const std::string fill = list.stringOr(1, " ");
    if (countCodePoints(fill) != 1) throw TemplateError("The fill character must be exactly one character long");
    return Value(pad(*self.string(), list.integerOr(0, 0), filled, fill));
}

Value zeroFillMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("zfill", std::move(arguments), {"width"}, 1);
    const MarkedString& text = *self.string();
    const bool sign = text.view().starts_with('-') || text.view().starts_with('+');
    MarkedString out = text.cut(0, sign ? 1 : 0);
    out.append(pad(text.cut(sign ? 1 : 0), list.integerOr(0, 0) - (sign ? 1 : 0), Side::Left, "0"));
    return Value(std::move(out));
}

/// is…(): at least one character, and `holds` for all of them.
template <bool (*holds)(char32_t)>
Value everyMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("isalpha", std::move(arguments), {});
    const std::string_view text = self.string()->view();
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text, at);
        if (!holds(character.codePoint)) return Value(false);
        at += character.length;
    }
    return Value(!text.empty());
}

bool isAlpha(char32_t c) { return traitsOf(c).letter(); }
bool isDecimal(char32_t c) { return traitsOf(c).characterClass == CharacterClass::DecimalNumber; }
bool isNumeric(char32_t c) { return traitsOf(c).number(); }
bool isAlphanumeric(char32_t c) { return isAlpha(c) || isNumeric(c); }

Value isAsciiMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("isascii", std::move(arguments), {});
    const std::string& bytes = self.string()->bytes();
    return Value(std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

/// By way of upper case: "ß" folds to "ss".
Value caseFoldMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("casefold", std::move(arguments), {});
    return Value(toCase(toCase(*self.string(), LetterCase::Upper), LetterCase::Lower));
}

/// isupper() and islower(): at least one cased character, and all of them of this case.
template <bool upper>
Value hasCaseMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("isupper", std::move(arguments), {});
    const std::string_view text = self.string()->view();
    bool any = false;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text, at);
        const CharacterClass characterClass = traitsOf(character.codePoint).characterClass;
        const bool isUpper = characterClass == CharacterClass::UpperLetter;
        const bool isLower = characterClass == CharacterClass::LowerLetter;
        if (characterClass == CharacterClass::TitleLetter || (upper ? isLower : isUpper)) return Value(false);
        any = any || isUpper || isLower;
        at += character.length;
    }
    return Value(any);
}

constexpr NamedMethod methods[] = {
    {"strip", stripMethod<Side::Both>},
    {"lstrip", stripMethod<Side::Left>},
    {"rstrip", stripMethod<Side::Right>},
    {"split", splitMethod<false>},
    {"rsplit", splitMethod<true>},
    {"splitlines", splitLinesMethod},
    {"startswith", affixMethod<true>},
    {"endswith", affixMethod<false>},
    {"replace", replaceMethod},
    {"upper", caseMethod<LetterCase::Upper>},
    {"lower", caseMethod<LetterCase::Lower>},
    {"casefold", caseFoldMethod},
    {"title", changeMethod<titleWords>},
    {"capitalize", changeMethod<capitalize>},
    {"swapcase", changeMethod<swapCase>},
    {"find", findMethod<false, false>},
    {"rfind", findMethod<true, false>},
    {"index", findMethod<false, true>},
    {"rindex", findMethod<true, true>},
    {"count", countMethod},
    {"join", joinMethod},
    {"format", formatMethod},
    {"removeprefix", removeAffixMethod<true>},
    {"removesuffix", removeAffixMethod<false>},
    {"partition", partitionMethod<false>},
    {"rpartition", partitionMethod<true>},
    {"center", padMethod<Side::Both>},
    {"ljust", padMethod<Side::Right>},
    {"rjust", padMethod<Side::Left>},
    {"zfill", zeroFillMethod},
    {"isalpha", everyMethod<isAlpha>},
    {"isdigit", everyMethod<isDecimal>},
    {"isdecimal", everyMethod<isDecimal>},
    {"isnumeric", everyMethod<isNumeric>},
    {"isalnum", everyMethod<isAlphanumeric>},
    {"isspace", everyMethod<isSpace>},
    {"isascii", isAsciiMethod},
    {"isupper", hasCaseMethod<true>},
    {"islower", hasCaseMethod<false>},
};

}  // namespace

MethodBody findStringMethod(std::string_view name) { return findNamed(std::span(methods), name); }

}  // namespace firsttoken::engine::jinja
