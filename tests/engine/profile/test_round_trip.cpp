#include <QtTest>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/profile.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

namespace {

class RandomProfile {
public:
    explicit RandomProfile(unsigned seed) : m_random(seed) {}

    Profile make() {
        Profile p;
        p.model.path = maybe(text());
        p.model.chatTemplate = maybe(text());
        p.model.precision = static_cast<Precision>(integer(0, 8));
        p.model.maxContextTokens = maybe(integer(1, INT32_MAX));
        p.model.trim = static_cast<TrimPolicy>(integer(0, 1));
        p.scheduler = {flag(), integer(1, 1024), integer(1, 1'048'576), static_cast<SchedulePolicy>(integer(0, 3)),
                       flag(), integer(0, 1000), integer(1, 1'000'000), integer(0, 86'400'000)};
        constexpr std::int64_t blocks[] = {1, 8, 16, 32, 64};
        p.cache = {flag(), flag(), maybe(m_random() | 1U), blocks[integer(0, 4)],
                   static_cast<KvCachePrecision>(integer(0, 4))};
        p.response = {flag(), flag()};
        p.device = {static_cast<DeviceKind>(integer(0, 2)), maybe(integer(1, 1024)), maybe(integer(0, 100'000)),
                    maybe(flag())};
        p.sampling = {number(0, 100),
                      number(0, 1),
                      integer(0, INT32_MAX),
                      number(0, 1),
                      number(0, 1),
                      number(0, 100),
                      number(-100, 100),
                      number(-100, 100),
                      maybe(std::uint64_t{m_random()}),
                      {}};
        for (std::int64_t i = integer(0, 5); i > 0; --i) {
            p.sampling.logitBias[static_cast<std::int32_t>(integer(0, INT32_MAX))] = number(-1000, 1000);
        }
        p.slo = {maybe(number(1e-6, 86'400'000)), maybe(number(1e-6, 1000)), maybe(number(1, 1e6)), {}};
        const char* metrics[] = {"ttft", "itl", "tpot", "e2e", "queue"};
        for (std::int64_t i = integer(0, 4); i > 0; --i) {
            p.slo.targets.push_back({metrics[i], number(1e-6, 0.999999), number(1e-3, 1e6)});
        }
        p.cost = {maybe(number(0, 1e9)), maybe(std::string("EUR"))};
        return p;
    }

private:
    std::int64_t integer(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(m_random);
    }
    double number(double low, double high) {
        // Half of them round numbers, as people write.
        const double value = std::uniform_real_distribution<double>(low, high)(m_random);
        return flag() ? value : std::clamp(std::round(value * 100) / 100, low, high);
    }
    bool flag() { return integer(0, 1) == 1; }
    template <class Value>
    std::optional<Value> maybe(Value value) {
        return flag() ? std::optional<Value>(std::move(value)) : std::nullopt;
    }
    std::string text() {
        const char* pieces[] = {"a",  "Z", " ", "\"", "\\", "\n", "\t", ": ", "# ",   "'",    "{",    "}}",
                                "%}", "-", "~", "ü",  "模", "😀",  "0",  "\r", "\x01", "\x7f", "null", "\u2028"};
        std::string result = flag() ? "x" : pieces[integer(0, 23)];
        for (std::int64_t i = integer(0, 30); i > 0; --i) result += pieces[integer(0, 23)];
        return result;
    }

    std::mt19937_64 m_random;
};

}  // namespace

class TestRoundTrip : public QObject {
    Q_OBJECT

private slots:
    void yamlOfAnyProfileReadsBack() {
        RandomProfile random(1);
        for (int round = 0; round < 500; ++round) {
            const Profile profile = random.make();
            const std::string yaml = toYaml(profile);
            const auto parsed = parseProfile(yaml);
            for (const auto& error : parsed.errors)
                qWarning("%d:%d %s", error.line, error.column, error.message.c_str());
            QVERIFY2(parsed.errors.empty(), yaml.c_str());
            QVERIFY2(parsed.profile == profile, yaml.c_str());
            QCOMPARE(toYaml(parsed.profile), yaml);
            QVERIFY(nlohmann::json::accept(toJson(profile)));
        }
    }

    void yamlNamesEveryKeyWithAComment() {
        const std::string yaml = toYaml(Profile{});
        QCOMPARE(parseProfile(yaml).keysGiven.size(), std::size_t{40});
        QVERIFY(yaml.find("  max_batch_tokens: 2048") != std::string::npos);
        QVERIFY(yaml.find("targets: [\"ttft p95 <= 650 ms\"]") != std::string::npos);
        for (const auto& line : QString::fromStdString(yaml).split('\n', Qt::SkipEmptyParts)) {
            if (line.startsWith("  ")) QVERIFY2(line.contains(" # "), qPrintable(line));
        }
    }

    void jsonHasTheSameKeys() {
        Profile profile;
        profile.cache.memoryBytes = std::uint64_t{4} << 30U;
        profile.sampling.logitBias = {{5, -1.5}};
        const auto json = nlohmann::json::parse(toJson(profile));
        QCOMPARE(json["model"]["precision"].get<std::string>(), std::string("as_stored"));
        QVERIFY(json["model"]["max_context_tokens"].is_null());
        QVERIFY(json["scheduler"]["continuous_batching"].get<bool>());
        QCOMPARE(json["cache"]["memory"].get<std::uint64_t>(), std::uint64_t{4} << 30U);
        QCOMPARE(json["sampling"]["logit_bias"]["5"].get<double>(), -1.5);
        QCOMPARE(json["slo"]["targets"][0].get<std::string>(), std::string("ttft p95 <= 650 ms"));
        std::size_t keys = 0;
        for (const auto& section : json) keys += section.size();
        QCOMPARE(keys, std::size_t{40});
    }

    void jsonOfAPathThatIsNoUtf8() {
        Profile profile;
        profile.model.path = "/m\xff.gguf";
        QVERIFY(nlohmann::json::accept(toJson(profile)));
    }
};

FIRSTTOKEN_TEST_CLASS(TestRoundTrip);
#include "test_round_trip.moc"
