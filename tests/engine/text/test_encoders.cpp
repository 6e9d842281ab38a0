#include <algorithm>
#include <map>
#include <random>

#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"
#include "tests/engine/text/small_vocabulary.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using firsttoken::tests::SmallVocabulary;
using Ids = std::vector<TokenId>;

/// The encoders against the plain rule: look at all neighbours, join the best pair, begin again.
class TestEncoders : public QObject {
    Q_OBJECT
private slots:
    void spmAgreesWithThePlainRule();
    void bpeAgreesWithThePlainRule();
};

static std::vector<std::string> charactersOf(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = decodeUtf8(text, at).length;
        out.push_back(text.substr(at, length));
        at += length;
    }
    return out;
}

/// `priorityOf(left, right)`: the higher the earlier; none where they cannot be joined.
template <class Priority>
static std::vector<std::string> plainRule(const std::string& text, Priority priorityOf) {
    std::vector<std::string> symbols = charactersOf(text);
    while (true) {
        std::optional<double> best;
        std::size_t at = 0;
        for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
            const std::optional<double> priority = priorityOf(symbols[i], symbols[i + 1]);
            if (priority && (!best || *priority > *best)) {
                best = priority;
                at = i;
            }
        }
        if (!best) return symbols;
        symbols[at] += symbols[at + 1];
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
}

static std::unique_ptr<Tokenizer> open(SmallVocabulary& v) {
    auto file = GgufFile::open(v.write());
    if (!file.ok()) qFatal("%s", file.error().message.c_str());
    auto vocabulary = loadVocabulary(*std::move(file));
    if (!vocabulary.ok()) qFatal("%s", vocabulary.error().message.c_str());
    return std::make_unique<Tokenizer>(*std::move(vocabulary));
}

static std::string randomWord(std::mt19937& random, const std::vector<std::string>& letters, std::size_t longest) {
    std::string out;
    for (std::size_t n = 1 + random() % longest; n > 0; --n) out += letters[random() % letters.size()];
    return out;
}

static const std::vector<std::string> letters = {"a", "b", "é", "中"};

void TestEncoders::spmAgreesWithThePlainRule() {
    std::mt19937 random(23);
    for (int round = 0; round < 60; ++round) {
        SmallVocabulary v("llama");
        v.writer.add("tokenizer.ggml.add_space_prefix", false);
        v.addBytes();
        std::map<std::string, std::pair<TokenId, double>> known;
        const auto add = [&](const std::string& text) {
            if (known.contains(text)) return;
            const auto score = static_cast<float>(random() % 7);  // equal scores come up often
            known[text] = {v.add(text, SmallVocabulary::normal, -score), -score};
        };
        for (const std::string& letter : letters) {
            if (random() % 5 > 0) add(letter);
        }
        for (int n = 0; n < 14; ++n) add(randomWord(random, letters, 4));
        const auto tokenizer = open(v);
        for (int texts = 0; texts < 40; ++texts) {
            const std::string text = randomWord(random, letters, 20);
            const auto symbols = plainRule(text, [&](const std::string& left, const std::string& right) {
                const auto found = known.find(left + right);
                return found == known.end() ? std::optional<double>() : found->second.second;
            });
            Ids expected;
            for (const std::string& symbol : symbols) {
                const auto found = known.find(symbol);
                if (found != known.end()) {
                    expected.push_back(found->second.first);
                } else {
                    for (const char byte : symbol) expected.push_back(static_cast<unsigned char>(byte));
                }
            }
            QCOMPARE(tokenizer->encode(text, Trust::none(), false, false), expected);
        }
    }
}

void TestEncoders::bpeAgreesWithThePlainRule() {
    std::mt19937 random(29);
    const std::vector<std::string> ascii = {"a", "b", "c"};
    for (int round = 0; round < 60; ++round) {
        SmallVocabulary v("gpt2");
        v.writer.add("tokenizer.ggml.pre", "gpt-2");
        std::map<std::string, TokenId> known;
        const auto add = [&](const std::string& text) {
            if (!known.contains(text)) known[text] = v.add(text);
        };
        for (const std::string& letter : ascii) add(letter);
        std::map<std::pair<std::string, std::string>, double> ranks;
        for (int n = 0; n < 12; ++n) {
            const std::string left = randomWord(random, ascii, 3);
            const std::string right = randomWord(random, ascii, 3);
            if (!ranks.emplace(std::pair(left, right), -n).second) continue;
            v.merges.push_back(left + " " + right);
            if (random() % 6 > 0) add(left + right);  // some merges give texts that are no tokens
        }
        // Ranks count lines: those that were doubled have none.
        for (std::size_t line = 0; line < v.merges.size(); ++line) {
            const std::size_t space = v.merges[line].find(' ');
            ranks[{v.merges[line].substr(0, space), v.merges[line].substr(space + 1)}] = -static_cast<double>(line);
        }
        const auto tokenizer = open(v);
        for (int texts = 0; texts < 40; ++texts) {
            const std::string text = randomWord(random, ascii, 20);
            const auto symbols = plainRule(text, [&](const std::string& left, const std::string& right) {
                const auto found = ranks.find({left, right});
                return found == ranks.end() ? std::optional<double>() : found->second;
            });
            Ids expected;
            for (const std::string& symbol : symbols) {
                if (known.contains(symbol)) {
                    expected.push_back(known[symbol]);
                } else {
                    for (const char byte : symbol) expected.push_back(known[std::string(1, byte)]);
                }
            }
            QCOMPARE(tokenizer->encode(text, Trust::none(), false, false), expected);
        }
    }
}

FIRSTTOKEN_TEST_CLASS(TestEncoders);
#include "test_encoders.moc"
