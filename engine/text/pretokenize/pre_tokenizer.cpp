#include "engine/text/pretokenize/pre_tokenizer.h"

#include <algorithm>

#include "engine/text/pretokenize/splitters.h"

namespace firsttoken::engine {

namespace {

using namespace splitters;

constexpr Splitter llama3List[] = {llama3};
constexpr Splitter qwen2List[] = {qwen2};
constexpr Splitter qwen35List[] = {qwen35};
constexpr Splitter gpt2List[] = {gpt2};
constexpr Splitter smollmList[] = {numberEach, gpt2};
constexpr Splitter falconList[] = {falconPunctuation, gpt2, threeDigits};
constexpr Splitter defaultList[] = {punctuationRuns, gpt2, numberRuns, threeDigits};
constexpr Splitter deepseekCoderList[] = {newlineEach, spacedLetters, spacedPunctuation, cjkRuns, numberEach};
constexpr Splitter deepseekLlmList[] = {newlineEach, spacedCasedLetters, spacedWideMarks, trailingSpace,
                                        cjkRuns,     numberRuns};
constexpr Splitter deepseekV3List[] = {numbersToThree, cjkAndKanaRuns, deepseekV3};
constexpr Splitter gpt4oList[] = {gpt4o};
constexpr Splitter tekkenList[] = {tekken};
constexpr Splitter seedCoderList[] = {seedCoder};
constexpr Splitter minicpm5List[] = {numbersToThree, minicpm5};
constexpr Splitter tinyAyaList[] = {digitsToBoundary, gpt4o};
constexpr Splitter bloomList[] = {bloomWords};
constexpr Splitter vikingList[] = {bloomWords, numberEach};
constexpr Splitter superbpeList[] = {numberRuns, digitsFromRight};
constexpr Splitter linesList[] = {lines};

constexpr PreTokenizer llamaBpe = {"llama-bpe", llama3List, true, true};
constexpr PreTokenizer llamaWithMerges = {"llama-bpe", llama3List, false, true};
constexpr PreTokenizer glm4 = {"llama-bpe", llama3List};
constexpr PreTokenizer qwen2Family = {"qwen2", qwen2List};
constexpr PreTokenizer qwen35Family = {"qwen35", qwen35List};
constexpr PreTokenizer gpt2Family = {"gpt-2", gpt2List};
constexpr PreTokenizer smollmFamily = {"smollm", smollmList};
constexpr PreTokenizer falconFamily = {"falcon", falconList};
constexpr PreTokenizer defaultFamily = {"default", defaultList};
constexpr PreTokenizer deepseekCoder = {"deepseek-coder", deepseekCoderList};
constexpr PreTokenizer deepseekLlm = {"deepseek-llm", deepseekLlmList};
constexpr PreTokenizer deepseekV3Family = {"deepseek-v3", deepseekV3List};
constexpr PreTokenizer gpt4oFamily = {"gpt-4o", gpt4oList};
constexpr PreTokenizer tekkenFamily = {"tekken", tekkenList, true, true};
constexpr PreTokenizer seedCoderFamily = {"seed-coder", seedCoderList};
constexpr PreTokenizer minicpm5Family = {"minicpm5", minicpm5List, true};
constexpr PreTokenizer tinyAya = {"tiny_aya", tinyAyaList};
constexpr PreTokenizer bloomFamily = {"bloom", bloomList};
constexpr PreTokenizer vikingFamily = {"viking", vikingList};
constexpr PreTokenizer superbpeFamily = {"superbpe", superbpeList};
constexpr PreTokenizer gemma4Family = {"gemma4", linesList, false, false, true};

struct Name {
    std::string_view name;
    const PreTokenizer* pre;
};

// facts: tokenizers, section 3.1
constexpr Name names[] = {
    {"llama-bpe", &llamaBpe},
    {"llama3", &llamaBpe},
    {"llama-v3", &llamaBpe},
    {"falcon3", &llamaBpe},
    {"falcon-h1", &llamaBpe},
    {"pixtral", &llamaBpe},
    {"midm-2.0", &llamaBpe},
    {"lfm2", &llamaBpe},
    {"jina-v5-nano", &llamaBpe},
    {"dbrx", &llamaWithMerges},
    {"smaug-bpe", &llamaWithMerges},
    {"glm4", &glm4},
    {"chatglm-bpe", &glm4},
    {"qwen2", &qwen2Family},
    {"deepseek-r1-qwen", &qwen2Family},
    {"kormo", &qwen2Family},
    {"f2llmv2", &qwen2Family},
    {"megrez", &qwen2Family},
    {"stablelm2", &qwen2Family},
    {"hunyuan", &qwen2Family},
    {"solar-open", &qwen2Family},
    {"grok-2", &qwen2Family},
    {"bailingmoe", &qwen2Family},
    {"bailingmoe2", &qwen2Family},
    {"llada-moe", &qwen2Family},
    {"qwen35", &qwen35Family},
    {"gpt-2", &gpt2Family},
    {"phi-2", &gpt2Family},
    {"mpt", &gpt2Family},
    {"olmo", &gpt2Family},
    {"jais", &gpt2Family},
    {"trillion", &gpt2Family},
    {"granite-docling", &gpt2Family},
    {"exaone4", &gpt2Family},
    {"jina-es", &gpt2Family},
    {"jina-de", &gpt2Family},
    {"jina-v1-en", &gpt2Family},
    {"jina-v2-es", &gpt2Family},
    {"jina-v2-de", &gpt2Family},
    {"jina-v2-code", &gpt2Family},
    {"gigachat", &gpt2Family},
    {"a.x-4.0", &gpt2Family},
    {"mellum", &gpt2Family},
    {"modern-bert", &gpt2Family},
    {"roberta-bpe", &gpt2Family},
    {"smollm", &smollmFamily},
    {"starcoder", &smollmFamily},
    {"refact", &smollmFamily},
    {"command-r", &smollmFamily},
    {"codeshell", &smollmFamily},
    {"exaone", &smollmFamily},
    {"minerva-7b", &smollmFamily},
    {"mellum2", &smollmFamily},
    {"falcon", &falconFamily},
    {"default", &defaultFamily},
    {"deepseek-coder", &deepseekCoder},
    {"deepseek-llm", &deepseekLlm},
    {"deepseek-v3", &deepseekV3Family},
    {"hunyuan-dense", &deepseekV3Family},
    {"joyai-llm", &deepseekV3Family},
    {"gpt-4o", &gpt4oFamily},
    {"llama4", &gpt4oFamily},
    {"kanana2", &gpt4oFamily},
    {"talkie", &gpt4oFamily},
    {"minimax-m2", &gpt4oFamily},
    {"tekken", &tekkenFamily},
    {"seed-coder", &seedCoderFamily},
    {"minicpm5", &minicpm5Family},
    {"tiny_aya", &tinyAya},
    {"cohere2moe", &tinyAya},
    {"bloom", &bloomFamily},
    {"poro-chat", &bloomFamily},
    {"poro", &bloomFamily},
    {"gpt3-finnish", &bloomFamily},
    {"viking", &vikingFamily},
    {"superbpe", &superbpeFamily},
    {"gemma4", &gemma4Family},
    {"sarvam-moe", &gemma4Family},
    {"granite-embed-multi-311m", &gemma4Family},
};

}  // namespace

const PreTokenizer* findPreTokenizer(std::string_view name) {
    const auto found = std::find_if(std::begin(names), std::end(names), [&](const Name& n) { return n.name == name; });
    return found == std::end(names) ? nullptr : found->pre;
}

std::string knownPreTokenizers() {
    std::vector<std::string_view> sorted;
    for (const Name& entry : names) sorted.push_back(entry.name);
    std::sort(sorted.begin(), sorted.end());
    std::string out;
    for (const std::string_view name : sorted) out.append(out.empty() ? "" : ", ").append(name);
    return out;
}

std::vector<Piece> split(const PreTokenizer& pre, const CodePoints& text) {
    std::vector<Piece> pieces;
    if (text.size() > 0) pieces.push_back({0, text.size()});
    std::vector<Piece> next;
    for (const Splitter splitter : pre.splitters) {
        next.clear();
        for (const Piece piece : pieces) splitter(text, piece, next);
        pieces.swap(next);
    }
    return pieces;
}

}  // namespace firsttoken::engine
