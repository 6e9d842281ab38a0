#pragma once

#include <QFile>
#include <QtTest>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/compute/cpu/cpu_backend.h"
#include "engine/model/model.h"

namespace firsttoken::tests {

/// The `.json` beside a reference model.
struct Reference {
    std::vector<engine::TokenId> prompt;
    std::vector<float> logits;
    std::vector<engine::TokenId> greedy;
    std::vector<double> margin;

    static Reference read(const std::string& path) {
        QFile file(QString::fromStdString(path));
        if (!file.open(QIODevice::ReadOnly)) return {};
        const auto json = nlohmann::json::parse(file.readAll().toStdString());
        return {json.at("prompt"), json.at("logits"), json.at("greedy"), json.at("margin")};
    }
    double range() const {
        const auto [low, high] = std::minmax_element(logits.begin(), logits.end());
        return static_cast<double>(*high) - *low;
    }
};

inline double largestDifference(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return 1e9;
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
        if (!(difference <= most)) most = difference;
    }
    return most;
}

inline engine::TokenId argmax(const std::vector<float>& logits) {
    return static_cast<engine::TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// A model with its executor and a few sequences' block tables, driven row by row.
class ModelRunner {
public:
    struct Setup {
        engine::Arithmetic arithmetic = engine::Arithmetic::AsStored;
        engine::KvPrecision kv = engine::KvPrecision::F16;
        std::string isa;
        std::uint32_t threads = 1;
        std::uint32_t blockTokens = 16;
        std::uint32_t sequences = 1;
        std::uint32_t contextTokens = 512;
    };

    ModelRunner(const std::string& path, const Setup& setup) : m_setup(setup) {
        auto model = engine::Model::open(path);
        if (!model) qFatal("%s", model.error().message.c_str());
        m_model = *model;
        auto backend = engine::makeCpuBackend(setup.isa);
        if (!backend) qFatal("%s", backend.error().message.c_str());
        engine::BackendOptions options;
        options.arithmetic = setup.arithmetic;
        options.kvPrecision = setup.kv;
        options.blockTokens = setup.blockTokens;
        options.threads = setup.threads;
        options.maxRows = 4096;
        const std::uint32_t blocks = (setup.contextTokens + setup.blockTokens - 1) / setup.blockTokens;
        options.groupBlocks.assign(m_model->plan().groups.size(), blocks * setup.sequences);
        auto executor = (*backend)->compile(m_model->plan(), options);
        if (!executor) qFatal("%s", executor.error().message.c_str());
        m_executor = std::move(*executor);
        for (std::uint32_t s = 0; s < setup.sequences; ++s) {
            std::vector<engine::BlockId> table;
            // Neighbours of one sequence lie apart, so that a wrong table shows.
            for (std::uint32_t b = 0; b < blocks; ++b) table.push_back(b * setup.sequences + s);
            m_tables.push_back(std::move(table));
        }
    }

    struct Part {
        std::uint32_t sequence;
        std::vector<engine::TokenId> tokens;
        std::uint32_t firstPosition;
    };
    /// One step over the parts; logits of each part's last row.
    std::vector<std::vector<float>> step(const std::vector<Part>& parts) {
        engine::StepBatch batch;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            engine::StepSequence sequence;
            sequence.tables.assign(m_model->plan().groups.size(), m_tables[parts[i].sequence]);
            batch.sequences.push_back(sequence);
            std::uint32_t position = parts[i].firstPosition;
            for (const engine::TokenId token : parts[i].tokens) {
                batch.rows.push_back({token, position++, static_cast<std::uint32_t>(i)});
            }
            batch.logitRows.push_back(static_cast<std::uint32_t>(batch.rows.size() - 1));
        }
        std::vector<float> logits(parts.size() * m_executor->vocabulary());
        const auto status = m_executor->run(batch, logits);
        if (!status) qFatal("%s", status.error().message.c_str());
        std::vector<std::vector<float>> rows;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(i * m_executor->vocabulary());
            rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(m_executor->vocabulary()));
        }
        return rows;
    }
    /// Logits after `tokens`, computed in chunks.
    std::vector<float> evaluate(const std::vector<engine::TokenId>& tokens, std::size_t chunk = 4096,
                                std::uint32_t sequence = 0) {
        std::vector<float> last;
        for (std::size_t first = 0; first < tokens.size(); first += chunk) {
            const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(first);
            const auto to = tokens.begin() + static_cast<std::ptrdiff_t>(std::min(first + chunk, tokens.size()));
            last = step({{sequence, {from, to}, static_cast<std::uint32_t>(first)}})[0];
        }
        return last;
    }

    /// The first `blocks` blocks of `to` become those of `from`, as after a prefix hit.
    void share(std::uint32_t from, std::uint32_t to, std::size_t blocks) {
        std::copy_n(m_tables[from].begin(), blocks, m_tables[to].begin());
    }

    engine::Executor& executor() { return *m_executor; }
    const engine::Model& model() const { return *m_model; }

private:
    Setup m_setup;
    std::shared_ptr<const engine::Model> m_model;
    std::unique_ptr<engine::Executor> m_executor;
    std::vector<std::vector<engine::BlockId>> m_tables;
};

}  // namespace firsttoken::tests
