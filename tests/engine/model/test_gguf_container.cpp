#include <QtTest>
#include <filesystem>
#include <functional>
#include <random>

#include "engine/model/gguf_file.h"
#include "tests/engine/model/gguf_forge.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

namespace {

constexpr std::int32_t u32 = 4, f32 = 6, boolean = 7, string = 8, arrayType = 9;

/// One key, one tensor: what the malformed files are made from.
ForgedFile smallFile() {
    ForgedFile file;
    file.set("general.architecture", string, text("llama"));
    file.set("some.number", u32, raw(std::uint32_t{7}));
    file.tensors.push_back({"first", {4, 2}, 0, Bytes(32, '\0'), {}, {}});
    file.tensors.push_back({"second", {32}, 2, Bytes(18, '\0'), {}, {}});
    return file;
}

struct Lie {
    const char* name;
    std::function<Bytes(ForgedFile&)> tell;
    const char* message;  ///< must occur in the error
};

/// A change to a good file.
Lie changed(const char* name, std::function<void(ForgedFile&)> change, const char* message) {
    return {name,
            [change](ForgedFile& file) {
                change(file);
                return file.bytes();
            },
            message};
}

std::vector<Lie> headerLies() {
    return {
        {"empty file", [](ForgedFile&) { return Bytes(); }, "too short"},
        {"magic", [](ForgedFile& f) { return "GGML" + f.bytes().substr(4); }, "not a GGUF"},
        {"only magic", [](ForgedFile&) { return Bytes("GGUF"); }, "truncated"},
        changed(
            "version 0", [](auto& f) { f.version = 0; }, "version 0"),
        changed(
            "version 1", [](auto& f) { f.version = 1; }, "version 1"),
        changed(
            "version 4", [](auto& f) { f.version = 4; }, "version 4"),
        changed(
            "byte-swapped", [](auto& f) { f.version = 0x03000000; }, "big-endian"),
        changed(
            "tensor count -1", [](auto& f) { f.tensorCount = -1; }, "tensors"),
        changed(
            "tensor count 2^62", [](auto& f) { f.tensorCount = std::int64_t{1} << 62; }, "tensors"),
        changed(
            "entry count -1", [](auto& f) { f.entryCount = -1; }, "metadata records"),
        changed(
            "entry count 2^62", [](auto& f) { f.entryCount = std::int64_t{1} << 62; }, "metadata records"),
        changed(
            "one entry too many", [](auto& f) { f.entryCount = 3; }, ""),
        changed(
            "one tensor too many", [](auto& f) { f.tensorCount = 3; }, ""),
    };
}

std::vector<Lie> entryLies() {
    const auto lengths = [](std::uint64_t length) {
        return [length](ForgedFile& f) {
            Bytes bytes = f.bytes();
            return bytes.replace(24, 8, raw(length));
        };
    };
    return {
        {"key length 2^64-1", lengths(~std::uint64_t{0}), "key"},
        {"key length 0", lengths(0), "empty key"},
        {"key longer than the file", lengths(60000), "truncated"},
        changed(
            "empty key", [](auto& f) { f.set("", u32, raw(std::uint32_t{1})); }, "empty key"),
        changed(
            "duplicate key", [](auto& f) { f.entries.push_back(f.entries[1]); }, "'some.number' stands in it twice"),
        changed(
            "value type 13", [](auto& f) { f.entries[1].type = 13; }, "value type 13"),
        changed(
            "value type -1", [](auto& f) { f.entries[1].type = -1; }, "value type -1"),
        changed(
            "string length 2^40", [](auto& f) { f.set("long", string, raw(std::uint64_t{1} << 40) + "x"); }, "'long'"),
        changed(
            "string length 2^64-1", [](auto& f) { f.set("long", string, raw(~std::uint64_t{0})); }, "'long'"),
        changed(
            "array length 2^61", [](auto& f) { f.set("a", arrayType, array(u32, std::uint64_t{1} << 61, "")); }, "'a'"),
        changed(
            "array length 2^62 strings",
            [](auto& f) { f.set("a", arrayType, array(string, std::uint64_t{1} << 62, "")); }, "'a'"),
        changed(
            "array of arrays", [](auto& f) { f.set("a", arrayType, array(arrayType, 1, array(u32, 0, ""))); }, "'a'"),
        changed(
            "array of type 13", [](auto& f) { f.set("a", arrayType, array(13, 0, "")); }, "type 13"),
        changed(
            "string in an array too long",
            [](auto& f) { f.set("a", arrayType, array(string, 2, text("x") + raw(std::uint64_t{1} << 50))); },
            "element 1 of the array 'a'"),
        changed(
            "alignment 0", [](auto& f) { f.set("general.alignment", u32, raw(std::uint32_t{0})); }, "power of two"),
        changed(
            "alignment 3", [](auto& f) { f.set("general.alignment", u32, raw(std::uint32_t{3})); }, "power of two"),
        changed(
            "alignment of another type", [](auto& f) { f.set("general.alignment", 10, raw(std::uint64_t{32})); },
            "general.alignment"),
    };
}

std::vector<Lie> tensorLies() {
    const auto shape = [](const char* name, std::vector<std::int64_t> sizes, const char* message) {
        return changed(
            name, [sizes](auto& f) { f.tensors[0].shape = sizes; }, message);
    };
    const auto big = [](int power) { return std::int64_t{1} << power; };
    return {
        changed(
            "5 dimensions", [](auto& f) { f.tensors[0].dimensions = 5; }, "5 dimensions"),
        changed(
            "2^32-1 dimensions", [](auto& f) { f.tensors[0].dimensions = ~0U; }, "dimensions"),
        shape("negative dimension", {4, -2}, "negative"),
        shape("dims 2^32, 2^32", {big(32), big(32)}, "more elements"),
        shape("dims 2^33, 2^31+1", {big(33), big(31) + 1}, "more elements"),
        shape("dims 2^62", {big(62)}, "more bytes"),
        shape("dims 2^63-1", {std::numeric_limits<std::int64_t>::max()}, "more elements"),
        shape("dims 2^32, 2^32, 0", {big(32), big(32), 0}, "more elements"),
        shape("larger than the file", {4, 1000}, "truncated"),
        changed(
            "type 99", [](auto& f) { f.tensors[0].type = 99; }, "type 99"),
        changed(
            "type -1", [](auto& f) { f.tensors[0].type = -1; }, "type -1"),
        changed(
            "type 4", [](auto& f) { f.tensors[0].type = 4; }, "type 4"),
        changed(
            "type 36", [](auto& f) { f.tensors[0].type = 36; }, "type 36"),
        changed(
            "row no multiple of the block", [](auto& f) { f.tensors[1].shape = {33}; }, "Q4_0 blocks"),
        changed(
            "name of 64 bytes", [](auto& f) { f.tensors[0].name = std::string(64, 'n'); }, "64 bytes"),
        changed(
            "empty name", [](auto& f) { f.tensors[0].name.clear(); }, "0 bytes"),
        changed(
            "duplicate name", [](auto& f) { f.tensors[1].name = "first"; }, "'first' stands in it twice"),
        changed(
            "offset misaligned", [](auto& f) { f.tensors[1].offset = 33; }, "offset 33"),
        changed(
            "offset with a gap", [](auto& f) { f.tensors[1].offset = 64; }, "offset 64"),
        changed(
            "offset with an overlap", [](auto& f) { f.tensors[1].offset = 0; }, "offset 0"),
        changed(
            "offset 2^62", [](auto& f) { f.tensors[1].offset = std::uint64_t{1} << 62; }, "offset"),
        changed(
            "data one byte short",
            [](auto& f) {
                f.tensors[1].data.resize(17);
                f.alignment = 1;
                f.tensors[1].offset = 32;
            },
            ""),
    };
}

}  // namespace

class TestGgufContainer : public QObject {
    Q_OBJECT

private slots:
    void refusesLies_data() {
        QTest::addColumn<int>("list");
        QTest::addColumn<int>("index");
        const std::vector<std::vector<Lie>> lists{headerLies(), entryLies(), tensorLies()};
        for (std::size_t list = 0; list < lists.size(); ++list) {
            for (std::size_t i = 0; i < lists[list].size(); ++i) {
                QTest::newRow(lists[list][i].name) << static_cast<int>(list) << static_cast<int>(i);
            }
        }
    }
    void refusesLies() {
        QFETCH(int, list);
        QFETCH(int, index);
        const auto lies = list == 0 ? headerLies() : list == 1 ? entryLies() : tensorLies();
        const Lie& lie = lies[static_cast<std::size_t>(index)];
        ForgedFile file = smallFile();
        const auto opened = GgufFile::open(m_folder.write("lie.gguf", lie.tell(file)));
        QVERIFY(!opened.ok());
        const std::string& message = opened.error().message;
        QVERIFY2(message.find(lie.message) != std::string::npos, message.c_str());
        QVERIFY2(message.find("lie.gguf: ") != std::string::npos, message.c_str());
        QVERIFY(message.find('\n') == std::string::npos);
    }

    void acceptsWhatIsLegal() {
        const auto opens = [this](const ForgedFile& file) {
            return GgufFile::open(m_folder.write("legal.gguf", file.bytes())).ok();
        };
        QVERIFY(opens(smallFile()));
        QVERIFY(opens(ForgedFile()));
        ForgedFile file = smallFile();
        file.version = 2;
        QVERIFY(opens(file));
        file = smallFile();
        file.tensors[0].shape = {};
        file.tensors[0].data.resize(4);
        QVERIFY(opens(file));
        file.tensors[0].shape = {4, 0, 3};
        file.tensors[0].data.clear();
        QVERIFY(opens(file));
        file = smallFile();
        file.tensors[0].name = std::string(63, 'n');
        QVERIFY(opens(file));
        file = smallFile();
        file.set("general.alignment", u32, raw(std::uint32_t{64}));
        file.alignment = 64;
        QVERIFY(opens(file));
        file = smallFile();
        file.tensors[1].type = 20;  // IQ4_NL: known, though not decoded
        QVERIFY(opens(file));
    }

    /// The padding behind the last tensor may be missing.
    void lastPaddingIsOptional() {
        const Bytes bytes = smallFile().bytes();
        const Bytes unpadded = bytes.substr(0, bytes.size() - (32 - 18));
        QVERIFY(GgufFile::open(m_folder.write("a.gguf", unpadded)).ok());
        QVERIFY(!GgufFile::open(m_folder.write("b.gguf", unpadded.substr(0, unpadded.size() - 1))).ok());
    }

    void truncatedAnywhere() {
        for (const char* name : {"llama.gguf", "gemma3.gguf"}) {
            const Bytes bytes = readBytes(fixture(name));
            const auto file = GgufFile::open(fixture(name));
            QVERIFY(file.ok());
            const std::size_t end = bytes.size() - (32 - file->tensors().back().bytes.size() % 32) % 32;
            std::vector<std::size_t> lengths;
            for (std::size_t i = 0; i < 600; ++i) lengths.push_back(i);
            for (std::size_t i = 600; i < end; i += 997) lengths.push_back(i);
            lengths.push_back(end - 1);
            const std::string path = m_folder.write("cut.gguf", bytes);
            std::sort(lengths.rbegin(), lengths.rend());
            for (const std::size_t length : lengths) {
                std::filesystem::resize_file(path, length);
                QVERIFY2(!GgufFile::open(path).ok(), qPrintable(QString::number(length)));
            }
        }
    }

    /// What opens must be readable to its end, whatever it says.
    void randomDamage() {
        std::mt19937 random(20);
        for (const char* name : {"llama.gguf", "qwen2.gguf", "gemma3.gguf"}) {
            PatchedFile patched(m_folder.path("damaged.gguf"), readBytes(fixture(name)));
            const std::size_t head = GgufFile::open(fixture(name))->tensors().front().offset;
            for (int round = 0; round < 1500; ++round) {
                patched.restore();
                for (std::uint32_t n = random() % 4 + 1; n > 0; --n) {
                    patched.change(random() % head, static_cast<char>(random() % 3 == 0 ? 0xFF : random()));
                }
                const auto file = GgufFile::open(patched.path());
                if (!file) continue;
                std::size_t sum = 0;
                for (const GgufEntry& entry : file->entries()) {
                    for (const std::byte b : entry.value) sum += std::to_integer<std::size_t>(b);
                    (void)file->strings(entry.key);
                    (void)file->integers(entry.key);
                    (void)file->reals(entry.key);
                    (void)file->integer(entry.key);
                }
                for (const GgufTensor& tensor : file->tensors()) {
                    if (!tensor.bytes.empty()) sum += std::to_integer<std::size_t>(tensor.bytes.back());
                }
                QVERIFY(sum > 0);
            }
        }
    }

    void whatIsNoFile() {
        const auto absent = GgufFile::open(m_folder.path("absent.gguf"));
        QVERIFY(!absent.ok() && absent.error().code == ErrorCode::NotFound);
        const auto folder = GgufFile::open(m_folder.path("."));
        QVERIFY(!folder.ok() && folder.error().code == ErrorCode::BadInput);
        const auto device = GgufFile::open("/dev/null");
        QVERIFY(!device.ok() && device.error().code == ErrorCode::BadInput);
    }

private:
    TestFolder m_folder;
};

FIRSTTOKEN_TEST_CLASS(TestGgufContainer);

#include "test_gguf_container.moc"
