#include <QtTest>
#include <cmath>
#include <limits>

#include "engine/model/gguf_file.h"
#include "tests/engine/model/gguf_forge.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

namespace {

enum Type : std::int32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

template <class T>
bool holds(const Result<std::optional<T>>& result, const T& value) {
    return result.ok() && result->has_value() && **result == value;
}
template <class T>
bool refuses(const Result<T>& result, const char* part) {
    return !result.ok() && result.error().code == ErrorCode::BadInput &&
           result.error().message.find(part) != std::string::npos;
}

}  // namespace

class TestGgufLookup : public QObject {
    Q_OBJECT

private slots:
    void integersOfEveryWidth() {
        ForgedFile file;
        file.set("u8", U8, raw(std::uint8_t{200}));
        file.set("i8", I8, raw(std::int8_t{-100}));
        file.set("u16", U16, raw(std::uint16_t{60000}));
        file.set("i16", I16, raw(std::int16_t{-30000}));
        file.set("u32", U32, raw(std::uint32_t{4000000000}));
        file.set("i32", I32, raw(std::int32_t{-2000000000}));
        file.set("u64", U64, raw(std::uint64_t{1} << 62));
        file.set("i64", I64, raw(std::numeric_limits<std::int64_t>::min()));
        file.set("wide", U64, raw(std::uint64_t{1} << 63));
        const GgufFile opened = open(file);
        QVERIFY(holds<std::int64_t>(opened.integer("u8"), 200));
        QVERIFY(holds<std::int64_t>(opened.integer("i8"), -100));
        QVERIFY(holds<std::int64_t>(opened.integer("u16"), 60000));
        QVERIFY(holds<std::int64_t>(opened.integer("i16"), -30000));
        QVERIFY(holds<std::int64_t>(opened.integer("u32"), 4000000000));
        QVERIFY(holds<std::int64_t>(opened.integer("i32"), -2000000000));
        QVERIFY(holds<std::int64_t>(opened.integer("u64"), std::int64_t{1} << 62));
        QVERIFY(holds(opened.integer("i64"), std::numeric_limits<std::int64_t>::min()));
        QVERIFY(refuses(opened.integer("wide"), "9223372036854775808"));
        QVERIFY(refuses(opened.integer("u8", 1, 199), "the key 'u8' is 200, which is out of range (1 to 199)"));
        QVERIFY(holds<std::int64_t>(opened.integer("u8", 200, 200), 200));
    }

    void missingWrongAndOutOfRangeDiffer() {
        ForgedFile file;
        file.set("text", String, text("seven"));
        file.set("real", F32, raw(7.5F));
        file.set("list", Array, array(U32, 1, raw(std::uint32_t{7})));
        const GgufFile opened = open(file);
        const auto absent = opened.integer("absent");
        QVERIFY(absent.ok() && !absent->has_value());
        QVERIFY(refuses(opened.requireInteger("absent", 0, 9), "the key 'absent' is missing"));
        QVERIFY(refuses(opened.integer("text"), "the key 'text' has the type string, not an integer"));
        QVERIFY(refuses(opened.integer("real"), "has the type f32"));
        QVERIFY(refuses(opened.integer("list"), "has the type array of u32"));
        QVERIFY(refuses(opened.string("real"), "not string"));
        QVERIFY(refuses(opened.strings("list"), "not array of string"));
        QVERIFY(refuses(opened.integers("text"), "not an array"));
        QVERIFY(holds<std::string_view>(opened.string("text"), "seven"));
    }

    void realsAndBools() {
        ForgedFile file;
        file.set("f32", F32, raw(0.5F));
        file.set("f64", F64, raw(0.25));
        file.set("whole", I32, raw(std::int32_t{-3}));
        file.set("nan", F32, raw(std::nanf("")));
        file.set("inf", F64, raw(std::numeric_limits<double>::infinity()));
        file.set("true", Bool, raw(std::uint8_t{1}));
        file.set("one", U32, raw(std::uint32_t{1}));
        file.set("two", Bool, raw(std::uint8_t{2}));
        const GgufFile opened = open(file);
        QVERIFY(holds(opened.real("f32"), 0.5));
        QVERIFY(holds(opened.real("f64"), 0.25));
        QVERIFY(holds(opened.real("whole"), -3.0));
        QVERIFY(refuses(opened.real("nan"), "'nan'"));
        QVERIFY(refuses(opened.real("inf"), "'inf'"));
        QVERIFY(refuses(opened.real("f32", 1.0), "out of range"));
        QVERIFY(holds(opened.boolean("true"), true));
        QVERIFY(holds(opened.boolean("one"), true));
        QVERIFY(refuses(opened.boolean("two"), "'two'"));
        QVERIFY(refuses(opened.boolean("f32"), "not bool"));
    }

    void arrays() {
        ForgedFile file;
        file.set("strings", Array, array(String, 3, text("a") + text("") + text(std::string("\0\xff", 2))));
        file.set("bytes", Array, array(I8, 3, raw(std::int8_t{-1}) + raw(std::int8_t{0}) + raw(std::int8_t{1})));
        file.set("bools", Array, array(Bool, 2, raw(std::uint8_t{1}) + raw(std::uint8_t{0})));
        file.set("doubles", Array, array(F64, 2, raw(0.5) + raw(1e300)));
        file.set("floats", Array, array(F32, 2, raw(0.5F) + raw(-2.0F)));
        const GgufFile opened = open(file);
        const auto strings = opened.strings("strings");
        QVERIFY(strings.ok() && (**strings).size() == 3);
        QVERIFY((**strings)[0] == "a" && (**strings)[1].empty() && (**strings)[2] == std::string_view("\0\xff", 2));
        QVERIFY(holds(opened.integers("bytes"), std::vector<std::int64_t>{-1, 0, 1}));
        QVERIFY(holds(opened.integers("bools"), std::vector<std::int64_t>{1, 0}));
        QVERIFY(refuses(opened.integers("bytes", 0), "element 0 of the key 'bytes' is -1"));
        QVERIFY(holds(opened.reals("floats"), std::vector<float>{0.5F, -2.0F}));
        QVERIFY(holds(opened.reals("bytes"), std::vector<float>{-1, 0, 1}));
        QVERIFY(refuses(opened.reals("doubles"), "element 1"));
    }

    void perLayerIsScalarOrArray() {
        ForgedFile file;
        file.set("one", U32, raw(std::uint32_t{8}));
        file.set("two", Array, array(I32, 2, raw(std::int32_t{8}) + raw(std::int32_t{4})));
        const GgufFile opened = open(file);
        QVERIFY(holds(opened.perLayer("one", 3, 1, 9), std::vector<std::int64_t>{8, 8, 8}));
        QVERIFY(holds(opened.perLayer("two", 2, 1, 9), std::vector<std::int64_t>{8, 4}));
        QVERIFY(refuses(opened.perLayer("two", 3, 1, 9), "2 values for 3 layers"));
        QVERIFY(refuses(opened.perLayer("two", 2, 5, 9), "element 1"));
        QVERIFY(refuses(opened.requirePerLayer("none", 2, 5, 9), "missing"));
    }

    /// Names of a file reach terminals and windows.
    void namesInMessagesArePrintable() {
        ForgedFile file;
        file.set("bad\n\x1b[31m", U8, raw(std::uint8_t{0}));
        file.entries.push_back(file.entries[0]);
        const auto opened = GgufFile::open(m_folder.write("f.gguf", file.bytes()));
        QVERIFY(refuses(opened, "'bad\\x0a\\x1b[31m'"));
        QVERIFY(printableName(std::string(500, 'x')).size() < 100);
    }

    void movesKeepTheMapping() {
        ForgedFile file;
        file.set("text", String, text("still here"));
        std::optional<GgufFile> first = open(file);
        const std::string_view view = **first->string("text");
        const GgufFile second = std::move(*first);
        first.reset();
        QCOMPARE(std::string(view), std::string("still here"));
        QVERIFY(holds<std::string_view>(second.string("text"), "still here"));
    }

private:
    GgufFile open(const ForgedFile& file) {
        auto opened = GgufFile::open(m_folder.write("f.gguf", file.bytes()));
        return std::move(*opened);
    }
    TestFolder m_folder;
};

FIRSTTOKEN_TEST_CLASS(TestGgufLookup);

#include "test_gguf_lookup.moc"
