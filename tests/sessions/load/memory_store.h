#pragma once

#include <map>
#include <memory>

#include "sessions/session_store.h"

namespace firsttoken::tests {

/// What a load session writes, kept in memory. The writer and its reader are one thread.
class MemoryStore final : public sessions::SessionStore {
public:
    struct Written {
        sessions::SessionHeader header;
        std::map<std::int64_t, sessions::RequestRecord> requests;
        std::vector<sessions::SpanRecord> spans;
        std::vector<sessions::SampleRecord> samples;
        std::vector<sessions::MarkRecord> marks;
        bool ended = false;
    };
    std::shared_ptr<Written> written = std::make_shared<Written>();
    std::optional<engine::Error> beginError, writeError;
    std::map<std::string, std::string> hashes;

    engine::Result<std::unique_ptr<sessions::SessionWriter>> begin(sessions::SessionHeader header) override {
        if (beginError) return *beginError;
        *written = {};
        written->header = std::move(header);
        return std::unique_ptr<sessions::SessionWriter>(std::make_unique<Writer>(written, writeError));
    }
    engine::Result<std::vector<sessions::SessionSummary>> list(const std::string&) const override { return missing(); }
    engine::Result<sessions::SessionHeader> header(sessions::SessionId) const override { return missing(); }
    engine::Result<sessions::SessionData> load(sessions::SessionId) const override { return missing(); }
    engine::Status rename(sessions::SessionId, const std::string&) override { return missing(); }
    engine::Status setNote(sessions::SessionId, const std::string&) override { return missing(); }
    engine::Status setStarred(sessions::SessionId, bool) override { return missing(); }
    engine::Status remove(sessions::SessionId) override { return missing(); }
    engine::Result<sessions::SessionId> insert(const sessions::SessionData&) override { return missing(); }
    std::optional<std::string> cachedModelHash(const std::string& path) const override {
        const auto found = hashes.find(path);
        return found == hashes.end() ? std::nullopt : std::optional(found->second);
    }
    void cacheModelHash(const std::string& path, const std::string& sha256) override { hashes[path] = sha256; }
    sessions::StoreStatistics statistics() const override { return {}; }

private:
    static engine::Error missing() { return {engine::ErrorCode::NotFound, "not kept"}; }

    class Writer final : public sessions::SessionWriter {
    public:
        Writer(std::shared_ptr<Written> out, std::optional<engine::Error> fault)
            : m_out(std::move(out)), m_fault(std::move(fault)) {}
        sessions::SessionId id() const override { return 42; }
        void request(sessions::RequestRecord record) override { m_out->requests[record.number] = std::move(record); }
        void span(sessions::SpanRecord record) override { m_out->spans.push_back(record); }
        void sample(sessions::SampleRecord record) override { m_out->samples.push_back(record); }
        void mark(sessions::MarkRecord record) override { m_out->marks.push_back(std::move(record)); }
        void setModelHash(std::string sha256) override { m_out->header.modelHash = std::move(sha256); }
        void setTitle(std::string title) override { m_out->header.title = std::move(title); }
        engine::Status end(sessions::SessionState state, std::string failure) override {
            m_out->header.state = state;
            m_out->header.failure = std::move(failure);
            m_out->ended = true;
            if (m_fault) return *m_fault;
            return engine::Done{};
        }
        std::optional<engine::Error> error() const override { return m_fault; }

    private:
        std::shared_ptr<Written> m_out;
        std::optional<engine::Error> m_fault;
    };
};

}  // namespace firsttoken::tests
