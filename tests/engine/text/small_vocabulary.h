#pragma once

#include <QFile>
#include <QTemporaryDir>
#include <string>
#include <vector>

#include "engine/model/gguf_writer.h"

namespace firsttoken::tests {

/// A vocabulary that a test makes up, written as a GGUF file without tensors.
class SmallVocabulary {
public:
    using Types = std::vector<std::int32_t>;
    static constexpr std::int32_t normal = 1, unknown = 2, control = 3, userDefined = 4, byte = 6;

    explicit SmallVocabulary(std::string model) : m_model(std::move(model)) {}

    int add(const std::string& text, std::int32_t type = normal, float score = 0) {
        m_texts.push_back(text);
        m_types.push_back(type);
        m_scores.push_back(score);
        return static_cast<int>(m_texts.size()) - 1;
    }
    /// <0x00> … <0xFF>.
    void addBytes() {
        for (int i = 0; i < 256; ++i) add(QString::asprintf("<0x%02X>", static_cast<unsigned>(i)).toStdString(), byte);
    }

    engine::GgufWriter writer;  ///< for further keys
    std::vector<std::string> merges;
    bool withScores = true;
    bool withTypes = true;

    std::string write() {
        writer.add("general.architecture", "llama");
        writer.add("tokenizer.ggml.model", m_model);
        writer.add("tokenizer.ggml.tokens", std::span<const std::string>(m_texts));
        if (withTypes) writer.add("tokenizer.ggml.token_type", std::span<const std::int32_t>(m_types));
        if (withScores) writer.add("tokenizer.ggml.scores", std::span<const float>(m_scores));
        if (m_model != "llama") writer.add("tokenizer.ggml.merges", std::span<const std::string>(merges));
        const auto head = writer.head();
        QFile file(m_folder.filePath("vocabulary.gguf"));
        if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write");
        file.write(reinterpret_cast<const char*>(head.data()), static_cast<qint64>(head.size()));
        return file.fileName().toStdString();
    }

private:
    std::string m_model;
    std::vector<std::string> m_texts;
    Types m_types;
    std::vector<float> m_scores;
    QTemporaryDir m_folder;
};

}  // namespace firsttoken::tests
