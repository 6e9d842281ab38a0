#include "sessions/store/search_words.h"

namespace firsttoken::sessions {

namespace {

constexpr std::size_t kMostWords = 16;
constexpr std::size_t kLongestWord = 256;

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

/// Bytes over 127 belong to letters of other scripts, for all that matters here.
bool isOfWord(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           static_cast<unsigned char>(c) >= 0x80U;
}

}  // namespace

std::vector<std::string> searchWords(std::string_view typed) {
    std::vector<std::string> words;
    std::size_t at = 0;
    while (at < typed.size() && words.size() < kMostWords) {
        std::string quoted = "\"";
        bool hasLetters = false;
        const auto start = at;
        for (; at < typed.size() && !isSpace(typed[at]); ++at) {
            if (at - start >= kLongestWord) continue;
            hasLetters = hasLetters || isOfWord(typed[at]);
            quoted += typed[at];
            if (typed[at] == '"') quoted += '"';
        }
        if (hasLetters) words.push_back(quoted + "\"*");
        ++at;
    }
    return words;
}

}  // namespace firsttoken::sessions
