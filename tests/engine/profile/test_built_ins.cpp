#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <set>

#include "engine/profile.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestBuiltIns : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string write(const std::string& name, const std::string& text) {
        const std::string path = m_folder.path().toStdString() + "/" + name;
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

private slots:
    void allAreValidAndNamed() {
        std::set<std::string_view> names;
        for (const auto& builtIn : builtInProfiles()) {
            const auto profile = loadProfile(std::string(builtIn.name));
            QVERIFY2(profile.ok(), profile.ok() ? "" : profile.error().message.c_str());
            QCOMPARE(profile->name, std::string(builtIn.name));
            QVERIFY(builtIn.summary.size() > 10);
            QVERIFY(builtIn.summary.find('\n') == std::string_view::npos);
            names.insert(builtIn.name);
        }
        QVERIFY((names ==
                 std::set<std::string_view>{"default", "production", "interactive", "throughput", "everything-off"}));
    }

    void defaultIsWhatLeftOutKeysTake() {
        Profile expected;
        expected.name = "default";
        QVERIFY(*loadProfile("default") == expected);
    }

    void productionIsTheArticles() {
        const auto profile = loadProfile("production");
        QCOMPARE(profile->model.precision, Precision::Fp8);
        QCOMPARE(profile->model.maxContextTokens.value(), std::int64_t{16384});
        QCOMPARE(profile->scheduler.maxConcurrentSequences, std::int64_t{128});
        QCOMPARE(profile->scheduler.maxBatchTokens, std::int64_t{32768});
        QVERIFY(profile->slo == Profile{}.slo);
    }

    void everythingOffIsOff() {
        const auto profile = loadProfile("everything-off");
        QVERIFY(!profile->scheduler.continuousBatching && !profile->scheduler.chunkedPrefill);
        QVERIFY(!profile->cache.kvCache && !profile->cache.prefixCache && !profile->response.streaming);
    }

    void filesAreNamedByTheirStem() {
        const auto profile = loadProfile(write("my.fast.yaml", "cache:\n  block_tokens: 32\n"));
        QVERIFY(profile.ok());
        QCOMPARE(profile->name, std::string("my.fast"));
        QCOMPARE(profile->cache.blockTokens, std::int64_t{32});
    }

    void aFaultNamesItsPlace() {
        const auto path = write("bad.yaml", "cache:\n  block_tokens: 3\n  kv_cache: 1\n");
        const auto profile = loadProfile(path);
        QVERIFY(!profile.ok());
        QCOMPARE(profile.error().code, ErrorCode::BadInput);
        QCOMPARE(profile.error().line, 2);
        QCOMPARE(profile.error().column, 17);
        QCOMPARE(profile.error().message,
                 path + ":2:17: cache.block_tokens must be one of 1, 8, 16, 32, 64, not 3 (and 1 more fault)");
    }

    void whatIsNotThere() {
        const auto unknown = loadProfile("prodution");
        QCOMPARE(unknown.error().code, ErrorCode::NotFound);
        QVERIFY(unknown.error().message.find("did you mean 'production'?") != std::string::npos);
        QCOMPARE(loadProfile("").error().code, ErrorCode::NotFound);
        QCOMPARE(loadProfile("/nowhere/at/all.yaml").error().code, ErrorCode::NotFound);
        QCOMPARE(loadProfile(m_folder.path().toStdString()).error().code, ErrorCode::BadInput);
        QCOMPARE(loadProfile(std::string(5000, 'x')).error().code, ErrorCode::NotFound);
    }

    void endlessFilesEnd() { QCOMPARE(loadProfile("/dev/zero").error().code, ErrorCode::BadInput); }
};

FIRSTTOKEN_TEST_CLASS(TestBuiltIns);
#include "test_built_ins.moc"
