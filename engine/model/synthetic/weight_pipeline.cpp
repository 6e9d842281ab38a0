#include "engine/model/synthetic/weight_pipeline.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/model/synthetic/random_values.h"

namespace firsttoken::engine {

namespace {

constexpr std::size_t valuesPerPiece = std::size_t{1} << 18;

/// Some rows of one tensor.
struct Piece {
    const PlacedTensor* placed;
    std::uint32_t firstRow;
    std::uint32_t rows;
};

std::vector<Piece> cut(const std::vector<PlacedTensor>& tensors) {
    std::vector<Piece> pieces;
    for (const PlacedTensor& placed : tensors) {
        const auto rows = static_cast<std::uint32_t>(std::max<std::size_t>(1, valuesPerPiece / placed.tensor.columns));
        for (std::uint32_t row = 0; row < placed.rowCount(); row += rows) {
            pieces.push_back({&placed, row, std::min(rows, placed.rowCount() - row)});
        }
    }
    return pieces;
}

/// The pieces, handed out to the threads. The first error ends the work of all.
class Work {
public:
    Work(std::vector<Piece> pieces, std::uint64_t seed, const OutputFile& file)
        : m_pieces(std::move(pieces)), m_seed(seed), m_file(file) {}

    void run() {
        std::vector<float> values;
        std::vector<std::byte> bytes;
        for (std::size_t i = m_next++; i < m_pieces.size(); i = m_next++) {
            const Piece& piece = m_pieces[i];
            encode(piece, values, bytes);
            const std::size_t rowSize = rowBytes(piece.placed->format, piece.placed->tensor.columns);
            const auto written = m_file.writeAt(piece.placed->offset + std::uint64_t{piece.firstRow} * rowSize, bytes);
            if (!written) return fail(written.error());
        }
    }
    const std::optional<Error>& fault() const { return m_fault; }

private:
    void encode(const Piece& piece, std::vector<float>& values, std::vector<std::byte>& bytes) const {
        const SyntheticTensor& tensor = piece.placed->tensor;
        const std::size_t rowSize = rowBytes(piece.placed->format, tensor.columns);
        values.resize(std::size_t{piece.rows} * tensor.columns);
        bytes.resize(piece.rows * rowSize);
        RandomValues(m_seed, tensor.name)
            .fill(std::uint64_t{piece.firstRow} * tensor.columns, values, tensor.spread.mean, tensor.spread.deviation);
        for (std::size_t row = 0; row < piece.rows; ++row) {
            encodeRow(piece.placed->format, values.data() + row * tensor.columns, bytes.data() + row * rowSize,
                      tensor.columns);
        }
    }
    void fail(const Error& error) {
        m_next = m_pieces.size();
        const std::lock_guard lock(m_mutex);
        if (!m_fault) m_fault = error;
    }

    const std::vector<Piece> m_pieces;
    const std::uint64_t m_seed;
    const OutputFile& m_file;
    std::atomic<std::size_t> m_next = 0;
    std::mutex m_mutex;
    std::optional<Error> m_fault;
};

}  // namespace

Status writeRandomWeights(const std::vector<PlacedTensor>& tensors, std::uint64_t seed, const OutputFile& file) {
    Work work(cut(tensors), seed, file);
    {
        std::jthread other;
        if (std::thread::hardware_concurrency() > 1) other = std::jthread([&work] { work.run(); });
        work.run();
    }
    if (work.fault()) return *work.fault();
    return Done{};
}

}  // namespace firsttoken::engine
