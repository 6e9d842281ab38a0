#include <algorithm>
#include <random>

#include "engine/text/special_partition.h"
#include "tests/engine/text/small_vocabulary.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using firsttoken::tests::SmallVocabulary;

/// The partition against the plain rule: candidates one after the other, the longest first.
class TestSpecialPartition : public QObject {
    Q_OBJECT
private slots:
    void agreesWithThePlainRule();
};

static std::vector<Fragment> plainRule(const Vocabulary& vocabulary, std::string_view text, bool everything) {
    std::vector<TokenId> candidates;
    for (std::size_t i = 0; i < vocabulary.size(); ++i) candidates.push_back(static_cast<TokenId>(i));
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](TokenId a, TokenId b) { return vocabulary.textOf(a).size() > vocabulary.textOf(b).size(); });
    std::vector<Fragment> fragments;
    if (!text.empty()) fragments.push_back({text, std::nullopt});
    for (const TokenId id : candidates) {
        if (vocabulary.typeOf(id) == TokenType::Normal) continue;
        if (vocabulary.typeOf(id) != TokenType::UserDefined && !everything) continue;
        std::vector<Fragment> next;
        for (const Fragment& fragment : fragments) {
            std::string_view rest = fragment.text;
            while (!fragment.token) {
                const std::size_t at = rest.find(vocabulary.textOf(id));
                if (at == std::string_view::npos) break;
                if (at > 0) next.push_back({rest.substr(0, at), std::nullopt});
                next.push_back({rest.substr(at, vocabulary.textOf(id).size()), id});
                rest.remove_prefix(at + vocabulary.textOf(id).size());
            }
            if (fragment.token) next.push_back(fragment);
            if (!fragment.token && !rest.empty()) next.push_back({rest, std::nullopt});
        }
        fragments = std::move(next);
    }
    return fragments;
}

void TestSpecialPartition::agreesWithThePlainRule() {
    std::mt19937 random(17);
    const auto word = [&random](std::size_t longest) {
        std::string out;
        for (std::size_t length = 1 + random() % longest; length > 0; --length) out += "ab<"[random() % 3];
        return out;
    };
    for (int round = 0; round < 60; ++round) {
        SmallVocabulary v("llama");
        std::vector<std::string> known;
        for (unsigned n = 2 + random() % 8; n > 0; --n) {
            const std::string text = word(5);
            if (std::find(known.begin(), known.end(), text) != known.end()) continue;
            known.push_back(text);
            v.add(text, random() % 2 == 0 ? SmallVocabulary::control : SmallVocabulary::userDefined);
        }
        auto file = GgufFile::open(v.write());
        QVERIFY(file.ok());
        const auto vocabulary = loadVocabulary(*std::move(file));
        QVERIFY(vocabulary.ok());
        const SpecialPartition partition(**vocabulary);
        for (int texts = 0; texts < 40; ++texts) {
            const std::string text = word(30);
            QVERIFY(partition.split(text, Trust::all()) == plainRule(**vocabulary, text, true));
            QVERIFY(partition.split(text, Trust::none()) == plainRule(**vocabulary, text, false));
        }
    }
}

FIRSTTOKEN_TEST_CLASS(TestSpecialPartition);
#include "test_special_partition.moc"
