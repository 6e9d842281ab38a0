#include "engine/model/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/families/families.h"
#include "engine/model/gguf_file.h"
#include "engine/model/model_facts.h"

namespace firsttoken::engine {

namespace {

class MappedModel final : public Model {
public:
    MappedModel(std::shared_ptr<const MappedFile> file, ModelInfo info, Plan plan)
        : m_file(std::move(file)), m_info(std::move(info)), m_plan(std::move(plan)) {}

    const ModelInfo& info() const override { return m_info; }
    const Plan& plan() const override { return m_plan; }

private:
    std::shared_ptr<const MappedFile> m_file;  // the plan's weights point into it
    ModelInfo m_info;
    Plan m_plan;
};

/// Brings the file into memory piece by piece, so that a cold file is read in order and not by page faults of the
/// first step, and so that it can be told how far that is, and be stopped.
Status readAhead(const GgufFile& file, const Model::Options& options) {
    constexpr std::size_t piece = std::size_t{16} << 20;
    const MappedFile& mapping = *file.mapping();
    const std::size_t size = mapping.bytes().size();
    for (std::size_t offset = 0; offset < size; offset += piece) {
        if (options.stop.stop_requested()) return file.fault("loading was cancelled", ErrorCode::Cancelled);
        if (options.progress) options.progress(static_cast<double>(offset) / static_cast<double>(size));
        if (!mapping.bringIn(offset, std::min(piece, size - offset))) {
            return file.fault("cannot be read to its end", ErrorCode::Io);
        }
    }
    if (options.progress) options.progress(1.0);
    return Done{};
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::open(const std::string& path, const Options& options) {
    const auto file = GgufFile::open(path);
    if (!file) return file.error();
    auto plan = writePlan(*file, options.contextTokens);
    if (!plan) return plan.error();
    if (const auto read = readAhead(*file, options); !read) return read.error();
    ModelInfo info = describeFile(*file);
    describePlan(*plan, info);
    return std::shared_ptr<const Model>(
        std::make_shared<MappedModel>(file->mapping(), std::move(info), std::move(*plan)));
}

}  // namespace firsttoken::engine
