#include "engine/text/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/text/special_tokens.h"

namespace firsttoken::engine {

namespace {

/// Reads one vocabulary; each step gives an error or goes on.
class Loader {
public:
    explicit Loader(GgufFile file) : m_vocabulary(std::make_unique<Vocabulary>(std::move(file))) {}

    Result<std::unique_ptr<Vocabulary>> run() {
        for (const auto step :
             {&Loader::readModel, &Loader::readTokens, &Loader::readTypes, &Loader::readScores, &Loader::readMerges,
              &Loader::readSpecialIds, &Loader::readSwitches, &Loader::readSuppressed}) {
            if (Status status = (this->*step)(); !status.ok()) return status.error();
        }
        markSpecialTokens(m_specialIds, *m_vocabulary);
        index();
        return std::move(m_vocabulary);
    }

private:
    const GgufFile& file() const { return m_vocabulary->file; }

    Status readModel() {
        const auto model = file().string("tokenizer.ggml.model");
        if (!model.ok()) return model.error();
        if (!*model) return file().fault("there is no vocabulary in it: the key tokenizer.ggml.model is missing");
        if (**model == "llama") return Done{};
        if (**model == "gemma4") {
            m_vocabulary->model = VocabularyModel::RawBpe;
            m_vocabulary->pre = findPreTokenizer("gemma4");
            return Done{};
        }
        if (**model == "gpt2") return readPreTokenizer();
        return file().fault(fmt::format("the tokenizer model \"{}\" is not supported (supported: llama, gpt2, gemma4)",
                                        printableName(**model)),
                            ErrorCode::Unsupported);
    }

    Status readPreTokenizer() {
        const auto pre = file().string("tokenizer.ggml.pre");
        if (!pre.ok()) return pre.error();
        const std::string_view name = pre->value_or("default");
        m_vocabulary->pre = findPreTokenizer(name);
        if (m_vocabulary->pre == nullptr) {
            return file().fault(fmt::format("the pre-tokenizer \"{}\" is not supported (supported: {})",
                                            printableName(name), knownPreTokenizers()),
                                ErrorCode::Unsupported);
        }
        m_vocabulary->model = m_vocabulary->pre->rawUtf8 ? VocabularyModel::RawBpe : VocabularyModel::ByteBpe;
        return Done{};
    }

    Status readTokens() {
        auto tokens = file().strings("tokenizer.ggml.tokens");
        if (!tokens.ok()) return tokens.error();
        if (!*tokens || (*tokens)->empty()) {
            return file().fault("there is no vocabulary in it: tokenizer.ggml.tokens is missing or empty");
        }
        m_vocabulary->texts = std::move(**tokens);
        return Done{};
    }

    Status readTypes() {
        auto& types = m_vocabulary->types;
        types.assign(m_vocabulary->size(), TokenType::Normal);
        const auto given = file().integers("tokenizer.ggml.token_type");
        if (!given.ok()) return given.error();
        if (!*given) return Done{};
        if (Status status = checkLength("token_type", (*given)->size()); !status.ok()) return status;
        for (std::size_t id = 0; id < types.size(); ++id) {
            const std::int64_t type = (**given)[id];
            if (type >= 0 && type <= static_cast<std::int64_t>(TokenType::Byte))
                types[id] = static_cast<TokenType>(type);
        }
        return Done{};
    }

    Status readScores() {
        if (m_vocabulary->model != VocabularyModel::Spm) return Done{};
        auto scores = file().reals("tokenizer.ggml.scores");
        if (!scores.ok()) return scores.error();
        if (!*scores) {
            m_vocabulary->scores.assign(m_vocabulary->size(), 0.0F);
            return Done{};
        }
        if (Status status = checkLength("scores", (*scores)->size()); !status.ok()) return status;
        m_vocabulary->scores = std::move(**scores);
        return Done{};
    }

    Status readMerges() {
        if (m_vocabulary->model == VocabularyModel::Spm) return Done{};
        auto merges = file().strings("tokenizer.ggml.merges");
        if (!merges.ok()) return merges.error();
        if (!*merges) return file().fault("tokenizer.ggml.merges is missing, which a BPE vocabulary needs");
        for (std::size_t rank = 0; rank < (*merges)->size(); ++rank) {
            const std::string_view line = (**merges)[rank];
            if (line.find(' ', 1) == std::string_view::npos) {
                return file().fault(
                    fmt::format("tokenizer.ggml.merges: entry {}, \"{}\", is no pair", rank, printableName(line)));
            }
        }
        m_vocabulary->merges = std::move(**merges);
        return Done{};
    }

    /// An id of the vocabulary; one out of range is ignored.
    Result<std::optional<TokenId>> readId(std::string_view name) const {
        const auto id = file().integer(fmt::format("tokenizer.ggml.{}_token_id", name));
        if (!id.ok()) return id.error();
        if (!*id || **id < 0 || static_cast<std::uint64_t>(**id) >= m_vocabulary->size()) {
            return std::optional<TokenId>();
        }
        return std::optional<TokenId>(static_cast<TokenId>(**id));
    }

    Status readSpecialIds() {
        Vocabulary& v = *m_vocabulary;
        struct Wanted {
            const char* name;
            std::optional<TokenId>* to;
        };
        for (const Wanted& wanted : {Wanted{"bos", &v.bos}, Wanted{"eos", &v.eos}, Wanted{"unknown", &v.unknown}}) {
            const auto id = readId(wanted.name);
            if (!id.ok()) return id.error();
            *wanted.to = *id;
        }
        for (const char* name : {"eot", "eom", "fim_pad", "fim_rep", "fim_sep"}) {
            const auto id = readId(name);
            if (!id.ok()) return id.error();
            if (*id) m_specialIds.push_back(**id);
        }
        defaultIds();
        if (v.eos) m_specialIds.push_back(*v.eos);
        return Done{};
    }

    /// Files that name no ids: Llama's for SPM; Falcon's 11 for BPE, but only where that is a control token.
    void defaultIds() {
        Vocabulary& v = *m_vocabulary;
        const auto isSet = [&](std::optional<TokenId>& id, TokenId value, bool allowed) {
            if (!id && v.holds(value) && allowed) id = value;
        };
        if (v.model == VocabularyModel::Spm) {
            isSet(v.bos, 1, true);
            isSet(v.eos, 2, true);
            isSet(v.unknown, 0, true);
        } else {
            const bool control = v.holds(11) && v.typeOf(11) == TokenType::Control;
            isSet(v.bos, 11, control);
            isSet(v.eos, 11, control);
        }
    }

    Status readSwitches() {
        Vocabulary& v = *m_vocabulary;
        const bool spm = v.model == VocabularyModel::Spm;
        const auto addBos = file().boolean("tokenizer.ggml.add_bos_token");
        if (!addBos.ok()) return addBos.error();
        const auto addEos = file().boolean("tokenizer.ggml.add_eos_token");
        if (!addEos.ok()) return addEos.error();
        const auto prefix = file().boolean("tokenizer.ggml.add_space_prefix");
        if (!prefix.ok()) return prefix.error();
        v.addBos = addBos->value_or(spm || (v.pre != nullptr && v.pre->addBos)) && v.bos.has_value();
        v.addEos = addEos->value_or(false) && v.eos.has_value();
        v.addSpacePrefix = spm && prefix->value_or(true);
        return Done{};
    }

    Status readSuppressed() {
        Vocabulary& v = *m_vocabulary;
        const auto suppressed = file().integers("tokenizer.ggml.suppress_tokens");
        if (!suppressed.ok()) return suppressed.error();
        for (const std::int64_t id : suppressed->value_or(std::vector<std::int64_t>())) {
            if (id >= 0 && static_cast<std::uint64_t>(id) < v.size())
                v.neverSampled.push_back(static_cast<TokenId>(id));
        }
        for (std::size_t id = 0; id < v.size(); ++id) {
            if (isFiller(v.texts[id])) v.neverSampled.push_back(static_cast<TokenId>(id));
        }
        std::sort(v.neverSampled.begin(), v.neverSampled.end());
        v.neverSampled.erase(std::unique(v.neverSampled.begin(), v.neverSampled.end()), v.neverSampled.end());
        return Done{};
    }

    void index() {
        Vocabulary& v = *m_vocabulary;
        v.index = TokenIndex(
            v.texts, [&v](TokenId id) { return v.typeOf(id) != TokenType::Control && !isFiller(v.textOf(id)); });
    }

    Status checkLength(std::string_view key, std::size_t length) const {
        if (length == m_vocabulary->size()) return Done{};
        return file().fault(
            fmt::format("tokenizer.ggml.{} has {} entries for {} tokens", key, length, m_vocabulary->size()));
    }

    std::unique_ptr<Vocabulary> m_vocabulary;
    std::vector<TokenId> m_specialIds;  ///< ids that end a generation because a key says so
};

}  // namespace

bool isFiller(std::string_view text) {
    constexpr std::string_view start = "[PAD";
    if (text.size() < start.size() + 2 || !text.starts_with(start) || text.back() != ']') return false;
    const std::string_view digits = text.substr(start.size(), text.size() - start.size() - 1);
    return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::unique_ptr<Vocabulary>> loadVocabulary(GgufFile file) { return Loader(std::move(file)).run(); }

}  // namespace firsttoken::engine
